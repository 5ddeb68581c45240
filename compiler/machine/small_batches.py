"""A walker for small batches, too: the same steps as for any batch, without an array or an object for each of them.

A batch of one key took 40 us, of which walking was one: the rest went into columns, parts of columns, progress and
collectors. Here keys are copied to arrays that the walker has anyway (:mod:`compiler.machine.few_keys`), walked or simulated where they
lie, and answered with one array. So is a single key that tables alone do not answer. What is out of the ordinary (a full table, an answer
without room) goes on as in any batch, from the key at which it happened. Neither the key cache nor rows are asked: they do not pay for so few keys.
"""

from __future__ import annotations

from collections.abc import Callable

from compiler.kernels.seal_tables import Seal
from compiler.kernels.tables import (
    BLOCK,
    DEFERRED,
    DONE,
    PAUSED,
    ROW,
    UNJUDGED,
    Cache,
    Int64s,
    Keys,
)
from compiler.kernels.work import FoundSets
from compiler.machine.collector import Collector
from compiler.machine.few_keys import FewKeys
from compiler.machine.key_cache import NO_KEY_TABLE
from compiler.machine.progress import Progress
from compiler.machine.walker import Walker, only_answer
from compiler.values import Int32s, Lent, Memory, SetBatch

__all__ = ["SmallBatchWalker"]


