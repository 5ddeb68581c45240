"""Keys that recur, kept whole by the hundred thousand: where they are kept, and when that is worth it.

The key cache (:mod:`compiler.machine.key_cache`) knows some thousand keys, near the processor. A stream may have some hundred thousand
that come again and again: walking them waits for memory several times a key, once the automaton's tables are large, and looking
them up whole waits twice, and does little else. So a stream that is walked at some cost is tried: a first few thousand keys are stored, and from
the share of those that come again it is guessed how many different keys there are. If these fit into what the automaton leaves of the
bound, all are stored. Otherwise, and when too few of the keys are known, the store is dropped, and tried again after a pause.

The guess takes all keys for equally likely. Where some are not, they come again sooner, which is why it is made again
whenever twice as many keys have been asked for: the share of those that are known must have risen until then, or pay already.

As in :mod:`compiler.machine.pace`, counting instead of timing makes the choice the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiler.kernels.store_tables import STORED, STORED_NUMBERS, TOGETHER, Asked, Store
from compiler.kernels.tables import Int64s, Keys
from compiler.machine.memory import reserved
from compiler.values import Int32s

__all__ = ["ROWS", "KeyStore", "StorePolicy", "Stretch"]

ROWS = 1 << 14
"""Rows that are looked up at once."""
FEWEST = 1024
"""Columns of fewer keys are not looked up: what that takes besides is spread over too few."""
SMALLEST = 4 << 20
"""The smallest capacity with a store: walking by smaller tables waits for little."""
SHARE, MOST = 2, 1 << 30
"""At most one part in so many of the capacity goes to the store, and at most so many bytes: room for fifteen million keys."""
SLOTS, NUMBERS = 1 << 13, 1 << 15
"""The size of a new index, and of new records."""
STEP = 8
"""Records that can grow by less than one part in so many are full."""

EARLIEST, TRIAL = 1 << 14, 1 << 13
"""Keys that are walked before it is thought about a trial, or thought about it again; and keys of a trial, of which the latter half is
judged."""
PAUSE = 1 << 20
"""Keys that are walked after a trial that was lost."""
RISING = 1.05
"""So many times as large must the share of known keys be when twice as many were asked for, unless it pays already."""

# Nanoseconds.
LOOKED_UP, BYTE = 18.0, 0.3
"""Looking a key up, and what each of its bytes adds."""
MISSED = 45.0
"""What a key that is not known costs besides being walked: it is copied to a column of such keys, and stored."""
WALKED = 6.0
"""Walking a key, besides its words."""
RECORD = 36
"""The bytes that a key takes besides its own: those of its record, on average, and of the index."""


NOTHING = np.empty(0, np.uint64)


@dataclass(slots=True)
class Stretch:
    """What was counted of a stretch of keys."""

    keys: int = 0
    hits: int = 0
    """Those that were answered without being walked."""
    words: int = 0
    """The words of the others that were read."""
    size: int = 0
    """The bytes of all of them."""

    def add(self, other: Stretch) -> None:
        """Count another one, too."""
        self.keys += other.keys
        self.hits += other.hits
        self.words += other.words
        self.size += other.size

    @property
    def words_each(self) -> float:
        """The words of a key that was walked."""
        return self.words / max(self.keys - self.hits, 1)

    def saves(self, word: float, most: float = 0.0) -> float:
        """Return the nanoseconds that knowing a key saves, where walking a word takes ``word`` of them, and there were up to ``most``."""
        return WALKED + word * max(self.words_each, most)

    @property
    def costs(self) -> float:
        """The nanoseconds that looking a key up takes."""
        return LOOKED_UP + BYTE * self.size / max(self.keys, 1)


@dataclass(slots=True)
class StorePolicy:
    """The state of the comparison; it goes on from batch to batch.

    >>> policy = StorePolicy()
    >>> policy.begin(Stretch(keys=1024, words=5120, size=20480), word=9.0)
    >>> policy.active, policy.left
    (True, 4096)
    >>> for hits in (20, 100):  # one in 41 was known: there are about 250,000
    ...     policy.judge(Stretch(4096, hits, 20000, 81920), stored=6000, word=9.0, room=1 << 24)
    >>> policy.active, policy.left
    (True, 8192)
    """

    active: bool = False
    """Whether keys are looked up now."""
    left: int = EARLIEST
    """Keys until that is thought about again."""
    _asked: int = 0
    """Keys of this trial that were looked up before the stretch that is counted."""
    _share: float = 0.0
    _stored: int = 0
    """At the last judgement, the share of keys that were known, and how many were stored."""
    _words: float = 0.0
    """The words of a key in the first stretch, in which hardly any was known: once all are, nothing is said of what walking them would cost."""

    def begin(self, walked: Stretch, *, word: float) -> None:
        """Begin a trial if there is something to win, by keys that were walked last; else think about it again later."""
        self.active = (walked.keys - walked.hits) * walked.saves(word) > walked.keys * walked.costs
        self.left = TRIAL // 2 if self.active else EARLIEST

    def judge(self, asked: Stretch, *, stored: int, word: float, room: int, full: bool = False) -> None:
        """Take note of a stretch of keys that were looked up, as many as were ``left``.

        So many keys are ``stored`` now, and ``room`` bytes are left for others.
        """
        first = self._asked == 0
        self._asked += asked.keys
        share, size = asked.hits / asked.keys, asked.size / asked.keys
        if first:
            self._words = asked.words_each
        pays = share * asked.saves(word, self._words) > asked.costs + (0 if full else (1 - share) * MISSED)
        if not (first or pays):
            # The share that was known is that of the keys that were stored in the middle of the stretch among all there are.
            others = (self._stored + stored) / 2 / share - stored if share else float("inf")
            if full or others * (size + RECORD) > room or share < RISING * self._share:
                self.active = False
                return
        self._share, self._stored = share, stored
        self.left = max(self._asked, TRIAL // 2)


class KeyStore:
    """One walker's store: its tables, and what is decided about it."""

    def __init__(self, capacity: int, *, wanted: bool | None) -> None:
        """Begin without tables, which are never made if the store is not ``wanted``, and always if it is; None leaves that to the keys."""
        self._wanted = wanted
        self._limit = min(capacity // SHARE, MOST) if capacity >= SMALLEST and wanted is not False else 0
        self.drop()
        self.policy = StorePolicy(active=bool(wanted))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        tables = () if self._store is None else (*self._store, *self._asked)
        return sum(array.nbytes for array in tables)

    def drop(self) -> None:
        """Give the memory back, and forget all keys."""
        self._store: Store | None = None
        self._reserved = NOTHING
        """What the records may take; what they take is the beginning of it."""
        self._stretch = Stretch()
        self._full = False
        self.policy = StorePolicy(active=bool(self._wanted), left=PAUSE)

    def asks(self, keys: int) -> bool:
        """Tell whether a column of so many keys is to be looked up now."""
        return self.policy.active and keys >= FEWEST and self._limit > 0

    def ready(self, room: int) -> bool:
        """Tell whether there are tables, or there is room for them, which is so many bytes; else a pause begins."""
        if self._store is not None or min(room, self._limit) >= _first_bytes():
            return True
        self.drop()
        self.policy.active = False
        return False

    def end_of_stretch(self, row: int, stop: int) -> int:
        """Return the row, at most ``stop``, up to which keys from ``row`` on may be looked up at once."""
        return min(stop, row + ROWS, row + max(self.policy.left, 1))

    def due(self, keys: int) -> bool:
        """Count keys that were walked without the store; tell whether it is time to think about a trial (:meth:`StorePolicy.begin`)."""
        if self.policy.active or not self._limit:
            return False
        self.policy.left -= keys
        return self.policy.left <= 0

    def look_up(self, keys: Keys, row: int, stop: int, base: int, out: Int32s) -> Int64s:
        """Look up keys ``row`` to ``stop``, at most ROWS; return the rows of those that are not known, until the next call.

        The others get ``base`` + accept set - 1 in ``out``, and null keys -1.
        """
        from compiler.kernels.key_store import look_up_stored  # as late as all kernels

        if self._store is None:
            self._begin()
        assert self._store is not None
        count = int(look_up_stored(self._store, self._asked, keys, row, stop, base, out))
        return self._asked.rows[:count]

    def keep(self, keys: Keys, ids: Int32s, base: int, room: int) -> None:
        """Store the keys that were not known, whose answers are ``ids``, as far as there is room: so many bytes more."""
        from compiler.kernels.key_store import store_keys

        done = 0
        while not self._full and self._store is not None:
            done = int(store_keys(self._store, self._asked, keys, done, len(ids), base, ids))
            if done == len(ids):
                return
            self._grow(room)

    def judge(self, asked: Stretch, *, word: float, room: int) -> None:
        """Take note of keys that were looked up; at the end of a stretch, decide about the next."""
        if not self.policy.active:  # the tables had to go meanwhile
            return
        self._stretch.add(asked)
        self.policy.left -= asked.keys
        if self.policy.left > 0:
            return
        stretch, self._stretch = self._stretch, Stretch()
        if self._wanted:
            self.policy.left = ROWS
            return
        stored = 0 if self._store is None else int(self._store.counts[STORED])
        room = min(room, self._limit - self.nbytes)
        self.policy.judge(stretch, stored=stored, word=word, room=room, full=self._full)
        if not self.policy.active:
            self.drop()

    def _begin(self) -> None:
        counts, self._reserved = np.zeros(2, np.int64), reserved(self._limit)
        counts[STORED_NUMBERS] = 1
        self._store = Store(np.zeros(SLOTS, np.uint64), self._reserved[:NUMBERS], counts)
        room = ROWS + TOGETHER
        self._asked = Asked(np.empty(room, np.int64), np.empty(room, np.uint64), np.empty(TOGETHER, np.uint64))

    def _grow(self, room: int) -> None:
        """Give the store more room, ``room`` bytes at most, or take note that it is full."""
        from compiler.kernels.key_store import rehash_stored

        store = self._store
        assert store is not None
        room = min(room, self._limit - self.nbytes)
        index, records = store.slots, store.records
        if 2 * (int(store.counts[STORED]) + 1) > len(index):
            if 2 * index.nbytes > room:
                self._full = True
                return
            larger = np.zeros(2 * len(index), np.uint64)
            rehash_stored(index, larger)
            self._store = store._replace(slots=larger)
            return
        size = min(2 * len(records), len(records) + room // 8, len(self._reserved))
        if size - len(records) < len(records) // STEP:
            self._full = True
            return
        self._store = store._replace(records=self._reserved[:size])


def _first_bytes() -> int:
    """Return the bytes of a store without keys."""
    return 8 * (SLOTS + NUMBERS + 2 + 2 * (ROWS + TOGETHER) + TOGETHER)
