"""What goes into a machine and comes out: columns of keys, and a set of accept tags for each.

A result is a set number per key and a table of sets. Sets are handed over in portions while a batch is matched (when a
cache is cleared, when keys are simulated), so equal sets may occur more than once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.errors import CapacityError
from compiler.tables import PADDING, frozen

__all__ = ["Collector", "Column", "Sets", "joined", "readable", "shares"]

Int32s = npt.NDArray[np.int32]

NO_NULLS = np.empty(0, np.bool_)
MOST_PAIRS = 2**31 - 1
"""The most entries of all sets of a batch: their offsets have 32 bits."""


class Column(NamedTuple):
    """Keys as bytes: key i is ``data[offsets[i]:offsets[i + 1]]``, and null where ``valid[i]`` is False."""

    offsets: Int32s
    data: npt.NDArray[np.uint8]
    valid: npt.NDArray[np.bool_] | None


class Sets(NamedTuple):
    """A set number per key, -1 for null, and the sets: set s is ``tags[offsets[s]:offsets[s + 1]]``, ascending."""

    set_ids: Int32s
    offsets: Int32s
    tags: Int32s


class Collector:
    """The answer of one run as it grows: set numbers per key, and the accept sets that they refer to."""

    def __init__(self, set_ids: Int32s) -> None:
        """Begin an answer whose set numbers are written to ``set_ids``."""
        self.base = 0
        """The number that the next set handed over will get."""
        self._ids = set_ids
        self._offsets: list[Int32s] = [np.zeros(1, np.int32)]
        self._tags: list[Int32s] = []
        self._pairs = 0
        self._loose: list[Int32s] = []
        self._loose_ends: list[Int32s] = []
        self.loose = -2
        """What the next loose set is called until the end, when its number is known; each further one is called one less."""

    def add(self, ends: Int32s, tags: Int32s) -> None:
        """Take sets over: set i of these is ``tags[ends[i]:ends[i + 1]]``. The arrays are copied."""
        self._append(ends[1:], tags.copy())

    def _append(self, ends: Int32s, tags: Int32s) -> None:
        if self._pairs + len(tags) > MOST_PAIRS:
            raise CapacityError("the accept sets of this batch have over 2^31 entries: match it in smaller batches")
        self._offsets.append(ends + np.int32(self._pairs))
        self._tags.append(tags)
        self._pairs += len(tags)
        self.base += len(ends)

    def add_loose(self, ends: Int32s, tags: Int32s) -> None:
        """Take sets over that are no cache's: set i is called ``loose - i``, and is ``tags[ends[i - 1]:ends[i]]``. The arrays are kept."""
        self._loose_ends.append(ends)
        self._loose.append(tags)
        self.loose -= len(ends)

    def sets(self) -> Sets:
        """Return everything as one answer."""
        first = self.base
        for ends, tags in zip(self._loose_ends, self._loose, strict=True):
            self._append(ends, tags)
        if self._loose:
            np.subtract(first - 2, self._ids, out=self._ids, where=self._ids < -1)
        return Sets(
            self._ids,
            np.concatenate(self._offsets),
            np.concatenate(self._tags) if self._tags else np.empty(0, np.int32),
        )


def joined(set_ids: Int32s, parts: Sequence[Sets]) -> Sets:
    """Put the answers for consecutive keys together; each part's set numbers are a slice of ``set_ids``, and change there."""
    found = Collector(set_ids)
    for part in parts:
        if found.base > 0:
            ids = part.set_ids
            np.add(ids, found.base, out=ids, where=True if ids.min(initial=0) >= 0 else ids >= 0)
        found.add(part.offsets, part.tags)
    return found.sets()


def shares(columns: Sequence[Column], set_ids: Int32s, count: int) -> list[tuple[list[Column], Int32s]]:
    """Cut columns, and the array for their set numbers, into ``count`` runs of consecutive keys, as equal as can be."""
    rows = len(set_ids)
    bounds = [rows * i // count for i in range(count + 1)]
    cut: list[list[Column]] = [[] for _ in range(count)]
    start = 0
    for offsets, data, valid in columns:
        stop = start + len(offsets) - 1
        for share, low, high in zip(cut, bounds[:-1], bounds[1:], strict=True):
            first, last = max(low, start) - start, min(high, stop) - start
            if first < last:
                share.append(Column(offsets[first : last + 1], data, None if valid is None else valid[first:last]))
        start = stop
    return list(zip(cut, np.split(set_ids, bounds[1:-1]), strict=True))


def readable(column: Column) -> Iterator[tuple[slice, Column]]:
    """Cut a column into at most two parts that kernels may read: which rows these are, and their keys.

    Kernels may look PADDING bytes beyond a key, so the keys at the end of the buffer are copied to one that has them.
    """
    offsets, data, valid = column
    rows = len(offsets) - 1
    # A number of another type would have all offsets converted.
    last = np.int32(min(max(len(data) - PADDING, -1), 2**31 - 1))
    safe = int(np.searchsorted(offsets[1:], last, side="right"))
    mask = NO_NULLS if valid is None else valid
    if safe:
        yield slice(safe), Column(frozen(offsets[: safe + 1]), frozen(data), frozen(mask[:safe]))
    if safe < rows:
        ends = offsets[safe:]
        tail = np.zeros(int(ends[-1] - ends[0]) + PADDING, np.uint8)
        tail[: len(tail) - PADDING] = data[ends[0] : ends[-1]]
        yield slice(safe, rows), Column(frozen(ends - ends[0]), frozen(tail), frozen(mask[safe:]))
