"""One walker: a cache of the lazy DFA, scratch space, and the policy of when to grow, clear, simulate and try again.

A walker is used by one thread at a time; what several share, the NFA's tables, is never written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.kernels.tables import (
    BLOCK,
    BUILDS,
    COUNTS,
    DEFAULTS,
    DONE,
    KEY_CACHE_HITS,
    MEMBERS,
    MISSES,
    PADDING,
    ROW,
    SETS,
    STATES,
    TAGS,
    TRANSITIONS,
    WORDS,
    Cache,
    Keys,
    Program,
)
from compiler.kernels.work import make_work
from compiler.machine.bit_program import BitProgram
from compiler.machine.cache import Snapshot, cleared, empty_cache, forget_seen, grown, nbytes, snapshot
from compiler.machine.collector import Collector
from compiler.machine.columns import readable
from compiler.machine.dense_rows import QUIET_KEYS, DenseRows
from compiler.machine.key_cache import NO_KEY_TABLE, KeyCacheMode, KeyCachePolicy, key_table
from compiler.machine.pace import Pace
from compiler.machine.simulation import Simulation
from compiler.values import CacheStats, KeyColumn, SetBatch

__all__ = ["Walker"]

Int32s = npt.NDArray[np.int32]

ONE_BYTES = 4096
"""The longest key that is matched by itself; a longer one goes the way of columns, which takes 40 us instead of 1. AMQP
has keys of up to 255 bytes, NATS of 4,096."""
UNPAID_CLEARS = 3
"""After this many clears in a row that did not pay, a batch gives up on the DFA."""
WORDS_PER_STATE = 10
"""A cache has paid if it read this many words per state it built (the measure and the figure of regex-automata)."""

FAR_BYTES = 4 << 20
"""An automaton with larger tables than that gets a doorkeeper: there, building a transition is waiting for memory ten times,
and simulating a word two or three times. Without, the first pass of `fleet` (62 MB) takes 2.3 times as long, as few of its
transitions come again soon (``python -m benchmarks.ablations``); with one, that of `stock` (1 MB) took 218 ns a key and not
119, as most do."""


class Walker:
    """A bounded cache and everything needed to match keys with it."""

    def __init__(self, program: Program, bits: BitProgram | None, capacity: int, key_cache: KeyCacheMode) -> None:
        """Begin with an empty cache, or with none where not even an empty one fits into ``capacity`` bytes.

        The table of whole keys takes its room from the same capacity.
        """
        self._program = program
        self._capacity = capacity
        self._key_cache = KeyCachePolicy(key_cache, wanted=key_cache != "off")
        self._key_table = NO_KEY_TABLE
        """The table of whole keys, made when it is first wanted."""
        self._doorkeeper = program.nodes.nbytes + program.edges.nbytes > FAR_BYTES
        cache = empty_cache(program, capacity, doorkeeper=self._doorkeeper)
        self._cache = cache if nbytes(cache) <= capacity else None
        self._pace = Pace(lanes=None if bits is None else len(bits.loops))
        self._work = make_work(program)
        self._simulation = Simulation(program, bits, self._work)
        self._keys = self._clears = 0
        self._words_at_clear = 0
        self._dense_rows = DenseRows(program, self._work)
        self._stretch: tuple[int, ...] = (0, 0, 0)
        """Keys, hits and words since the table of whole keys was judged last."""
        self._framed: Cache | None = None
        """The cache that ``_frame`` was made of: the frame has its arrays' addresses, this keeps the arrays. None where it is
        not needed any more, and would keep memory from being given back."""
        self._frame: Any = None
        self._walk_one: Any = None
        self._key = memoryview(bytearray(ONE_BYTES + PADDING))
        """Where a single key is put to be read: that takes 0.1 us, a new array around the key 0.4."""
        self._tags: dict[int, tuple[int, ...]] = {}
        """The accept sets that single keys have asked for, by their number in the cache."""

    def run(self, columns: Iterable[KeyColumn], set_ids: Int32s) -> SetBatch:
        """Match every key of every column; the answer runs over all of them in order, and has ``set_ids``."""
        found = Collector(set_ids)
        end = 0
        for column in columns:
            begin, end = end, end + len(column.offsets) - 1
            out = set_ids[begin:end]
            self._keys += len(out)
            for rows, part in readable(column):
                self._run(part, found, out[rows])
        self._flush(found)
        return found.sets()

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the accept tags of a key, ascending."""
        cache = self._cache
        if cache is not self._framed:
            self._make_frame(cache)
        length = len(key)
        if cache is not None and length <= ONE_BYTES and not self._pace.pause:
            self._key[:length] = key
            accept = self._walk_one(self._frame, length)
            if accept >= 0:  # else a transition is missing
                self._keys += 1
                tags = self._tags.get(accept)
                if tags is None:
                    end = cache.set_end
                    tags = self._tags[accept] = tuple(cache.tags[end[accept - 1] : end[accept]].tolist())
                return tags
        column = KeyColumn(np.array([0, length], np.int32), np.frombuffer(key, np.uint8), None)
        found = self.run([column], np.empty(1, np.int32))
        number = found.set_ids[0]
        return tuple(found.positions[found.offsets[number] : found.offsets[number + 1]].tolist())

    def _make_frame(self, cache: Cache | None) -> None:
        """Make ready for single keys, as long as the cache is this one."""
        if cache is not None:
            from compiler.kernels._jit import entry  # as late as all kernels
            from compiler.kernels.single import make_frame, walk_one

            self._frame = make_frame(self._program, cache, np.frombuffer(self._key, np.uint8))
            self._walk_one = entry(walk_one, self._frame, 0)
        self._framed = cache

    def stats(self) -> CacheStats:
        """Describe the cache."""
        if self._cache is None:
            return CacheStats(capacity=self._capacity, keys=self._keys, fallbacks=self._simulation.keys)
        meta = self._cache.meta
        return CacheStats(
            states=int(meta[STATES]) - 1,
            transitions=int(meta[TRANSITIONS] + meta[DEFAULTS]),
            accept_sets=int(meta[SETS]) - 1,
            bytes=nbytes(self._cache) + self._key_table.nbytes + self._dense_rows.nbytes,
            capacity=self._capacity,
            keys=self._keys,
            words=int(meta[WORDS]),
            hits=int(meta[WORDS] - meta[MISSES]),
            misses=int(meta[MISSES]),
            clears=self._clears,
            fallbacks=self._simulation.keys,
            key_cache_hits=int(meta[KEY_CACHE_HITS]),
        )

    def snapshot(self) -> Snapshot | None:
        """Return what the cache knows now; None where there is no cache."""
        return None if self._cache is None else snapshot(self._cache)

    def bound(self, capacity: int) -> None:
        """Bound the cache anew, throwing away what it holds if that is too large already."""
        self._capacity = capacity
        self._key_table = NO_KEY_TABLE
        self._dense_rows.note(0, built=True)
        if self._cache is None or nbytes(self._cache) > capacity:
            self._framed = None
            self._tags.clear()
            counts = None if self._cache is None else self._cache.meta[COUNTS]
            cache = empty_cache(self._program, capacity, doorkeeper=self._doorkeeper)
            self._cache = cache if nbytes(cache) <= capacity else None
            if self._cache is not None and counts is not None:
                self._cache.meta[COUNTS] = counts
                self._words_at_clear = int(self._cache.meta[WORDS])

    def _run(self, column: Keys, found: Collector, out: Int32s) -> None:
        """Match the keys of a column."""
        from compiler.kernels.walk import walk

        row, rows = 0, len(out)
        unpaid, full_at, block = 0, -1, BLOCK
        stretch_row = stretch_end = 0
        words = builds = 0
        while row < rows:
            if self._cache is None or unpaid >= UNPAID_CLEARS:
                self._simulation.rows(column, row, rows, found, out)
                return
            pace = self._pace
            if pace.pause:
                stop = min(rows, row + pace.pause)
                pace.pause -= stop - row
                self._simulation.rows(column, row, stop, found, out)
                row = stop
                continue
            meta = self._cache.meta
            if row >= stretch_end:
                stretch_end = min(rows, row + pace.stretch)
                stretch_row, words, builds = row, int(meta[WORDS]), int(meta[BUILDS])
            stop = stretch_end if block > 1 else min(stretch_end, row + BLOCK)
            if self._key_cache.mode != "off":
                stop = min(stop, row + self._key_cache.left)
            before = row, int(meta[KEY_CACHE_HITS]), int(meta[WORDS]), int(meta[BUILDS])
            table = self._table()
            room = self._capacity - nbytes(self._cache) - self._key_table.nbytes
            near = not len(table) and block > 1 and self._dense_rows.fits(self._cache, room)
            if near and self._dense_rows.long_enough:
                meta[ROW] = self._dense_rows.walk(self._cache, column, row, stop, found.base, out)
                status = DONE
            else:
                if near:
                    stop = min(stop, row + QUIET_KEYS)
                status = walk(self._program, self._cache, self._work, column, row, stop, block, found.base, out, table)
                self._dense_rows.note(stop - row, built=meta[BUILDS] != before[3])
            row = int(meta[ROW])
            self._simulation.deferred(column, self._cache, found, out)
            forget_seen(self._cache)
            self._keep_count(row - before[0], int(meta[KEY_CACHE_HITS]) - before[1], int(meta[WORDS]) - before[2])
            if status == DONE:
                block = BLOCK
                if row >= stretch_end:
                    pace.compare(
                        keys=row - stretch_row,
                        words=int(meta[WORDS]) - words,
                        builds=int(meta[BUILDS]) - builds,
                        members=float(meta[MEMBERS] / meta[STATES]),
                    )
                continue
            larger = grown(self._cache, status, self._capacity - self._key_table.nbytes)
            if larger is not None:
                self._cache, self._framed = larger, None
                continue
            unpaid = 0 if self._paid(self._cache) else unpaid + 1
            self._flush(found)
            self._clear(self._cache)
            if row == full_at and block == 1:  # this key alone outgrows the cache
                self._simulation.rows(column, row, row + 1, found, out)
                row += 1
            elif row == full_at:
                block = 1
            full_at = row

    def _table(self) -> npt.NDArray[np.uint64]:
        """Return the table of whole keys, or one of no slots where it is not wanted now or has no room."""
        if not self._key_cache.wanted or self._key_cache.mode == "off":
            return NO_KEY_TABLE
        if not len(self._key_table) and self._cache is not None:
            table = key_table(self._capacity)
            if nbytes(self._cache) + table.nbytes <= self._capacity:
                self._key_table = table
        return self._key_table

    def _keep_count(self, keys: int, hits: int, words: int) -> None:
        """Note what a walk did; at the end of a stretch, decide about the next."""
        recall = self._key_cache
        self._stretch = tuple(a + b for a, b in zip(self._stretch, (keys, hits, words), strict=True))
        recall.left -= keys
        if recall.left <= 0:
            recall.judge(keys=self._stretch[0], hits=self._stretch[1], words=self._stretch[2])
            self._stretch = (0, 0, 0)

    def _paid(self, cache: Cache) -> bool:
        words = cache.meta[WORDS] - self._words_at_clear
        return bool(words >= WORDS_PER_STATE * (cache.meta[STATES] - 1))

    def _clear(self, cache: Cache) -> None:
        self._cache = cleared(cache)
        self._key_table[:] = 0  # it holds numbers of accept sets
        self._tags.clear()
        self._words_at_clear = int(cache.meta[WORDS])
        self._clears += 1

    def _flush(self, found: Collector) -> None:
        """Hand the cache's accept sets over, as the answers so far refer to them."""
        cache = self._cache
        if cache is not None:
            found.add(cache.set_end[: cache.meta[SETS]], cache.tags[: cache.meta[TAGS]])
