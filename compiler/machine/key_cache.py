"""When to keep whole keys in mind: a running comparison of what that saves and costs, by counting.

A stream that repeats a few keys is answered faster by looking each key up whole than word by word; one whose keys are
all different pays for look-ups that find nothing. The stream itself says which it is: a stretch of keys is tried, hits
and words are counted, and the table stays in front of the automaton as long as it wins. A table that loses is put away,
and tried again after a pause that is PAUSE times as long or more, so that what trying costs stays at a per cent or two. It keeps
what it knows meanwhile. As long as it knows more and more of the keys, it is still learning, and tried further.

Keys that the table knows and keys that it does not know follow each other in no order. Looked up one by one, each of the latter was
a branch that the processor guessed wrong, and cost 50 ns besides being walked; in vectors it costs 5
(:mod:`compiler.kernels._key_vectors`), so a table that knows half of the keys is worth its while.

As in :mod:`compiler.machine.pace`, counting instead of timing makes the choice the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from compiler.kernels.store_tables import SURPRISING
from compiler.kernels.tables import Keys
from compiler.machine.store_costs import WALKED, WALKED_BYTE, expected_unknown
from compiler.mappings import zeros

__all__ = ["KeyCache", "KeyCacheMode", "KeyCachePolicy", "key_table", "long_words", "table_bytes", "word_cost"]

KeyCacheMode = Literal["auto", "on", "off"]

SLOT = 8
"""Numbers of a slot: a line of the processor's cache. See :mod:`compiler.kernels.key_cache` for what is in it."""
SLOTS = 1 << 14
"""The most keys that are kept in mind, in 1 MiB: it should stay in the second-level cache."""
SHARE = 4
"""At most this part of a cache's capacity goes to the table."""
NO_KEY_TABLE = np.empty(0, np.uint64)
NOTHING = (0, 0, 0, 0, 0)
SAMPLE, SAMPLE_BYTES, SIMILAR = 256, 1 << 13, 0.9
"""Keys whose words are measured, or about so many bytes of them, and how similar the mean bytes of a key must be for that to hold further."""

STRETCH, LONGEST = 1024, 1 << 17
"""Keys of a trial; each stretch that the table wins doubles the next, after which it is judged again. (A call takes 20 us, a sixth of what half of the longest
stretch does where keys take 2 ns.)"""
PAUSE, LONG_PAUSE, HOPELESS = 64, 128, 0.1
"""The pause behind a trial that was lost, and that behind one in which less than a share of HOPELESS of the keys were known."""
SURPRISED = 4096
"""A stretch ends before when a surprising number of its keys is not known, as other keys have come, and the next one has so many. (Of forty families, one
that changed to keys that do not recur took 28 ns in place of 31.)"""
RISING = 0.1
"""A table that has lost is tried further if its share of hits was so much greater than in the stretch before."""

# Nanoseconds, of which a Zen 5 takes three quarters to the whole, and an Intel Xeon twice as many. Those of walking were fitted to 60 families of
# ``python -m benchmarks regret`` (seeds 2511361 and 2511362), each walked by hashes and by rows: half of the figures are within 15 %, nine in ten within 35.
LOOKED_UP, BYTE = 2.0, 0.19
"""Looking a key up, and what each of its bytes adds."""
MISSED = 5.0
"""What a key that is not known costs besides being walked: it is remembered."""
ROW_WORD, FAR_ROW_WORD, NEAR_ROWS = 0.6, 1.5, 1 << 19
"""Walking a word by rows, and by rows of more bytes than the last."""
BEHIND, NEAR = 8.0, 1 << 19
"""What walking a word adds for keys that the key cache does not know, in a cache of more bytes than that: they are few in each block, so they wait for
memory one by one. (Two families of which it knew 88 and 83 in 100 took 21 and 27 ns, and were thought to take 9 and 18.)"""
LONG, LONG_WORD = 8, 10.0
"""A word of at most LONG bytes is its own name, and naming a longer one adds LONG_WORD to walking it."""
WORDS_BY_BYTES = ((1 << 21, 3.0), (1 << 24, 4.5))
FAR_WORD = 6.5
"""Walking a word in a cache of at most so many bytes, and in a larger one: by how far its tables are from the processor."""


