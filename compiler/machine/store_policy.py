"""When whole keys are stored: a running comparison of what looking them up costs with what walking them does, by counting.

Keys that are walked are sampled (:mod:`compiler.machine.key_sample`), and stored when it is expected that what is spared of the keys to come is more than
storing costs. How many are to come nobody knows but for the rest of a batch; a stream is taken to go on for some times as long as it has. How many of them
will be new tells a curve (:mod:`compiler.machine.recurrence`), or the rate at which keys were new last, where they repeat themselves at a distance.

Whether it was right is judged in a *trial*: whenever twice as many keys have been asked for, the share of those that are known must pay, or have risen so
that it will. Otherwise the store is dropped, and the keys are sampled again. Keys that no sample sees, as those that are walked by rows, are
tried without it: a few thousand are stored now and then.

A store that paid and does not any more is tried anew, with the keys that it has: others have come, which may recur as well.

What knowing a key spares is what it took before the trial: where nearly all keys are known, the few others say nothing of it. What everything takes
says :mod:`compiler.machine.store_costs`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from compiler.kernels.store_tables import PER_KEYS
from compiler.machine.expectation import Costs, pays_within
from compiler.machine.recurrence import Recurrence, Sampled
from compiler.machine.store_costs import (
    COPIED,
    SIMULATED,
    WORTH,
    Before,
    Stretch,
    bytes_of,
    expected_unknown,
    looking_up,
    storing,
)

__all__ = ["EARLIEST", "KEY_BYTES", "LASTING", "LONGEST_PAUSE", "PAUSE", "SIMULATED_KEY", "TRIAL", "StorePolicy"]

EARLIEST, TRIAL, SHORTEST = 1 << 14, 1 << 13, 1 << 11
"""Keys that are walked before it is thought about a trial, or thought about it again; and keys of a trial, of which the latter half is
judged: fewer where they are long, as storing them takes longer."""
PAUSE, LONGEST_PAUSE = 1 << 20, 1 << 23
"""Keys that are walked after a trial that was lost; each further one that is lost doubles the next pause, up to the longest. A trial takes a
millisecond, half of which is memory that is new: with equal pauses, a warm key of `fleet` took 1.05 times as long in front of sealed tables."""
LONG = 32
"""The bytes of a key up to which a trial has TRIAL keys."""
KEY_BYTES, SIMULATED_KEY = 16, 4
"""Until there is a trial, a key of more bytes counts for several, and one that is simulated for so many: the sooner it is tried, the
more can be won."""
LONGEST = 1 << 16
"""The longest stretch of keys before it is judged again whether a store pays that has done so: other keys may have come. (Eight of 40 families
took 1.3 to 1.9 times as long after a change to keys that do not recur, when the next judgement came after as many keys as all before.) It ends before, as soon as more of its
keys are unknown than could be expected."""
REST, LITTLE = 1 << 19, 4.0
"""Keys that are left to the key cache where they are few, and the most after which it is thought about a trial again, if none ever begins: to
think takes 30 us. (With a quarter and a 32nd, families whose keys take 2 to 10 ns took 1.08 to 1.18 times as long as with no store.) And the
nanoseconds a key that those may take which the key cache does not know, being too long."""
NOTICED, NOTICEABLE, MARGIN = 1 << 14, 1.5, 0.05
"""Other keys have come where, of so many, the share that is walked is so many times what it was, and so much more besides. (Of fewer, it is told where
the key cache gets to know other keys, which are few again: with 1,024, families with 500 to 1,100 keys took 1.2 times as long after a change.)"""
LASTING = 4
"""A stream is expected to go on for so many times as many keys as have come."""
FOREVER = 1 << 40
"""More keys than any stream has."""
LEFT = 0.8
"""The part of the share of known keys that must be left where a trial need not pay yet: else other keys have come."""
RISING = 1.05
"""So many times as large must the share of known keys be when twice as many were asked for, unless it pays already."""


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
    lost: bool = False
    """Whether the last trial was lost: then each key counts for one until the next."""
    _waits: int = EARLIEST
    """The keys after which it is thought about a trial again, if none begins now."""
    _asked: int = 0
    _hits: int = 0
    """Keys of this trial that were looked up before the stretch that is counted, and those of them that were known."""
    _share: float = 0.0
    _stored: int = 0
    """At the last judgement, the share of keys that were known, and how many were stored."""
    _older: int = 0
    """The keys that were stored when the trial began: in a trial that has begun anew, they are of another time."""
    resting: bool = False
    """Whether the key cache is asked instead, as keys are few."""
    paid: bool = False
    """Whether the store paid at the last judgement."""
    _since: Stretch = field(default_factory=Stretch)
    """What was walked since it was last looked whether other keys have come."""
    _within: int = 0
    """Keys of a trial that need not pay: those that are stored are expected to come again then."""
    _before: Before = field(default_factory=Before)
    """What keys took when it was thought about that last."""

    def begin(
        self,
        walked: Stretch,
        *,
        word: float,
        cached: bool = False,
        first: float = 0.0,
        exact: int = 0,
        few: bool = False,
        within: int = 0,
    ) -> None:
        """Begin a trial if there is something to win, by keys that were walked last; else think about it again later.

        ``word`` is what walking a word costs now, ``cached`` tells whether the key cache was asked before, ``first`` is what looking for
        one of so many ``exact`` keys takes before it is walked, and ``few`` tells that the key cache looks those that it knows up sooner. Where keys are expected
        to come again ``within`` so many, the trial takes as long.
        """
        self._before = before = Before.of(walked, cached=cached, first=first, exact=exact)
        self._within = within
        size = walked.size / walked.keys
        self.resting = few and before.walking(before.walked, word=word) < LITTLE
        worth = within > 0 or before.took(word=word, size=size) > WORTH * looking_up(size, stored=0)
        self.active = worth and not self.resting
        if self.active:
            self.left, self._waits = int(max(SHORTEST, min(TRIAL, TRIAL * LONG / max(size, 1)))) // 2, EARLIEST
        elif self.resting:
            self.left = REST
        else:
            self.wait()

    def expects(
        self,
        walked: Stretch,
        sampled: Sampled,
        *,
        ahead: int,
        room: int,
        word: float,
        cached: bool = False,
        first: float = 0.0,
        exact: int = 0,
    ) -> int | None:
        """Do as :func:`compiler.machine.expectation.pays_within`, and take note of what keys took."""
        self._before = Before.of(walked, cached=cached, first=first, exact=exact)
        return pays_within(walked, self._before, sampled, ahead=ahead, room=room, word=word)

    def wait(self) -> None:
        """Think about it again later, and ever less often."""
        self.left, self._waits = self._waits, min(2 * self._waits, REST)

    def judge(
        self, asked: Stretch, *, stored: int, word: float, room: int, full: bool = False, ahead: int = FOREVER
    ) -> None:
        """Take note of a stretch of keys that were looked up, as many as were ``left``.

        So many keys are ``stored`` now, ``room`` bytes are left for others, and so many keys are expected to be ``ahead``.
        """
        before = self._asked, self._hits
        self._hits += asked.hits
        first = self._asked == 0
        self._asked += asked.keys
        share, size = asked.hits / asked.keys, asked.size / asked.keys
        # Where the room ends soon, nothing is spent on storing keys after that; and a first trial may be full for a while only, as an automaton takes
        # more room while its tables grow. (Later ones were not told from that at first, and one family took three times as long for it.)
        ends = full or room < bytes_of(stored, size)
        missed = (1 - share) * (storing(size) if not ends else COPIED if self.paid or self._older else 0.0)
        missed += SIMULATED * asked.simulated / asked.keys
        took = self._before.took(word=word, size=size)
        pays = share * took > looking_up(size, stored=stored) + missed
        if self.paid and not pays:  # other keys have come: whether these recur is tried anew, if there is room for them
            self._begin_anew(stored)
            self.active = not full
            self.left = TRIAL // 2
            return
        waits = self._asked < self._within and share >= LEFT * self._share and not full
        if not (first or pays or waits):
            # The share that was known is that of the keys that were stored in the middle of the stretch among all there are.
            new = stored - self._older
            others = ((self._stored + stored) / 2 - self._older) / max(share, 1e-6) - new
            # Even if all of them were known:
            hopeless = share == 0 or took <= looking_up(size, stored=int(stored + others))
            if full or hopeless or bytes_of(others, size) > room or share < RISING * self._share:
                self.active = False
                return
            curve = Recurrence.of(self._asked, before, (asked.keys, asked.hits))
            costs = Costs(took, looking_up(size, stored=stored), storing(size))
            times = 0 if curve is None else costs.pay_from(curve, self._asked, ahead)
            if times != 1:
                self.active = False
                if times:  # that many are expected when so many more have come
                    self.patience = min(self.patience, (times - 1) * ahead // LASTING)
                return
        if pays and not ends:  # else the next judgement counts what is not stored
            self.patience = PAUSE
        self._share, self._stored, self.paid = share, stored, pays
        self.left = max(self._asked, SHORTEST // 2)
        if pays:
            self.left = min(self.left, LONGEST)

    @property
    def expected(self) -> int:
        """How many of PER_KEYS keys may be unknown, besides SURPRISING ones, until it is time to judge, as other keys may have come."""
        return expected_unknown(PER_KEYS, share=self._share)

    @property
    def asked(self) -> int:
        """The keys of the trial that were looked up."""
        return self._asked

    @property
    def cached(self) -> bool:
        """Whether the key cache was asked before the trial."""
        return self._before.cached

    def walking(self, share: float, *, word: float) -> float:
        """Do as :meth:`compiler.machine.store_costs.Before.walking`, of the keys before the trial."""
        return self._before.walking(share, word=word)

    def rest(self, *, stored: int) -> None:
        """Look no keys up for a while, as the key cache does that sooner; so many are ``stored``, and stay so."""
        self._begin_anew(stored)
        self.active, self.resting, self.left = False, True, REST

    def heed(self, walked: Stretch, *, cached: bool) -> bool:
        """Tell whether other keys have come, as far more were walked than when a trial was thought about last; then that is due at once.

        ``cached`` tells whether the key cache will be asked further: a store that rests does so no longer than that.
        """
        self._since.add(walked)
        more = False
        if self._since.keys >= NOTICED:
            more = 1 - self._since.hits / self._since.keys > NOTICEABLE * self._before.walked + MARGIN
            self._since = Stretch()
        if self.active or not (more or (self.resting and not cached)):
            return False
        self.resting, self.left, self._waits = False, 0, EARLIEST
        self._before.walked = 1.0  # so that it is told once
        return True

    def _begin_anew(self, stored: int) -> None:
        self._asked = self._hits = self._within = 0
        self._share, self._stored, self._older, self.paid = 0.0, stored, stored, False
