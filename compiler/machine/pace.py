"""When to walk the DFA and when to simulate: a running comparison of what the two cost, by counting.

For a small set the bit-parallel simulation costs a known time per word, whatever happens; for a large one the simulation by
pairs costs about as much for each NFA position of a state. The DFA costs less per word that it knows and far more per
transition that it must build. After each stretch of keys the counters say what the DFA has cost. A DFA that loses is given some
transitions to learn by, as a new one always begins with building. If by then it builds for fewer of its words than it did at
first, it is learning, and gets twice as many more. Where it is not, keys are simulated until that has taken FIRST_PAUSE to
PAUSE times as long as the trial did, and then it is tried again with more to learn by. What is lost by trying is therefore
bounded by a share of what simulating costs anyway.

Both without end would be wrong. Of 40 families of bindings and keys, one in five was simulated at two to seven times the cost,
for want of a few thousand transitions, where every losing trial ended in a pause (``python -m benchmarks regret``); and the
patterns of `hard` have as many new transitions in the thousandth key as in the tenth.

Counting instead of timing makes the choice, and with it the counters, the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from compiler.kernels.tables import PAUSED, UNJUDGED, Int64s

__all__ = ["Counted", "Pace"]

SHORTEST, LONGEST, FAST = 16, 1 << 18, 8
"""Keys of a stretch: the first is as short as possible, and each that the DFA wins doubles the next; or makes it FAST times as long, where building took no
more than one part in FAST of what simulating would have. (With doubling alone, 20 calls more took up to a quarter of a first pass over 600,000 keys of one word.)"""
LESSON = 1024
"""Transitions that a losing DFA may build in its first trial; each further trial, and each further part of one, allows twice as many."""
FIRST_PAUSE, PAUSE = 4, 16
"""The pause behind the first trial, in times of that, and the longest: each is twice the one before. A first trial is short, and
what it says is worth little: of 3,500 transitions, which were all that some keys needed, it saw a quarter."""
LEARNING = 1.15
"""A DFA learns if it takes so many times as many words for the second half of its transitions as for the first."""
WORTH_LEARNING = 2.0
"""A DFA goes on learning only if it would be so many times as fast as simulating when it knows everything."""
LITTLE_TO_WIN = 2
"""Pauses are so many times as long where it would not be: the first pass of `hard` takes 1.1 times as long without that."""
STRETCHES = 8
"""The stretches of a trial: fewer would see too late that it is over, and each takes some microseconds, whatever its length."""

FRESH = 0.8
"""If this share of keys comes upon transitions that nobody has asked for, hardly anything comes again. A DFA that was full before
does not learn then, and walking keys before they are simulated takes up to 1.4 times as long as simulating them at once. (With half that share, families
within 4 MiB took up to 1.5 times as long: those keys that were not fresh would have been walked, at a third of what simulating them takes.)"""
FRESH_PAUSE, LONGEST_FRESH, LONGEST_FULL = 8, 1 << 12, 1 << 15
"""The pause behind such a stretch, in times of the next one; the most keys of that, and of any where the DFA was full before."""

# Nanoseconds, fitted to `python -m benchmarks engine` on its workloads `hard`, `nservicebus` and `throughput`.
KNOWN_WORD = 9.0
BUILD, BUILD_MEMBER = 600.0, 25.0
"""Building a transition, and what each NFA position of a state adds."""
SIMULATED_KEY, SIMULATED_WORD, SIMULATED_LANE = 70.0, 9.0, 0.3
"""Simulating a key, each of its words, and what each machine word of the set adds to that."""
ACTIVE_WORD, ACTIVE_MEMBER = 18.0, 7.0
"""Simulating a word by pairs, and what each NFA position of a key adds. Measured: 41 ns a word on `stock` (3.7 positions), 62 on
`rabbit2011` (5.9), 28 on `fleet` (1.0); the rows `nfa` of ``python -m benchmarks engine`` repeat it."""
ACTIVE_LESSON, ACTIVE_LEAD, ACTIVE_PAUSE = 1 << 17, 14.0, 4
"""A large set's DFA may build so many transitions in its first trial, as most of its states are still to come; it has lost
only if it cost so many times as much as simulating; and it is tried again sooner, as it is ten times as fast once it
knows its states. Whether it learns is not asked: it has had the time to."""


class Counted(NamedTuple):
    """What a walker had counted at some time."""

    keys: int
    words: int
    builds: int
    hits: int
    """The keys that were found whole, of which no words were read."""


NOTHING = Counted(0, 0, 0, 0)


@dataclass(slots=True)
class Pace:
    """The state of the comparison; it goes on from batch to batch.

    >>> pace = Pace(lanes=8)
    >>> pace.compare(keys=16, words=160, builds=1, members=1.0)
    >>> pace.stretch, pace.pause
    (32, 0)
    >>> pace.compare(keys=32, words=520, builds=500, members=1.0)
    >>> pace.compare(keys=32, words=600, builds=590, members=1.0)
    >>> pace.stretch, pace.pause > 1000
    (16, True)
    """

    lanes: int | None
    """Machine words of the bit-parallel simulation, or None where the set is too large for it."""
    stretch: int = SHORTEST
    """Keys to walk before the next comparison."""
    counts: Int64s = field(default_factory=lambda: np.zeros(4, np.int64))
    """What kernels for single keys count, too (PAUSED and those beside it)."""
    few: memoryview[int] = field(init=False, repr=False)
    """The same, which Python reads sooner."""
    begun: Counted = NOTHING
    """What was counted when the present stretch of single keys and small batches began."""
    lesson: int = LESSON
    patience: int = FIRST_PAUSE
    """The next pause, in times of the trial before it."""
    builds: int = 0
    words: int = 0
    early: tuple[int, int] = (0, 0)
    spent: float = 0.0
    """Transitions built, words read, both of these in about the first half, and nanoseconds spent, in this trial: since the DFA
    has last won."""

    def __post_init__(self) -> None:
        self.few = self.counts.data
        if self.lanes is None:
            self.lesson, self.patience = ACTIVE_LESSON, ACTIVE_PAUSE

    @property
    def pause(self) -> int:
        """Keys still to simulate before the DFA is tried again."""
        return self.few[PAUSED]

    @pause.setter
    def pause(self, keys: int) -> None:
        self.few[PAUSED] = keys

    def simulate(self, keys: int) -> None:
        """Take note of a few keys that were simulated."""
        self.few[PAUSED] = max(0, self.few[PAUSED] - keys)
        self.few[UNJUDGED] = 0

    def begin(self, counted: Counted) -> None:
        """Begin a stretch of single keys and small batches, which is compared when it has gone by, with what tables alone have answered meanwhile."""
        self.few[UNJUDGED], self.begun = self.stretch, counted

    def ends(self, keys: int) -> bool:
        """Take note of a few keys that were walked; tell whether the stretch has gone by."""
        left = self.few[UNJUDGED] - keys
        self.few[UNJUDGED] = max(0, left)
        return left <= 0

    def judge(self, counted: Counted, *, members: float) -> None:
        """Compare the stretch that has gone by; ``members`` is as in :meth:`compare`."""
        keys, words, builds, hits = (now - before for now, before in zip(counted, self.begun, strict=True))
        if builds or self.builds:
            self.compare(keys=keys, words=words, builds=builds, members=members, hits=hits)

    def compare(
        self, *, keys: int, words: int, builds: int, members: float, hits: int = 0, fresh: int | None = None
    ) -> None:
        """Take note of a stretch of keys: how many of their words were read, and how many transitions were built for them.

        Of ``hits`` keys no words were read, as the key cache knew them. ``members`` is the mean number of NFA positions in a state. If the
        cache was full before, ``fresh`` keys were left to the simulation by its doorkeeper, for transitions that nobody had asked for.
        """
        if fresh is not None and fresh > FRESH * keys:
            self.stretch = min(2 * self.stretch, LONGEST_FRESH)
            self.pause = FRESH_PAUSE * self.stretch
            self._begin_trial()
            return
        # All keys would be simulated, and those that the key cache knows have words, too. (Without these, 30,000 keys of a family of which it soon knew
        # nearly all were simulated, as more than a transition was built for each word that was read: 50 ns a key in the first pass, and 36 now.)
        read, words = words, words + words * hits // max(keys - hits, 1)
        built = (BUILD + BUILD_MEMBER * members) * builds
        walked = KNOWN_WORD * read + built
        word = ACTIVE_WORD + ACTIVE_MEMBER * members
        lead = ACTIVE_LEAD
        if self.lanes is not None:
            word = SIMULATED_WORD + SIMULATED_LANE * self.lanes
            lead = 1.0
        simulated = SIMULATED_KEY * keys + word * words
        if walked <= lead * simulated:
            times = FAST if FAST * built <= lead * simulated else 2
            self.stretch = min(times * self.stretch, LONGEST if fresh is None else LONGEST_FULL)
            self._begin_trial()
            return
        self.builds += builds
        self.words += words
        self.spent += walked
        small = self.lanes is not None
        if small:
            wanted = keys * self.lesson // (STRETCHES * max(builds, 1))
            self.stretch = max(SHORTEST, min(2 * self.stretch, LONGEST, wanted))
        if 2 * self.builds <= self.lesson:
            self.early = self.builds, self.words
        elif self.builds >= self.lesson:
            self.lesson *= 2 if small else 4
            worth = small and simulated > WORTH_LEARNING * KNOWN_WORD * words
            if worth and self._learns():
                self.early = self.builds, self.words
                return
            patience = LITTLE_TO_WIN * self.patience if small and not worth else self.patience
            self.pause = int(patience * self.spent / simulated * keys)
            self.patience = min(2 * self.patience, PAUSE) if small else ACTIVE_PAUSE
            self.stretch = SHORTEST
            self._begin_trial()

    def _begin_trial(self) -> None:
        self.builds = self.words = 0
        self.early = (0, 0)
        self.spent = 0.0

    def _learns(self) -> bool:
        """Tell whether the second half of the transitions took many more words, each, than the first."""
        builds, words = self.early
        return (self.words - words) * builds >= LEARNING * words * (self.builds - builds) > 0
