"""The tables of a key store: of one walker, or of all walkers of a sealed machine, which have one copy.

Keys are looked up in a tuple of tables that is replaced as a whole, so a thread that has one goes on with it whatever others do
(:mod:`compiler.kernels.store_tables`). Storing, growing and dropping are for one thread at a time. Who finds another one storing lets
his keys go, which is cheaper than to wait: they come again. That is a loan as that of a walker (:mod:`compiler.leases`), so it outlives
neither an exception nor a fork. A call that ended in the middle of storing leaves a mark, and the tables are begun anew.

What tables of several walkers take, these *pledge* of their own room from the beginning on, so all together keep within one bound, and one
that is idle leaves others its part. A cache that grows takes it back.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels.store_tables import RECORDS_BEHIND, STORED, STORED_MOST, STORED_NUMBERS, Asked, Store
from compiler.kernels.tables import Keys
from compiler.leases import Lease, Leases
from compiler.mappings import in_huge_pages, reserved, zeros
from compiler.values import Int32s

__all__ = ["StoredKeys", "first_bytes"]

SLOTS, NUMBERS = 1 << 11, 1 << 12
"""The size of a new index, and of new records: a small cache has room for hardly more, and both grow in an instant."""
CROWDED = 0.75
"""The part of an index that is in use where there is no room for a larger one; else half of it is."""
STEP = 8
"""Records that can grow by less than one part in so many are full."""
AHEAD = 16
"""Huge pages may reach beyond the records by one part in so many of what tables may take: their first page is written before it is full."""

NO_RECORDS = np.zeros(1 + RECORDS_BEHIND, np.uint64)
EMPTY = Store(np.zeros(2, np.uint64), NO_RECORDS, np.array([0, 1, 0], np.int64), 1)
"""What is looked up where there are no tables; nothing is ever stored in it."""


class StoredKeys:
    """Tables of keys with their accept sets."""

    def __init__(self, most: int, among: int = 1) -> None:
        """Begin without tables, which take ``most`` bytes at most, for whose use ``among`` so many walkers pledge equal shares."""
        self.most, self.among = most, among
        self._lacking = 0
        """The bytes for want of which there is no room for further keys; 0 while there is."""
        self._tables: Store | None = None
        self._reserved = NO_RECORDS
        """What the records may take; what they take is the beginning of it."""
        self._pledges: dict[object, int] = {}
        self._users: set[object] = set()
        """Those who look keys up now: when the last one leaves, the tables are dropped."""
        self._midway = False
        """Whether a call has begun to store keys, and has not ended."""
        self._leases = Leases(STORING)

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        tables = self._tables
        return 0 if tables is None else tables.slots.nbytes + tables.records.nbytes + tables.counts.nbytes

    @property
    def full(self) -> bool:
        """Whether there was no room for further keys when some were to be stored last."""
        return self._lacking > 0

    @property
    def limit(self) -> int:
        """The bytes that the tables may take now."""
        return min(self.most, self._all_pledges)

    @property
    def count(self) -> int:
        """The keys that are stored."""
        tables = self._tables
        return 0 if tables is None else int(tables.counts[STORED])

    def readable(self) -> Store:
        """Return the tables to look keys up in, as they are now: none where a call was broken off, or by a fork, while it was storing."""
        if self._midway:
            lease: Lease = {}
            if self._leases.take(lease, [0], wait=False) is not None:  # else another thread is still at it
                try:
                    if self._midway:  # it has not ended well just now
                        self._forget()
                finally:
                    self._leases.give_back(0)
        return self._tables or EMPTY

    def pledged(self, user: object) -> int:
        """Return the bytes that somebody has pledged, and not taken back."""
        return self._pledges.get(user, 0)

    def divide(self, among: int) -> None:
        """Begin anew, for so many walkers: the old ones are used by nobody, and pledge their room anew."""
        lease: Lease = {}
        if self._leases.take(lease, [0]) is not None:
            try:
                self.among = among
                self._forget()
                self._users.clear()
                self._pledges.clear()
            finally:
                self._leases.give_back(0)

    def pledge(self, user: object, room: int) -> None:
        """Let the tables take ``room`` bytes of one's own, until one takes them back."""
        self._pledges[user] = room

    def join(self, user: object) -> None:
        """Look keys up from now on."""
        self._users.add(user)

    def leave(self, user: object) -> None:
        """Look no keys up any more."""
        self._users.discard(user)
        if self._tables is not None and not self._users:
            self._give_up(user, 0)

    def take_back(self, user: object, *, needed: bool) -> bool:
        """Have of one's pledge what the tables do not take. If they take all that is pledged, and it is ``needed``, they are dropped.

        Returns False where one has pledged nothing.
        """
        pledge = self.pledged(user)
        return pledge > 0 and self._give_up(user, pledge, needed=needed)

    def _give_up(self, user: object, most: int, *, needed: bool = False) -> bool:
        lease: Lease = {}
        if self._leases.take(lease, [0]) is None:  # a call further up in this thread is storing
            return False
        try:
            if not self._users or (needed and self.nbytes >= self._all_pledges):
                self._forget()
            taken = min(most, max(0, self._all_pledges - self.nbytes))
            if taken < self.pledged(user):
                self._pledges[user] = self.pledged(user) - taken
            else:
                self._pledges.pop(user, None)
        finally:
            self._leases.give_back(0)
        return True

    @property
    def _all_pledges(self) -> int:
        return sum(list(self._pledges.values()))  # a list, as another thread may pledge meanwhile

    def keep(self, asked: Asked, keys: Keys, ids: Int32s, base: int, room: int) -> None:
        """Store keys that were ``asked`` for, whose answers are ``ids``, as far as the tables have room: so many bytes more."""
        from compiler.kernels.key_store import store_keys  # as late as all kernels

        lease: Lease = {}
        # An automaton takes more room while its tables grow than when they are done; so what is full may have room later.
        if self.full and min(room, self.limit - self.nbytes) < self._lacking:
            return
        if self._leases.take(lease, [0], wait=False) is None:
            return
        try:
            if self._midway:
                self._forget()
            self._midway = True
            self._lacking = 0
            most = self.nbytes + room
            if self._tables is None and first_bytes() <= min(most, self.limit):
                self._begin()
            done = 0
            while done < len(ids) and self._tables is not None and not self.full:
                tables = self._tables
                done = int(store_keys(tables, asked, keys, done, len(ids), base, ids))
                self._tables = tables._replace(known=int(tables.counts[STORED_NUMBERS]))
                if done < len(ids):
                    self._grow(self._tables, min(most, self.limit) - self.nbytes)
            self._midway = False
        finally:
            self._leases.give_back(0)

    def _begin(self) -> None:
        counts, self._reserved = np.zeros(3, np.int64), reserved(self.most)
        in_huge_pages(self._reserved, 8 * NUMBERS + self.most // AHEAD)
        counts[STORED_NUMBERS], counts[STORED_MOST] = 1, SLOTS // 2
        self._tables = Store(zeros(SLOTS, np.uint64, self.most), self._reserved[:NUMBERS], counts, 1)

    def _forget(self) -> None:
        self._lacking = 0
        self._tables, self._reserved = None, NO_RECORDS
        self._midway = False  # the last one, as this may be broken off, too

    def _grow(self, tables: Store, room: int) -> None:
        """Give the tables more room, ``room`` bytes at most, or take note that they are full."""
        from compiler.kernels.key_store import rehash_stored

        index, records, counts = tables.slots, tables.records, tables.counts
        if counts[STORED] >= counts[STORED_MOST]:
            crowded = int(CROWDED * len(index))
            if 2 * index.nbytes <= room:
                larger = zeros(2 * len(index), np.uint64, self.most)
                rehash_stored(index, larger)
                self._tables = tables._replace(slots=larger)
                counts[STORED_MOST] = len(index)
            elif counts[STORED] < crowded:
                counts[STORED_MOST] = crowded
            else:
                self._lacking = 2 * index.nbytes
            return
        size = min(2 * len(records), len(records) + room // 8, len(self._reserved))
        if size - len(records) < len(records) // STEP:
            self._lacking = 8 * (len(records) // STEP)
            return
        in_huge_pages(self._reserved, 8 * size + self.most // AHEAD)
        self._tables = tables._replace(records=self._reserved[:size])


STORING = tuple(
    function.__code__
    for function in (
        StoredKeys.readable,
        StoredKeys.divide,
        StoredKeys.keep,
        StoredKeys._give_up,  # noqa: SLF001 - of this module
    )
)
"""The calls that change tables; each has its lease in a variable of that name."""


def first_bytes() -> int:
    """Return the bytes of tables without keys."""
    return 8 * (SLOTS + NUMBERS + 3)
