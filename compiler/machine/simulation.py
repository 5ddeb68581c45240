"""Keys that are simulated on the NFA: those that the lazy DFA leaves over, and those that never go there."""

from __future__ import annotations

import time

import numpy as np

from compiler.kernels.tables import DEFERRED, DONE, Cache, Keys, Program
from compiler.kernels.work import SETS_FOUND, Begun, FoundSets, Work, simulated_block
from compiler.machine.bit_program import BitProgram
from compiler.machine.collector import FIRST_SIMULATED, Collector
from compiler.machine.few_keys import FewKeys
from compiler.values import Int32s

__all__ = ["Simulation"]

NO_MEMBERS = np.zeros(1, np.int32)
FIRST_CHUNK, LARGEST_CHUNK = 1024, 1 << 17
SHORT, LONG = 0.02, 0.2
"""Seconds that a call of a kernel should take: signals are seen between two calls, and each call costs 20 us."""


class Simulation:
    """One walker's simulation: as bits where the set is small, else by pairs of a position and a key."""

    def __init__(self, program: Program, bits: BitProgram | None, work: Work) -> None:
        """Use the walker's scratch space."""
        self._program = program
        self.bits = bits
        self._work = work
        self.chunk = FIRST_CHUNK
        """Keys that one call of :meth:`rows` should be given. What a key costs depends on the patterns and on its words, from 0.1
        us to a millisecond, so this follows the clock; answers and counters do not depend on it."""

    def rows(self, column: Keys, row: int, stop: int, found: Collector, out: Int32s) -> None:
        """Simulate the keys of rows ``row`` to ``stop`` from their first words on."""
        began = time.perf_counter()
        if self.bits is not None:
            self._as_bits(self.bits, column, row, stop, found, out)
        else:
            rows = np.arange(row, stop, dtype=np.uint64)
            if len(column.valid):
                out[row:stop] = -1
                rows = rows[column.valid[row:stop]]
            begins = column.offsets[rows].astype(np.uint64)
            begun = Begun(rows, begins, np.zeros(len(rows), np.uint64))
            self._by_pairs(column, NO_MEMBERS, NO_MEMBERS, begun, len(rows), found, out)
        seconds = time.perf_counter() - began
        if seconds > LONG:
            self.chunk = max(1, self.chunk // 2)
        elif seconds < SHORT and stop - row == self.chunk:
            self.chunk = min(2 * self.chunk, LARGEST_CHUNK)

    def few(self, few: FewKeys, keys: Keys, count: int) -> FoundSets:
        """Simulate the first ``count`` keys of a small batch; return their sets: none at all where these have no room."""
        few.forget_sets()
        sets, ids = few.sets, few.ids
        if self.bits is not None:
            done = few.simulate_bits(self._program, self.bits, self._work, keys, 0, count, 0, ids, sets) == count
        else:
            few.begun.begins[:count] = keys.offsets[:count]
            where = NO_MEMBERS, NO_MEMBERS, keys, few.begun, 0, count, simulated_block(self._program)
            done = few.simulate(self._program, self._work, *where, 0, ids, sets) == DONE
        if not done:
            sets.counts[SETS_FOUND] = 0
        return sets

    def deferred(self, column: Keys, cache: Cache, found: Collector, out: Int32s) -> int:
        """Simulate the keys that the last walk has deferred, from where it left them, and return how many these were."""
        count = int(cache.meta[DEFERRED])
        if count:
            work = self._work
            begun = Begun(work.deferred_rows, work.deferred_begins, work.deferred_states)
            self._by_pairs(column, cache.members, cache.state_end, begun, count, found, out)
            cache.meta[DEFERRED] = 0
        return count

    def _as_bits(self, bits: BitProgram, column: Keys, row: int, stop: int, found: Collector, out: Int32s) -> None:
        from compiler.kernels.calling import direct
        from compiler.kernels.simulate_bits import simulate_bits

        sets = found.simulated
        sets.reserve(stop - row)
        while True:
            answer = FIRST_SIMULATED, out, sets.found
            row = int(direct(simulate_bits, self._program, bits, self._work, column, row, stop, *answer))
            if row == stop:
                break
            sets.grow()

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
        from compiler.kernels.calling import direct
        from compiler.kernels.simulate_pairs import simulate

        where = members, state_end, column, begun
        block = simulated_block(self._program)
        sets = found.simulated
        sets.reserve(count)
        first = 0
        while True:
            answer = FIRST_SIMULATED, out, sets.found
            if direct(simulate, self._program, self._work, *where, first, count, block, *answer) == DONE:
                break
            first = sets.grow()
