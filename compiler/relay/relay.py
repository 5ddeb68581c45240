"""A relay: whole columns of keys go from station to station in kernels.

Each station has its own patterns. A key that waits at a station is read by one automaton for all stations, behind a word that
says which station it is; the accept set says which conditions it meets, and so where it goes. What follows from a set is
worked out once and kept (:mod:`compiler.kernels.relay_tables`). The keys of a batch take their first steps together, then their
second ones, until none waits. Stations whose conditions depend on more than the key are asked through a function.

Results depend neither on what the cache has room for nor on which keys came before. Where even a part of a batch needs more
than the cache may have, a smaller part is tried; one row may take what it needs.

Rejected: an automaton for each station (a batch of 256 keys spent 22 us a key on calling a dozen of them), and one automaton
whose start for a station is the union of all stations that can be reached from there: its accept sets, and so its states,
multiply with stations that a key never gets to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from compiler.errors import CapacityError
from compiler.kernels.relay_tables import DONE, EPOCH, FOUND, NEXT, STATES, Network
from compiler.kernels.tables import PADDING, Bytes, Keys, frozen
from compiler.leases import Lease, Leases
from compiler.machine.columns import readable
from compiler.relay.itineraries import empty_itineraries, grown, make_scratch, nbytes
from compiler.values import Int32s, KeyColumn, SetBatch

__all__ = ["Ask", "Relay"]

CHUNK, CHUNK_BYTES = 1 << 15, 64 << 20
"""Rows, and bytes of keys, that take their steps together."""
LEAST_BYTES = 1 << 18
"""What the cache may always have."""
FEW = 1 << 12
"""A chunk that does not fit is tried again with a quarter of its rows; below so many, row by row."""
MOST_EPOCHS = 1 << 30
MOST_VALUES = 2**31 - 1


class BatchMatcher(Protocol):
    """The automaton."""

    def match_batch(self, columns: list[KeyColumn]) -> SetBatch:
        """Return the accept tags of every key."""


Ask = Callable[[int, Int32s], SetBatch]
"""From a station, and rows of the batch, to the conditions that each of these rows meets there; conditions are numbered as the
network does."""


class Relay:
    """Stations, their automaton, and a bounded cache; usable from several threads, signal handlers and forks."""

    def __init__(
        self,
        network: Network,
        outputs: int,
        machine: BatchMatcher,
        tags: Int32s,
        words: tuple[Int32s, Bytes],
        capacity: int,
        asked: Int32s,
    ) -> None:
        """Begin with an empty cache of at most ``capacity`` bytes, or LEAST_BYTES if that is more.

        ``machine`` reads keys behind the ``words`` of stations, and its accept tag t says that the key meets condition
        ``tags[t]``. Stations of the list ``asked`` are asked for by a function.
        """
        self._network = network
        self._outputs = outputs
        self._machine = machine
        self._tags = frozen(tags)
        self._conditions = frozen(np.arange(int(network.conditions[-1]), dtype=np.int32))
        self._words = frozen(words[0]), frozen(words[1])
        self._longest = int(np.diff(words[0]).max(initial=0))
        self._capacity = max(capacity, LEAST_BYTES)
        self._asked = np.zeros(len(network.kinds), np.bool_)
        self._asked[asked] = True
        self._asks = bool(len(asked))
        self._leases = Leases(LENDING)
        self._clears = 0
        self._start_over()
        self._midway = False

    def run(self, column: KeyColumn, stations: Int32s, ask: Ask) -> SetBatch:
        """Send every key from its station, or nowhere if that is below 0, and return the outputs that it gets to.

        Outputs are ascending; equal sets may occur more than once. Nulls of the column are taken for what their bytes are.
        """
        lease: Lease = {}
        if self._leases.take(lease, (0,)) is None:  # lent to a call that this one has interrupted
            return self._copy().run(column, stations, ask)
        try:
            if self._midway:  # an exception has ended the call before
                self._start_over()
            self._midway = True
            found = self._run(column, stations, ask)
            self._midway = False
            return found
        finally:
            self._leases.give_back(0)

    @property
    def nbytes(self) -> int:
        """The bytes of the cache now."""
        return nbytes(self._cache)

    @property
    def clears(self) -> int:
        """How often the cache was full and was emptied."""
        return self._clears

    def _copy(self) -> Relay:
        offsets, data = self._words
        asked = np.flatnonzero(self._asked).astype(np.int32)
        return Relay(self._network, self._outputs, self._machine, self._tags, (offsets, data), self._capacity, asked)

    def _start_over(self) -> None:
        self._scratch = make_scratch(self._network, self._outputs)
        self._empty()

    def _empty(self) -> None:
        self._cache = empty_itineraries(self._network)
        self._marks = np.full(len(self._cache.waits), -1, np.int32)
        self._numbered: list[Int32s] = []

    def _run(self, column: KeyColumn, stations: Int32s, ask: Ask) -> SetBatch:
        route_ids = np.empty(len(stations), np.int32)
        offsets, values, base = [np.zeros(1, np.int32)], [np.empty(0, np.int32)], 0
        parts = list(readable(column))
        first, size = 0, CHUNK
        while first < len(stations):
            stop = self._end(column.offsets, first, size)
            limit = None if stop - first == 1 else self._capacity
            itineraries = self._chunk(parts, first, stations[first:stop], ask, limit)
            if itineraries is None:
                size = (stop - first) // 4 if stop - first > FEW else 1
                self._clear()
                continue
            used = np.empty(min(stop - first, int(self._cache.counts[STATES])), np.int32)
            count = self._conclude(itineraries, route_ids[first:stop], used, base)
            if count:
                self._gather(used[:count], offsets, values)
                self._numbered.append(used[:count])
                base += count
            first = stop
            if nbytes(self._cache) > self._capacity:
                self._clear()
            elif size < FEW:
                size *= 2
        for used in self._numbered:
            self._marks[used] = -1
        self._numbered = []
        return SetBatch(route_ids, np.concatenate(offsets), np.concatenate(values))

    @staticmethod
    def _end(offsets: Int32s, first: int, size: int) -> int:
        stop = min(len(offsets) - 1, first + size)
        if int(offsets[stop]) - int(offsets[first]) > CHUNK_BYTES:
            stop = max(first + 1, int(np.searchsorted(offsets, int(offsets[first]) + CHUNK_BYTES)))
        return stop

    def _clear(self) -> None:
        epoch = self._cache.counts[EPOCH]
        self._empty()
        self._cache.counts[EPOCH] = epoch  # the marks in the scratch space go on
        self._clears += 1

    def _chunk(
        self, parts: list[tuple[slice, Keys]], first: int, stations: Int32s, ask: Ask, limit: int | None
    ) -> Int32s | None:
        """Return the last itinerary of each of these rows, or None if working them out took over ``limit`` bytes."""
        from compiler.kernels.relay import still_waiting

        if self._cache.counts[EPOCH] > MOST_EPOCHS:
            self._cache.counts[EPOCH] = 0
            self._scratch = make_scratch(self._network, self._outputs)
        itineraries, rows, at = (np.empty(len(stations), np.int32) for _ in range(3))
        count = self._begin(stations, itineraries, rows, at, limit)
        while count is not None and count > 0:
            rows, at = rows[:count], at[:count]
            if not self._advance(parts, first, itineraries, rows, at, ask, limit):
                return None
            count = int(still_waiting(self._cache, itineraries, rows, at))
        return None if count is None else itineraries

    def _begin(self, stations: Int32s, itineraries: Int32s, rows: Int32s, at: Int32s, limit: int | None) -> int | None:
        from compiler.kernels.relay import begin_rows

        row = found = 0
        while True:
            status = int(
                begin_rows(self._network, self._cache, self._scratch, stations, itineraries, rows, at, row, found)
            )
            if status >= 0:
                return status
            if not self._grow(-status, limit):
                return None
            row, found = int(self._cache.counts[NEXT]), int(self._cache.counts[FOUND])

    def _advance(
        self,
        parts: list[tuple[slice, Keys]],
        first: int,
        itineraries: Int32s,
        rows: Int32s,
        at: Int32s,
        ask: Ask,
        limit: int | None,
    ) -> bool:
        """Ask for the accept set of each waiting row, and take it one step further."""
        if self._asks:
            special = self._asked[at]
            for station in np.unique(at[special]).tolist():
                there = rows[at == station]
                sets = ask(station, there + np.int32(first))
                if not self._steps(itineraries, there, sets, self._conditions, limit):
                    return False
            rows, at = rows[~special], at[~special]
        if not len(rows):
            return True
        found = self._machine.match_batch([self._led(parts, first, rows, at)])
        return self._steps(itineraries, rows, found, self._tags, limit)

    def _steps(self, itineraries: Int32s, rows: Int32s, sets: SetBatch, conditions: Int32s, limit: int | None) -> bool:
        from compiler.kernels.relay import advance_rows

        names = np.full(len(sets.offsets) - 1, -1, np.int32)
        row = 0
        while True:
            status = int(
                advance_rows(
                    self._network, self._cache, self._scratch, itineraries, rows, *sets, conditions, names, row
                )
            )
            if status == DONE:
                return True
            if not self._grow(-status, limit):
                return False
            row = int(self._cache.counts[NEXT])

    def _led(self, parts: list[tuple[slice, Keys]], first: int, rows: Int32s, at: Int32s) -> KeyColumn:
        """Return the keys of these rows behind the words of the stations at which they wait."""
        from compiler.kernels.leading import lead

        last = first + int(rows[-1])
        size = sum(
            int(keys.offsets[min(max(last + 1 - part.start, 0), part.stop - part.start)])
            - int(keys.offsets[min(max(first - part.start, 0), part.stop - part.start)])
            for part, keys in parts
        )
        offsets = np.zeros(len(rows) + 1, np.int32)
        data = np.empty(size + len(rows) * (self._longest + 1) + PADDING, np.uint8)
        done = 0
        for part, keys in parts:
            end = len(rows) if part.stop > last else int(np.searchsorted(rows, part.stop - first))
            if end > done:
                lead(
                    keys, first - part.start, rows[done:end], at[done:end], *self._words, offsets[done : end + 1], data
                )
                done = end
        return KeyColumn(offsets, data, None)

    def _conclude(self, itineraries: Int32s, route_ids: Int32s, used: Int32s, base: int) -> int:
        from compiler.kernels.relay import conclude_rows

        if len(self._marks) < len(self._cache.waits):
            more = np.full(len(self._cache.waits) - len(self._marks), -1, np.int32)
            self._marks = np.concatenate((self._marks, more))
        return int(conclude_rows(itineraries, self._marks, route_ids, used, base))

    def _gather(self, used: Int32s, offsets: list[Int32s], values: list[Int32s]) -> None:
        from compiler.kernels.relay import copy_outputs, measure_outputs

        ends = np.empty(len(used) + 1, np.int32)
        begin = int(offsets[-1][-1])
        ends[0] = begin
        total = int(measure_outputs(self._cache, used, ends))
        if total > MOST_VALUES:
            raise CapacityError("the routes of this batch have over 2^31 entries in all: route it in smaller batches")
        outputs = np.empty(total - begin, np.int32)
        copy_outputs(self._cache, used, ends - np.int32(begin), outputs)
        offsets.append(ends[1:])
        values.append(outputs)

    def _grow(self, table: int, limit: int | None) -> bool:
        larger = grown(self._cache, table, limit)
        if larger is None:
            return False
        self._cache = larger
        return True


LENDING = (Relay.run.__code__,)
