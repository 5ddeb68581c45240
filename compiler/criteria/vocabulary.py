"""The criteria of all demands, numbered; and which of them messages meet, for one message and for columns.

Each message of a column gets the number of its *combination* of criteria. Combinations are kept for one column and not beyond it,
so they never take more than 24 bytes for each message and 8 for each of its fields, whatever came before.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from compiler.automata.nfa import Symbols
from compiler.criteria.demands import PRESENCE, Criterion, Demand, Field, criteria_of
from compiler.kernels.tables import Bytes, Int32s, Keys, frozen
from compiler.machine.hashing import word_table
from compiler.values import KeyColumn

__all__ = ["Combined", "FieldColumns", "Vocabulary"]


class FieldColumns(NamedTuple):
    """The fields of a column of messages."""

    offsets: Int32s
    """Message i has the fields ``range(offsets[i], offsets[i + 1])``."""
    names: Keys
    values: Keys
    kinds: Bytes

    def of(self, row: int) -> list[Field]:
        """Return the fields of one message."""
        places = range(int(self.offsets[row]), int(self.offsets[row + 1]))
        return [(_text(self.names, at), int(self.kinds[at]), _text(self.values, at)) for at in places]


class Combined(NamedTuple):
    """What criteria the messages of a column meet."""

    ids: Int32s
    """For each message the number of its combination."""
    ends: Int32s
    """Combination c has the criteria ``members[ends[c]:ends[c + 1]]``, ascending."""
    members: Int32s


class Vocabulary:
    """All criteria of some demands, each with a number; immutable.

    >>> vocabulary = Vocabulary([Demand(((b"a", 0, b""), (b"b", 1, b"x")), every=True)])
    >>> vocabulary.met([(b"a", 1, b"y"), (b"b", 1, b"y")])
    (0,)
    """

    def __init__(self, demands: Iterable[Demand]) -> None:
        """Number the criteria, in their order."""
        self.criteria: tuple[Criterion, ...] = tuple(sorted({one for demand in demands for one in demand.criteria}))
        self.numbers = {criterion: number for number, criterion in enumerate(self.criteria)}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_tables"}

    def met(self, fields: Iterable[Field]) -> tuple[int, ...]:
        """Return the numbers of the criteria that a message meets, ascending; the plain form of :meth:`combine`."""
        return tuple(sorted(self.numbers[one] for one in criteria_of(fields) if one in self.numbers))

    def combine(self, fields: FieldColumns) -> Combined:
        """Return what criteria messages meet."""
        from compiler.kernels._jit import JIT

        if not JIT:
            return self._plainly_combined(fields)
        from compiler.kernels.calling import direct
        from compiler.kernels.criteria import Combinations, Fields, combine_fields

        rows = len(fields.offsets) - 1
        found = Combinations(
            ends=np.zeros(rows + 1, np.int32),
            members=np.empty(2 * int(fields.offsets[-1]), np.int32),
            slots=np.zeros(1 << (2 * rows + 1).bit_length(), np.uint64),
            scratch=np.empty(2 * int(np.diff(fields.offsets).max(initial=0)), np.int32),
        )
        ids = np.empty(rows, np.int32)
        count = int(direct(combine_fields, Fields(*fields), self._tables, found, ids))
        return Combined(ids, found.ends[: count + 1], found.members[: int(found.ends[count])])

    def _plainly_combined(self, fields: FieldColumns) -> Combined:
        numbers: dict[tuple[int, ...], int] = {}
        ids = [numbers.setdefault(self.met(fields.of(row)), len(numbers)) for row in range(len(fields.offsets) - 1)]
        ends = np.cumsum([0, *map(len, numbers)]).astype(np.int32)
        members = np.array([one for combination in numbers for one in combination], np.int32)
        return Combined(np.array(ids, np.int32), ends, members)

    @cached_property
    def _tables(self) -> Any:
        """What the kernel reads."""
        from compiler.kernels.criteria import Criteria, fill_pairs

        names = {name: symbol for symbol, name in enumerate(dict.fromkeys(one[0] for one in self.criteria), 1)}
        given = dict.fromkeys(value for _, kind, value in self.criteria if kind != PRESENCE)
        values = {value: symbol for symbol, value in enumerate(given, 1)}
        presence = np.full(len(names) + 1, -1, np.int32)
        keys = np.zeros(len(self.criteria), np.uint64)
        for number, (name, kind, value) in enumerate(self.criteria):
            if kind == PRESENCE:
                presence[names[name]] = number
            else:
                keys[number] = names[name] << 40 | kind << 32 | values[value]
        pairs = np.zeros(2 << (2 * len(keys) + 1).bit_length(), np.uint64)
        fill_pairs(keys, pairs)
        name_table, value_table = (word_table(_symbols(texts)) for texts in (names, values))
        numbers = [name_table.shift, int(name_table.multiplier), value_table.shift, int(value_table.multiplier)]
        return Criteria(
            numbers=frozen(np.array(numbers, np.uint64)),
            names=frozen(name_table.words),
            name_data=name_table.data,
            name_offsets=frozen(_symbols(names).offsets),
            values=frozen(value_table.words),
            value_data=value_table.data,
            value_offsets=frozen(_symbols(values).offsets),
            presence=frozen(presence),
            pairs=frozen(pairs),
        )


def _symbols(texts: Iterable[bytes]) -> Symbols:
    texts = list(texts)
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    return Symbols(data=np.frombuffer(b"".join(texts), np.uint8), offsets=offsets)


def _text(keys: Keys, row: int) -> bytes:
    return next(iter(KeyColumn(keys.offsets[row : row + 2], keys.data, None).single_keys())) or b""
