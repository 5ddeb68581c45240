"""Columns of keys, cut for those that read them: into shares for threads, and into parts that kernels may read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from compiler.kernels.tables import PADDING, Bytes, Int64s, Keys, frozen
from compiler.values import Int32s, KeyColumn

__all__ = ["end_of_bytes", "gathered", "readable", "shares", "whole"]

NO_NULLS = np.empty(0, np.bool_)
COPIED = 1 << 17
"""Bytes of keys that are copied rather than cut: that takes some microseconds, and another call of a kernel 50. (Arrow arrays of 1,100 to 4,000 keys take 0.80 to 0.88 of the time.)"""


def shares(columns: Sequence[KeyColumn], set_ids: Int32s, count: int) -> list[tuple[list[KeyColumn], Int32s]]:
    """Cut columns, and the array for their set numbers, into ``count`` runs of consecutive keys, as equal as can be."""
    rows = len(set_ids)
    bounds = [rows * i // count for i in range(count + 1)]
    cut: list[list[KeyColumn]] = [[] for _ in range(count)]
    start = 0
    for offsets, data, valid in columns:
        stop = start + len(offsets) - 1
        for share, low, high in zip(cut, bounds[:-1], bounds[1:], strict=True):
            first, last = max(low, start) - start, min(high, stop) - start
            if first < last:
                share.append(KeyColumn(offsets[first : last + 1], data, None if valid is None else valid[first:last]))
        start = stop
    return list(zip(cut, np.split(set_ids, bounds[1:-1]), strict=True))


def readable(column: KeyColumn) -> Iterator[tuple[slice, Keys]]:
    """Cut a column into at most two parts that kernels may read: which rows these are, and their keys.

    Kernels may look PADDING bytes beyond a key, so the keys at the end of the buffer are copied to one that has them; and so are all
    keys, if they are few.
    """
    offsets, data, valid = column
    rows = len(offsets) - 1
    # A number of another type would have all offsets converted.
    last = np.int32(min(max(len(data) - PADDING, -1), 2**31 - 1))
    safe = int(np.searchsorted(offsets[1:], last, side="right"))
    if safe < rows and int(offsets[-1]) - int(offsets[0]) <= COPIED:
        safe = 0
    mask = NO_NULLS if valid is None else valid
    if safe:
        yield slice(0, safe), Keys(frozen(offsets[: safe + 1]), frozen(data), frozen(mask[:safe]))
    if safe < rows:
        ends = offsets[safe:]
        tail = np.zeros(int(ends[-1] - ends[0]) + PADDING, np.uint8)
        tail[: len(tail) - PADDING] = data[ends[0] : ends[-1]]
        yield slice(safe, rows), Keys(frozen(ends - ends[0]), frozen(tail), frozen(mask[safe:]))


def end_of_bytes(offsets: Int32s, first: int, stop: int, most: int) -> int:
    """Return the row, at most ``stop``, up to which the keys from row ``first`` on have about ``most`` bytes; at least one is taken."""
    if int(offsets[stop]) - int(offsets[first]) > most:
        last = np.int32(min(int(offsets[first]) + most, 2**31 - 1))  # another type would have all offsets converted
        # No further than ``stop``: behind it may be offsets of earlier batches.
        stop = max(first + 1, first + int(np.searchsorted(offsets[first : stop + 1], last)))
    return stop


def gathered(offsets: Int32s, data: Bytes, rows: Int64s) -> KeyColumn:
    """Return a copy of some keys of a column, none of which may be null; behind it kernels may read."""
    from compiler.kernels.gathering import gather_ends, gather_keys  # as late as all kernels

    begins, ends = frozen(offsets), np.empty(len(rows) + 1, np.int32)
    copied = np.empty(int(gather_ends(begins, rows, ends)) + PADDING, np.uint8)
    gather_keys(begins, frozen(data), rows, ends, copied)
    return KeyColumn(ends, copied, None)


def whole(column: KeyColumn) -> Keys:
    """Return a column as keys that kernels may read, copying the bytes of all keys where not enough follow the last one."""
    offsets, data, valid = column
    mask = frozen(NO_NULLS if valid is None else valid)
    first, last = int(offsets[0]), int(offsets[-1])
    if last + PADDING <= len(data):
        return Keys(frozen(offsets), frozen(data), mask)
    copied = np.empty(last - first + PADDING, np.uint8)
    copied[: last - first] = data[first:last]
    copied[last - first :] = 0
    return Keys(frozen(offsets if first == 0 else offsets - np.int32(first)), frozen(copied), mask)
