"""Keys that recur, kept whole by the hundred thousand: when that is worth it. Where they are kept says :mod:`compiler.machine.stored_keys`.

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

from compiler.kernels.store_tables import Asked, scratch, scratch_bytes
from compiler.kernels.tables import Int64s, Keys
from compiler.machine.stored_keys import StoredKeys, first_bytes
from compiler.values import Int32s

__all__ = ["ROWS", "KeyStore", "StorePolicy", "Stretch", "room_for_keys", "stretch_of"]

ROWS = 1 << 14
"""Rows that are looked up at once."""
FEWEST = 1024
"""Columns of fewer keys are not looked up: what that takes besides is spread over too few."""
SMALLEST = 4 << 20
"""The smallest capacity with a store: walking by smaller tables waits for little."""
SHARE, MOST = 2, 1 << 30
"""At most one part in so many of the capacity goes to the store, and at most so many bytes: room for fifteen million keys."""

LEFT = 4
"""One part in so many of the room that a walker has left when it pledges some stays with it."""

EARLIEST, TRIAL = 1 << 14, 1 << 13
"""Keys that are walked before it is thought about a trial, or thought about it again; and keys of a trial, of which the latter half is
judged."""
PAUSE, LONGEST_PAUSE = 1 << 20, 1 << 23
"""Keys that are walked after a trial that was lost; each further one that is lost doubles the next pause, up to the longest. A trial takes a
millisecond, half of which is memory that is new: with equal pauses, a warm key of `fleet` took 1.05 times as long in front of sealed tables."""
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
    patience: int = PAUSE
    """The next pause."""
    _asked: int = 0
    """Keys of this trial that were looked up before the stretch that is counted."""
    _share: float = 0.0
    _stored: int = 0
    """At the last judgement, the share of keys that were known, and how many were stored."""
    _words: float = 0.0
    """The words of a key before the trial, and in its first stretch: once all keys are known, as those are that another thread has stored,
    nothing is said of what walking them would cost."""

    def begin(self, walked: Stretch, *, word: float) -> None:
        """Begin a trial if there is something to win, by keys that were walked last; else think about it again later."""
        self.active = (walked.keys - walked.hits) * walked.saves(word) > walked.keys * walked.costs
        self.left = TRIAL // 2 if self.active else EARLIEST
        self._words = walked.words_each

    def judge(self, asked: Stretch, *, stored: int, word: float, room: int, full: bool = False) -> None:
        """Take note of a stretch of keys that were looked up, as many as were ``left``.

        So many keys are ``stored`` now, and ``room`` bytes are left for others.
        """
        first = self._asked == 0
        self._asked += asked.keys
        share, size = asked.hits / asked.keys, asked.size / asked.keys
        if first:
            self._words = max(self._words, asked.words_each)
        pays = share * asked.saves(word, self._words) > asked.costs + (0 if full else (1 - share) * MISSED)
        if not (first or pays):
            # The share that was known is that of the keys that were stored in the middle of the stretch among all there are.
            others = (self._stored + stored) / 2 / share - stored if share else float("inf")
            if full or others * (size + RECORD) > room or share < RISING * self._share:
                self.active = False
                return
        if pays:
            self.patience = PAUSE
        self._share, self._stored = share, stored
        self.left = max(self._asked, TRIAL // 2)


class KeyStore:
    """One walker's store: its part in the tables, and what is decided about it."""

    def __init__(self, capacity: int, *, wanted: bool | None, shared: StoredKeys | None = None) -> None:
        """Begin without keys; none are ever stored if the store is not ``wanted``, and always if it is; None leaves that to the keys.

        The tables are part of the walker's ``capacity``; or they are ``shared``, and the walker pledges room for them.
        """
        self._wanted = wanted
        self._shared = shared is not None
        limit = room_for_keys(capacity) if shared is None else shared.most // shared.among
        self._limit = 0 if wanted is False else limit
        self._stored = StoredKeys(self._limit) if shared is None else shared
        self._asked: Asked | None = None
        self._stretch = Stretch()
        self.policy = StorePolicy(active=bool(wanted))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays but those of shared tables."""
        scratch = sum(array.nbytes for array in self._asked or ())
        return scratch if self._shared else scratch + self._stored.nbytes

    @property
    def pledged(self) -> int:
        """The bytes of the walker's room that it has no more because of shared tables: its pledge, and scratch space."""
        pledged = self._stored.pledged(self) if self._shared else 0
        return pledged + scratch_bytes(ROWS) if pledged else 0

    def drop(self, *, lost: bool = False) -> None:
        """Forget all keys, and give the memory back, as for example a trial is ``lost``; shared tables are left to the others."""
        self._asked = None
        self._stored.leave(self)
        self._stretch = Stretch()
        pause = self.policy.patience if lost else PAUSE
        patience = min(2 * pause, LONGEST_PAUSE) if lost else PAUSE
        self.policy = StorePolicy(active=bool(self._wanted), left=pause, patience=patience)

    def pledge(self, room: int) -> None:
        """Let shared tables take most of ``room`` bytes that are the walker's own, and not more than its share."""
        pledge = min(self._limit, room - room // LEFT) - scratch_bytes(ROWS)
        if pledge >= first_bytes():
            self._stored.pledge(self, pledge)

    def take_back(self, *, needed: bool) -> bool:
        """Have some of what is pledged be the walker's own again, as :meth:`compiler.machine.stored_keys.StoredKeys.take_back`."""
        taken = self._stored.take_back(self, needed=needed)
        if not self.pledged and self._asked is not None:
            self.drop()
        return taken

    def asks(self, keys: int) -> bool:
        """Tell whether a column of so many keys is to be looked up now."""
        return self.policy.active and keys >= FEWEST and self._limit > 0

    def ready(self, room: int) -> bool:
        """Tell whether there are tables, or there is room for them, which is so many bytes; else a pause begins."""
        stored, aside = self._stored, scratch_bytes(ROWS)
        if self._shared:
            if not self.pledged:
                self.pledge(room)
            room = stored.limit if self.pledged else 0
        else:
            room = min(room, self._limit) - aside
            stored.pledge(self, self._limit - aside)
        if room >= first_bytes() or (stored.nbytes and not self._shared):
            stored.join(self)
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
        from compiler.kernels.calling import direct  # as late as all kernels
        from compiler.kernels.key_store import look_up_stored

        if self._asked is None:
            self._asked = scratch(ROWS)
        count = int(direct(look_up_stored, self._stored.readable(), self._asked, keys, row, stop, base, out))
        return self._asked.rows[:count]

    def keep(self, keys: Keys, ids: Int32s, base: int, room: int) -> None:
        """Store the keys that were not known, whose answers are ``ids``, as far as there is room: so many bytes more.

        Shared tables have what is pledged.
        """
        if self._asked is not None:  # else the tables had to go meanwhile
            self._stored.keep(self._asked, keys, ids, base, self._stored.most if self._shared else room)

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
        stored = self._stored
        left = stored.limit - stored.nbytes
        room = left if self._shared else min(room, left)
        self.policy.judge(stretch, stored=stored.count, word=word, room=room, full=stored.full)
        if not self.policy.active:
            self.drop(lost=True)


def stretch_of(keys: Keys, start: int, stop: int, lost: int, words: int) -> Stretch:
    """Count keys of which ``lost`` were not known: null keys are neither that nor hits."""
    asked = stop - start if not len(keys.valid) else int(np.count_nonzero(keys.valid[start:stop]))
    return Stretch(stop - start, asked - lost, words, int(keys.offsets[stop]) - int(keys.offsets[start]))


def room_for_keys(capacity: int) -> int:
    """Return the bytes that stored keys may take of a capacity."""
    return min(capacity // SHARE, MOST) if capacity >= SMALLEST else 0
