"""When to keep whole keys in mind: a running comparison of what that saves and costs, by counting.

A stream that repeats a few keys is answered faster by looking each key up whole than word by word; one whose keys are
all different pays for look-ups that find nothing. The stream itself says which it is: a stretch of keys is tried, hits
and words are counted, and the table stays in front of the automaton as long as it wins. A table that loses is put away,
and tried again after a pause that is PAUSE times as long, and longer each time that it loses, so that trying costs about one
in a hundred: a trial is dear, as the table is far from the processor then. Keys of three words took 17 ns, and in a trial 95. The
table keeps what it knows meanwhile. As long as it knows more and more of the keys, it is still learning, and tried further.

What a table wins is less than it seems. Keys that it knows and keys that it does not know follow each other in no order, so the
processor guesses wrong at each of the latter, which costs twice what walking a short key does: a table that knows six in ten
keys of `stock` takes twice as long as none.

As in :mod:`compiler.machine.pace`, counting instead of timing makes the choice the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

__all__ = ["KeyCache", "KeyCacheMode", "KeyCachePolicy", "key_table", "table_bytes", "word_bytes", "word_cost"]

KeyCacheMode = Literal["auto", "on", "off"]

SLOT = 8
"""Numbers of a slot: a line of the processor's cache. See :mod:`compiler.kernels.key_cache` for what is in it."""
SLOTS = 1 << 14
"""The most keys that are kept in mind, in 1 MiB: it should stay in the second-level cache."""
SHARE = 4
"""At most this part of a cache's capacity goes to the table."""
NO_KEY_TABLE = np.empty(0, np.uint64)
NOTHING = (0, 0, 0, 0)
SAMPLE = 4096
"""Bytes of keys whose words are measured."""

STRETCH, LONGEST = 2048, 1 << 15
"""Keys of a trial; each stretch that the table wins doubles the next, after which it is judged again."""
PAUSE, LONGEST_PAUSE = 32, 1024
"""The pause behind a stretch that was lost, in stretches of the shortest length, and the longest: each is twice the one before, until
a stretch is won or the table knows more of the keys than before."""
RISING = 0.1
"""A table that has lost is tried further if its share of hits was so much greater than in the stretch before."""

# Nanoseconds. They were fitted to 35 streams of keys of 1 to 12 words, of which the table knew 40 to 100 of 100, each with the
# table and without: the decisions that follow from them cost at most 1.1 times the better of the two, where these differ much.
LOOKED_UP, BYTE = 3.0, 0.3
"""Looking a key up, and what each of its bytes adds."""
MISSED = 50.0
"""What a key that is not known costs besides being walked: it is remembered, and the processor has guessed wrong."""
WALKED = 2.0
"""Walking a key, besides its words."""
ROW_WORD = 2.4
"""Walking a word by rows."""
LONG, LONGER, LONG_WORD = 8.0, 12.0, 16.0
"""A word of at most LONG bytes is its own name, and naming a longer one adds LONG_WORD to walking it. Where words have so many
bytes on average, none is taken to be longer, and where they have LONGER, all are."""
WORDS_BY_BYTES = ((1 << 19, 4.8), (1 << 21, 7.0))
FAR_WORD = 11.0
"""Walking a word in a cache of at most so many bytes, and in a larger one: by how far its tables are from the processor."""


