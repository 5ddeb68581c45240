"""Keys that are simulated on the NFA: those that the lazy DFA leaves over, and those that never go there."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from compiler.kernels.tables import DEFERRED, Cache, Keys, Program
from compiler.kernels.work import Begun, FoundSets, Work, simulated_block
from compiler.machine.bit_program import BitProgram
from compiler.machine.collector import Collector

__all__ = ["Simulation"]

Int32s = npt.NDArray[np.int32]

NO_MEMBERS = np.zeros(1, np.int32)


class Simulation:
    """One walker's simulation: as bits where the set is small, else by pairs; it counts its keys."""

    def __init__(self, program: Program, bits: BitProgram | None, work: Work) -> None:
        """Use the walker's scratch space."""
        self._program = program
        self.bits = bits
        self._work = work
        self.keys = 0
        """Keys that were simulated, from their beginnings or from where a walk left them."""

    def rows(self, column: Keys, row: int, stop: int, found: Collector, out: Int32s) -> None:
        """Simulate the keys of rows ``row`` to ``stop`` from their first words on."""
        self.keys += stop - row
        if self.bits is not None:
            self._as_bits(self.bits, column, row, stop, found, out)
            return
        rows = np.arange(row, stop, dtype=np.uint64)
        if len(column.valid):
            out[row:stop] = -1
            rows = rows[column.valid[row:stop]]
        begins = column.offsets[rows].astype(np.uint64)
        begun = Begun(rows, begins, np.zeros(len(rows), np.uint64))
        self._by_pairs(column, NO_MEMBERS, NO_MEMBERS, begun, len(rows), found, out)

    def deferred(self, column: Keys, cache: Cache, found: Collector, out: Int32s) -> None:
        """Simulate the keys that the last walk has left over, from where it left them."""
        count = int(cache.meta[DEFERRED])
        if count:
            self.keys += count
            work = self._work
            deferred = Begun(work.deferred_rows, work.deferred_begins, work.deferred_states)
            self._by_pairs(column, cache.members, cache.state_end, deferred, count, found, out)
            cache.meta[DEFERRED] = 0

    def _as_bits(self, bits: BitProgram, column: Keys, row: int, stop: int, found: Collector, out: Int32s) -> None:
        from compiler.kernels.simulate_bits import simulate_bits

        room = _Room(stop - row)
        while True:
            answer = found.loose, out, FoundSets(room.ends, room.tags, room.counts)
            row = simulate_bits(self._program, bits, self._work, column, row, stop, *answer)
            if row == stop:
                break
            room.grow()
        room.hand_over(found)

    def _by_pairs(
        self,
        column: Keys,
        members: Int32s,
        state_end: Int32s,
        begun: Begun,
        count: int,
        found: Collector,
        out: Int32s,
    ) -> None:
        from compiler.kernels.simulate_pairs import simulate

        where = members, state_end, column, begun
        block = simulated_block(self._program)
        room = _Room(count)
        first = 0
        while True:
            answer = found.loose, out, FoundSets(room.ends, room.tags, room.counts)
            if not simulate(self._program, self._work, *where, first, count, block, *answer):
                break
            first = room.grow()
        room.hand_over(found)


class _Room:
    """Room for the sets that a simulation finds."""

    def __init__(self, keys: int) -> None:
        """Make room for a set for each key."""
        self.ends = np.empty(keys, np.int32)
        self.tags = np.empty(max(64, 4 * keys), np.int32)
        self.counts = np.zeros(4, np.int64)
        """Sets that were found; the tags that there must be room for; the number of the empty set; the key to go on with."""

    def grow(self) -> int:
        """Make more room for tags, and return the key to go on with."""
        larger = np.empty(max(2 * len(self.tags), int(self.counts[1])), np.int32)
        larger[: len(self.tags)] = self.tags
        self.tags = larger
        return int(self.counts[3])

    def hand_over(self, found: Collector) -> None:
        """Give the sets away."""
        ends = self.ends[: self.counts[0]].copy()
        found.add_loose(ends, self.tags[: ends[-1] if len(ends) else 0].copy())
