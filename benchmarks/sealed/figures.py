"""What is measured of a workload whose router is sealed."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

import dfa_router as dr
from benchmarks.agreement import agree, summary
from benchmarks.measure import child_json, every_core, medians, warm_up
from benchmarks.workloads import Workload, make_workload

__all__ = ["WORKLOADS", "Figure", "run"]

WORKLOADS = ("throughput", "stock", "fleet", "hard")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A workload; times of keys are nanoseconds each by medians of rounds, others seconds."""

    workload: str
    bindings: int
    keys: int
    index_in: float
    """Looking each key up among the distinct ones, which knows no pattern."""
    lazy: float
    """Matching with a warm cache, with the defaults."""
    sealed: float
    """Matching with sealed tables."""
    one_wall: float
    """Elapsed time of the sealed router, one thread."""
    two_wall: float
    """... two threads."""
    apart_wall: float
    """Elapsed time of two sealed routers, each with half of the keys in a thread of its own: what this machine's cores give."""
    first_empty: float
    """The first batch of a router that was loaded with an empty cache."""
    first_sealed: float
    """The first batch of one that was loaded with sealed tables."""
    load_empty: float
    """Elapsed seconds to load the file without sealed tables."""
    load_sealed: float
    """Elapsed seconds to load it with them: they are proven, on all cores."""
    sealed_bytes: int
    """The bytes of the sealed tables."""
    shared_bytes: int
    """Of a process that has mapped the file and matched the keys, while another one has: bytes that both share."""

    @property
    def over_lazy(self) -> float:
        """Return the time of a key by sealed tables over that by the warm cache."""
        return self.sealed / self.lazy

    @property
    def speed_up(self) -> float:
        """How many times as fast two threads are."""
        return self.one_wall / self.two_wall

    @property
    def share(self) -> float:
        """What two threads reach of what two routers apart do."""
        return self.apart_wall / self.two_wall


def run(*, rounds: int, scale: float = 1.0, progress: Callable[[str], None] = lambda _line: None) -> Iterator[Figure]:
    """Measure each workload; a smaller ``scale`` has fewer bindings and keys."""
    for name in WORKLOADS:
        progress(f"{name}: learning the keys")
        yield _measured(make_workload(name, scale=scale), scale, rounds, progress)


def _measured(work: Workload, scale: float, rounds: int, progress: Callable[[str], None]) -> Figure:
    keys = work.keys
    lazy = dr.compile([(pattern, str(i)) for i, pattern in enumerate(work.patterns)])
    warm_up(lazy, keys)
    sealed = lazy.seal(keys)
    agree(work.name, {"lazy": summary(lazy.match_batch(keys)), "sealed": summary(sealed.match_batch(keys))})
    distinct = pc.unique(keys)
    progress(f"{work.name}: timing {rounds} rounds")
    cpu = medians(
        {
            "index_in": lambda: pc.index_in(keys, distinct),
            "lazy": lambda: lazy.match_batch(keys),
            "sealed": lambda: sealed.match_batch(keys),
        },
        rounds=rounds,
        clock=time.process_time,
    )
    halves = keys.slice(0, len(keys) // 2), keys.slice(len(keys) // 2)
    other = lazy.seal()
    with every_core(), ThreadPoolExecutor(2) as pool:
        wall = medians(
            {
                "one": lambda: sealed.match_batch(keys),
                "two": lambda: sealed.match_batch(keys, threads=2),
                "apart": lambda: list(
                    pool.map(lambda pair: pair[0].match_batch(pair[1]), zip((sealed, other), halves, strict=True))
                ),
            },
            rounds=rounds,
        )
    each = 1e9 / len(keys)
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "empty"), Path(folder, "sealed")
        lazy.save(paths[0])
        sealed.save(paths[1])
        progress(f"{work.name}: opening files")
        dr.load(paths[1])  # kernels are compiled, or read from files
        loads: list[list[float]] = [[], []]
        firsts: list[list[float]] = [[], []]
        for _ in range(rounds):
            for path, load, first in zip(paths, loads, firsts, strict=True):
                with every_core():
                    began = time.perf_counter()
                    router = dr.load(path)
                    load.append(time.perf_counter() - began)
                opened = time.process_time()
                router.match_batch(keys)
                first.append(time.process_time() - opened)
        shared = child_json("benchmarks.sealed.child", paths[1], work.name, scale)
    return Figure(
        workload=work.name,
        bindings=len(work.patterns),
        keys=len(keys),
        **{name: seconds * each for name, seconds in cpu.items()},
        **{f"{name}_wall": seconds * each for name, seconds in wall.items()},
        first_empty=statistics.median(firsts[0]) * each,
        first_sealed=statistics.median(firsts[1]) * each,
        load_empty=statistics.median(loads[0]),
        load_sealed=statistics.median(loads[1]),
        sealed_bytes=sealed.stats().bytes,
        shared_bytes=shared,
    )
