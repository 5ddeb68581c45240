"""Measures the engine that is on the path of this process: ``python -m benchmarks.ablations.child`` prints a JSON line.

The line holds the nanoseconds per key of each measure, the least of its passes by the thread's processor time, and for each
workload the number of matches and the sum of their positions, by which the answers of two engines are compared.

Every workload is matched with two new routers (*cold*), then nine times with the second of them, so that a doorkeeper has
let everything pass, and then five times more (*warm*). On ``stock`` the simulated NFA is measured as well.
"""

from __future__ import annotations

import json
import time

import pyarrow.compute as pc

import dfa_router as dr
from benchmarks.workloads import Workload, make_workload

__all__ = ["measure"]

SCALES = (("throughput", 1.0), ("stock", 0.5), ("fleet", 0.25), ("hard", 0.3))
"""The workloads, and the share of each that is made."""
COLD, SETTLING, WARM, NFA = 2, 9, 5, 3
"""Passes of each kind."""


def measure(work: Workload) -> tuple[dict[str, float], list[int]]:
    """Return the nanoseconds per key of each measure, and what the matches add up to."""
    bindings = [(pattern, "q") for pattern in work.patterns]

    def lazy() -> dr.Router:
        return dr.compile(bindings, cache_bytes=work.cache_bytes, key_cache="off")

    first = lazy()
    for _ in range(3):  # now all kernels are compiled, or loaded from the disk
        first.match_batch(work.keys[:20_000]).set_ids  # noqa: B018  # materialised when it is asked for
    matches = dr.compile(bindings, engine="nfa").match_batch(work.keys[:1000])
    fresh = [lazy() for _ in range(COLD)]
    runs = [(f"{work.name} cold", router) for router in fresh]
    runs += [("", fresh[-1])] * SETTLING + [(f"{work.name} warm", fresh[-1])] * WARM
    if work.name == "stock":
        runs += [("stock nfa", dr.compile(bindings, engine="nfa"))] * NFA
    times: dict[str, list[float]] = {what: [] for what, _ in runs}
    for what, router in runs:
        began = time.thread_time()
        matches = router.match_batch(work.keys)
        matches.set_ids  # noqa: B018
        times[what].append((time.thread_time() - began) * 1e9 / len(work.keys))
    sums = [matches.pair_count, pc.sum(matches.bindings().flatten()).as_py()]
    return {what: min(values) for what, values in times.items() if what}, sums


def main() -> None:
    """Measure all workloads, and print the figures and sums."""
    figures: dict[str, float] = {}
    sums: dict[str, list[int]] = {}
    for name, scale in SCALES:
        found, sums[name] = measure(make_workload(name, scale=scale))
        figures |= found
    print(json.dumps([figures, sums]))


if __name__ == "__main__":
    main()
