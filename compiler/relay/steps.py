"""The steps of a relay's rows: the cache of itineraries with the kernels that read and fill it, for one caller at a time."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from compiler.errors import CapacityError
from compiler.kernels.relay_tables import DONE, EPOCH, FOUND, NEXT, STATES, WRONG, Directory, Itineraries, Network, Room
from compiler.kernels.tables import Bools
from compiler.relay.itineraries import empty_itineraries, grown, make_scratch, nbytes
from compiler.values import Int32s, SetBatch

__all__ = ["FullError", "Steps"]

MOST_EPOCHS = 1 << 30
MOST_VALUES = 2**31 - 1


@cache
def _kernels() -> tuple[Any, Any, Any]:
    """Import as late as all kernels: to ask for a module's names at each batch would take 2 us."""
    from compiler.kernels.calling import direct
    from compiler.kernels.relay_batches import pass_on, publish

    return direct, publish, pass_on


class FullError(Exception):
    """The cache would take more bytes than it may."""


class Steps:
    """A cache, and room to work itineraries out. What an exception leaves behind is not used again: see :meth:`start_over`."""

    limit: int | None = None
    """The most bytes of the cache; None is no bound. A method that needs more raises :class:`FullError`."""

    def __init__(self, network: Network, outputs: int) -> None:
        """Begin with an empty cache; there are so many ``outputs``."""
        self._network, self._outputs = network, outputs
        self._cache: Itineraries
        self._marks: Int32s
        self._numbered: list[Int32s]
        self.start_over()

    def start_over(self) -> None:
        """Make everything anew."""
        self._scratch = make_scratch(self._network, self._outputs)
        self._empty()

    def clear(self) -> None:
        """Forget all itineraries."""
        epoch = self._cache.counts[EPOCH]
        self._empty()
        self._cache.counts[EPOCH] = epoch  # the marks in the scratch space go on

    @property
    def nbytes(self) -> int:
        """The bytes of the cache."""
        return nbytes(self._cache)

    def begin(self, stations: Int32s, itineraries: Int32s, rows: Int32s, at: Int32s) -> int:
        """Write the itinerary of keys that begin at stations, the rows that wait, and where; return how many wait."""
        from compiler.kernels.calling import direct
        from compiler.kernels.relay import begin_rows

        self._count_epochs()
        row = found = 0
        while True:
            where = stations, itineraries, rows, at, row, found
            status = int(direct(begin_rows, self._network, self._cache, self._scratch, *where))
            if status >= 0:
                return status
            self._grow(-status)
            row, found = int(self._cache.counts[NEXT]), int(self._cache.counts[FOUND])

    def publish(self, directory: Directory, room: Room, rows: int, longest: int, word: int) -> bool:
        """Begin a plain batch; return False if it must go the general way. See :mod:`compiler.kernels.relay_batches`."""
        direct, publish, _ = _kernels()
        self._count_epochs()
        while True:
            self._lengthen_marks()
            known = directory, self._network, self._cache, self._scratch, room, self._marks
            status = int(direct(publish, *known, rows, longest, word))
            if status >= 0:
                return status != WRONG
            self._grow(-status)

    def pass_on(self, room: Room, rows: int, sets: SetBatch, conditions: Int32s) -> bool:
        """Take the rows of a plain batch that wait one step further, given their accept sets; the rest as for :meth:`advance`."""
        direct, _, pass_on = _kernels()
        names = np.empty(len(sets.offsets) - 1, np.int32)
        last = np.empty(2 * len(names), np.int32)
        row = 0
        while True:
            self._lengthen_marks()
            known = self._network, self._cache, self._scratch, room, self._marks, rows
            status = int(direct(pass_on, *known, *sets, conditions, names, last, row))
            if status >= 0:
                return status != WRONG
            self._grow(-status)
            row = int(self._cache.counts[NEXT])

    def advance(self, itineraries: Int32s, rows: Int32s, sets: SetBatch, conditions: Int32s) -> None:
        """Take rows one step further, given the accept set of each and the condition that each accept tag stands for."""
        from compiler.kernels.calling import direct
        from compiler.kernels.relay import advance_rows

        names = np.full(len(sets.offsets) - 1, -1, np.int32)
        last = np.zeros(2 * len(names), np.int32)
        row = 0
        while True:
            where = itineraries, rows, *sets, conditions, names, last, row
            status = int(direct(advance_rows, self._network, self._cache, self._scratch, *where))
            if status == DONE:
                return
            self._grow(-status)
            row = int(self._cache.counts[NEXT])

    def set_aside(self, asked: Bools, rows: Int32s, at: Int32s) -> tuple[Int32s, Int32s, Int32s, Int32s]:
        """Return the rows that wait at stations that are not ``asked``, and where; and the same of the others."""
        from compiler.kernels.calling import direct
        from compiler.kernels.relay import set_aside

        size = len(rows)
        parts = np.empty(4 * size, np.int32)
        kept = int(direct(set_aside, asked, rows, at, parts))
        aside, where = parts[2 * size :], parts[3 * size :]
        return parts[:kept], parts[size : size + kept], aside[: size - kept], where[: size - kept]

    def still_waiting(self, itineraries: Int32s, rows: Int32s, at: Int32s) -> int:
        """Keep the rows that wait, in place, write where to ``at``, and return how many they are."""
        from compiler.kernels.calling import direct
        from compiler.kernels.relay import still_waiting

        return int(direct(still_waiting, self._cache, itineraries, rows, at))

    def conclude(self, itineraries: Int32s, route_ids: Int32s, base: int) -> Int32s:
        """Number the itineraries of rows, new ones from ``base`` on; return these, in the order of their numbers."""
        from compiler.kernels.calling import direct
        from compiler.kernels.relay import conclude_rows

        self._lengthen_marks()
        used = np.empty(min(len(itineraries), int(self._cache.counts[STATES])), np.int32)
        count = int(direct(conclude_rows, itineraries, self._marks, route_ids, used, base))
        self._numbered.append(used[:count])
        return used[:count]

    def outputs(self, used: Int32s, begin: int) -> tuple[Int32s, Int32s]:
        """Return the outputs of itineraries, and where those of each end, from ``begin`` on."""
        from compiler.kernels.calling import direct
        from compiler.kernels.relay import copy_outputs, measure_outputs

        ends = np.empty(len(used) + 1, np.int32)
        ends[0] = begin
        total = int(direct(measure_outputs, self._cache, used, ends))
        if total > MOST_VALUES:
            raise CapacityError("the routes of this batch have over 2^31 entries in all: route it in smaller batches")
        values = np.empty(total - begin, np.int32)
        direct(copy_outputs, self._cache, used, ends - np.int32(begin), values)
        return ends[1:], values

    def forget_numbers(self) -> None:
        """Forget what :meth:`conclude` has numbered."""
        for used in self._numbered:
            self._marks[used] = -1
        self._numbered = []

    def _count_epochs(self) -> None:
        """Begin to count epochs anew before their numbers are used up."""
        if self._cache.counts[EPOCH] > MOST_EPOCHS:
            self._cache.counts[EPOCH] = 0
            self._scratch = make_scratch(self._network, self._outputs)

    def _lengthen_marks(self) -> None:
        """Have a mark for each itinerary that the cache has room for."""
        if len(self._marks) < len(self._cache.waits):
            more = np.full(len(self._cache.waits) - len(self._marks), -1, np.int32)
            self._marks = np.concatenate((self._marks, more))

    def _empty(self) -> None:
        self._cache = empty_itineraries(self._network)
        self._marks = np.full(len(self._cache.waits), -1, np.int32)
        self._numbered = []

    def _grow(self, table: int) -> None:
        larger = grown(self._cache, table, self.limit)
        if larger is None:
            raise FullError
        self._cache = larger
