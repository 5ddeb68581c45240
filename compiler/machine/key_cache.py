"""When to keep whole keys in mind: a running comparison of what that saves and costs, by counting.

A stream that repeats a few keys is answered faster by looking each key up whole than word by word; one whose keys are
all different pays for look-ups that find nothing. The stream itself says which it is: a stretch of keys is tried, hits
and words are counted, and the table stays in front of the automaton as long as it wins. A table that loses is put away,
and tried again after a pause that is PAUSE times as long, so that what trying costs stays below a few per cent.

As in :mod:`compiler.machine.pace`, counting instead of timing makes the choice the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

__all__ = ["KeyCache", "KeyCacheMode", "KeyCachePolicy", "key_table"]

KeyCacheMode = Literal["auto", "on", "off"]

SLOT = 8
"""Numbers of a slot: a line of the processor's cache. See :mod:`compiler.kernels.key_cache` for what is in it."""
SLOTS = 1 << 14
"""The most keys that are kept in mind, in 1 MiB: it should stay in the second-level cache."""
SHARE = 16
"""At most this part of a cache's capacity goes to the table."""
NO_KEY_TABLE = np.empty(0, np.uint64)

STRETCH, LONGEST = 4096, 1 << 18
"""Keys of a trial; each stretch that the table wins doubles the next, after which it is judged again."""
PAUSE = 64

# Nanoseconds, fitted to `python -m benchmarks engine` on its workloads `throughput` and `stock`.
LOOKED_UP, REMEMBERED, WORD = 4.0, 6.0, 9.0


def key_table(capacity: int) -> npt.NDArray[np.uint64]:
    """Return an empty table for a cache of this capacity; it has no slots where the capacity has no room for 64."""
    slots = min(SLOTS, capacity // (SHARE * SLOT * 8))
    return np.zeros(SLOT << (slots.bit_length() - 1), np.uint64) if slots >= 64 else NO_KEY_TABLE


@dataclass(slots=True)
class KeyCachePolicy:
    """The state of the comparison; it goes on from batch to batch.

    >>> policy = KeyCachePolicy("auto")
    >>> policy.judge(keys=4096, hits=4000, words=300)
    >>> policy.wanted, policy.left
    (True, 8192)
    >>> policy.judge(keys=8192, hits=4, words=24000)
    >>> policy.wanted, policy.left
    (False, 262144)
    """

    mode: KeyCacheMode
    wanted: bool = True
    """Whether keys are looked up whole now."""
    left: int = STRETCH
    """Keys until that is thought about again."""
    stretch: int = STRETCH

    def judge(self, *, keys: int, hits: int, words: int) -> None:
        """Take note of a stretch of keys: how many the table knew, and how many words the others had."""
        if self.mode != "auto":
            self.left = LONGEST
            return
        if not self.wanted:  # a pause has ended
            self.wanted, self.left = True, self.stretch
            return
        missed = keys - hits
        saved = WORD * hits * words / missed if missed else WORD * hits
        self.wanted = saved > LOOKED_UP * keys + REMEMBERED * missed
        self.stretch = min(2 * self.stretch, LONGEST) if self.wanted else STRETCH
        self.left = self.stretch if self.wanted else PAUSE * STRETCH


class KeyCache:
    """One walker's key cache: its table, and what is decided about it."""

    def __init__(self, mode: KeyCacheMode) -> None:
        """Begin without a table."""
        self.policy = KeyCachePolicy(mode, wanted=mode != "off")
        self.drop()

    def drop(self) -> None:
        """Give the table's memory back; it is made again when it is wanted."""
        self.table: npt.NDArray[np.uint64] = NO_KEY_TABLE
        self._counts: tuple[int, ...] = (0, 0, 0)

    def forget(self) -> None:
        """Empty the table: it holds numbers of accept sets of a cache that was cleared."""
        self.table[:] = 0

    def wanted_table(self, capacity: int, used: int) -> npt.NDArray[np.uint64]:
        """Return the table, or one of no slots where it is not wanted now or does not fit beside ``used`` bytes."""
        if not self.policy.wanted:  # as it never is where the mode is "off"
            return NO_KEY_TABLE
        if not len(self.table):
            table = key_table(capacity)
            if used + table.nbytes <= capacity:
                self.table = table
        return self.table

    def end_of_stretch(self, row: int, stop: int) -> int:
        """Return the row, at most ``stop``, at which keys from ``row`` on are judged."""
        return stop if self.policy.mode == "off" else min(stop, row + self.policy.left)

    def judge(self, keys: int, hits: int, words: int) -> None:
        """Note what a walk did; at the end of a stretch of keys, decide about the next."""
        policy = self.policy
        self._counts = tuple(a + b for a, b in zip(self._counts, (keys, hits, words), strict=True))
        policy.left -= keys
        if policy.left <= 0:
            policy.judge(keys=self._counts[0], hits=self._counts[1], words=self._counts[2])
            self._counts = (0, 0, 0)
