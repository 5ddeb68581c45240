"""Keys that are matched until the cache has what they need."""

from __future__ import annotations

from collections.abc import Callable

from compiler.values import CacheStats

__all__ = ["learn"]

LESSONS = 8
"""How often keys are matched at most. A doorkeeper has a transition built at the fourth request, and what follows it later still."""
LEARNT = 1000
"""Keys are known when fewer than one word in so many is not."""


def learn(match: Callable[[], object], stats: Callable[[], CacheStats]) -> None:
    """Call ``match`` until the cache knows its keys, or had to be cleared and so cannot hold what they need."""
    for _ in range(LESSONS):
        before = stats()
        match()
        after = stats()
        if LEARNT * (after.misses - before.misses) <= after.words - before.words or after.clears > before.clears:
            return
