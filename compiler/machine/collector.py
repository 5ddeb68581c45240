"""The answer of a run as it grows: a set number per key, and the accept sets that these numbers refer to.

Sets come from two sides. Those of a cache are handed over when it is cleared and at the end of the run, and only those that
the run's keys refer to, so that an answer is as large as its keys and their sets, whatever the cache holds. Those of
simulated keys are written here at once. Equal sets may occur more than once if they are small.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from compiler.errors import CapacityError
from compiler.kernels.tables import BLOCK, longer
from compiler.kernels.work import EMPTY_SET, NEXT_KEY, SETS_FOUND, SETS_SHARED, SHARED_FROM, TAGS_WANTED, FoundSets
from compiler.values import Int32s, SetBatch

__all__ = ["Collector", "SimulatedSets", "joined"]

MOST_TAGS = 2**31 - 1
"""The most accept tags of all sets of an answer: their offsets have 32 bits."""
FIRST_SIMULATED = -2
"""The number of the first simulated set while an answer grows; each further one has the number below. -1 is a null key."""
FEW = 16
"""A cache's sets are handed over whole if they and their tags are at most this many for each key."""
DENSE = 32
"""The sets that are asked for are found by a mark for each set of the cache where there are at most this many for each key."""

GROWTH = 4
"""How many times as long the array of simulated tags gets: with 2, a key of `nservicebus` takes 1.04 times as long."""
SMALL = 32
"""Rows whose sets are taken over one by one."""
TOGETHER = 1 << 14
"""Tags of a cache that are copied at once: what tells their places stays near the processor."""

Indices = npt.NDArray[np.intp]


class SimulatedSets:
    """The accept sets of simulated keys, in arrays that kernels fill."""

    def __init__(self) -> None:
        """Begin without any."""
        self.found = _none_found()

    def reserve(self, keys: int, tags: int = 0) -> None:
        """Make room for a set for each of so many further keys, and for so many tags in all."""
        if tags > len(self.found.tags):
            self.found = self.found._replace(tags=longer(self.found.tags, tags))
        found = self.found
        wanted = int(found.counts[SETS_FOUND]) + keys
        if wanted > len(found.ends):
            self.found = found._replace(ends=longer(found.ends, max(wanted, 2 * len(found.ends))))

    def mark(self) -> tuple[int, ...]:
        """Return what :meth:`rewind` needs to forget the sets that come from now on."""
        counts = self.found.counts
        return int(counts[SETS_FOUND]), int(counts[EMPTY_SET]), int(counts[SETS_SHARED])

    def rewind(self, mark: tuple[int, ...]) -> None:
        """Forget the sets that came since, to which nothing refers; they stay if large ones are among them, which others may share."""
        counts = self.found.counts
        if counts[SETS_SHARED] == mark[2]:
            counts[[SETS_FOUND, EMPTY_SET]] = mark[:2]

    @property
    def size(self) -> int:
        """The tags of all sets."""
        count = int(self.found.counts[SETS_FOUND])
        return int(self.found.ends[count - 1]) if count else 0

    def take(self, more: int) -> tuple[Int32s, Int32s]:
        """Return where each set ends in the tags, and the tags, with room for ``more`` behind them; the sets are here no longer.

        Arrays become as long as they must be where they are: to copy them took 60 ns for a key of `nservicebus`.
        """
        ends, tags, _, counts = self.found
        tags, ends = _cut(tags, self.size + more), _cut(ends, int(counts[SETS_FOUND]))
        self.found = _none_found()
        return ends, tags

    def grow(self) -> int:
        """Make room where a kernel has stopped for want of it; return the key to go on with. Raises :class:`CapacityError`."""
        found = self.found
        wanted = int(found.counts[TAGS_WANTED])
        if wanted > MOST_TAGS:
            raise CapacityError(_TOO_MANY)
        if wanted > len(found.tags):
            size = min(max(GROWTH * len(found.tags), wanted), MOST_TAGS)
            self.found = found._replace(tags=longer(found.tags, size))
        elif 2 * (found.counts[SETS_SHARED] + BLOCK) > len(found.slots):
            from compiler.kernels.interning import rehash  # as late as all kernels

            slots = np.zeros(2 * len(found.slots), np.uint64)
            rehash(found.slots, slots)
            self.found = found._replace(slots=slots)
        return int(found.counts[NEXT_KEY])


def _cut(array: Int32s, size: int) -> Int32s:
    """Return an array of another length that begins as this one, which is of no use afterwards."""
    if not array.flags.owndata:
        return longer(array[:size], size)
    array.resize(size, refcheck=False)  # nobody else has it: it was made here
    return array


