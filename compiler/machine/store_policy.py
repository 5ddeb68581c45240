"""When whole keys are stored: a running comparison of what looking them up costs with what walking them does, by counting.

A stream that is walked at some cost is tried: a first few thousand keys are stored, and from the share of those that come again it is
guessed how many different keys there are. If these fit into what the automaton leaves of the bound, all are stored. Otherwise, and
when too few of the keys are known, the store is dropped, and tried again after a pause, or as soon as a sample of the keys that are walked
meanwhile says that it would pay (:mod:`compiler.machine.key_sample`).

A store that paid and does not any more is tried anew, with the keys that it has: others have come, which may recur as well.

The guess takes all keys for equally likely. Where some are not, they come again sooner, which is why it is made again
whenever twice as many keys have been asked for: the share of those that are known must have risen until then, or pay already.

What knowing a key spares is what it took before the trial: where nearly all keys are known, the few others say nothing of it.

As in :mod:`compiler.machine.pace`, counting instead of timing makes the choice the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["EARLIEST", "KEY_BYTES", "LONGEST_PAUSE", "PAUSE", "SIMULATED_KEY", "TRIAL", "StorePolicy", "Stretch"]

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
LONGEST = 1 << 15
"""The longest stretch of keys before it is judged again whether a store pays that has done so: other keys may have come. (Eight of 40 families
took 1.3 to 1.9 times as long after a change to keys that do not recur, when the next judgement came after as many keys as all before.)"""
EXPECTED, SURPRISING = 2, 1024
"""It ends before, when EXPECTED times as many keys are not known as in the last one, and SURPRISING ones more."""
REST, LITTLE = 1 << 19, 4.0
"""Keys that are left to the key cache where they are few, and the most after which it is thought about a trial again, if none ever begins: to
think takes 30 us. (With a quarter and a 32nd, families whose keys take 2 to 10 ns took 1.08 to 1.18 times as long as with no store.) And the
nanoseconds a key that those may take which the key cache does not know, being too long."""
NOTICED, NOTICEABLE, MARGIN = 1 << 14, 1.5, 0.05
"""Other keys have come where, of so many, the share that is walked is so many times what it was, and so much more besides. (Of fewer, it is told where
the key cache gets to know other keys, which are few again: with 1,024, families with 500 to 1,100 keys took 1.2 times as long after a change.)"""
WORTH = 1.15
"""So many times as long as looking them up must keys have taken for a trial: it costs a millisecond, and both figures are guesses. (Keys of one word, which
rows walk in 6 ns, took 20 ns when they were stored, to win half a nanosecond.)"""
RISING = 1.05
"""So many times as large must the share of known keys be when twice as many were asked for, unless it pays already."""

# Nanoseconds, in the proportions that were found on 60 drawn families, each walked, walked by rows and looked up (Zen 5, where all of
# them take two thirds of that). Half of the figures are within 15 % of what was measured, and nine in ten within 40.
LOOKED_UP, BYTE = 7.0, 0.1
"""Looking a key up, and what each of its bytes adds. (On a Zen 4, keys of 42 bytes took 12.3 there and 12.0 in the key cache.)"""
FAR = ((2 << 20, 1.5), (8 << 20, 4.0))
"""What is added to that where the store takes more bytes than so many."""
CACHED, CACHED_BYTE = 2.0, 0.2
"""Looking one of a few up in the key cache, and what each of its bytes adds."""
MISSED, COPIED = 60.0, 50.0
"""What a key that is not known costs besides being walked: it is copied to a column of such keys, and stored; and what it costs where there is
no room to store it. (With nothing for the latter, a family within 4 MiB took 1.5 times as long as without the store when other keys came, of
which it knew less than half.)"""
WALKED = 3.0
"""Walking a key, besides its words."""
WINDOW, BEYOND = 64, 0.4
"""The bytes of a key that are split by vectors, and what each byte behind them adds to walking it."""
SIMULATED = 100.0
"""Simulating a key takes that or more, besides what was read of it before."""
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
    simulated: int = 0
    """Those that were simulated, from their first word on or from a later one."""

    def add(self, other: Stretch) -> None:
        """Count another one, too."""
        self.keys += other.keys
        self.hits += other.hits
        self.words += other.words
        self.size += other.size
        self.simulated += other.simulated


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
    _waits: int = EARLIEST
    """The keys after which it is thought about a trial again, if none begins now."""
    _asked: int = 0
    """Keys of this trial that were looked up before the stretch that is counted."""
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
    _cached: bool = False
    _simulated: float = 0.0
    _first: float = 0.0
    _walked: float = 1.0
    _words: float = 0.0
    """Before the trial, whether the key cache was asked, the share of keys that were simulated, the nanoseconds that something else took
    first, the share of keys which were left to be walked, and the words that were read, for each key of all."""

    def begin(
        self,
        walked: Stretch,
        *,
        word: float,
        cached: bool = False,
        first: float = 0.0,
        few: bool = False,
        within: int = 0,
    ) -> None:
        """Begin a trial if there is something to win, by keys that were walked last; else think about it again later.

        ``word`` is what walking a word costs now, ``cached`` tells whether the key cache was asked before, ``first`` is what is done
        with each key before it is walked, and ``few`` tells that the key cache looks those that it knows up sooner. Where keys are expected
        to come again ``within`` so many, the trial takes as long.
        """
        self._note(walked, cached=cached, first=first)
        self._within = within
        size = walked.size / walked.keys
        self.resting = few and self.walk_of(self._walked, word=word) < LITTLE
        worth = within > 0 or self._took(word, size) > WORTH * _costs(size, stored=0)
        self.active = worth and not self.resting
        if self.active:
            self.left, self._waits = int(max(SHORTEST, min(TRIAL, TRIAL * LONG / max(size, 1)))) // 2, EARLIEST
        elif self.resting:
            self.left = REST
        else:
            self.left, self._waits = self._waits, min(2 * self._waits, REST)

    def expects(
        self, walked: Stretch, *, keys: int, share: float, different: int, word: float, cached: bool, room: int
    ) -> bool | None:
        """Tell whether it is expected to pay to store keys, as so large a ``share`` of those that were walked, not answered, had been walked before.

        Of so many ``keys`` there were so many ``different`` ones. None where it may be so later: when what would have been spared of all those
        is as much as storing the different ones will cost.
        """
        self._note(walked, cached=cached, first=0.0)
        size = walked.size / walked.keys
        if different * (size + RECORD) > room:
            return False
        if different * (size + RECORD) > share * room:  # if all are equally likely, so many have not come yet
            return None
        missed = self._walked * (1 - share)
        spared = (1 - missed) * self._took(word, size) - WORTH * _costs(size, stored=different) - missed * MISSED
        return True if spared * keys > different * MISSED else None

    def judge(self, asked: Stretch, *, stored: int, word: float, room: int, full: bool = False) -> None:
        """Take note of a stretch of keys that were looked up, as many as were ``left``.

        So many keys are ``stored`` now, and ``room`` bytes are left for others.
        """
        first = self._asked == 0
        self._asked += asked.keys
        share, size = asked.hits / asked.keys, asked.size / asked.keys
        # Where the room ends soon, nothing is spent on storing keys after that; but a trial may be full for a while only, as an automaton
        # takes more room while its tables grow.
        ends = full or room < stored * (size + RECORD)
        missed = (1 - share) * (MISSED if not ends else COPIED if self.paid else 0.0)
        missed += SIMULATED * asked.simulated / asked.keys
        pays = share * self._took(word, size) > _costs(size, stored=stored) + missed
        if self.paid and not pays:  # other keys have come: whether these recur is tried anew, if there is room for them
            self._begin_anew(stored)
            self.active = not full
            self.left = TRIAL // 2
            return
        if not (first or pays or self._asked < self._within):
            # The share that was known is that of the keys that were stored in the middle of the stretch among all there are.
            new = stored - self._older
            others = ((self._stored + stored) / 2 - self._older) / share - new if share else float("inf")
            if full or others * (size + RECORD) > room or share < RISING * self._share:
                self.active = False
                return
        if pays:
            self.patience = PAUSE
        self._share, self._stored, self.paid = share, stored, pays
        self.left = max(self._asked, SHORTEST // 2)
        if pays:
            self.left = min(self.left, LONGEST)

    def most_lost(self, keys: int) -> int:
        """Return after how many keys that are not known, of so many, it is time to judge: other keys may have come."""
        return int(EXPECTED * (1 - self._share) * keys) + SURPRISING if self.paid else keys

    def walk_of(self, share: float, *, word: float) -> float:
        """Return the nanoseconds a key, of all, that it takes to walk this share of them, which have as many words as those before the trial."""
        return share * (WALKED + word * self._words / max(self._walked, 1e-3))

    def rest(self, *, stored: int) -> None:
        """Look no keys up for a while, as the key cache does that sooner; so many are ``stored``, and stay so."""
        self._begin_anew(stored)
        self.active, self.resting, self.left = False, True, REST

    def heed(self, walked: Stretch, *, cached: bool) -> None:
        """Think about a trial at once if far more keys were walked than when that was done last, as other keys have come.

        ``cached`` tells whether the key cache will be asked further: a store that rests does so no longer than that.
        """
        self._since.add(walked)
        more = False
        if self._since.keys >= NOTICED:
            more = 1 - self._since.hits / self._since.keys > NOTICEABLE * self._walked + MARGIN
            self._since = Stretch()
        if not self.active and (more or (self.resting and not cached)):
            self.resting, self.left, self._waits = False, 0, EARLIEST

    def _note(self, walked: Stretch, *, cached: bool, first: float) -> None:
        self._cached, self._simulated, self._first = cached, walked.simulated / walked.keys, first
        self._walked, self._words = 1 - walked.hits / walked.keys, walked.words / walked.keys

    def _begin_anew(self, stored: int) -> None:
        self._asked, self._share, self._stored, self._older, self.paid, self._within = 0, 0.0, stored, stored, False, 0

    def _took(self, word: float, size: float) -> float:
        """Return the nanoseconds that a key of ``size`` bytes takes without the store, as keys were before the trial."""
        asked = CACHED + CACHED_BYTE * size if self._cached else 0.0
        asked += SIMULATED * self._simulated + self._first
        return asked + self._walked * (WALKED + BEYOND * max(size - WINDOW, 0)) + word * self._words


def _costs(size: float, *, stored: int) -> float:
    """Return the nanoseconds that looking a key of ``size`` bytes up takes, among so many that are stored."""
    far = sum(more for least, more in FAR if stored * (size + RECORD) > least)
    return LOOKED_UP + BYTE * size + far
