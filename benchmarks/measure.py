"""How things are timed: one core, medians, and rounds in which all contestants take turns.

Machines are noisy, and noise lasts: two figures that were taken minutes apart say little about each other. All
contestants of a table therefore run in the same rounds, one after another, and what is quoted is the ratio of medians.
"""

from __future__ import annotations

import contextlib
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    import dfa_router as dr

__all__ = ["every_core", "machine", "medians", "pinned", "warm_up"]

MOST_PASSES = 16
"""So often keys are matched to fill a cache, at most."""

_ALLOWED = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set[int]()
"""The cores that this process was given, before anything pinned it."""


@contextlib.contextmanager
def pinned() -> Iterator[int | None]:
    """Keep this process on one core while it measures, where the system can; yields the core's number."""
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    before = os.sched_getaffinity(0)
    core = max(before)
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def every_core() -> Iterator[int]:
    """Let this process use all its cores for a while, also where it is pinned to one; yields their number."""
    if not hasattr(os, "sched_setaffinity"):
        yield os.cpu_count() or 1
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, _ALLOWED)
    try:
        yield len(os.sched_getaffinity(0))
    finally:
        os.sched_setaffinity(0, before)


def medians(
    contestants: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    before: Mapping[str, Callable[[], object]] = MappingProxyType({}),
) -> dict[str, float]:
    """Time each contestant once a round, taking turns, and return the median seconds of each.

    ``before`` has what must be done before some of them run, which is not timed: making an empty cache, say.
    """
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            if name in before:
                before[name]()
            started = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - started)
    return {name: statistics.median(values) for name, values in times.items()}


def machine() -> str:
    """Name the processor, the number of cores, and the versions that matter, in a line."""
    from importlib.metadata import version

    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy", "pyarrow"))
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, {libraries}"


def warm_up(router: dr.Router, keys: pa.Array, *, threads: int = 1) -> int:
    """Match the keys until that builds nothing more; return how often.

    One pass builds everything, and the next finds nothing to do, but where the cache has a doorkeeper, which has a
    transition built when it is asked for the fourth time: all of a key's transitions are, one behind the other. Threads have
    caches of their own, and each must come to see all keys.
    """
    for count in range(1, MOST_PASSES):
        before = router.stats().misses
        router.match_batch(keys, threads=threads)
        if router.stats().misses == before:
            return count
    return MOST_PASSES