def key_table(capacity: int, share: int = SHARE) -> npt.NDArray[np.uint64]:
    """Return an empty table for a cache of this capacity; it has no slots where its share has no room for 64."""
    size = table_bytes(capacity, share)
    return zeros(size // 8, np.uint64, capacity) if size else NO_KEY_TABLE


def table_bytes(capacity: int, share: int = SHARE) -> int:
    """Return the bytes of that table.

    >>> table_bytes(64 << 20), table_bytes(100_000), table_bytes(16_000)
    (1048576, 16384, 0)
    """
    slots = min(SLOTS, capacity // (share * SLOT * 8))
    return SLOT * 8 << (slots.bit_length() - 1) if slots >= 64 else 0


@dataclass(slots=True)
class KeyCachePolicy:
    """The state of the comparison; it goes on from batch to batch.

    >>> policy = KeyCachePolicy("auto")
    >>> policy.judge(keys=1024, hits=1000, words=75, size=10240, word=4.8)
    >>> policy.wanted, policy.left
    (True, 2048)
    >>> policy.judge(keys=2048, hits=2, words=6000, size=20480, word=4.8)
    >>> policy.wanted, policy.left
    (False, 131072)
    """

    mode: KeyCacheMode
    wanted: bool = True
    """Whether keys are looked up whole now."""
    left: int = STRETCH
    """Keys until that is thought about again."""
    stretch: int = STRETCH
    walked: float = 0.0
    """The words of a key that were read when keys were not looked up, in the last pause."""
    share: float = 0.0
    """Of the keys of the last stretch that was judged, how many the table knew."""

    def begin(self) -> None:
        """Try the table at once, whatever was found before."""
        self.wanted, self.left, self.stretch, self.share = True, STRETCH, STRETCH, 0.0

    def judge(self, *, keys: int, hits: int, words: int, size: int, word: float, deferred: int = 0) -> None:
        """Take note of a stretch of keys: how many the table knew, how many words the others had, and the bytes of them all.

        ``word`` is what walking a word costs now. ``deferred`` keys were left to the simulation: the table has not got to know them, and
        they say nothing of what it will know.
        """
        if self.mode != "auto":
            self.left = LONGEST
            return
        if not self.wanted:  # a pause has ended
            self.wanted, self.left, self.walked = True, self.stretch, words / keys
            return
        missed, share = keys - hits, hits / max(keys - deferred, 1)
        # Keys that are known may have more words than those that are not: a stream of keys of 12 words, of which 0.56 came again,
        # missed 2.7 words a key, and had 7.8.
        spared = max(words / max(missed, 1) * hits, self.walked * keys - words)
        saved = (WALKED + WALKED_BYTE * size / keys) * hits + word * spared
        wins = not missed or saved > LOOKED_UP * keys + BYTE * size + MISSED * missed
        self.wanted = wins or share >= self.share + RISING
        self.share = share
        self.stretch = min(2 * self.stretch, LONGEST) if self.wanted else STRETCH
        pause = LONG_PAUSE if share < HOPELESS else PAUSE
        self.left = self.stretch if self.wanted else pause * STRETCH


class KeyCache:
    """One walker's key cache: its table, and what is decided about it."""

    def __init__(self, mode: KeyCacheMode, separator: int, share: int = SHARE) -> None:
        """Begin without a table; at most one part in ``share`` of the cache's capacity will go to it."""
        self._separator = separator
        self._share = share
        self.policy = KeyCachePolicy(mode, wanted=mode != "off")
        self._looked_at = self._long = 0.0
        """The mean bytes of a key when words were measured, and the share of words that were long then."""
        self.drop()

    def drop(self) -> None:
        """Give the table's memory back; it is made again when it is wanted."""
        self.table: npt.NDArray[np.uint64] = NO_KEY_TABLE
        self._counts: tuple[int, int, int, int, int] = NOTHING

    def begin(self) -> None:
        """Try the table at once; what was counted of a pause says nothing of that."""
        self.policy.begin()
        self._counts = NOTHING

    def forget(self) -> None:
        """Empty the table: it holds numbers of accept sets of a cache that was cleared."""
        self.table[:] = 0
        self.policy.share = 0.0

    def wanted_bytes(self, capacity: int) -> int:
        """Return the bytes of a table for a cache of this capacity; 0 if it is not wanted now, as where the mode is "off"."""
        return table_bytes(capacity, self._share) if self.policy.wanted else 0

    def wanted_table(self, capacity: int, used: int, *, begins: bool = True) -> npt.NDArray[np.uint64]:
        """Return the table, or one of no slots where it is not wanted now, does not fit beside ``used`` bytes, or would have to begin and may not."""
        if not self.policy.wanted:  # as it never is where the mode is "off"
            return NO_KEY_TABLE
        if begins and not len(self.table) and used + table_bytes(capacity, self._share) <= capacity:
            self.table = key_table(capacity, self._share)
        return self.table

    def end_of_stretch(self, row: int, stop: int) -> int:
        """Return the row, at most ``stop``, at which keys from ``row`` on are judged."""
        return stop if self.policy.mode == "off" else min(stop, row + max(self.policy.left, 1))

    @property
    def most_unknown(self) -> int:
        """How many keys of the stretch, from now on, the table need not know before it is judged; 0 for any number."""
        return max(1, self._surprising - self._unknown) if self._surprising else 0

    @property
    def _unknown(self) -> int:
        """The keys of the stretch that the table did not know."""
        return self._counts[0] - self._counts[1]

    @property
    def _surprising(self) -> int:
        """How many of these mean that other keys have come; 0 if no number does."""
        policy = self.policy
        if policy.mode != "auto" or not (policy.wanted and policy.share):
            return 0
        return SURPRISING + expected_unknown(policy.stretch, share=policy.share)

    def judge(
        self, keys: Keys, first: int, last: int, hits: int, words: int, used: int, *, rows: int, deferred: int = 0
    ) -> None:
        """Note what a walk of the keys ``first`` to ``last`` did; at the end of a stretch of keys, decide about the next.

        ``used`` are the bytes of the cache, and ``rows`` those of its rows, 0 if it does not fit into any; so many keys were ``deferred``.
        """
        policy = self.policy
        if policy.mode == "off":
            return
        size = int(keys.offsets[last]) - int(keys.offsets[first])
        before = self._counts  # one by one: with zip all this took 6 us in place of 3
        self._counts = (
            before[0] + last - first,
            before[1] + hits,
            before[2] + words,
            before[3] + size,
            before[4] + deferred,
        )
        policy.left -= last - first
        surprised = 0 < self._surprising <= self._unknown
        if surprised:
            policy.left = 0
        # After a call that was broken off nothing may be left of a stretch, though nothing of it was counted.
        if policy.left <= 0 < self._counts[0]:
            count, hits, words, size, deferred = self._counts
            self._counts = NOTHING
            # Looking takes 30 us, half as long as a trial itself: so only where keys are longer or shorter than when it was done. And without a
            # trial nobody asks.
            if policy.wanted and not SIMILAR * self._looked_at < size / count < self._looked_at / SIMILAR:
                self._looked_at = size / count
                some = min(last - first, SAMPLE, max(1, SAMPLE_BYTES * count // max(size, 1)))
                self._long = long_words(keys, first, first + some, self._separator)
            policy.judge(
                keys=count, hits=hits, words=words, size=size, word=self.word_cost(used, rows=rows), deferred=deferred
            )
            if surprised and policy.wanted:  # by what was known before
                policy.left = policy.stretch = SURPRISED

    def word_cost(self, used: int, *, rows: int = 0, behind: bool = False) -> float:
        """Return what walking a word takes, with the words of keys as they were when they were looked at; ``behind`` the key cache, or not."""
        by_rows = FAR_ROW_WORD if rows > NEAR_ROWS else ROW_WORD
        more = BEHIND if behind and used > NEAR else 0.0
        return (by_rows if rows else word_cost(used)) + more + LONG_WORD * self._long


def long_words(keys: Keys, first: int, last: int, separator: int) -> float:
    """Return the share of words of over LONG bytes in some keys.

    >>> data = np.frombuffer(b"a.bcdefghij.kl", np.uint8)
    >>> round(long_words(Keys(np.array([0, 9, 14], np.int32), data, np.empty(0, np.bool_)), 0, 1, ord(".")), 3)
    0.0
    >>> round(long_words(Keys(np.array([0, 11, 14], np.int32), data, np.empty(0, np.bool_)), 0, 2, ord(".")), 3)
    0.25
    """
    offsets = keys.offsets[first : last + 1]
    separators = np.flatnonzero(keys.data[offsets[0] : offsets[-1]] == separator) + offsets[0]
    begins, ends = (
        np.sort(np.concatenate(both), kind="stable")  # which merges what is sorted: 66 us for 1,081
        for both in ((offsets[:-1], separators + 1), (offsets[1:], separators))
    )
    return float(np.count_nonzero(ends - begins > LONG)) / max(len(begins), 1)


def word_cost(used: int) -> float:
    """Return the nanoseconds that walking a word takes in a cache of so many bytes.

    >>> word_cost(100_000), word_cost(100_000_000)
    (3.0, 6.5)
    """
    return next((word for most, word in WORDS_BY_BYTES if used <= most), FAR_WORD)
