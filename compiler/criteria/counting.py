"""Demands as bitmaps: which of them a combination of criteria satisfies; one object for each matcher.

Bitmaps are kept without their empty words, so the room is in proportion to the criteria of all demands, however many there are:
at most a word and a place, 12 bytes, for each. Those of few demands are kept whole, too, in at most 512 bytes for each criterion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from compiler.criteria.demands import PRESENCE, Demand
from compiler.criteria.vocabulary import Vocabulary
from compiler.errors import CapacityError
from compiler.kernels.tables import Int32s, Int64s, Uint64s, frozen
from compiler.values import SetBatch

__all__ = ["Demands"]

MOST_VALUES = 2**31 - 1
NARROW, FEW_NAMES = 32, 24
"""Of so many words, for 2,048 demands, and with criteria on so many fields, bitmaps are kept whole, for the way without counting."""
ROOM = 1 << 16
"""For so many demands, and twice what one combination may satisfy, there is room at a time."""


class Demands:
    """Numbered demands, whose criteria are those of a vocabulary; immutable.

    >>> demands = [Demand(((b"a", 0, b""), (b"b", 1, b"x")), every=True), Demand(((b"b", 1, b"x"),), every=False)]
    >>> vocabulary = Vocabulary(demands)
    >>> Demands(vocabulary, demands).satisfied(vocabulary.met([(b"b", 1, b"x")]))
    (1,)
    """

    def __init__(self, vocabulary: Vocabulary, demands: Sequence[Demand]) -> None:
        """Number the demands as they come."""
        self._needs = [len(demand.criteria) if demand.every else 0 for demand in demands]
        """How many criteria must be met; 0 for any."""
        self.always = tuple(n for n, demand in enumerate(demands) if demand.every and not demand.criteria)
        """The demands that every message satisfies."""
        owners = [(vocabulary.numbers[one], n) for n, demand in enumerate(demands) for one in demand.criteria]
        self._owners: Int32s = np.array(sorted(owners), np.int32).reshape(-1, 2)
        self._criteria = len(vocabulary.criteria)
        own = [vocabulary.criteria[number][:2] for number in np.unique(self._owners[:, 0]).tolist()]
        names = {name: number for number, name in enumerate(dict.fromkeys(name for name, _ in own))}
        self._names = len(names)
        self._single = all(len({name for name, _, _ in one.criteria}) == len(one.criteria) for one in demands)
        """Whether each demand has one criterion on a field, at most."""
        self._fields = np.array([names[name] for name, _ in own], np.int32)
        self._presence = np.array([kind == PRESENCE for _, kind in own], np.bool_)

    def __len__(self) -> int:
        return len(self._needs)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_bitmaps"}

    def satisfied(self, met: Iterable[int]) -> tuple[int, ...]:
        """Return the demands that a message satisfies which meets these criteria; the plain form of :meth:`satisfied_by`."""
        hits = [0] * len(self)
        for criterion in met:
            first, last = np.searchsorted(self._owners[:, 0], [criterion, criterion + 1]).tolist()
            for demand in self._owners[first:last, 1].tolist():
                hits[demand] += 1
        both = enumerate(zip(hits, self._needs, strict=True))
        counted = {n for n, (hit, need) in both if hit and (need in (0, hit))}
        return tuple(sorted(counted.union(self.always)))

    def satisfied_by(self, ends: Int32s, members: Int32s, used: Int32s) -> SetBatch:
        """Return the demands that each of the combinations ``used`` satisfies, ascending; combination i has the set i."""
        from compiler.kernels._jit import JIT

        if not JIT:
            sets = [self.satisfied(members[ends[one] : ends[one + 1]].tolist()) for one in used.tolist()]
            return SetBatch(
                np.arange(len(used), dtype=np.int32),
                np.cumsum([0, *map(len, sets)]).astype(np.int32),
                np.array([n for one in sets for n in one], np.int32),
            )
        from compiler.kernels.calling import direct
        from compiler.kernels.satisfying import count_hits

        bitmaps = self._tables()
        ends, members, used = frozen(ends), frozen(members), frozen(used)
        counters, chosen = np.zeros_like(bitmaps.needs), np.empty(2 * self._names, np.int64)
        marks, blocked = np.zeros_like(bitmaps.certain), np.empty_like(bitmaps.always)
        offsets, found = [np.zeros(1, np.int64)], [np.empty(0, np.int32)]
        done = 0
        while done < len(used):
            room = np.empty(max(ROOM, 128 * len(bitmaps.always)), np.int32)
            last = np.zeros(len(used) - done + 1, np.int32)
            stop = int(
                direct(count_hits, bitmaps, ends, members, used, done, counters, marks, chosen, blocked, last, room)
            )
            ended = last[1 : stop - done + 1].astype(np.int64)
            offsets.append(ended + offsets[-1][-1])
            found.append(room[: int(last[stop - done])].copy())
            done = stop
        if offsets[-1][-1:].sum() > MOST_VALUES:
            raise CapacityError("the demands that these messages satisfy are over 2^31 in all: ask for fewer at a time")
        ends = np.concatenate(offsets).astype(np.int32)
        return SetBatch(np.arange(len(used), dtype=np.int32), ends, np.concatenate(found))

    def _tables(self) -> Any:
        """What the kernel reads; made when it is first needed."""
        made = self.__dict__.get("_bitmaps")
        if made is None:
            made = self.__dict__["_bitmaps"] = self._made()  # no lock: several threads may make it
        return made

    def _made(self) -> Any:
        from compiler.kernels.satisfying import Bitmaps

        width = max(1, -(-len(self) // 64))
        needs: Int64s = np.array(self._needs, np.int64)
        most = int(np.bincount(self._owners[:, 1]).max()) if len(self._owners) else 1
        planes = max(1, most.bit_length())
        upright = np.concatenate([_bitmap(np.flatnonzero(needs >> plane & 1), width) for plane in range(planes)])
        criteria, places = self._owners[:, 0].astype(np.int64), self._owners[:, 1].astype(np.int64)
        cells, of_cell = np.unique(criteria * width + places // 64, return_inverse=True)
        words: Uint64s = np.zeros(len(cells), np.uint64)
        np.bitwise_or.at(words, of_cell, np.uint64(1) << (places % 64).astype(np.uint64))
        own, starts = np.unique(cells // width, return_index=True)
        always = _bitmap(np.array(self.always, np.int64), width)
        every = _bitmap(np.flatnonzero(needs > 0), width)
        few = width <= NARROW and 0 < self._names <= FEW_NAMES and self._single
        # Only where they are used: of a million demands they would be 100 GiB.
        whole: Uint64s = np.zeros((len(own) if few else 0, width), np.uint64)
        if few:
            whole[np.searchsorted(own, cells // width), cells % width] = words
        blocks, hits = self._ruled_out(whole, every) if few else (whole[:0], whole[:0])
        sparse = self._criteria > 16 * len(own)
        place_of = np.full(0 if sparse else self._criteria, -1, np.int32)
        if not sparse:
            place_of[own] = np.arange(len(own))
        return Bitmaps(
            criteria=frozen(own.astype(np.int32)),
            starts=frozen(np.append(starts, len(cells)).astype(np.int64)),
            places=frozen((cells % width).astype(np.int32)),
            words=frozen(words),
            needs=frozen(upright),
            every=frozen(every),
            always=frozen(always),
            certain=frozen(_bitmap(np.flatnonzero(always), -(-width // 64))),
            own=frozen(place_of),
            fields=frozen((2 * self._fields + ~self._presence).astype(np.int32)),
            blocks=frozen(blocks.ravel()),
            hits=frozen(hits.ravel()),
        )

    def _ruled_out(self, whole: Uint64s, every: Uint64s) -> tuple[Uint64s, Uint64s]:
        """Return which demands on all each criterion rules out, and then each field that is not there; and those on any it satisfies.

        Whoever meets a criterion on a value meets that of the field's presence, too.
        """
        asked: Uint64s = np.zeros((self._names, whole.shape[1]), np.uint64)
        np.bitwise_or.at(asked, self._fields, whole)
        present = np.zeros_like(asked)
        present[self._fields[self._presence]] = whole[self._presence]
        satisfied = whole | present[self._fields]
        blocks = np.concatenate([asked[self._fields] & ~satisfied, asked]) & every
        hits = np.concatenate([satisfied, np.zeros_like(asked)]) & ~every
        return blocks, hits if hits.any() else hits[:0]


def _bitmap(bits: Int64s, width: int) -> Uint64s:
    """Return a bitmap of ``width`` words."""
    made = np.zeros(width, np.uint64)
    np.bitwise_or.at(made, bits // 64, np.uint64(1) << (bits % 64).astype(np.uint64))
    return made
