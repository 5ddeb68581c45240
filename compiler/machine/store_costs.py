"""What answering a key takes, in nanoseconds, by counting: walked, looked up in the key cache, or looked up among stored keys.

As in :mod:`compiler.machine.pace`, counting instead of timing makes what follows from it (:mod:`compiler.machine.store_policy`) the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["COPIED", "SIMULATED", "WORTH", "Before", "Stretch", "bytes_of", "expected_unknown", "looking_up", "storing"]

# The proportions are those that were found on 60 drawn families, each walked, walked by rows and looked up (Zen 5, where all of
# them take seven to nine tenths of that). Half of the figures are within 15 % of what was measured, and nine in ten within 40.
LOOKED_UP, BYTE = 7.0, 0.1
"""Looking a key up, and what each of its bytes adds. (On a Zen 4, keys of 42 bytes took 12.3 there and 12.0 in the key cache.)"""
FAR = ((2 << 20, 1.5), (8 << 20, 4.0))
"""What is added to that where the store takes more bytes than so many."""
CACHED, CACHED_BYTE = 2.0, 0.2
"""Looking one of a few up in the key cache, and what each of its bytes adds."""
MISSED, MISSED_FROM, MISSED_BYTE, COPIED = 60.0, 32, 0.4, 50.0
"""What a key that is not known costs besides being walked: it is copied to a column of such keys, and stored; what each of its bytes adds beyond
so many, in memory that is new for the most part; and what it costs where there is no room to store it. (With nothing for the latter, a family within 4 MiB took 1.5 times as long as without the store when other keys came, of
which it knew less than half; with 20, another one took 40 ns with a store that knew three quarters, and 29 without.)"""
WALKED, WALKED_BYTE = 3.0, 0.26
"""Walking a key, besides its words, and what each of its bytes adds. (Bytes were left out once, and keys of 68 that took 40 ns were taken to take 29.)"""
WINDOW, BEYOND = 64, 0.25
"""The bytes of a key that are split by vectors, and what each byte behind them adds to that."""
SAMPLED = 3.0
"""Having a key sampled. Where storing it spares no more, it is not looked any further whether keys recur."""
WORTH = 1.15
"""So many times as long as looking them up must keys have taken for a trial: it costs a millisecond, and both figures are guesses. (Keys of one word, which
rows walk in 6 ns, took 20 ns when they were stored, to win half a nanosecond.)"""
SIMULATED = 100.0
"""Simulating a key takes that or more, besides what was read of it before."""
RECORD = 36
"""The bytes that a key takes besides its own: those of its record, on average, and of the index."""
EXPECTED = 1.5
"""Other keys have come where so many times as many are not known as in the last stretch, and SURPRISING ones more (:mod:`compiler.kernels.store_tables`)."""


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
    found: int = 0
    """Those among the hits that are exact keys, which were looked up whole (:mod:`compiler.machine.exact_keys`)."""

    def add(self, other: Stretch) -> None:
        """Count another one, too."""
        self.keys += other.keys
        self.hits += other.hits
        self.words += other.words
        self.size += other.size
        self.simulated += other.simulated
        self.found += other.found


@dataclass(slots=True)
class Before:
    """What keys took before any was stored: each figure is one for each key of all.

    >>> before = Before.of(Stretch(keys=1000, hits=500, words=2500, size=20_000), cached=True)
    >>> before.took(word=4.0, size=20.0), round(before.walking(0.1, word=4.0), 3)
    (20.1, 2.82)
    """

    cached: bool = False
    """Whether the key cache was asked."""
    simulated: float = 0.0
    """The share of keys that were simulated."""
    first: float = 0.0
    """The nanoseconds that looking for exact keys took first (:mod:`compiler.machine.exact_keys`)."""
    exact: int = 0
    """How many different ones there are of these."""
    walked: float = 1.0
    """The share of keys that were left to be walked."""
    words: float = 0.0
    """The words that were read."""
    size: float = 0.0
    """Its bytes."""

    @staticmethod
    def of(walked: Stretch, *, cached: bool, first: float = 0.0, exact: int = 0) -> Before:
        """Take note of keys that were matched without being stored."""
        keys = walked.keys
        return Before(
            cached,
            walked.simulated / keys,
            first,
            exact,
            1 - walked.hits / keys,
            walked.words / keys,
            walked.size / keys,
        )

    def took(self, *, word: float, size: float) -> float:
        """Return the nanoseconds that a key of ``size`` bytes took, where walking a ``word`` does."""
        asked = CACHED + CACHED_BYTE * size if self.cached else 0.0
        asked += SIMULATED * self.simulated + self.first
        return asked + self.walked * (WALKED + WALKED_BYTE * size + BEYOND * max(size - WINDOW, 0)) + word * self.words

    def walking(self, share: float, *, word: float) -> float:
        """Return the nanoseconds a key, of all, that it takes to walk this share of them, with as many words as those had that were walked."""
        return share * (WALKED + WALKED_BYTE * self.size + word * self.words / max(self.walked, 1e-3))


def looking_up(size: float, *, stored: int) -> float:
    """Return the nanoseconds that looking a key of ``size`` bytes up takes, among so many that are stored.

    >>> looking_up(20.0, stored=1000), looking_up(20.0, stored=1_000_000)
    (9.0, 14.5)
    """
    return LOOKED_UP + BYTE * size + sum(more for least, more in FAR if bytes_of(stored, size) > least)


def storing(size: float) -> float:
    """Return the nanoseconds that a key of ``size`` bytes costs which is not known, and stored, besides being walked.

    >>> storing(20.0), storing(132.0)
    (60.0, 100.0)
    """
    return MISSED + MISSED_BYTE * max(size - MISSED_FROM, 0)


def bytes_of(stored: float, size: float) -> float:
    """Return the bytes that so many stored keys of ``size`` bytes take.

    >>> bytes_of(1000, 20.0)
    56000.0
    """
    return stored * (size + RECORD)


def expected_unknown(keys: int, *, share: float) -> int:
    """Return how many of so many keys may be unknown after a stretch of which this share was known, and SURPRISING ones more, if no others have come.

    >>> expected_unknown(8192, share=0.75)
    3072
    """
    return int(EXPECTED * (1 - share) * keys)
