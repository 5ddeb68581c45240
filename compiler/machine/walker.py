"""One walker: a cache of the lazy DFA, scratch space, and the policy of when to grow, clear, simulate and try again.

A walker is used by one call at a time (:mod:`compiler.leases`); what several share, the NFA's tables, is never
written. An exception, such as that of a signal, may end a call between any two steps: the next one then begins with empty tables
(:mod:`compiler.machine.bounded_cache`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from compiler.kernels.tables import (
    BLOCK,
    BUILDS,
    CLOSED,
    DONE,
    KEY_CACHE_HITS,
    ROW,
    SEEN,
    WORDS,
    Cache,
)
from compiler.kernels.work import MOST_UNKNOWN, NEXT_KEY
from compiler.machine.bounded_cache import BoundedCache
from compiler.machine.collector import FIRST_SIMULATED, Collector
from compiler.machine.columns import end_of_bytes, gathered, readable, whole
from compiler.machine.exact_keys import FOUND, ROWS
from compiler.machine.key_store import stretch_of
from compiler.machine.progress import Progress
from compiler.machine.store_costs import Stretch
from compiler.once import once
from compiler.values import Int32s, KeyColumn, SetBatch

__all__ = ["Halt", "HaltedError", "Walker"]

Halt = list[bool]
"""Empty, until somebody who needs the answer no more puts something in."""

UNPAID_CLEARS = 3
"""After this many clears in a row that did not pay, a batch gives up on the DFA."""
CHUNK, CHUNK_BYTES = 1 << 17, 8 << 20
"""Keys, and bytes of keys, that one call of a kernel walks at most: signals are seen between two calls."""


def only_answer(found: SetBatch) -> tuple[int, ...]:
    """Return the accept tags of the only key of a batch."""
    number = found.set_ids[0]
    return tuple(found.positions[found.offsets[number] : found.offsets[number + 1]].tolist())


class HaltedError(Exception):
    """The call was told to halt: nobody waits for its answer."""


class Walker(BoundedCache):
    """A bounded cache and everything needed to match keys with it."""

    def run(self, columns: Iterable[KeyColumn], set_ids: Int32s, halt: Halt) -> SetBatch:
        """Match every key of every column; the answer runs over all of them in order, and has ``set_ids``.

        Raises :class:`HaltedError` soon after ``halt`` is no longer empty.
        """
        found = Collector(set_ids)
        self._collect(columns, set_ids, 0, found, halt)
        return found.batch()

    def match_column(self, key: bytes) -> tuple[int, ...]:
        """Return the accept tags of a key, ascending, which goes the way of columns."""
        column = KeyColumn(np.array([0, len(key)], np.int32), np.frombuffer(key, np.uint8), None)
        return only_answer(self.run([column], np.empty(1, np.int32), []))

    def find(self, key: str | bytes) -> tuple[int, ...] | None:
        """Return the accept tags of a key, ascending; None for one that needs more than a look at the tables, or is wrong."""
        if self._midway:
            self._start_over()
        cache, single = self._cache, self._single
        if cache is not single.cache:
            single.prepare(cache)
        if cache is None:
            return None
        tags = single.find(key)
        if tags is not None:
            self._keys += 1
        return tags

    def _collect(self, columns: Iterable[KeyColumn], set_ids: Int32s, end: int, found: Collector, halt: Halt) -> None:
        """Match every key of every column, as rows from ``end`` on of an answer."""
        self._begin()
        for column in columns:
            begin, end = end, end + len(column.offsets) - 1
            self._keys += end - begin
            for rows, keys in readable(column):
                self._match_column(Progress(keys, set_ids[begin:end][rows], found, begin + rows.start), halt)
        self._hand_over_sets(found, end)
        self._end()

    def _match_column(self, column: Progress, halt: Halt, *, may_clear: bool = True) -> bool:
        """Match the keys of a column: walk while that pays, and simulate where it does not.

        Returns False, with keys left, where the cache is full and must not be cleared.
        """
        pace = self._pace
        self._key_store.sample.begin_column()
        while column.row < len(column):
            if halt:
                raise HaltedError
            if self._cache is None:
                self._simulate(column, len(column), halt)
            elif may_clear and self.stores and column.block > 1 and self._key_store.asks(len(column) - column.row):
                if not self._look_up(column, halt):
                    self._make_room(column, self._cache)
            elif column.unpaid >= UNPAID_CLEARS and self._policy.simulate is None:
                self._simulate(column, len(column), halt)
            elif pace.pause:
                row = column.row
                self._simulate(column, min(len(column), row + pace.pause), halt)
                pace.pause -= column.row - row
            else:
                table = self._walk(column, self._cache)
                if table == DONE:
                    column.block = BLOCK
                    self._judge_pace(column, self._cache)
                elif not self._grow(self._cache, table):
                    if not may_clear:
                        return False
                    self._make_room(column, self._cache)
        return True

    def _look_up(self, column: Progress, halt: Halt) -> bool:
        """Look keys up in the key store, and match and store those that are not known.

        Returns False, with all of these keys left, where the cache is too full for them.
        """
        assert self._cache is not None  # whose tables may be replaced on the way, so nothing but the counts is held
        keys, meta, store, start = column.keys, self._cache.meta, self._key_store, column.row
        room = self._unused_bytes
        if store.lacks_room(room):
            self._key_cache.drop()
            room = self._unused_bytes
        if not store.ready(room):
            return True
        base, words, simulated, cached = column.found.base, int(meta[WORDS]), self._fallbacks, int(meta[KEY_CACHE_HITS])
        stop = end_of_bytes(keys.offsets, start, store.end_of_stretch(start, len(column)), CHUNK_BYTES)
        lost, stop = store.look_up(keys, start, stop, base, column.out)
        if len(lost):
            found = np.empty(len(lost), np.int32)
            part = Progress(
                whole(gathered(keys.offsets, keys.data, lost)), found, column.found, 0, unpaid=column.unpaid
            )
            mark = column.found.simulated.mark()
            if not self._match_column(part, halt, may_clear=False):
                return False
            self._adopt(found, column.found, mark)
            column.out[lost] = found
            store.keep(keys, found, base, self._unused_bytes)
        stretch = stretch_of(keys, start, stop, len(lost), int(meta[WORDS]) - words)
        # A closed cache would be cleared if the store were not asked, and all keys forgotten.
        cached = 0 if meta[CLOSED] else int(meta[KEY_CACHE_HITS]) - cached
        meta[KEY_CACHE_HITS] += stretch.hits
        column.row = column.stretch_end = stop
        column.forget_found()
        if meta[CLOSED]:  # else they would be simulated without the store, too
            stretch.simulated = self._fallbacks - simulated
        used, taken = self._used_bytes, self._keys_bytes
        rows = self._dense_rows.fitting(self._cache, self._capacity - used - taken)
        word = self._key_cache.word_cost(used, rows=rows, behind=store.policy.cached)
        room = self._capacity - used - taken - self._dense_rows.nbytes
        store.judge(stretch, word=word, room=room, ahead=column.ahead)
        if not store.policy.active:
            meta[CLOSED] = 0  # what was full has the keys' room now
        if self._exact is None and store.rests(keys, start, stop, stretch, cached=cached, word=word):
            self._key_cache.begin()
        if not store.policy.active:
            self._pace.pause = 0  # that was for keys which the store did not know: with it, all others were simulated, for 72 ns in place of 57
        return True

    def _known_to(self, column: Progress) -> int:
        """Look the next keys up whole, if patterns without wildcards are apart; return the row up to which that is done."""
        if self._exact is None:
            return len(column)
        row, offsets = column.row, column.keys.offsets
        if row >= column.known_to:
            column.find(self._exact, end_of_bytes(offsets, row, min(len(column), row + ROWS), CHUNK_BYTES))
        return column.known_to

    def _answer_known(self, column: Progress, hits: int = 0) -> int:
        """Answer the keys up to the next row that were found by looking them up whole; return how many these are.

        Where the key cache was asked for all keys, most of them are among its ``hits``, and are counted with these.
        """
        if self._exact is None or column.known is None:
            return 0
        count = column.known.write(column.row, column.out)
        self._exact.answered += max(0, count - hits)
        return count

    def _adopt(self, ids: Int32s, found: Collector, mark: tuple[int, ...]) -> None:
        """Make the sets of keys that were simulated since ``mark`` sets of the cache, as far as it has room, so that the keys can be stored."""
        from compiler.kernels.accept_sets import adopt_sets

        if not len(ids) or ids.min() > FIRST_SIMULATED:
            return
        simulated, row, table = found.simulated, 0, DONE + 1
        while table != DONE:
            assert self._cache is not None
            table = int(adopt_sets(self._cache, self._work, simulated.found, ids, row, FIRST_SIMULATED, found.base))
            row = int(simulated.found.counts[NEXT_KEY])
            if table != DONE and not self._grow(self._cache, table):
                return
        simulated.rewind(mark)

    def _simulate(self, column: Progress, stop: int, halt: Halt) -> None:
        """Simulate the keys up to row ``stop``, or to where keys are to be stored."""
        offsets = column.keys.offsets
        while column.row < stop:
            if halt:
                raise HaltedError
            row = column.row
            end = min(
                stop, row + self._simulation.chunk, row + self._key_store.left_to_simulate, self._known_to(column)
            )
            self._simulation.rows(column.others, row, end, column.found, column.out)
            column.row = end
            self._fallbacks += end - row - self._answer_known(column)
            stretch = Stretch(end - row, size=int(offsets[end]) - int(offsets[row]), simulated=end - row)
            if self._cache is not None and self._key_store.due(stretch):
                self._key_store.begin(stretch, word=0.0)
                return

    def _walk(self, column: Progress, cache: Cache) -> int:
        """Walk some keys; return DONE, or the table of the cache that must grow before the walk goes on."""
        meta, start = cache.meta.data, column.row  # of which Python reads a number in a quarter of the time
        if start >= column.stretch_end:
            column.stretch_row, column.stretch_end = start, min(len(column), start + self._pace.stretch)
            column.stretch_words, column.stretch_builds = meta[WORDS], meta[BUILDS]
            column.stretch_hits, column.stretch_fresh = meta[KEY_CACHE_HITS], 0
        hits, words, builds, seen = meta[KEY_CACHE_HITS], meta[WORDS], meta[BUILDS], meta[SEEN]
        stop = self._end_of_chunk(column)
        used = self._used_bytes
        taken = used + self._dense_rows.nbytes + self._key_store.nbytes
        table = self._key_cache.wanted_table(self._capacity, taken, begins=not self._key_store.policy.active)
        rows = self._dense_rows.fitting(cache, self._capacity - used - self._keys_bytes)
        dense = rows > 0 and not len(table) and column.block > 1
        if dense and self._dense_rows.long_enough:
            meta[ROW] = self._dense_rows.walk(
                cache, self._work, column.others, start, stop, column.found.base, column.out
            )
            if meta[ROW] < stop:
                self._dense_rows.note(0, built=True)  # or it is about to be
            status = DONE
        else:
            if dense:
                stop = min(stop, start + self._dense_rows.most_keys)
            where = start, stop, column.block, column.found.base, column.out
            keys = column.keys if len(table) else column.others
            self._work.counts[MOST_UNKNOWN] = self._key_cache.most_unknown if len(table) else 0
            status = int(self._kernel(self._program, cache, self._work, keys, *where, table))
            self._work.counts[MOST_UNKNOWN] = 0
            self._dense_rows.note(stop - start, built=status != DONE or meta[BUILDS] != builds)
        column.row = meta[ROW]
        deferred = self._simulation.deferred(column.keys, cache, column.found, column.out)
        column.stretch_fresh += meta[SEEN] - seen
        counts = meta[KEY_CACHE_HITS] - hits, meta[WORDS] - words
        exact = self._answer_known(column, counts[0])
        if len(table):  # which was asked for all keys
            exact = 0
        self._note_deferred(cache, column.row - start, deferred)
        self._key_cache.judge(column.keys, start, column.row, *counts, used, rows=rows, deferred=deferred)
        size = int(column.keys.offsets[column.row]) - int(column.keys.offsets[start])
        walked = Stretch(column.row - start, counts[0] + exact, counts[1], size, deferred, exact)
        if walked.keys:
            self._think_of_storing(column, cache, walked, cached=len(table) > 0, rows=rows)
        return status

    def _think_of_storing(self, column: Progress, cache: Cache, walked: Stretch, *, cached: bool, rows: int) -> None:
        """Begin to store keys, those that were ``walked`` last being what comes, if it is time to think of that, or a sample says so."""
        store = self._key_store
        policy, sample = store.policy, store.sample
        others = store.heed(walked, cached=self._key_cache.policy.wanted)
        if not others and sample.active and sample.tells(walked):  # else none of them is in the sample yet
            before = self._before(cached=cached, rows=rows)
            within = store.recurs(ahead=column.ahead, room=self._room_to_store(cache), **before)
            if within:
                store.begin(walked, within=within, **before)
        if store.due(walked, cached=cached and self._key_cache.policy.wanted):
            start = column.row - walked.keys
            few = cached and self._exact is None and store.rest.are_few(column.keys, start, column.row, walked)
            if few or policy.resting or store.holds_keys or not sample.fed:
                store.begin(walked, few=few, **self._before(cached=cached, rows=rows))
            else:
                store.look_on()

    def _room_to_store(self, cache: Cache) -> int:
        """Return the bytes that stored keys may take: none in a closed cache, as that may be opened again, and those of the key cache where it has to go."""
        if cache.meta[CLOSED]:
            return 0
        room = self._unused_bytes
        if self._key_store.lacks_room(room):
            room += self._key_cache.table.nbytes
        return self._key_store.room_within(room)

    def _before(self, *, cached: bool, rows: int) -> dict[str, Any]:
        """Return what :meth:`compiler.machine.store_policy.StorePolicy.begin` is told of how keys are matched now."""
        return {
            "word": self._key_cache.word_cost(self._used_bytes, rows=rows, behind=cached),
            "cached": cached,
            "first": 0.0 if self._exact is None else FOUND,
            "exact": 0 if self._exact is None else self._exact.most,
        }

    @once
    def _kernel(self) -> Callable[..., Any]:
        """What walks, as late as all kernels; to import it at each call took 4 us."""
        from compiler.kernels.calling import direct
        from compiler.kernels.walk import walk

        return partial(direct, walk)

    def _end_of_chunk(self, column: Progress) -> int:
        """Return the row at which the next call of a kernel ends: where something is judged, or a signal may wait."""
        row, offsets = column.row, column.keys.offsets
        stop = min(column.stretch_end, self._known_to(column), row + (CHUNK if column.block > 1 else BLOCK))
        stop = self._key_store.sample.end_of_walk(row, stop, cached=self._key_cache.policy.wanted)
        return end_of_bytes(offsets, row, self._key_cache.end_of_stretch(row, stop), CHUNK_BYTES)

    def _judge_pace(self, column: Progress, cache: Cache) -> None:
        """At the end of a stretch of keys, compare what walking has cost with what simulating would have cost."""
        if column.row >= column.stretch_end and self._policy.simulate is None:
            meta = cache.meta.data
            self._pace.compare(
                keys=column.row - column.stretch_row,
                words=meta[WORDS] - column.stretch_words,
                builds=meta[BUILDS] - column.stretch_builds,
                members=self.live_positions,
                hits=meta[KEY_CACHE_HITS] - column.stretch_hits,
                fresh=column.stretch_fresh if self._was_full else None,
            )

    def _make_room(self, column: Progress, cache: Cache) -> None:
        """Close the full cache, or clear it; a key that alone outgrows it is simulated."""
        if cache.meta[CLOSED] or self._closes(cache):
            return
        column.unpaid = 0 if self._paid(cache) else column.unpaid + 1
        self._hand_over_sets(column.found, column.first + column.row)
        self._clear(cache)
        if column.row == column.full_at and column.block == 1:
            self._simulate(column, column.row + 1, [])
        elif column.row == column.full_at:  # not one block could be walked
            column.block = 1
        column.full_at = column.row
