"""The criteria of all demands, numbered; and which of them messages meet, for one message and for columns.

Each message of a column gets the number of its *combination* of criteria. Combinations are kept for one column and not beyond it,
so they never take more than 24 bytes for each message and 16 for each of its fields, half of which are never touched but for messages
with many fields, whatever came before.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from compiler.automata.nfa import Symbols
from compiler.criteria.demands import PRESENCE, Criterion, Demand, Field, criteria_of
from compiler.kernels.tables import PADDING, Bytes, Int32s, Keys, Uint64s, frozen
from compiler.machine.hashing import word_table
from compiler.once import once
from compiler.values import KeyColumn

__all__ = ["Combined", "FieldColumns", "Vocabulary"]

FIELDS_BEFORE = 16
"""Of so many fields of a message the names are expected to be those of the message before."""
NOTHING_BEFORE = np.tile(np.array([0, -1, 0]), FIELDS_BEFORE)
"""Names of no length."""


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

        rows, room = len(fields.offsets) - 1, 2 * int(fields.offsets[-1])
        found = Combinations(
            ends=np.zeros(rows + 1, np.int32),
            members=np.empty(room, np.int32),
            slots=np.zeros(1 << (2 * rows + 1).bit_length(), np.uint64),
            scratch=np.empty(room, np.int32),  # most of its pages are never touched
            before=NOTHING_BEFORE.copy(),
        )
        ids = np.empty(rows, np.int32)
        read = Fields(frozen(fields.offsets), fields.names, fields.values, frozen(fields.kinds))
        count = int(direct(combine_fields, read, self._tables, found, ids))
        return Combined(ids, found.ends[: count + 1], found.members[: int(found.ends[count])])

    def _plainly_combined(self, fields: FieldColumns) -> Combined:
        numbers: dict[tuple[int, ...], int] = {}
        ids = [numbers.setdefault(self.met(fields.of(row)), len(numbers)) for row in range(len(fields.offsets) - 1)]
        ends = np.cumsum([0, *map(len, numbers)]).astype(np.int32)
        members = np.array([one for combination in numbers for one in combination], np.int32)
        return Combined(np.array(ids, np.int32), ends, members)

    @once
    def _tables(self) -> Any:
        """What the kernel reads."""
        from compiler.kernels.criteria import Criteria

        names = {name: symbol for symbol, name in enumerate(dict.fromkeys(one[0] for one in self.criteria), 1)}
        presence = np.full(len(names) + 1, -1, np.int32)
        labels = np.zeros(len(self.criteria), np.uint64)
        for number, (name, kind, _) in enumerate(self.criteria):
            if kind == PRESENCE:
                presence[names[name]] = number
            else:
                labels[number] = names[name] << 40 | kind << 32
        name_table = word_table(_symbols(names))
        texts = _symbols(value for _, _, value in self.criteria)
        multiplier, values = _value_table(texts, labels)
        numbers = [name_table.shift, int(name_table.multiplier), int(multiplier)]
        return Criteria(
            numbers=frozen(np.array(numbers, np.uint64)),
            names=frozen(name_table.words),
            name_data=name_table.data,
            name_offsets=frozen(_symbols(names).offsets),
            presence=frozen(presence),
            values=frozen(values),
            value_data=frozen(np.concatenate([texts.data, np.zeros(PADDING, np.uint8)])),
            value_offsets=frozen(texts.offsets),
        )


def _value_table(texts: Symbols, labels: Uint64s) -> tuple[np.uint64, Uint64s]:
    """Fill the table of values, with a multiplier that nobody can choose values against; it is quarter full, at most."""
    from compiler.kernels.criteria import fill_values

    data = np.concatenate([texts.data, np.zeros(PADDING, np.uint8)])
    content = blake2b(texts.offsets.tobytes() + texts.data.tobytes(), digest_size=8)
    size = 4 << (2 * len(labels) + 1).bit_length()
    while True:
        multiplier, values = np.uint64(int.from_bytes(content.digest(), "little") | 1), np.zeros(size, np.uint64)
        if fill_values(labels, data, texts.offsets, multiplier, values):
            return multiplier, values
        content.update(b"another")


def _symbols(texts: Iterable[bytes]) -> Symbols:
    texts = list(texts)
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    return Symbols(data=np.frombuffer(b"".join(texts), np.uint8), offsets=offsets)


def _text(keys: Keys, row: int) -> bytes:
    return next(iter(KeyColumn(keys.offsets[row : row + 2], keys.data, None).single_keys())) or b""
