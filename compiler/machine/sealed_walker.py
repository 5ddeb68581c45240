"""A walker that asks sealed tables first, and its own cache for the keys that they do not know.

All walkers of a machine read the same tables, which nobody writes. A key on known ground is answered from there, whichever
thread asks. A key that is lost there is gathered with others like it, and matched from its beginning by the cache of the walker. In a divided
set those that patterns without wildcards spell are looked up first, some thousand at once, as in front of a cache; while keys are stored, only
those that are not.

Three things keep the tables from being slower than a cache alone. Keys that recur are kept whole in a table in
front, with their accept sets: it is the key cache of :mod:`compiler.machine.key_cache`, but its numbers are those of sealed accept
sets, which never change, so it is never emptied. To seal such a table was rejected: it fills within some thousand keys, and a file would
grow by a megabyte. Keys that recur by the hundred thousand are stored, as in front of a cache (:mod:`compiler.machine.key_store`): and as the
numbers are the same to all walkers, as the records of exact keys are, these have one copy. And where many keys are lost, the tables are left out for a while
(:mod:`compiler.machine.sealed_pace`), and so are the keys that are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.kernels.seal_tables import Seal
from compiler.kernels.tables import BLOCK, KEY_CACHE_HITS, LOST, WORDS, Cache, Keys, frozen
from compiler.kernels.work import FoundSets
from compiler.machine.cache import nbytes
from compiler.machine.collector import Collector
from compiler.machine.columns import end_of_bytes, gathered, readable, whole
from compiler.machine.exact_keys import FOUND
from compiler.machine.few_keys import FewKeys
from compiler.machine.key_cache import KeyCache, table_bytes
from compiler.machine.key_store import LEFT, KeyStore, stretch_of
from compiler.machine.left_keys import LeftKeys, Rows, cut
from compiler.machine.parts import Parts
from compiler.machine.policy import Policy
from compiler.machine.progress import Progress
from compiler.machine.sealed_pace import SealedPace
from compiler.machine.sealed_rows import SealedRows
from compiler.machine.single_keys import SingleKeys, answer_bytes
from compiler.machine.small_batches import SmallBatchWalker
from compiler.machine.store_costs import Stretch
from compiler.machine.stored_keys import StoredKeys
from compiler.machine.walker import CHUNK, CHUNK_BYTES, Halt, HaltedError
from compiler.values import AtOnce, CacheStats, Int32s, KeyColumn, Lent, SetBatch

__all__ = ["SealedWalker"]


class SealedWalker(SmallBatchWalker):
    """A bounded cache behind sealed tables."""

    def __init__(self, parts: Parts, capacity: int, policy: Policy, seal: Seal, stored: StoredKeys) -> None:
        """Read ``seal``, whose counters are replaced by this walker's own; the cache has ``capacity`` bytes beside it.

        Keys are ``stored`` together with the machine's other walkers, in what these pledge of their capacities.
        """
        program = parts.program
        self._seal = seal._replace(meta=seal.meta.copy())
        self._seal_bytes = nbytes(seal)
        self._sealed_rows = SealedRows(program, seal, policy.row_bytes)
        self._sealed_key_cache = KeyCache(policy.key_cache, int(program.separator), policy.key_cache_share)
        self._stored_keys = stored
        self._sealed_store = KeyStore(capacity, wanted=policy.stores_keys, shared=stored)
        super().__init__(parts, capacity - self._kept_bytes(capacity, policy), policy)
        self._sealed_store.pledge(self._unused_bytes)
        self._remembering = False
        """Whether a kernel was called that writes the key cache, and has not returned: a fork may copy a table in the middle of a key."""
        self._sealed_pace = SealedPace()
        self._sealed_keys = 0
        """Keys that were answered here, those of them that were asked for singly and found whole included."""
        self._sealed_single = SingleKeys(program, parts.exact, answer_bytes(capacity) // 2)

    def run(self, columns: Iterable[KeyColumn], set_ids: Int32s, halt: Halt) -> SetBatch:
        """Match every key of every column, as :meth:`compiler.machine.walker.Walker.run` does."""
        pace, count = self._sealed_pace, len(set_ids)
        if pace.pause >= count > 0:
            pace.skip(count)
            return super().run(columns, set_ids, halt)
        found = Collector(set_ids)
        if self._exact is not None:
            self._exact.begin_answer()
        left, end = [], 0
        for column in columns:
            begin, end = end, end + len(column.offsets) - 1
            ids = set_ids[begin:end]
            left += [LeftKeys(column, ids, rows) for rows in self._walk_sealed(column, ids, found, halt)]
        # One answer for all keys and, behind them, for those that are left, so that no set is copied from one answer to another: keys
        # of `hard` took 1.05 times as long when it was.
        numbers = found.lengthen(sum(map(len, left))) if left else set_ids
        found.add(self._seal.set_end, self._seal.tags, count)
        if left:
            self._collect((keys.column() for keys in left), numbers, count, found, halt)
        _, offsets, positions = found.batch()
        if left:
            set_ids[:] = numbers[:count]
            end = count
            for keys in left:
                begin, end = end, end + len(keys)
                keys.set_ids[keys.rows] = numbers[begin:end]
        return SetBatch(set_ids, offsets, positions)

    def find(self, key: str | bytes) -> tuple[int, ...] | None:
        """Do as :meth:`compiler.machine.walker.Walker.find`."""
        single = self._sealed_single
        if single.seal is None:
            single.prepare_sealed(self._seal)
        if self._at_once is not None and self._at_once.finders[0] is not single.find:
            self._offer_sealed()
        tags = single.find(key)
        if tags is None:
            return super().find(key)
        self._sealed_keys += 1
        return tags

    def answer_at_once(self, loans: dict[int, Any]) -> AtOnce:
        """Do as :meth:`compiler.machine.bounded_cache.BoundedCache.answer_at_once`; the sealed tables are asked first."""
        at_once = super().answer_at_once(loans)
        self._offer_sealed()
        return at_once

    def _offer_sealed(self) -> None:
        """Have single keys answered at once by the sealed tables, if these are ready for them."""
        if self._at_once is not None and self._sealed_single.seal is not None:
            self._at_once.finders[0] = self._sealed_single.find

    def stats(self) -> CacheStats:
        """Describe the cache; the keys and words that the sealed tables answered count as hits."""
        found, words = super().stats(), int(self._seal.meta[WORDS]) + self._sealed_rows.words
        return replace(
            found,
            keys=found.keys + self._sealed_asked,
            sealed_keys=self._answered,
            bytes=found.bytes
            + self._sealed_rows.nbytes
            + self._sealed_key_cache.table.nbytes
            + self._sealed_store.nbytes,
            words=found.words + words,
            hits=found.hits + words,
            key_cache_hits=found.key_cache_hits + int(self._seal.meta[KEY_CACHE_HITS]),
        )

    def bound(self, capacity: int) -> None:
        """Bound the cache anew, the rows that the sealed tables are written out as, and the keys that are kept in front of them."""
        self._sealed_rows.drop()
        self._sealed_key_cache.drop()
        self._sealed_single.bound(answer_bytes(capacity) // 2)
        self._offer_sealed()
        self._sealed_store = KeyStore(capacity, wanted=self._policy.stores_keys, shared=self._stored_keys)
        super().bound(capacity - self._kept_bytes(capacity, self._policy))
        self._sealed_store.pledge(self._unused_bytes)

    @property
    def _capacity(self) -> int:
        """The bytes of the cache for lost keys: what is pledged to the stored keys is missing as long as it is."""
        return self._most - self._sealed_store.pledged

    @_capacity.setter
    def _capacity(self, capacity: int) -> None:
        self._most = capacity

    @property
    def _answer_bytes(self) -> int:
        """Half of them, as those of the sealed tables take the other half."""
        return answer_bytes(self._capacity) // 2

    def _grow(self, cache: Cache, table: int) -> bool:
        store = self._sealed_store
        if LEFT * self._used_bytes > self._capacity:
            store.take_back(needed=False)
        while not super()._grow(cache, table):
            if not store.take_back(needed=True):
                return False
        return True

    def _kept_bytes(self, capacity: int, policy: Policy) -> int:
        """Decide whether to have rows, which may take half of a capacity; return their bytes and those of the key cache.

        The cache for lost keys never gets either: so none of them has to give way when it grows.
        """
        self._row_bytes = rows = self._sealed_rows.fitting(capacity // 2)
        # As many keys as a cache would have in front that had all the room, or the time of keys that just fit would be lost: tables
        # have powers of two. But half of what is left at most.
        self._key_room = capacity + self._seal_bytes
        if table_bytes(self._key_room, policy.key_cache_share) > (capacity - rows) // 2:
            self._key_room = capacity - rows
        return rows + (0 if policy.key_cache == "off" else table_bytes(self._key_room, policy.key_cache_share))

    def lend(self, keys: Keys, ids: Int32s, use: Callable[[Lent], tuple[int, int]]) -> SetBatch | bool:  # noqa: ARG002
        """Lend nothing: the sealed tables come first."""
        return False

    def _walk_few(self, few: FewKeys, keys: Keys, count: int) -> Cache | Seal | FoundSets | None:
        pace = self._sealed_pace
        if pace.pause:
            pace.skip(count)
            return super()._walk_few(few, keys, count)
        lost = few.walk_sealed(self._program, self._seal, self._work, keys, 0, count, few.ids)
        if lost:
            pace.note(answered=self._answered, lost=lost)
            return super()._walk_few(few, keys, count)
        self._sealed_keys += count
        return self._seal

    def _walk_sealed(self, column: KeyColumn, ids: Int32s, found: Collector, halt: Halt) -> list[Rows]:
        """Match a column as far as it is known; return the rows of keys that are lost, or were not asked for, in parts.

        The sets of those that are looked up whole go to ``found``; the others have numbers of sealed sets.
        """
        pace = self._sealed_pace
        skipped: list[Rows] = []
        lost: list[npt.NDArray[np.int64]] = []
        for rows, keys in readable(column):
            part = Progress(keys, ids[rows], found, 0)
            while part.row < len(part):
                if halt:
                    raise HaltedError
                start, out = part.row, part.out
                if pace.pause:
                    stop = min(len(part), start + pace.pause)
                    pace.skip(stop - start)
                    skipped.append(self._skip(part, stop, rows.start))
                else:
                    stored = self._sealed_store.asks(len(part) - start)
                    stop = len(part) if stored else self._known_to(part)
                    stop = min(stop, start + CHUNK, start + max(pace.left, 1))
                    if stored:
                        part.forget_found()  # as the store is asked first, and what it does not know is looked up there
                    ask = self._ask_store if stored else self._ask
                    part.row, count = ask(keys if stored else part.others, start, stop, out)
                    pace.note(answered=self._answered, lost=count)
                    if pace.pause:
                        self._sealed_store.drop()
                        self._sealed_store.take_back(needed=False)
                    if count:
                        lost.append(rows.start + start + np.flatnonzero(out[start : part.row] == LOST))
                    if stored and self._exact is not None:
                        self._exact.take_sets(out, start, part.row, found.simulated)
                    self._answer_known(part)
        return [*skipped, *(cut(column, np.concatenate(lost)) if lost else ())]

    def _skip(self, part: Progress, stop: int, first: int) -> Rows:
        """Ask nothing of keys up to ``stop``; return their rows, counted from ``first``, but for those that were found already."""
        start, part.row = part.row, stop
        part.out[start:stop] = -1
        if not self._answer_known(part):
            return slice(first + start, first + stop)
        rest = np.flatnonzero(part.others.valid[start:stop])
        self._keys += stop - start - len(rest)
        return first + start + rest

    def _ask_store(self, keys: Keys, row: int, stop: int, out: Int32s) -> tuple[int, int]:
        """Do as :meth:`_ask`, but look keys up in the store first, and store those that are found elsewhere.

        Those that patterns without wildcards spell have the numbers of their records until :meth:`ExactFinder.take_sets`.
        """
        store, meta, start = self._sealed_store, self._seal.meta, row
        if not store.ready(self._unused_bytes):
            return row, 0
        words, lost = int(meta[WORDS]), 0
        stop = end_of_bytes(keys.offsets, row, store.end_of_stretch(row, stop), CHUNK_BYTES)
        rows, stop = store.look_up(keys, row, stop, 0, out)
        self._count_answered(keys, start, stop, len(rows))
        if len(rows):
            part, found = whole(gathered(keys.offsets, keys.data, rows)), np.empty(len(rows), np.int32)
            lost = self._ask_all(part, found)
            out[rows] = found
            store.keep(keys, found, 0, 0)
        asked = stretch_of(keys, start, stop, len(rows), int(meta[WORDS]) - words)
        meta[KEY_CACHE_HITS] += asked.hits
        store.judge(asked, word=self._word_cost, room=0, ahead=len(keys.offsets) - 1 - stop)
        return stop, lost

    def _ask_all(self, keys: Keys, out: Int32s) -> int:
        """Match keys, those that patterns without wildcards spell apart; return how many are lost."""
        if self._exact is None:
            return self._ask_others(keys, out)
        places = np.empty(len(out), np.int32)
        exact = self._exact.find_places(keys, places)
        lost = self._ask_others(keys._replace(valid=frozen(~exact)), out)
        out[exact] = places[exact]
        return lost

    def _ask_others(self, keys: Keys, out: Int32s) -> int:
        row = lost = 0
        while row < len(out):
            row, count = self._ask(keys, row, len(out), out)
            lost += count
        return lost

    @property
    def _answered(self) -> int:
        """The keys that the sealed tables have answered."""
        return self._sealed_asked - self._sealed_single.found_whole

    @property
    def _sealed_asked(self) -> int:
        """The same, and those that were found whole."""
        return self._sealed_keys if self._at_once is None else self._sealed_keys + self._at_once.counts[0]

    @property
    def _word_cost(self) -> float:
        return self._sealed_key_cache.word_cost(self._seal_bytes, rows=self._row_bytes)

    def _ask(self, keys: Keys, row: int, stop: int, out: Int32s) -> tuple[int, int]:
        """Match keys from ``row`` to at most ``stop``; return the row to go on with, and how many keys before it are lost."""
        from compiler.kernels.calling import direct  # as late as all kernels
        from compiler.kernels.walk_sealed import walk_sealed, walk_sealed_behind_keys

        meta, key_cache, start = self._seal.meta, self._sealed_key_cache, row
        hits, words = int(meta[KEY_CACHE_HITS]), int(meta[WORDS])
        stop = end_of_bytes(keys.offsets, row, key_cache.end_of_stretch(row, stop), CHUNK_BYTES)
        if self._remembering:
            key_cache.drop()
            self._remembering = False
        table = key_cache.wanted_table(self._key_room, 0)
        if self._row_bytes and not len(table):
            # Up to the first block in which a successor is missing, which is left to the general walk.
            row = self._sealed_rows.walk(self._work, keys, row, stop, out)
            stop = min(row + BLOCK, stop)
        lost = 0
        if len(table):
            self._remembering = True
            lost = direct(walk_sealed_behind_keys, self._program, self._seal, self._work, keys, row, stop, out, table)
            self._remembering = False
        elif row < stop:
            lost = direct(walk_sealed, self._program, self._seal, self._work, keys, row, stop, out)
        counts = int(meta[KEY_CACHE_HITS]) - hits, int(meta[WORDS]) - words
        key_cache.judge(keys, start, stop, *counts, self._seal_bytes, rows=self._row_bytes)
        walked = Stretch(stop - start, *counts, int(keys.offsets[stop]) - int(keys.offsets[start]))
        self._sealed_store.heed(walked, cached=key_cache.policy.wanted)
        if self._sealed_store.due(walked, cached=len(table) > 0 and key_cache.policy.wanted):
            first = 0.0 if self._exact is None else FOUND
            self._sealed_store.begin(walked, word=self._word_cost, cached=len(table) > 0, first=first)
        self._count_answered(keys, start, stop, lost)
        return stop, lost

    def _count_answered(self, keys: Keys, start: int, stop: int, lost: int) -> None:
        """Count keys of which all but so many were answered; null ones are nobody's."""
        nulls = stop - start - int(np.count_nonzero(keys.valid[start:stop])) if len(keys.valid) else 0
        self._sealed_keys += stop - start - nulls - lost
        self._keys += nulls