def _none_found() -> FoundSets:
    return FoundSets(
        ends=np.empty(0, np.int32),
        tags=np.empty(64, np.int32),
        slots=np.zeros(4 * BLOCK, np.uint64),
        counts=np.zeros(5, np.int64),
    )


class Collector:
    """The answer of one run as it grows."""

    def __init__(self, set_ids: Int32s) -> None:
        """Begin an answer whose set numbers are written to ``set_ids``."""
        self.base = 0
        """The number that the next set of the cache will get, if it is handed over with all others."""
        self.simulated = SimulatedSets()
        self._ids = set_ids
        self._start = 0
        """The first row that may refer to a set of the cache that has not been handed over."""
        self._offsets: list[Int32s] = [np.zeros(1, np.int32)]
        self._tags: list[Int32s] = []
        self._count = 0
        self._large: dict[bytes, int] = {}
        """The numbers of large sets by their digests, as far as they were looked at."""
        self._seen = 0
        """How many entries of ``_tags`` were."""

    @property
    def rows(self) -> int:
        """The rows that the answer will have."""
        return len(self._ids)

    def add(self, offsets: Int32s, tags: Int32s, stop: int) -> None:
        """Take over the sets of a cache that rows before ``stop`` refer to; the arrays are copied.

        Set s is ``tags[offsets[s]:offsets[s + 1]]``, and rows call it ``base + s``; some are given other numbers.
        """
        ids = self._ids[self._start : stop]
        self._start = stop
        if len(offsets) + len(tags) <= FEW * len(ids):
            self._append(offsets[1:], tags.copy())
            return
        if len(ids) <= SMALL and not self._tags:
            self._add_few(offsets, tags, ids)
            return
        asking = np.flatnonzero(ids >= self.base)
        asked = ids[asking] - self.base
        if len(offsets) <= DENSE * len(ids):  # a mark for each set of the cache: a tenth of the time of sorting
            marks = np.zeros(len(offsets), np.bool_)
            marks[asked] = True
            used, numbers = np.flatnonzero(marks), (np.cumsum(marks) - 1)[asked]
        else:
            used, numbers = np.unique(asked, return_inverse=True)
        names, used = self._named(used, offsets, tags)
        ids[asking] = names[numbers]
        starts, sizes = offsets[used], offsets[used + 1] - offsets[used]
        ends = np.cumsum(sizes, dtype=np.int64)
        if len(ends) and ends[-1] > MOST_TAGS:
            raise CapacityError(_TOO_MANY)
        self._append(ends.astype(np.int32), _chosen(tags, starts, sizes, ends))

    def join(self, offsets: Int32s, tags: Int32s, stop: int) -> None:
        """Do as :meth:`add` with sets of which all are referred to, as those of another answer are.

        They are taken over as they are: to choose them among themselves took a quarter of the time of two threads on `hard`. But large ones may be
        there already.
        """
        if self._tags and np.diff(offsets).max(initial=0) >= SHARED_FROM:
            self.add(offsets, tags, stop)
        else:
            self._start = stop
            self._append(offsets[1:], tags)

    def lengthen(self, rows: int) -> Int32s:
        """Have room for the set numbers of so many further rows; return those of all rows."""
        self._ids = np.append(self._ids, np.empty(rows, np.int32))
        return self._ids

    def _named(self, used: Indices, offsets: Int32s, tags: Int32s) -> tuple[Indices, Indices]:
        """Return the numbers of these sets in the answer, and those among them that are to be added, in this order.

        A large set is added once, also if the cache was cleared in between; a small one takes hardly more than its keys.
        """
        large = np.flatnonzero(offsets[used + 1] - offsets[used] >= SHARED_FROM)
        if not self._tags or not len(large):
            return self.base + np.arange(len(used)), used
        self._see()
        there = np.zeros(len(used), np.bool_)
        names = np.empty(len(used), np.int64)
        for i in large.tolist():
            number = self._large.get(_digest(tags[offsets[used[i]] : offsets[used[i] + 1]]))
            if number is not None:
                there[i], names[i] = True, number
        names[~there] = self.base + np.arange(np.count_nonzero(~there))
        return names, used[~there]

    def _see(self) -> None:
        """Enter the large sets that were added since into ``_large``."""
        first = self.base - sum(len(ends) for ends in self._offsets[1 + self._seen :])
        for ends, tags in zip(self._offsets[1 + self._seen :], self._tags[self._seen :], strict=True):
            starts = np.concatenate((ends[-1:] - len(tags), ends[:-1]))
            at = starts - starts[:1]
            sizes = ends - starts
            for i in np.flatnonzero(sizes >= SHARED_FROM).tolist():
                self._large.setdefault(_digest(tags[at[i] : at[i] + sizes[i]]), first + i)
            first += len(ends)
        self._seen = len(self._tags)

    def _add_few(self, offsets: Int32s, tags: Int32s, ids: Int32s) -> None:
        """Take over the sets of a few rows, one by one: for one row 3 us, and 20 by whole-array steps."""
        base, numbers = self.base, ids.tolist()
        used: dict[int, int] = {}
        for row, number in enumerate(numbers):
            if number >= base:
                numbers[row] = base + used.setdefault(number - base, len(used))
        ids[:] = numbers
        if used:
            sets = [tags[offsets[one] : offsets[one + 1]] for one in used]
            ends = list(accumulate(map(len, sets)))
            if ends[-1] > MOST_TAGS:
                raise CapacityError(_TOO_MANY)
            self._append(np.array(ends, np.int32), np.concatenate(sets))

    def batch(self) -> SetBatch:
        """Return everything as one answer."""
        offsets, tags = np.concatenate(self._offsets), _joined(self._tags)
        if self.simulated.found.counts[SETS_FOUND]:
            if self._count + self.simulated.size > MOST_TAGS:
                raise CapacityError(_TOO_MANY)
            from compiler.kernels.calling import direct  # as late as all kernels
            from compiler.kernels.interning import number_anew

            first, found = self.simulated.take(len(tags))
            found[len(found) - len(tags) :] = tags
            # The sets of simulated keys become the first ones: there are most often far more of them, and they stay where they are.
            direct(number_anew, self._ids, len(first), FIRST_SIMULATED)
            offsets, tags = np.concatenate((offsets[:1], first, offsets[1:] + first[-1])), found
        return SetBatch(self._ids, offsets, tags)

    def _append(self, ends: Int32s, tags: Int32s) -> None:
        if self._count + len(tags) > MOST_TAGS:
            raise CapacityError(_TOO_MANY)
        self._offsets.append(ends + np.int32(self._count))
        self._tags.append(tags)
        self._count += len(tags)
        self.base += len(ends)


