"""How the figures of one thread are timed: by the thread's processor time, in the fastest of many short batches.

Processor time leaves out what other processes take, and the fastest batch is the one that they disturbed least.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

__all__ = ["batch", "changes", "per_call"]


def batch(function: Callable[[], object], calls: int = 1) -> float:
    """Return the seconds of processor time that some calls take."""
    begun = time.thread_time()
    for _ in range(calls):
        function()
    return time.thread_time() - begun


def per_call(function: Callable[[], object], seconds: float) -> float:
    """Return the seconds of a call in the fastest of a hundred batches, which take ``seconds`` together."""
    first = min(batch(function), batch(function))
    if first > seconds:
        return first
    calls = max(1, int(seconds / 100 / max(first, 1e-7)))
    return min(batch(function, calls) for _ in range(100)) / calls


def changes(add: Callable[[int], object], remove: Callable[[int], object], seconds: float) -> tuple[float, float]:
    """Return the median seconds of adding something and of removing it again, minus the time that the clock takes.

    Both are called with 0, 1, 2, ... These are elapsed times, as the clock of processor time takes longer than a change; a
    median is not moved by the few that another process has disturbed.
    """
    clock = time.perf_counter
    adding, removing, idle = [], [], []
    end = clock() + seconds
    for number in range(1_000_000):
        begun = clock()
        add(number)
        added = clock()
        remove(number)
        removed = clock()
        idle.append(clock() - removed)
        adding.append(added - begun)
        removing.append(removed - added)
        if removed > end and number >= 2:
            break
    rest = statistics.median(idle)
    return max(statistics.median(adding) - rest, 0.0), max(statistics.median(removing) - rest, 0.0)
