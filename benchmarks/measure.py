"""How contestants are timed: on one core, in rounds in which they take turns, by medians.

Machines are noisy, and the noise lasts: two figures that were taken minutes apart say little about each other. Therefore all
contestants of a table run once in each round, one after the other, and what is quoted is the ratio of their medians. Timed
is elapsed time (``perf_counter``) of a process that is pinned to a core, unless a table says that it is processor time: some
peers and parts have threads or processes of their own.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    import dfa_router as dr

__all__ = [
    "MOST_PASSES",
    "child_json",
    "every_core",
    "machine",
    "medians",
    "pinned",
    "until_warm",
    "verdict",
    "warm_up",
]

ROOT = Path(__file__).parents[1]
"""The checkout."""
MOST_PASSES = 16
"""How many passes over the keys are tried until one builds nothing more, the one before :func:`warm_up` included."""

_ALLOWED = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set[int]()
"""The cores that this process was given, before anything pinned it."""


@contextlib.contextmanager
def pinned() -> Iterator[int | None]:
    """Keep this process on one core while it measures; yields the core's number, or None where the system cannot."""
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
    """Let this process use all its cores again for a while, if it is pinned to one; yields their number."""
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
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Time each contestant once in each round, and return the median seconds of each.

    ``before`` has functions by contestant's name that are called before its turn and are not timed: one that makes an empty
    cache, say. ``clock`` tells seconds.

    >>> list(medians({"sum": lambda: sum(range(10)), "max": lambda: max(range(10))}, rounds=3))
    ['sum', 'max']
    """
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            if name in before:
                before[name]()
            started = clock()
            run()
            times[name].append(clock() - started)
    return {name: statistics.median(values) for name, values in times.items()}


def child_json(module: str, *arguments: object) -> Any:
    """Run a module in a process of its own, and return what it prints in its last line, which is JSON.

    Raises ``AssertionError`` with the end of what the process has said before it died.
    """
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(command[1:])} ended with {done.returncode}:\n{done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def machine() -> str:
    """Name the processor, the number of cores, and the versions that matter, in a line.

    Guests are often told a name that many processors have, such as "AMD EPYC"; family and model tell which it is.
    """
    from importlib.metadata import version

    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        model = processor_of(Path("/proc/cpuinfo").read_text("utf-8")) or model
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy", "pyarrow"))
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, {libraries}"


def processor_of(cpuinfo: str) -> str:
    r"""Return the first processor's name, with its family and model, of what Linux's ``/proc/cpuinfo`` says; else nothing.

    >>> processor_of("cpu family : 25\nmodel : 17\nmodel name : AMD EPYC\n")
    'AMD EPYC (family 25, model 17)'
    >>> processor_of("processor : 0\n")
    ''
    """
    fields: dict[str, str] = {}
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    name, family, model = (fields.get(field, "") for field in ("model name", "cpu family", "model"))
    return f"{name} (family {family}, model {model})" if name and family and model else name


def until_warm(passes: int) -> str:
    """Say after how many passes over the keys nothing more was built, or that so many as are tried did not suffice.

    >>> until_warm(1 + 2), until_warm(1 + MOST_PASSES)
    ('warm after 3 passes', 'not warm after 16 passes')
    """
    return f"not warm after {MOST_PASSES} passes" if passes > MOST_PASSES else f"warm after {passes} passes"


def verdict(met: bool) -> str:
    """Say on a page whether a target is met.

    >>> verdict(True), verdict(False)
    ('met', '**missed**')
    """
    return "met" if met else "**missed**"


def warm_up(router: dr.Router, keys: pa.Array, *, threads: int = 1) -> int:
    """Match the keys until a pass builds nothing more; return the number of passes.

    ``MOST_PASSES`` is returned where that did not happen: one pass fewer is made, as one came before.

    Without a doorkeeper the first pass builds everything, and the second finds nothing to build. A doorkeeper lets a
    transition be built at the fourth request, and the next transition of a key is only requested when the one before it
    exists, so it takes more passes. With several threads each has a cache of its own, and any may get any of the keys.
    """
    for count in range(1, MOST_PASSES):
        before = router.stats().misses
        router.match_batch(keys, threads=threads)
        if router.stats().misses == before:
            return count
    return MOST_PASSES