def joined(set_ids: Int32s, parts: Sequence[SetBatch]) -> SetBatch:
    """Put the answers for consecutive keys together; each part's set numbers are a slice of ``set_ids``, and change there."""
    found = Collector(set_ids)
    end = 0
    for part in parts:
        begin, end = end, end + len(part.set_ids)
        if found.base > 0:
            ids = set_ids[begin:end]
            np.add(ids, found.base, out=ids, where=True if ids.min(initial=0) >= 0 else ids >= 0)
        found.join(part.offsets, part.positions, end)
    return found.batch()


def _joined(parts: Sequence[Int32s]) -> Int32s:
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.int32), *parts])


def _chosen(tags: Int32s, starts: Int32s, sizes: Int32s, ends: npt.NDArray[np.int64]) -> Int32s:
    """Return the runs of tags that begin at ``starts`` and have these sizes, one behind the other; they end at ``ends``.

    They are copied by TOGETHER tags or by a run, as what says where a tag is to be found takes four times as much as a tag.

    >>> _chosen(np.array([5, 6, 7, 8], np.int32), *(np.array(one, np.int32) for one in ([0, 3], [2, 1])), np.array([2, 3])).tolist()
    [5, 6, 8]
    """
    total = int(ends[-1]) if len(ends) else 0
    moved = starts - (ends - sizes)  # from a run's place in the answer to that in the tags
    if total <= TOGETHER:
        found: Int32s = tags[np.arange(total) + np.repeat(moved, sizes)]
        return found
    found = np.empty(total, np.int32)
    first = begin = 0
    while begin < total:
        last = max(first + 1, int(np.searchsorted(ends, begin + TOGETHER, "right")))
        end = int(ends[last - 1])
        places = np.repeat(moved[first:last], sizes[first:last])
        places += np.arange(begin, end)
        np.take(tags, places, out=found[begin:end], mode="clip")  # where it may raise, it takes its answer aside first
        first, begin = last, end
    return found


def _digest(tags: Int32s) -> bytes:
    """Return 16 bytes that stand for a set: two sets with the same ones will not be found."""
    return blake2b(tags.tobytes(), digest_size=16).digest()


_TOO_MANY = "the accept sets of this batch have over 2^31 entries in all: match it in smaller batches"
