"""Keys that recur, found before any is stored: by a sample of those that are walked (:mod:`compiler.kernels.key_sample`).

A trial stores some thousand keys, and sees whether they come again soon. A stream may repeat itself at a distance of some hundred thousand
keys: none of a trial's keys come again then, or a few that are frequent. To store all of them in the hope that they do costs half as
much as walking them; a sample tells at a few nanoseconds a key. So keys are sampled after a trial that was lost, and when other keys have come.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels.tables import Int64s, Uint64s
from compiler.kernels.work import (
    FIRST_SAMPLE,
    SAMPLE_ASKED,
    SAMPLE_BITS,
    SAMPLE_HELD,
    SAMPLE_KNOWN,
    SAMPLING,
)
from compiler.machine.store_costs import Stretch
from compiler.machine.store_policy import StorePolicy

__all__ = ["KeySample"]

LEAST = 128
"""Keys of the sample by which a share is told."""
STEP, STEP_CACHED = 1 << 13, 1 << 15
"""Keys after which it is looked whether they recur, and where the key cache is asked, which takes less time for each."""
NO_HASHES: Uint64s = np.empty(0, np.uint64)


class KeySample:
    """One walker's sample.

    >>> sample = KeySample(np.zeros(12_288, np.uint64))
    >>> sample.begin()
    >>> sample.decides, sample.different, sample.end_of_walk(0, 10_000, cached=False)
    (True, 0, 8192)
    """

    def __init__(self, hashes: Uint64s = NO_HASHES, counts: Int64s | None = None) -> None:
        """Begin without keys, in the scratch space of a walker; where there is none, nothing is ever sampled."""
        self._hashes = hashes
        self._counts = np.zeros(5, np.int64) if counts is None else counts
        self._asked = self._known = self._keys = 0
        self._fed = False
        """Whether some of the keys that were matched last were in the sample, as none are that are simulated, or walked by rows."""

    @property
    def active(self) -> bool:
        """Whether keys are sampled now."""
        return bool(self._counts[SAMPLING])

    @property
    def decides(self) -> bool:
        """Whether the sample tells when keys are stored, so that no trial is needed."""
        return self.active and self._fed

    @property
    def different(self) -> int:
        """About how many different keys have been walked."""
        return int(self._counts[SAMPLE_HELD]) << int(self._counts[SAMPLE_BITS])

    def begin(self) -> None:
        """Begin anew."""
        if len(self._hashes):
            self._hashes[:] = 0
            self._counts[:] = 0
            self._counts[SAMPLING], self._counts[SAMPLE_BITS] = 1, FIRST_SAMPLE
            self._asked = self._known = self._keys = 0
            self._fed = True

    def end(self) -> None:
        """Sample no keys any more."""
        self._counts[SAMPLING] = 0

    def end_of_walk(self, row: int, stop: int, *, cached: bool) -> int:
        """Return the row, at most ``stop``, up to which keys from ``row`` on are walked at once."""
        return min(stop, row + (STEP_CACHED if cached else STEP)) if self.decides else stop

    def recurs(self, policy: StorePolicy, walked: Stretch, *, room: int, **before: Any) -> int:
        """Tell whether keys that were ``walked`` recur so that it pays to store them: return within how many, or 0.

        They may take so much ``room``, and what they took ``before`` is what :meth:`StorePolicy.begin` is told. The sample ends where that is decided.
        """
        if not self.active or policy.active:
            return 0
        self._keys += walked.keys
        counts = self._counts
        asked, known = int(counts[SAMPLE_ASKED]) - self._asked, int(counts[SAMPLE_KNOWN]) - self._known
        self._fed = asked > 0
        if asked < LEAST:
            return 0
        self._asked, self._known = self._asked + asked, self._known + known
        share, different = known / asked, self.different
        found = policy.expects(walked, keys=self._keys, share=share, different=different, room=room, **before)
        if found is not None:
            self.end()
        return self._keys if found else 0
