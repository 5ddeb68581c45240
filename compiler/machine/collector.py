"""The answer of a run as it grows: a set number per key, and the accept sets that these numbers refer to.

Sets are handed over in portions while a batch is matched (when a cache is cleared, when keys are simulated), so equal sets
may occur more than once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compiler.errors import CapacityError
from compiler.values import Int32s, SetBatch

__all__ = ["Collector", "joined"]

MOST_PAIRS = 2**31 - 1
"""The most entries of all sets of a batch: their offsets have 32 bits."""


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

    def sets(self) -> SetBatch:
        """Return everything as one answer."""
        first = self.base
        for ends, tags in zip(self._loose_ends, self._loose, strict=True):
            self._append(ends, tags)
        if self._loose:
            np.subtract(first - 2, self._ids, out=self._ids, where=self._ids < -1)
        return SetBatch(
            self._ids,
            np.concatenate(self._offsets),
            np.concatenate(self._tags) if self._tags else np.empty(0, np.int32),
        )


def joined(set_ids: Int32s, parts: Sequence[SetBatch]) -> SetBatch:
    """Put the answers for consecutive keys together; each part's set numbers are a slice of ``set_ids``, and change there."""
    found = Collector(set_ids)
    for part in parts:
        if found.base > 0:
            ids = part.set_ids
            np.add(ids, found.base, out=ids, where=True if ids.min(initial=0) >= 0 else ids >= 0)
        found.add(part.offsets, part.positions)
    return found.sets()
