"""Keys that recur, kept whole by the hundred thousand: their tables, within their part of the bound.

The key cache (:mod:`compiler.machine.key_cache`) knows some thousand keys of at most 56 bytes, near the processor. A stream may have some
hundred thousand that come again and again: walking them waits for memory several times a key, once the automaton's tables are
large, and looking them up whole waits twice, and does little else. Long keys, and long words, take long to be walked whatever the tables
are. When it is worth it is decided in :mod:`compiler.machine.store_policy`.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels.store_tables import STORED, STORED_NUMBERS, TOGETHER, Asked, Store
from compiler.kernels.tables import Int64s, Keys
from compiler.machine.memory import reserved
from compiler.machine.store_policy import KEY_BYTES, PAUSE, SIMULATED_KEY, StorePolicy, Stretch
from compiler.values import Int32s

__all__ = ["ROWS", "KeyStore"]

ROWS = 1 << 14
"""Rows that are looked up at once."""
FEWEST = 1024
"""Columns of fewer keys are not looked up: what that takes besides is spread over too few."""
SMALLEST = 1 << 20
"""The smallest capacity with a store: half of a smaller one has hardly room to begin."""
SHARE, MOST = 2, 1 << 30
"""At most one part in so many of the capacity goes to the store, and at most so many bytes: room for fifteen million keys."""
SLOTS, NUMBERS = 1 << 13, 1 << 14
"""The size of a new index, and of new records."""
STEP = 8
"""Records that can grow by less than one part in so many are full."""

NOTHING = np.empty(0, np.uint64)


class KeyStore:
    """One walker's store: its tables, and what is decided about it."""

    def __init__(self, capacity: int, *, wanted: bool | None) -> None:
        """Begin without tables, which are never made if the store is not ``wanted``, and always if it is; None leaves that to the keys."""
        self._wanted = wanted
        self._limit = min(capacity // SHARE, MOST) if capacity >= SMALLEST and wanted is not False else 0
        self._store: Store | None = None
        self.policy = StorePolicy(active=bool(wanted))
        self.drop()

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        tables = () if self._store is None else (*self._store, *self._asked)
        return sum(array.nbytes for array in tables)

    def drop(self) -> None:
        """Give the memory back, and forget all keys; there is a pause if there were any."""
        if self._store is not None or self.policy.active:
            self.policy = StorePolicy(active=bool(self._wanted), left=PAUSE)
        self._store = None
        self._reserved = NOTHING
        """What the records may take; what they take is the beginning of it."""
        self._stretch = Stretch()
        self._full = False

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

    @property
    def left_to_simulate(self) -> int:
        """Keys that may be simulated until it is time to think about a trial: so that it does not depend on how many are at once."""
        return MOST if self.policy.active or not self._limit else max(1, -(-self.policy.left // SIMULATED_KEY))

    def due(self, done: Stretch) -> bool:
        """Count keys that were matched without the store; tell whether it is time to think about a trial (:meth:`StorePolicy.begin`)."""
        if self.policy.active or not self._limit:
            return False
        self.policy.left -= (
            SIMULATED_KEY * done.keys if done.simulated == done.keys else max(done.keys, done.size // KEY_BYTES)
        )
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

        done, most = 0, self.nbytes + room
        while not self._full and self._store is not None:
            done = int(store_keys(self._store, self._asked, keys, done, len(ids), base, ids))
            if done == len(ids):
                return
            self._grow(most - self.nbytes)  # it may have grown before

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
