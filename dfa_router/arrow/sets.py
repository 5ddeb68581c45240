"""The sets of a batch as lists, one for each row: of the bindings in its set, or of the names of their destinations.

Kernels write them once they are worth loading; before that, and where kernels are not compiled, Arrow takes them from the sets.
A null row, whose set number is -1, has a null list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from compiler.kernels.tables import Int64s, frozen
from compiler.values import Int32s, SetBatch
from dfa_router.arrow.compiled import Before
from dfa_router.arrow.lists import NAMES, Texts, empty_lists, int32_array, lists_of, new, texts_of, written_names

__all__ = [
    "NameTable",
    "NamedSets",
    "lists_of_members",
    "lists_of_names",
    "name_sets",
    "name_table",
    "names_of_members",
    "with_nulls",
]

_MEMBERS = pa.list_(pa.int32())
SOON, CALL = 1 << 19, 1 << 12
"""For how many rows of a process Arrow takes the lists, and for how many of them a call counts: then it has taken as long as loading the
kernels does, 20 ms."""


class NameTable(NamedTuple):
    """The destinations of a binding set."""

    codes: Int32s
    """For each binding the number of its destination."""
    texts: Texts
    """The distinct destinations, by number."""


class NamedSets(NamedTuple):
    """Sets of destinations."""

    codes: Int32s
    """The numbers of the destinations of each set, each once, set after set."""
    sizes: Int64s
    """Three entries for each set: the index of its first destination, how many it has, and the bytes of their names. Behind them
    three for an empty set."""
    texts: Texts
    """The destinations, by number."""

    @property
    def counts(self) -> Int64s:
        """For each set how many destinations it has."""
        return self.sizes[1:-3:3]

    @property
    def lengths(self) -> Int64s:
        """For each set how many bytes the names of its destinations have."""
        return self.sizes[2:-3:3]


def name_table(destinations: Iterable[str]) -> NameTable:
    """Number the distinct destinations in the order of their first binding.

    >>> table = name_table(["x", "y", "x"])
    >>> table.codes.tolist(), table.texts.offsets.tolist()
    ([0, 1, 0], [0, 1, 2])
    """
    numbers: dict[str, int] = {}
    codes = np.fromiter((numbers.setdefault(name, len(numbers)) for name in destinations), np.int32)
    return NameTable(frozen(codes), texts_of(numbers, 0))


def names_of_members(members: Int32s, name_of: Callable[[int], str]) -> NameTable:
    """Return a name table of some members alone: the others have the number of one of these.

    >>> table = names_of_members(np.array([2, 0, 2], np.int32), ["x", "y", "z"].__getitem__)
    >>> table.codes.tolist(), table.texts.offsets.tolist()
    ([0, 0, 1], [0, 1, 2])
    """
    met = np.zeros(int(members.max(initial=-1)) + 1, bool)
    met[members] = True
    used = np.flatnonzero(met)
    some = name_table(map(name_of, used.tolist()))
    codes = np.zeros(len(met), np.int32)
    codes[used] = some.codes
    return NameTable(frozen(codes), some.texts)


class _Kernels(NamedTuple):
    direct: Any
    end_lists: Any
    copy_members: Any
    name_sets: Any
    total_names: Any
    at_once: int


_BEFORE = Before()
"""What Arrow did in this process."""


def _kernels(rows: int) -> _Kernels | None:
    """Return the kernels if they pay."""
    return _loaded() if _BEFORE.enough(SOON, rows + CALL) else None


@cache
def _loaded() -> _Kernels:
    from compiler.kernels.calling import direct
    from compiler.kernels.leading import AT_ONCE
    from compiler.kernels.listing import copy_members, end_lists, name_sets, total_names

    return _Kernels(direct, end_lists, copy_members, name_sets, total_names, AT_ONCE)


def lists_of_members(batch: SetBatch) -> pa.ListArray:
    """Return for each row the members of its set; they are under 2^31 in all.

    >>> batch = SetBatch(np.array([1, -1, 0], np.int32), np.array([0, 1, 3], np.int32), np.array([5, 5, 7], np.int32))
    >>> lists_of_members(batch).to_pylist()
    [[5, 7], None, [5]]
    """
    ids, offsets, members = (frozen(one) for one in batch)
    kernels = _kernels(len(ids))
    if kernels is None:
        return lists_of(_MEMBERS, offsets, int32_array(members)).take(with_nulls(ids))
    ends = new(len(ids) + 1, np.int32)
    count = kernels.direct(kernels.end_lists, ids, offsets, ends)
    values = new(count + kernels.at_once, np.int32)
    kernels.direct(kernels.copy_members, ids, offsets, members, values)
    return lists_of(_MEMBERS, ends, int32_array(values, count=count), _valid(ids))


def name_sets(batch: SetBatch, table: NameTable) -> NamedSets:
    """Return the destinations of each set, once each, in the order of their first member.

    >>> batch = SetBatch(np.array([], np.int32), np.array([0, 2, 3], np.int32), np.array([0, 2, 1], np.int32))
    >>> named = name_sets(batch, name_table(["x", "long", "x"]))
    >>> named.codes.tolist(), named.counts.tolist(), named.lengths.tolist()
    ([0, 1], [1, 1], [1, 4])
    """
    offsets, members = frozen(batch.offsets), frozen(batch.positions)
    codes_of, name_offsets = frozen(table.codes), frozen(table.texts.offsets)  # a router that was pickled has others
    names = len(table.texts.offsets) - 1
    most = int(np.diff(offsets).max(initial=0)) if names < len(table.codes) else 0
    kernels = _kernels(len(members))
    if kernels is None:
        return _plainly_named(offsets, members, table, repeats=most > 1)
    seen = np.zeros(1 << (2 * most - 1).bit_length() if most > 1 else 0, np.uint64)
    codes, sizes = np.empty(len(members), np.int32), np.empty(3 * len(offsets), np.int64)
    used = kernels.direct(kernels.name_sets, offsets, members, codes_of, name_offsets, seen, codes, sizes)
    if used < 0:
        raise IndexError(f"a set has a binding that is none of {len(table.codes):,}")
    return NamedSets(codes[:used], sizes, table.texts)


def _plainly_named(offsets: Int32s, members: Int32s, table: NameTable, *, repeats: bool) -> NamedSets:
    codes, names = table.codes[members], len(table.texts.offsets) - 1
    if repeats:  # of equal pairs (set, destination) the first is kept
        sets = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        _, first = np.unique(sets * np.int64(names) + codes, return_index=True)
        first.sort()
        codes = codes[first]
        offsets = np.concatenate(([0], np.cumsum(np.bincount(sets[first], minlength=len(offsets) - 1))))
    name_ends = table.texts.offsets  # of which a batch may need few
    lengths = np.concatenate(([0], np.cumsum(name_ends[codes + 1] - name_ends[codes])))[offsets]
    sizes = np.stack((offsets, np.diff(offsets, append=offsets[-1]), np.diff(lengths, append=lengths[-1])), axis=1)
    return NamedSets(codes, sizes.astype(np.int64).ravel(), table.texts)


def lists_of_names(set_ids: Int32s, named: NamedSets) -> pa.ListArray:
    """Return for each row the names of its set; they and their bytes are under 2^31 in all.

    >>> batch = SetBatch(np.array([1, -1], np.int32), np.array([0, 2, 3], np.int32), np.array([0, 2, 1], np.int32))
    >>> lists_of_names(batch.set_ids, name_sets(batch, name_table(["x", "long", "x"]))).to_pylist()
    [['long'], None]
    """
    kernels = _kernels(len(set_ids))
    if kernels is None:
        return _plainly_listed(set_ids, named)
    valid, totals = _valid(set_ids), np.empty(2, np.int64)
    ids = frozen(set_ids if valid is None else np.where(set_ids < 0, np.int32(len(named.sizes) // 3 - 1), set_ids))
    kernels.direct(kernels.total_names, ids, named.sizes, totals)
    count, length = totals.tolist()
    if not count:
        return empty_lists(NAMES, len(ids), valid)
    return written_names(ids, named.codes, named.sizes, named.texts, count, length, valid)


def _plainly_listed(set_ids: Int32s, named: NamedSets) -> pa.ListArray:
    _, offsets, data = named.texts
    names = pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
    rows = lists_of(_MEMBERS, named.sizes[::3].astype(np.int32), int32_array(named.codes)).take(with_nulls(set_ids))
    texts = names.take(rows.values).cast(pa.string())
    return pa.ListArray.from_arrays(rows.offsets, texts, mask=rows.is_null() if rows.null_count else None)


def with_nulls(set_ids: Int32s) -> pa.Int32Array:
    """Return set numbers as Arrow's, null for a null row."""
    return int32_array(set_ids, _valid(set_ids))


def _valid(set_ids: npt.NDArray[np.int32]) -> pa.Buffer | None:
    """Return a bit for each row, or None if no row is null."""
    if set_ids.min(initial=0) >= 0:  # takes a third of the time that the bits take
        return None
    return pa.py_buffer(np.packbits(set_ids >= 0, bitorder="little"))
