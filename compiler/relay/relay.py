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
from types import CodeType
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from compiler.kernels.relay_tables import Network
from compiler.kernels.tables import PADDING, Bytes, Keys, frozen
from compiler.leases import Lease, Leases
from compiler.machine.columns import end_of_bytes, readable
from compiler.relay.steps import FullError, Steps
from compiler.relay.unions import FurtherKeys, united
from compiler.values import Int32s, KeyColumn, SetBatch

__all__ = ["Ask", "Relay"]

CHUNK, CHUNK_BYTES = 1 << 15, 64 << 20
"""Rows, and bytes of keys, that take their steps together."""
LEAST_BYTES = 1 << 18
"""What the cache may always have."""
LEAST_ROWS = 1 << 12
"""A chunk that does not fit is tried again with a quarter of its rows; below so many, row by row."""


class BatchMatcher(Protocol):
    """The automaton."""

    def match_batch(self, columns: list[KeyColumn]) -> SetBatch:
        """Return the accept tags of every key."""


Parts = list[tuple[slice, Keys]]


class _Keys(NamedTuple):
    """The keys of a batch, in parts that kernels may read."""

    parts: Parts
    further: FurtherKeys | None
    further_parts: Parts


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
        # Pickling does not keep that arrays are read-only.
        self._network = Network(*(frozen(getattr(network, name)) for name in network._fields))
        self._outputs = outputs
        self._machine = machine
        self._tags = frozen(tags)
        self._conditions = frozen(np.arange(int(network.conditions[-1]), dtype=np.int32))
        self._words = frozen(words[0]), frozen(words[1])
        self._longest = int(np.diff(words[0]).max(initial=0))
        self._capacity = max(capacity, LEAST_BYTES)
        self._asked = frozen(np.isin(np.arange(len(network.kinds)), asked))
        self._asks = bool(len(asked))
        self._leases = Leases(self.LENDING)
        self._clears = 0
        self._steps = Steps(self._network, outputs)
        self._midway = False

    def run(self, column: KeyColumn, stations: Int32s, ask: Ask, further: FurtherKeys | None = None) -> SetBatch:
        """Send every key from its station, or nowhere if that is below 0, and return the outputs that it gets to.

        Outputs are ascending; equal sets may occur more than once. Nulls of the column are taken for what their bytes are.
        With ``further`` keys, a message meets the conditions that any of its keys meets.
        """
        lease: Lease = {}
        if self._leases.take(lease, (0,)) is None:  # lent to a call that this one has interrupted
            return self._copy().run(column, stations, ask, further)
        try:
            if self._midway:  # an exception has ended the call before
                self._steps.start_over()
            self._midway = True
            found = self._run(column, stations, ask, further)
            self._midway = False
            return found
        finally:
            self._leases.give_back(0)

    @property
    def nbytes(self) -> int:
        """The bytes of the cache now."""
        return self._steps.nbytes

    @property
    def clears(self) -> int:
        """How often the cache was full and was emptied."""
        return self._clears

    def _copy(self) -> Relay:
        asked = np.flatnonzero(self._asked).astype(np.int32)
        return Relay(self._network, self._outputs, self._machine, self._tags, self._words, self._capacity, asked)

    def _run(self, column: KeyColumn, stations: Int32s, ask: Ask, further: FurtherKeys | None) -> SetBatch:
        steps = self._steps
        route_ids = np.empty(len(stations), np.int32)
        offsets, values, base = [np.zeros(1, np.int32)], [np.empty(0, np.int32)], 0
        keys = _Keys(list(readable(column)), further, [] if further is None else list(readable(further.column)))
        first, size = 0, CHUNK
        while first < len(stations):
            stop = end_of_bytes(column.offsets, first, min(len(stations), first + size), CHUNK_BYTES)
            steps.limit = None if stop - first == 1 else self._capacity
            try:
                itineraries = self._chunk(keys, first, stations[first:stop], ask)
            except FullError:
                size = (stop - first) // 4 if stop - first > LEAST_ROWS else 1
                self._clear()
                continue
            used = steps.conclude(itineraries, route_ids[first:stop], base)
            if len(used):
                ends, outputs = steps.outputs(used, int(offsets[-1][-1]))
                offsets.append(ends)
                values.append(outputs)
                base += len(used)
            first = stop
            if steps.nbytes > self._capacity:
                self._clear()
            elif size < LEAST_ROWS:
                size *= 2
        steps.forget_numbers()
        return SetBatch(route_ids, np.concatenate(offsets), np.concatenate(values))

    def _clear(self) -> None:
        self._steps.clear()
        self._clears += 1

    def _chunk(self, keys: _Keys, first: int, stations: Int32s, ask: Ask) -> Int32s:
        """Return the last itinerary of each of these rows."""
        itineraries, rows, at = (np.empty(len(stations), np.int32) for _ in range(3))
        count = self._steps.begin(stations, itineraries, rows, at)
        while count:
            rows, at = rows[:count], at[:count]
            self._advance(keys, first, itineraries, rows, at, ask)
            count = self._steps.still_waiting(itineraries, rows, at)
        return itineraries

    def _advance(self, keys: _Keys, first: int, itineraries: Int32s, rows: Int32s, at: Int32s, ask: Ask) -> None:
        """Ask for the accept set of each waiting row, and take it one step further."""
        if self._asks:
            rows, at, aside, aside_at = self._steps.set_aside(self._asked, rows, at)
            self._ask(itineraries, aside, aside_at, first, ask)
        if len(rows):
            found = self._machine.match_batch([self._led(keys.parts, first, rows, at)])
            if keys.further is not None:
                owners, more = keys.further.of(rows + np.int32(first))
                if len(more):
                    led = self._led(keys.further_parts, 0, more, at[owners])
                    found = united(found, owners, self._machine.match_batch([led]))
            self._steps.advance(itineraries, rows, found, self._tags)

    def _ask(self, itineraries: Int32s, rows: Int32s, at: Int32s, first: int, ask: Ask) -> None:
        """Ask the stations at which rows wait, and take these one step further."""
        stations = np.flatnonzero(np.bincount(at)).tolist()
        for station in stations:
            there = rows if len(stations) == 1 else rows[at == station]
            self._steps.advance(itineraries, there, ask(station, there + np.int32(first)), self._conditions)

    def _led(self, parts: Parts, first: int, rows: Int32s, at: Int32s) -> KeyColumn:
        """Return the keys of these rows behind the words of the stations at which they wait."""
        from compiler.kernels.calling import direct
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
                direct(
                    lead,
                    keys,
                    first - part.start,
                    rows[done:end],
                    at[done:end],
                    *self._words,
                    offsets[done : end + 1],
                    data,
                )
                done = end
        return KeyColumn(offsets, data, None)

    LENDING: ClassVar[tuple[CodeType, ...]] = (run.__code__,)
    """The calls that the cache is lent to; each has its lease in a variable of that name."""