def key_table(capacity: int, share: int = SHARE) -> npt.NDArray[np.uint64]:
    """Return an empty table for a cache of this capacity; it has no slots where its share has no room for 64."""
    size = table_bytes(capacity, share)
    return np.zeros(size // 8, np.uint64) if size else NO_KEY_TABLE


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
    >>> policy.judge(keys=2048, hits=2000, words=150, size=20480, word=4.8)
    >>> policy.wanted, policy.left
    (True, 4096)
    >>> policy.judge(keys=4096, hits=4, words=12000, size=40960, word=4.8)
    >>> policy.wanted, policy.left
    (False, 65536)
    """

    mode: KeyCacheMode
    wanted: bool = True
    """Whether keys are looked up whole now."""
    left: int = STRETCH
    """Keys until that is thought about again."""
    stretch: int = STRETCH
    patience: int = PAUSE
    """The next pause, in shortest stretches."""
    share: float = 0.0
    """Of the keys of the last stretch that was judged, how many the table knew."""

    def judge(self, *, keys: int, hits: int, words: int, size: int, word: float) -> None:
        """Take note of a stretch of keys: how many the table knew, how many words the others had, and the bytes of them all.

        ``word`` is what walking a word costs now.
        """
        if self.mode != "auto":
            self.left = LONGEST
            return
        if not self.wanted:  # a pause has ended
            self.wanted, self.left = True, self.stretch
            return
        missed, share = keys - hits, hits / keys
        saved = (WALKED + word * words / max(missed, 1)) * hits
        wins = not missed or saved > LOOKED_UP * keys + BYTE * size + MISSED * missed
        self.wanted = wins or share >= self.share + RISING
        self.share = share
        self.stretch = min(2 * self.stretch, LONGEST) if self.wanted else STRETCH
        self.left = self.stretch if self.wanted else self.patience * STRETCH
        self.patience = PAUSE if self.wanted else min(2 * self.patience, LONGEST_PAUSE)


class KeyCache:
    """One walker's key cache: its table, and what is decided about it."""

    def __init__(self, mode: KeyCacheMode, separator: int, share: int = SHARE) -> None:
        """Begin without a table; at most one part in ``share`` of the cache's capacity will go to it."""
        self._separator = separator
        self._share = share
        self.policy = KeyCachePolicy(mode, wanted=mode != "off")
        self.drop()

    def drop(self) -> None:
        """Give the table's memory back; it is made again when it is wanted."""
        self.table: npt.NDArray[np.uint64] = NO_KEY_TABLE
        self._counts: tuple[int, ...] = NOTHING

    def forget(self) -> None:
        """Empty the table: it holds numbers of accept sets of a cache that was cleared."""
        self.table[:] = 0
        self.policy.share = 0.0

    def wanted_table(self, capacity: int, used: int) -> npt.NDArray[np.uint64]:
        """Return the table, or one of no slots where it is not wanted now or does not fit beside ``used`` bytes."""
        if not self.policy.wanted:  # as it never is where the mode is "off"
            return NO_KEY_TABLE
        if not len(self.table):
            table = key_table(capacity, self._share)
            if used + table.nbytes <= capacity:
                self.table = table
        return self.table

    def end_of_stretch(self, row: int, stop: int) -> int:
        """Return the row, at most ``stop``, at which keys from ``row`` on are judged."""
        return stop if self.policy.mode == "off" else min(stop, row + max(self.policy.left, 1))

    def judge(self, keys: int, hits: int, words: int, sample: npt.NDArray[np.uint8], used: int, *, rows: bool) -> None:
        """Note what a walk did; at the end of a stretch of keys, decide about the next.

        ``sample`` has the bytes of these keys, ``used`` is those of the cache, and ``rows`` says whether it fits into rows.
        """
        policy = self.policy
        if policy.mode == "off":
            return
        self._counts = tuple(a + b for a, b in zip(self._counts, (keys, hits, words, len(sample)), strict=True))
        policy.left -= keys
        # After a call that was broken off nothing may be left of a stretch, though nothing of it was counted.
        if policy.left <= 0 < self._counts[0]:
            keys, hits, words, size = self._counts
            word = ROW_WORD if rows else word_cost(used)
            mean = word_bytes(sample[:SAMPLE], self._separator, size / keys)
            word += LONG_WORD * min(max((mean - LONG) / (LONGER - LONG), 0.0), 1.0)
            policy.judge(keys=keys, hits=hits, words=words, size=size, word=word)
            self._counts = NOTHING


def word_bytes(sample: npt.NDArray[np.uint8], separator: int, key_bytes: float) -> float:
    """Return the mean bytes of the words in a sample of keys, which have ``key_bytes`` on average.

    >>> word_bytes(np.frombuffer(b"aaa.abb.b", np.uint8), ord("."), 4.5)
    1.75
    """
    separators = int(np.count_nonzero(sample == separator))
    return (len(sample) - separators) / max(separators + len(sample) / max(key_bytes, 1.0), 1.0)


def word_cost(used: int) -> float:
    """Return the nanoseconds that walking a word takes in a cache of so many bytes.

    >>> word_cost(100_000), word_cost(100_000_000)
    (4.8, 11.0)
    """
    return next((word for most, word in WORDS_BY_BYTES if used <= most), FAR_WORD)
