"""Keys that recur, found before any is stored: by a sample of those that are walked (:mod:`compiler.kernels.key_sample`).

To store keys in the hope that they come again costs as much as walking them once or twice; a sample tells at a few nanoseconds a key, and also of a stream
that repeats itself at a distance of some hundred thousand keys. So keys are sampled from the first one on, and again when a trial was lost, or other keys
have come. On forty families of ``python -m benchmarks regret --seed 2511272``, whose keys used to be stored by the thousand to see whether they recur,
those that come once in a pass take 0.7 to 0.9 of the time in their first one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels.tables import Int64s, Uint64s
from compiler.kernels.work import (
    FIRST_SAMPLE,
    SAMPLE_ASKED,
    SAMPLE_BITS,
    SAMPLE_COUNTS,
    SAMPLE_HELD,
    SAMPLE_KNOWN,
    SAMPLE_ROW,
    SAMPLING,
)
from compiler.machine.recurrence import Recurrence, Sampled
from compiler.machine.store_costs import Stretch
from compiler.machine.store_policy import KEY_BYTES, StorePolicy

__all__ = ["KeySample"]

LEAST = 128
"""Keys of the sample by which a share is told."""
STEP, STEP_CACHED = 1 << 13, 1 << 14
"""Keys after which it is looked whether they recur, and where the key cache is asked, which takes less time for each."""
SHORTEST = 1 << 10
"""The fewest keys after which it is looked, where keys are long."""
UNFED = 32
"""Keys are taken not to be sampled at all where none was among so many times as many as one of the sample stands for."""
STEPS = 2
"""And, later on, one part in so many of the keys that have come."""
NO_HASHES: Uint64s = np.empty(0, np.uint64)


class KeySample:
    """One walker's sample.

    >>> sample = KeySample(np.zeros(12_288, np.uint64))
    >>> sample.begin()
    >>> sample.decides, sample.different, sample.end_of_walk(0, 10_000, cached=False)
    (True, 0, 1024)
    """

    def __init__(self, hashes: Uint64s = NO_HASHES, counts: Int64s | None = None) -> None:
        """Begin without keys, in the scratch space of a walker; where there is none, nothing is ever sampled."""
        self._hashes = hashes
        self._counts = (np.zeros(SAMPLE_COUNTS, np.int64) if counts is None else counts).data
        """What kernels count, as Python reads it soonest."""
        self._restart()
        self._least = 0
        """The keys that must have come before anything is told."""
        self._unasked = 0
        """Keys that were walked since one of them was in the sample, as none are that are simulated, or walked by rows."""

    @property
    def active(self) -> bool:
        """Whether keys are sampled now."""
        return bool(self._counts[SAMPLING])

    @property
    def keys(self) -> int:
        """The keys that have come since it began."""
        return self._keys

    @property
    def fed(self) -> bool:
        """Whether keys that are walked now are sampled, if any are."""
        return len(self._hashes) > 0 and self._unasked < UNFED << self._counts[SAMPLE_BITS]

    @property
    def decides(self) -> bool:
        """Whether the sample tells when keys are stored, so that no trial is needed."""
        return self.active and self.fed

    @property
    def different(self) -> int:
        """About how many different keys have been walked."""
        return self._counts[SAMPLE_HELD] << self._counts[SAMPLE_BITS]

    def begin(self, least: int = 0) -> None:
        """Begin anew; nothing is told before so many keys have come."""
        self._least = least
        if len(self._hashes):
            if self._counts[SAMPLE_BITS]:  # else they are as they were made
                self._hashes[:] = 0
            for number in range(SAMPLE_COUNTS):
                self._counts[number] = 0
            self._counts[SAMPLING], self._counts[SAMPLE_BITS] = 1, FIRST_SAMPLE
            self._restart()
            self._unasked = 0

    def _restart(self) -> None:
        self._asked = self._known = self._seen = 0
        """What was counted when it was last looked, and after the last keys."""
        self._keys = self._size = 0
        """The keys that were walked, and their bytes."""
        self._walked = Stretch()
        """What was walked since it was last looked."""
        self._half, self._first = 0, (0, 0)
        """How many keys had come when it was looked a doubling ago, and what had been counted then."""

    def end(self) -> None:
        """Sample no keys any more."""
        self._counts[SAMPLING] = 0

    def begin_column(self) -> None:
        """Have the keys of another column sampled, from its first row on."""
        self._counts[SAMPLE_ROW] = 0

    def end_of_walk(self, row: int, stop: int, *, cached: bool) -> int:
        """Return the row, at most ``stop``, up to which keys from ``row`` on are walked at once."""
        if not self.decides:
            return stop
        step = STEP_CACHED if cached else STEP * KEY_BYTES * self._keys // max(self._size, KEY_BYTES * self._keys, 1)
        return min(stop, row + max(step, SHORTEST, self._keys // STEPS))

    def tells(self, walked: Stretch) -> bool:
        """Count keys that were walked; tell whether so many of them are in the sample that :meth:`recurs` has something to go by."""
        self._keys += walked.keys
        self._size += walked.size
        self._walked.add(walked)
        asked = self._counts[SAMPLE_ASKED]
        self._unasked = 0 if asked > self._seen else self._unasked + walked.keys - walked.hits
        self._seen = asked
        since = max(self._walked.keys, self._walked.size // KEY_BYTES)
        enough = since >= STEP and self._walked.keys >= self._keys // (STEPS + 1)
        return enough and asked - self._asked >= LEAST and self._keys >= self._least

    def recurs(self, policy: StorePolicy, *, ahead: int, room: int, **before: Any) -> int | None:
        """Do as :func:`compiler.machine.expectation.pays_within`, and end if that is decided.

        They may take so much ``room``, at least so many are ``ahead``, and what they took ``before`` is what :meth:`StorePolicy.begin` is told.
        """
        asked, known = self._counts[SAMPLE_ASKED], self._counts[SAMPLE_KNOWN]
        share = (known - self._known) / (asked - self._asked)
        self._asked, self._known = asked, known
        walked, self._walked = self._walked, Stretch()
        come = max(self._keys, self._size // KEY_BYTES)
        curve = None
        if come >= 2 * self._half:
            if self._half:
                keys = self._keys * (walked.keys - walked.hits) / walked.keys
                curve = Recurrence.of(keys, self._first, (asked - self._first[0], known - self._first[1]))
            self._half, self._first = come, (asked, known)
        sampled = Sampled(self._keys, self.different, share, curve)
        found = policy.expects(walked, sampled, ahead=ahead, room=room, **before)
        if found is not None:
            self.end()
        return found
