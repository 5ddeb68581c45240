"""Keys that recur, kept whole by the hundred thousand: one walker's part in that.

The key cache (:mod:`compiler.machine.key_cache`) knows some thousand keys of at most 56 bytes, near the processor. A stream may have some
hundred thousand that come again and again: walking them waits for memory several times a key, once the automaton's tables are
large, and looking them up whole waits twice, and does little else. Long keys, and long words, take long to be walked whatever the tables
are. When it is worth it is decided in :mod:`compiler.machine.store_policy`, and where keys are kept says :mod:`compiler.machine.stored_keys`.

Some hundred short keys the key cache looks up in half of the time. While these are what comes, the store rests (:mod:`compiler.machine.rest`): its keys stay.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from compiler.kernels.store_tables import PER_KEYS, TOGETHER, Asked, scratch, scratch_bytes
from compiler.kernels.tables import Int64s, Keys
from compiler.machine.expectation import NEVER, NO_ROOM
from compiler.machine.key_sample import KeySample
from compiler.machine.rest import Rest
from compiler.machine.store_costs import Stretch
from compiler.machine.store_policy import (
    EARLIEST,
    KEY_BYTES,
    LASTING,
    LITTLE,
    LONGEST_PAUSE,
    PAUSE,
    SIMULATED_KEY,
    StorePolicy,
)
from compiler.machine.stored_keys import StoredKeys, first_bytes
from compiler.mappings import zeros
from compiler.values import Int32s

__all__ = ["LEAST_LOST", "LEFT", "LOST", "MORE", "ON_THEIR_WAY", "ROWS", "KeyStore", "room_for_keys", "stretch_of"]

ROWS, MORE, MORE_FROM = 1 << 14, 4, 1 << 24
"""Rows that are looked up at once; and MORE times as many where a store may take so many bytes. (With twice as many, a warm key of `stock` took 1.08 times as long; with eight times, 0.97.)"""
LEAST_LOST, LOST = 1 << 12, 256
"""Of these, as many may be unknown as a store may take LOST bytes, and LEAST_LOST at least, but no more than ROWS: scratch space is 16 bytes for each. (As much as for ROWS took a small cache half of what
its store may take: where an automaton had most of 1 MiB, the store could not begin, and keys took 140 ns that take 23. With as few rows at once it would be 31, as calls take long.)"""
ON_THEIR_WAY = 2 * TOGETHER
"""Keys that are looked up yet when as many are unknown as may be."""
FEWEST = 1024
"""Columns of fewer keys are not looked up: what that takes besides is spread over too few."""
SMALLEST = 1 << 20
"""The smallest capacity with a store: half of a smaller one has hardly room to begin."""
SHARE, MOST = 2, 1 << 30
"""At most one part in so many of the capacity goes to the store, and at most so many bytes: room for fifteen million keys."""

CAUTION = 8
"""Times as many keys as a trial had that the sample was wrong about, before it is asked again; and twice as many each time."""
LEFT = 4
"""One part in so many of the room that a walker has left when it pledges some stays with it."""


class KeyStore:
    """One walker's store: its part in the tables, and what is decided about it."""

    def __init__(
        self, capacity: int, *, wanted: bool | None, shared: StoredKeys | None = None, sample: KeySample | None = None
    ) -> None:
        """Begin without keys; none are ever stored if the store is not ``wanted``, and always if it is; None leaves that to the keys.

        The tables are part of the walker's ``capacity``; or they are ``shared``, and the walker pledges room for them. Keys that are walked may
        be in a ``sample``.
        """
        self._wanted = wanted
        self._shared = shared is not None
        limit = room_for_keys(capacity) if shared is None else shared.most // shared.among
        self._limit = 0 if wanted is False else limit
        self._rows = MORE * ROWS if limit >= MORE_FROM else ROWS
        self._lost = min(self._rows, min(ROWS, max(LEAST_LOST, limit // LOST)) + ON_THEIR_WAY)
        """Unknown keys for which there is scratch space."""
        self._stored = StoredKeys(self._limit) if shared is None else shared
        self._asked: Asked | None = None
        self._stretch = Stretch()
        self.rest = Rest()
        self.sample = KeySample() if sample is None else sample
        self.sample.end()
        if wanted is None and self._limit:
            self.sample.begin()
        self._come = 0
        """The keys that have come, of those that are like the present ones."""
        self._by_sample = False
        """Whether the trial was begun as the sample said that it would pay."""
        self._least = 0
        """Keys that must have come before the sample is asked, as it was wrong by fewer, or said that so many have no room."""
        self.policy = StorePolicy(active=bool(wanted))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays but those of shared tables."""
        scratch = sum(array.nbytes for array in self._asked or ())
        return scratch if self._shared else scratch + self._stored.nbytes

    @property
    def holds_keys(self) -> bool:
        """Whether keys are stored that are not looked up now, as the store rests or has rested: these may come again."""
        return not self.policy.active and self._stored.count > 0

    def room_within(self, room: int) -> int:
        """Return how many of ``room`` bytes the walker's part of the tables may take: none where they cannot begin."""
        return 0 if self.lacks_room(room) else min(room, self._limit)

    @property
    def pledged(self) -> int:
        """The bytes of the walker's room that it has no more because of shared tables: its pledge, and scratch space."""
        pledged = self._stored.pledged(self) if self._shared else 0
        return pledged + scratch_bytes(self._lost) if pledged else 0

    def drop(self, *, lost: bool = False) -> None:
        """Forget all keys, and give the memory back, as for example a trial is ``lost``; shared tables are left to the others.

        A pause begins if there were any.
        """
        if lost or self.policy.active or self._asked is not None:
            asked = self.policy.asked
            pause = self.policy.patience if lost else PAUSE
            patience = min(2 * pause, LONGEST_PAUSE) if lost else PAUSE
            self.policy = StorePolicy(active=bool(self._wanted), left=pause, patience=patience, lost=lost)
            if lost and self._wanted is None:
                if self._by_sample:
                    self._least = max(2 * self._least, CAUTION * asked)
                self.sample.begin(self._least)
        self._asked = None
        self._stored.leave(self)
        self._stretch = Stretch()

    def begin(self, walked: Stretch, **before: Any) -> None:
        """Think about a trial, as :meth:`StorePolicy.begin`; nothing is sampled while there is one."""
        self.policy.begin(walked, **before)
        self._by_sample = before.get("within", 0) > 0
        if self.policy.active or self.policy.resting:
            self.sample.end()

    def look_on(self) -> None:
        """Have a sample of the keys decide, which costs less than a trial."""
        if self.sample.active:
            self.policy.wait()
        else:
            self.sample.begin(self._least)
            self.policy.left = EARLIEST

    def recurs(self, *, ahead: int, room: int, **before: Any) -> int:
        """Tell within how many keys it is expected to pay to store those that are sampled, or 0 (:mod:`compiler.machine.expectation`)."""
        sample = self.sample
        found = sample.recurs(self.policy, ahead=max(ahead, LASTING * self._come), room=room, **before)
        if found in (NEVER, NO_ROOM):
            self.policy.wait()
        if found == NO_ROOM:
            self._least = sample.keys
        return max(found or 0, 0)

    def pledge(self, room: int) -> None:
        """Let shared tables take most of ``room`` bytes that are the walker's own, and not more than its share."""
        pledge = min(self._limit, room - room // LEFT) - scratch_bytes(self._lost)
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

    def lacks_room(self, room: int) -> bool:
        """Tell whether tables of the walker's own are to begin, and ``room`` bytes are too few for them."""
        return not self._shared and not self._stored.nbytes and room < first_bytes() + scratch_bytes(self._lost)

    def ready(self, room: int) -> bool:
        """Tell whether there are tables, or there is room for them, which is so many bytes; else a pause begins."""
        stored, aside = self._stored, scratch_bytes(self._lost)
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
        """Return the row, at most ``stop``, up to which keys from ``row`` on may be looked up at once.

        Keys that would be left, and too few to be looked up, are among them: 900 of 104,000 keys of 24 words, which were walked, took a
        twentieth of the time of all.
        """
        end = min(stop, row + self._rows, row + max(self.policy.left, 1))
        return stop if stop - end < FEWEST and stop - row <= self._rows else end

    @property
    def left_to_simulate(self) -> int:
        """Keys that may be simulated until it is time to think about a trial: so that it does not depend on how many are at once."""
        if self.policy.active or not self._limit:
            return MOST
        return max(1, -(-self.policy.left // (1 if self.policy.lost else SIMULATED_KEY)))

    def rests(self, keys: Keys, start: int, stop: int, asked: Stretch, *, cached: int, word: float) -> bool:
        """Begin to rest if the store pays, but the key cache would do better; tell whether it does.

        Of the keys that were ``asked`` for, and are not known, the key cache has answered so many as are ``cached``.
        """
        if self._shared or self._wanted or not self.policy.paid:
            return False
        long = LITTLE / self.policy.walking(1.0, word=word)
        if not self.rest.wins(keys, start, stop, asked, cached=cached, full=self._stored.full, long=long):
            return False
        self.policy.rest(stored=self._stored.count)
        return True

    def due(self, done: Stretch, *, cached: bool = False) -> bool:
        """Count keys that were matched without the store; tell whether it is time to think about a trial (:meth:`StorePolicy.begin`).

        Where the key cache is asked, and wins, each key counts for one: it takes little time, and has to get to know the keys before it is judged. So it
        does after a trial that was lost: one of long keys is no shorter, and was had in each pass over 100,000 keys of 171 bytes.
        """
        if self.policy.active or not self._limit:
            return False
        self._come += done.keys
        if cached or self.policy.lost:
            self.policy.left -= done.keys
        elif done.simulated == done.keys:
            self.policy.left -= SIMULATED_KEY * done.keys
        else:
            self.policy.left -= max(done.keys, done.size // KEY_BYTES)
        return self.policy.left <= 0

    def look_up(self, keys: Keys, row: int, stop: int, base: int, out: Int32s) -> tuple[Int64s, int]:
        """Look up keys ``row`` to ``stop``, at most as many as :meth:`end_of_stretch` says.

        Returns the rows of those that are not known, until the next call, and the row up to which keys were looked up: before ``stop``
        where there is no scratch space for more unknown keys; and where far more are unknown than before, as :meth:`judge` is to decide
        at once. Known keys get ``base`` + accept set - 1 in ``out``, and null ones -1.
        """
        from compiler.kernels.calling import direct  # as late as all kernels
        from compiler.kernels.key_store import look_up_stored

        if self._asked is None:
            self._asked = scratch(self._lost, partial(zeros, capacity=0))  # so that it goes back with the tables
        room = stop - row if stop - row <= self._lost else self._lost - ON_THEIR_WAY
        expected = PER_KEYS if self._wanted else self.policy.expected
        store = self._stored.readable()
        found = int(direct(look_up_stored, store, self._asked, keys, row, stop, base, out, room, expected))
        count, done = found & 0xFFFFFFFF, found >> 32
        if row + done < stop and count < room:  # so more than expected
            self.policy.left = min(self.policy.left, done)
        return self._asked.rows[:count], row + done

    def keep(self, keys: Keys, ids: Int32s, base: int, room: int) -> None:
        """Store the keys that were not known, whose answers are ``ids``, as far as there is room: so many bytes more.

        Shared tables have what is pledged.
        """
        if self._asked is not None:  # else the tables had to go meanwhile
            self._stored.keep(self._asked, keys, ids, base, self._stored.most if self._shared else room)

    def heed(self, walked: Stretch, *, cached: bool) -> bool:
        """Tell whether other keys have come, as :meth:`StorePolicy.heed`; then those that come next are sampled."""
        others = self.policy.heed(walked, cached=cached)
        if others:
            self._come = self._least = 0
            self.sample.begin()
        return others

    def judge(self, asked: Stretch, *, word: float, room: int, ahead: int = 0) -> None:
        """Take note of keys that were looked up, behind which so many are ``ahead``; at the end of a stretch, decide about the next."""
        if not self.policy.active:  # the tables had to go meanwhile
            return
        self._stretch.add(asked)
        self._come += asked.keys
        self.policy.left -= asked.keys
        if self.policy.left > 0:
            return
        stretch, self._stretch = self._stretch, Stretch()
        if self._wanted:
            self.policy.left = self._rows
            return
        stored = self._stored
        left = stored.limit - stored.nbytes
        room = left if self._shared else min(room, left)
        paid = self.policy.paid
        ahead = max(ahead, LASTING * self._come)
        self.policy.judge(stretch, stored=stored.count, word=word, room=room, full=stored.full, ahead=ahead)
        if self.policy.paid:
            self._by_sample, self._least = False, 0  # it was right
        elif paid:
            self._come = stretch.keys
        if not self.policy.paid:
            self.rest.look_soon()
        if not self.policy.active:
            self.drop(lost=True)


def stretch_of(keys: Keys, start: int, stop: int, lost: int, words: int) -> Stretch:
    """Count keys of which ``lost`` were not known: null keys are neither that nor hits."""
    asked = stop - start if not len(keys.valid) else int(np.count_nonzero(keys.valid[start:stop]))
    return Stretch(stop - start, asked - lost, words, int(keys.offsets[stop]) - int(keys.offsets[start]))


def room_for_keys(capacity: int) -> int:
    """Return the bytes that stored keys may take of a capacity."""
    return min(capacity // SHARE, MOST) if capacity >= SMALLEST else 0
