"""One walker: a cache of the lazy DFA, scratch space, and the policy of when to grow, clear, simulate and try again.

A walker is used by one call at a time (:mod:`compiler.leases`); what several share, the NFA's tables, is never
written. An exception, such as that of a signal, may end a call between any two steps. The walker then is *midway*: its
cache may be half cleared or half copied, so the next call begins with new, empty tables. That is cheap to be right about.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from compiler.kernels.seal_tables import Seal
from compiler.kernels.tables import (
    BLOCK,
    BUILDS,
    COUNTS,
    DEFAULTS,
    DONE,
    KEY_CACHE_HITS,
    MEMBERS,
    MISSES,
    ROW,
    SETS,
    STATES,
    TAGS,
    TRANSITIONS,
    WORDS,
    Cache,
    Program,
)
from compiler.kernels.work import make_work
from compiler.machine.bit_program import BitProgram
from compiler.machine.cache import Snapshot, cleared, empty_cache, forget_seen, grown, nbytes, snapshot
from compiler.machine.collector import Collector
from compiler.machine.columns import end_of_bytes, readable
from compiler.machine.dense_rows import QUIET_KEYS, DenseRows
from compiler.machine.key_cache import KeyCache
from compiler.machine.policy import Policy
from compiler.machine.progress import Progress
from compiler.machine.seals import make_seal
from compiler.machine.simulation import Simulation
from compiler.machine.single_keys import ONE_BYTES, SingleKeys
from compiler.values import CacheStats, Int32s, KeyColumn, SetBatch

__all__ = ["Halt", "HaltedError", "Walker"]

Halt = list[bool]
"""Empty, until somebody who needs the answer no more puts something in."""

UNPAID_CLEARS = 3
"""After this many clears in a row that did not pay, a batch gives up on the DFA."""
WORDS_PER_STATE = 10
"""A cache has paid if it read this many words per state it built (the measure and the figure of regex-automata)."""
CHUNK, CHUNK_BYTES = 1 << 17, 8 << 20
"""Keys, and bytes of keys, that one call of a kernel walks at most: signals are seen between two calls."""

FAR_BYTES = 4 << 20
"""An automaton with larger tables than that gets a doorkeeper: there, building a transition is waiting for memory ten times,
and simulating a word two or three times. Without, the first pass of `fleet` (62 MB) takes 2.3 times as long, as few of its
transitions come again soon (``python -m benchmarks ablations``); with one, that of `stock` (1 MB) took 1.8 times as long."""


class HaltedError(Exception):
    """The call was told to halt: nobody waits for its answer."""


class Walker:
    """A bounded cache and everything needed to match keys with it."""

    def __init__(self, program: Program, bits: BitProgram | None, capacity: int, policy: Policy) -> None:
        """Begin with an empty cache, or with none where not even an empty one fits into ``capacity`` bytes.

        The key cache takes its room from the same capacity.
        """
        self._program = program
        self._bits = bits
        self._capacity = capacity
        self._policy = policy
        self._doorkeeper = policy.keeps_door(far=program.nodes.nbytes + program.edges.nbytes > FAR_BYTES)
        self._key_cache = KeyCache(policy.key_cache, int(program.separator), policy.key_cache_share)
        self._pace = policy.pace(None if bits is None else len(bits.loops))
        self._keys = self._clears = self._fallbacks = 0
        self._cache: Cache | None = None
        self._start_over()

    def run(self, columns: Iterable[KeyColumn], set_ids: Int32s, halt: Halt) -> SetBatch:
        """Match every key of every column; the answer runs over all of them in order, and has ``set_ids``.

        Raises :class:`HaltedError` soon after ``halt`` is no longer empty.
        """
        self._begin()
        found = Collector(set_ids)
        end = 0
        for column in columns:
            begin, end = end, end + len(column.offsets) - 1
            self._keys += end - begin
            for rows, keys in readable(column):
                self._match_column(Progress(keys, set_ids[begin:end][rows], found, begin + rows.start), halt)
        self._hand_over_sets(found, end)
        self._midway = False
        return found.batch()

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the accept tags of a key, ascending."""
        if self._midway:
            self._start_over()
        cache, single = self._cache, self._single
        if cache is not single.cache:
            single.prepare(cache)
        length = len(key)
        if cache is not None and length <= ONE_BYTES and not self._pace.pause:
            single.key[:length] = key
            accept = single.walk(single.frame, length)
            if accept >= 0:  # else a transition is missing
                self._keys += 1
                tags = single.tags.get(accept)
                return single.tags_of(cache, accept) if tags is None else tags
        column = KeyColumn(np.array([0, length], np.int32), np.frombuffer(key, np.uint8), None)
        found = self.run([column], np.empty(1, np.int32), [])
        number = found.set_ids[0]
        return tuple(found.positions[found.offsets[number] : found.offsets[number + 1]].tolist())

    def stats(self) -> CacheStats:
        """Describe the cache."""
        cache = self._cache
        if cache is None:
            return CacheStats(capacity=self._capacity, keys=self._keys, fallbacks=self._fallbacks)
        meta = cache.meta
        return CacheStats(
            states=int(meta[STATES]) - 1,
            transitions=int(meta[TRANSITIONS] + meta[DEFAULTS]),
            accept_sets=int(meta[SETS]) - 1,
            bytes=nbytes(cache) + self._key_cache.table.nbytes + self._dense_rows.nbytes,
            capacity=self._capacity,
            keys=self._keys,
            words=int(meta[WORDS]),
            hits=int(meta[WORDS] - meta[MISSES]),
            misses=int(meta[MISSES]),
            clears=self._clears,
            fallbacks=self._fallbacks,
            key_cache_hits=int(meta[KEY_CACHE_HITS]),
        )

    def snapshot(self) -> Snapshot | None:
        """Return what the cache knows now; None where there is no cache."""
        if self._midway:
            self._start_over()
        return None if self._cache is None else snapshot(self._cache)

    def seal(self, most_bytes: int) -> Seal | None:
        """Return a copy of what the cache knows now, sealed, which should take ``most_bytes`` at most; None where that is nothing."""
        if self._midway:
            self._start_over()
        return None if self._cache is None else make_seal(self._cache, self._program, most_bytes)

    def bound(self, capacity: int) -> None:
        """Bound the cache anew, throwing away what it holds if that is too large already."""
        self._begin()
        self._capacity = capacity
        self._key_cache.drop()
        self._dense_rows.note(0, built=True)
        if self._cache is None or nbytes(self._cache) > capacity:
            self._start_over()
        self._midway = False

    def _begin(self) -> None:
        """Begin a call that changes the cache."""
        if self._midway:
            self._start_over()
        self._midway = True

    def _start_over(self) -> None:
        """Make all tables anew, whatever is in those that there are; only what has been counted is kept."""
        counts = None if self._cache is None else self._cache.meta[COUNTS]
        cache = empty_cache(self._program, self._capacity, doorkeeper=self._doorkeeper)
        if counts is not None:
            cache.meta[COUNTS] = counts
        self._work = make_work(self._program)
        self._simulation = Simulation(self._program, self._bits, self._work)
        self._dense_rows = DenseRows(self._program, self._policy.row_bytes)
        self._key_cache.drop()
        self._single = SingleKeys(self._program, self._capacity)
        self._words_at_clear = int(cache.meta[WORDS])
        self._cache = cache if nbytes(cache) <= self._capacity and self._policy.simulate is not True else None
        self._midway = False  # whether a call was begun and has not ended: then an exception has ended it

    def _match_column(self, column: Progress, halt: Halt) -> None:
        """Match the keys of a column: walk while that pays, and simulate where it does not."""
        pace = self._pace
        while column.row < len(column):
            if halt:
                raise HaltedError
            if self._cache is None or (column.unpaid >= UNPAID_CLEARS and self._policy.simulate is None):
                self._simulate(column, len(column), halt)
            elif pace.pause:
                stop = min(len(column), column.row + pace.pause)
                pace.pause -= stop - column.row
                self._simulate(column, stop, halt)
            else:
                table = self._walk(column, self._cache)
                if table == DONE:
                    column.block = BLOCK
                    self._judge_pace(column, self._cache)
                elif not self._grow(self._cache, table):
                    self._make_room(column, self._cache)

    def _simulate(self, column: Progress, stop: int, halt: Halt) -> None:
        """Simulate the keys up to row ``stop``."""
        while column.row < stop:
            if halt:
                raise HaltedError
            end = min(stop, column.row + self._simulation.chunk)
            self._simulation.rows(column.keys, column.row, end, column.found, column.out)
            self._fallbacks += end - column.row
            column.row = end

    def _walk(self, column: Progress, cache: Cache) -> int:
        """Walk some keys; return DONE, or the table of the cache that must grow before the walk goes on."""
        meta, start = cache.meta, column.row
        if start >= column.stretch_end:
            column.stretch_row, column.stretch_end = start, min(len(column), start + self._pace.stretch)
            column.stretch_words, column.stretch_builds = int(meta[WORDS]), int(meta[BUILDS])
        hits, words, builds = int(meta[KEY_CACHE_HITS]), int(meta[WORDS]), int(meta[BUILDS])
        stop = self._end_of_chunk(column)
        used = nbytes(cache)
        table = self._key_cache.wanted_table(self._capacity, used + self._dense_rows.nbytes)
        fits = self._dense_rows.fits(cache, self._capacity - used - self._key_cache.table.nbytes)
        dense = fits and not len(table) and column.block > 1
        if dense and self._dense_rows.long_enough:
            meta[ROW] = self._dense_rows.walk(
                cache, self._work, column.keys, start, stop, column.found.base, column.out
            )
            if meta[ROW] < stop:
                self._dense_rows.note(0, built=True)  # or it is about to be
            status = DONE
        else:
            from compiler.kernels.calling import direct  # as late as all kernels
            from compiler.kernels.walk import walk

            if dense:
                stop = min(stop, start + QUIET_KEYS)
            where = start, stop, column.block, column.found.base, column.out
            status = int(direct(walk, self._program, cache, self._work, column.keys, *where, table))
            self._dense_rows.note(stop - start, built=status != DONE or meta[BUILDS] != builds)
        column.row = int(meta[ROW])
        self._fallbacks += self._simulation.deferred(column.keys, cache, column.found, column.out)
        forget_seen(cache)
        counts = int(meta[KEY_CACHE_HITS]) - hits, int(meta[WORDS]) - words
        self._key_cache.judge(column.keys, start, column.row, *counts, used, rows=fits)
        return status

    def _end_of_chunk(self, column: Progress) -> int:
        """Return the row at which the next call of a kernel ends: where something is judged, or a signal may wait."""
        row, offsets = column.row, column.keys.offsets
        stop = min(column.stretch_end, row + (CHUNK if column.block > 1 else BLOCK))
        return end_of_bytes(offsets, row, self._key_cache.end_of_stretch(row, stop), CHUNK_BYTES)

    def _judge_pace(self, column: Progress, cache: Cache) -> None:
        """At the end of a stretch of keys, compare what walking has cost with what simulating would have cost."""
        if column.row >= column.stretch_end and self._policy.simulate is None:
            self._pace.compare(
                keys=column.row - column.stretch_row,
                words=int(cache.meta[WORDS]) - column.stretch_words,
                builds=int(cache.meta[BUILDS]) - column.stretch_builds,
                members=float(cache.meta[MEMBERS] / cache.meta[STATES]),
            )

    def _grow(self, cache: Cache, table: int) -> bool:
        """Give a table of the cache more room; return False where the capacity does not allow it."""
        larger = grown(cache, table, self._capacity - self._key_cache.table.nbytes)
        if larger is None:
            if not len(self._key_cache.table):
                return False
            self._key_cache.drop()  # what it takes is room for the automaton first
            return self._grow(cache, table)
        self._cache, self._single.cache = larger, None
        return True

    def _make_room(self, column: Progress, cache: Cache) -> None:
        """Clear the full cache; a key that alone outgrows it is simulated."""
        column.unpaid = 0 if self._paid(cache) else column.unpaid + 1
        self._hand_over_sets(column.found, column.first + column.row)
        self._clear(cache)
        if column.row == column.full_at and column.block == 1:
            self._simulate(column, column.row + 1, [])
        elif column.row == column.full_at:  # not one block could be walked
            column.block = 1
        column.full_at = column.row

    def _paid(self, cache: Cache) -> bool:
        return bool(cache.meta[WORDS] - self._words_at_clear >= WORDS_PER_STATE * (cache.meta[STATES] - 1))

    def _clear(self, cache: Cache) -> None:
        self._cache = cleared(cache)
        self._key_cache.forget()
        self._single.forget()
        self._words_at_clear = int(cache.meta[WORDS])
        self._clears += 1

    def _hand_over_sets(self, found: Collector, stop: int) -> None:
        """Hand the cache's accept sets over, as the answers up to row ``stop`` refer to them."""
        cache = self._cache
        if cache is not None:
            found.add(cache.set_end[: cache.meta[SETS]], cache.tags[: cache.meta[TAGS]], stop)