class SmallBatchWalker(Walker):
    """A walker that matches a few keys with little ado."""

    _few: FewKeys | None = None
    """Made for the first small batch. Nothing in it outlives a batch, so a call that was broken off leaves nothing wrong."""

    def match(self, key: str | bytes) -> tuple[int, ...] | None:
        """Return the accept tags of a key, ascending; None for one that must go the way of columns, or is wrong."""
        tags = self.find(key)
        if tags is None:
            tags = self._find_lost(key)
        if tags is not None:
            at_once = self._at_once
            # They have just been made ready, or a signal has come between that and offering them.
            if at_once is not None and at_once.finders[1:] != [self._single.find, self._lost.find]:
                self._offer(at_once)
            return tags
        try:
            joined = key.encode() if isinstance(key, str) else key
        except UnicodeEncodeError:
            return None
        found = self.run_joined(joined, 1)
        return None if found is None else only_answer(found)

    def _find_lost(self, key: str | bytes) -> tuple[int, ...] | None:
        """Build what is missing for a key, or simulate it, in one call of a kernel; None for one that must go another way."""
        cache, lost = self._cache, self._lost
        if cache is not lost.cache:
            lost.prepare(cache, self._pace.counts)
        tags = lost.find(key)
        if tags is not None:
            self._keys += 1
        elif cache is not None:
            self._forget_requests(cache)
        return tags

    def run_joined(self, joined: bytes, count: int) -> SetBatch | None:
        """Match ``count`` keys that are joined by NUL bytes; None where they must go another way."""
        few = self._room()
        return self._run_few(few, few.keys, count) if few.take_joined(joined, count) else None

    def lend(self, keys: Keys, ids: Int32s, use: Callable[[Lent], tuple[int, int]]) -> SetBatch | bool:
        """Let ``use`` walk some of these keys, and write the numbers of their sets to ``ids``; False where these tables are not to be used now.

        It returns how many keys it has walked in all, and how many of the present ones are left, as something was missing. For these the
        answer is returned, else True.
        """
        if self._midway:
            self._start_over()
        if self._cache is None or self._pace.pause or self._exact is not None:
            return False
        self._set_out()
        meta, most = self._cache.meta, len(self._cache.set_end) - 1
        self._begin_stretch(meta)
        walked, left = use(Lent((self._program, self._cache, self._work), most, self._numbering))
        if left:
            found: SetBatch | bool = self._finished_walk(ids[:left].copy(), keys, uncounted=walked)
        else:
            self._count_walked(meta, walked)
            found = True
        self._end()
        return found

    def run_memory(self, offsets: Memory, data: Memory | None, first: int, count: int, width: int) -> SetBatch | None:
        """Match keys that lie in memory as Arrow has them; None where they must go another way."""
        few = self._room()
        return self._run_few(few, few.keys, count) if few.take_from(offsets, data, first, count, width) else None

    def _room(self) -> FewKeys:
        """Return room for keys."""
        if self._midway:
            self._start_over()
        if self._few is None:
            self._few = FewKeys()
        return self._few

    def _run_few(self, few: FewKeys, keys: Keys, count: int) -> SetBatch:
        exact, simulated = self._exact, self._fallbacks
        if exact is None:
            return self._answer(few, keys, count, self._walk_few(few, keys, count))
        answered = exact.answered
        found = self._answer(few, keys, count, self._walk_few(few, keys, count))
        exact.answered = answered  # those that columns have found are counted with the others now
        found = exact.put_few(keys, count, found)
        others = count - (exact.answered - answered)
        self._fallbacks = min(self._fallbacks, simulated + others)
        return found

    def _walk_few(self, few: FewKeys, keys: Keys, count: int) -> Cache | Seal | FoundSets | None:
        """Walk keys, or simulate them; return the tables by which ``few.ids`` are numbered, or None where a walk has left some keys.

        Where a simulation has no room, these tables have no sets, and all keys are left.
        """
        cache, pace = self._cache, self._pace
        self._set_out()
        if cache is None or pace.few[PAUSED]:
            self._keys += count
            return self._simulation.few(few, keys, count)
        meta = cache.meta
        self._begin_stretch(meta)
        where = keys, 0, count, BLOCK, 0, few.ids, NO_KEY_TABLE
        status = few.walk(self._program, cache, self._work, *where)
        if status != DONE or meta[DEFERRED]:
            return None
        self._count_walked(meta, count)
        return cache

    def _begin_stretch(self, meta: Int64s) -> None:
        """Begin a stretch of single keys and small batches, if there is none."""
        if not self._pace.few[UNJUDGED]:
            self._pace.begin(self._counted(meta))

    def _count_walked(self, meta: Int64s, count: int) -> None:
        """Count keys that were walked."""
        self._keys += count
        if self._pace.ends(count) and self._policy.simulate is None:
            self._pace.judge(self._counted(meta), members=self.live_positions)

    def _answer(self, few: FewKeys, keys: Keys, count: int, tables: Cache | Seal | FoundSets | None) -> SetBatch:
        """Return the answer for keys that these tables have answered, or go on where it has no room, or some keys are left."""
        found = None if tables is None else few.answer(tables, count)
        if isinstance(tables, FoundSets):
            if found is None:
                ids = few.ids[:count].copy()
                found = self._finished(Progress(keys, ids, Collector(ids), 0))
            else:
                self._fallbacks += count
                self._pace.simulate(count)
        elif found is None:
            walked = tables is not None
            sealed = walked and tables is not self._cache
            del tables  # which may be replaced while walking goes on, and are not held then
            if sealed:
                self._keys -= count  # they are counted with the sealed ones
                return self._answer(few, keys, count, SmallBatchWalker._walk_few(self, few, keys, count))
            found = self._finished_walk(few.ids[:count].copy(), keys, uncounted=0 if walked else count)
        self._end()
        return found

    def _finished_walk(self, set_ids: Int32s, keys: Keys, *, uncounted: int) -> SetBatch:
        """Go on from the row at which a walk has ended, the keys before it having numbers in ``set_ids``.

        So many keys are counted when the walk has gone on, as what that builds is of their stretch.
        """
        column = Progress(keys, set_ids, Collector(set_ids), 0)
        self._walk_on(column)
        if uncounted:
            assert self._cache is not None
            self._count_walked(self._cache.meta, uncounted)
        return self._finished(column)

    def _finished(self, column: Progress) -> SetBatch:
        """Match the keys that are left as in any batch."""
        set_ids = column.out
        self._match_column(column, [])
        self._hand_over_sets(column.found, len(set_ids))
        return column.found.batch()

    def _walk_on(self, column: Progress) -> None:
        """Go on from the row at which a walk has ended, as far as the table that it needs may grow.

        As in any batch the key cache would be asked, and where it knows the keys that are left, the table would not grow: each
        further batch of these keys came back here, and ten of them took 80 us in place of 10.
        """
        grows = True
        while self._end_of_walk(column) < len(column) and grows:
            assert self._cache is not None
            where = column.keys, column.row, len(column), BLOCK, 0, column.out, NO_KEY_TABLE
            table = int(self._kernel(self._program, self._cache, self._work, *where))
            grows = table == DONE or self._grow(self._cache, table)

    def _end_of_walk(self, column: Progress) -> int:
        """Simulate what a walk has deferred; return the row at which it has ended."""
        assert self._cache is not None
        begin, column.row = column.row, int(self._cache.meta[ROW])
        deferred = self._simulation.deferred(column.keys, self._cache, column.found, column.out)
        self._note_deferred(self._cache, column.row - begin, deferred)
        return column.row
