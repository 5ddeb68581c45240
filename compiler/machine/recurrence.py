"""How soon keys come again: a curve through two shares that were counted, and what it says of the keys to come.

Of keys that are equally likely, D of them, the share that has not come before falls as exp(-n/D). Where some are frequent and many are rare, it
falls sooner at first and later on ever more slowly, and exp(-(n/D)^k) with a *bend* k below 1 follows it over a hundredfold of keys:
on families of ``python -m benchmarks regret`` k is 0.3 to 0.4 with a skew of 0.7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

__all__ = ["Recurrence", "Sampled"]

LEAST = 8
"""Keys that came again by which a bend is told; of fewer, keys are taken for equally likely."""
LEAST_BEND = 0.15
APART = 3.0
"""So many times as many keys have come in the middle of the last half as in that of the first one."""
STEPS = 64
"""Steps by which the curve is summed up."""


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The curve of a stream.

    >>> even = Recurrence.of(1000, (500, 12), (500, 36))  # of 10,000 keys
    >>> even.bend, round(even.scale, -3), round(even.different(10_000), -2)
    (1.0, 10000.0, 6300.0)
    """

    scale: float
    """D: after so many keys a share of 1/e is new."""
    bend: float
    """k, at most 1."""

    @staticmethod
    def of(keys: float, first: tuple[int, int], last: tuple[int, int]) -> Recurrence | None:
        """Draw the curve for ``keys`` that came, by samples of their first and their last half: how many were looked at, and came before.

        None where none came before.
        """
        early, late = (-math.log(max(1 - known / max(asked, 1), 1e-3)) for asked, known in (first, last))
        if late == 0:
            return None
        bend = 1.0
        if min(first[1], last[1]) >= LEAST:
            bend = min(max(math.log(late / early, APART), LEAST_BEND), 1.0)
        return Recurrence(0.75 * keys / late ** (1 / bend), bend)

    def different(self, keys: float) -> float:
        """Return how many of so many keys, from any one on, will not have come before among these."""
        steps = (np.arange(STEPS) + 0.5) / STEPS
        new = np.exp(-((keys * steps**2 / self.scale) ** self.bend))  # denser where the curve is steep
        return float(keys * np.sum(new * 2 * steps) / STEPS)

    def until(self, share: float) -> float:
        """Return after how many keys so large a share has come before."""
        return self.scale * math.pow(-math.log(1 - share), 1 / self.bend)


@dataclass(frozen=True, slots=True)
class Sampled:
    """What a sample says of keys that have come, of which some were answered before they were walked."""

    keys: int
    """All of them."""
    different: int
    """About how many different ones were walked."""
    share: float
    """Of those that were walked last, how many had been walked before."""
    curve: Recurrence | None
    """That of those that were walked; None where there is no new one."""
