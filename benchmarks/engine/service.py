"""What matters to a service beside throughput: threads, single keys, and how soon a new process is ready."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import dfa_router as dr
from benchmarks.agreement import agree, summary
from benchmarks.engine.rows import Claim, Row
from benchmarks.measure import every_core, medians, warm_up
from benchmarks.workloads import make_workload

__all__ = ["process", "single", "small_batches", "threads"]

Progress = Callable[[str], None]

ONE_BY_ONE, AT_ONCE = (f"two routers, a half of the keys each, {how}" for how in ("one after the other", "at once"))

SIZES = (1, 10, 100)
"""Keys of a small batch."""
FEW_BATCHES, REPEATED = 50, 20
"""Different batches of each size, and how often each is matched in a round."""

FIRST_BATCH = """
import time
started = time.perf_counter()
import dfa_router as dr
imported = time.perf_counter()
router = dr.compile([(f"site.{i}.*.{i % 7}", "q") for i in range(900)] + [(f"#.alarm{i}", "a") for i in range(100)])
matches = router.match_batch([f"site.{i % 1200}.dev.{i % 7}" for i in range(10_000)])
matches.set_ids
done = time.perf_counter()
import json
print(json.dumps([imported - started, done - started, matches.pair_count]))
"""


def threads(scale: float, rounds: int, progress: Progress) -> Iterator[Row | Claim]:
    """Match stock's keys on one thread and on two; says nothing on a machine that is busy or has one core.

    How much two threads can gain on this machine is measured beside it: two routers that share nothing match half of the
    keys each, one after the other and both at once. Before each timed pass the same contestant makes a pass that is not
    timed (a cold one gets a new router instead): else the contestant before would decide whether its tables lie in the
    processor's caches.
    """
    progress("threads: making stock's bindings and keys")
    workload = make_workload("stock", scale=scale)
    bindings = [(pattern, "q") for pattern in workload.patterns]
    keys = workload.keys

    def compiled() -> dr.Router:
        return dr.compile(bindings, cache_bytes=workload.cache_bytes, key_cache="off")

    def ask_warm(count: int) -> object:
        return warm[count].match_batch(keys, threads=count).set_ids

    def ask_cold(count: int) -> object:
        return fresh["router"].match_batch(keys, threads=count).set_ids

    def ask_apart() -> None:
        for router, half in zip(apart, halves, strict=True):
            router.match_batch(half).set_ids  # noqa: B018  # materialised when it is asked for

    def ask_at_once() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda router, half: router.match_batch(half).set_ids, apart, halves))

    halves = [keys[: len(keys) // 2], keys[len(keys) // 2 :]]
    apart = [compiled() for _ in halves]
    for router, half in zip(apart, halves, strict=True):
        warm_up(router, half)
    warm = {count: compiled() for count in (1, 2)}
    fresh: dict[str, dr.Router] = {}
    contestants: dict[str, Callable[[], object]] = {}
    for count in (1, 2):
        warm_up(warm[count], keys, threads=count)
        contestants[_name("warm", count)] = partial(ask_warm, count)
        contestants[_name("cold", count)] = partial(ask_cold, count)
    contestants |= {ONE_BY_ONE: ask_apart, AT_ONCE: ask_at_once}
    with every_core() as cores:
        progress(f"threads: one and two on {cores} cores")
        before: dict[str, Callable[[], object]] = dict(contestants)
        before |= {_name("cold", count): lambda: fresh.update(router=compiled()) for count in (1, 2)}
        seconds = medians(contestants, rounds=2 * rounds, before=before)
        agree("threads", {str(count): summary(warm[count].match_batch(keys, threads=count)) for count in (1, 2)})
    for name, value in seconds.items():
        yield Row(workload="threads", contestant=name, ns_per_key=value / len(keys) * 1e9, ratio=None, keys=len(keys))
    warmed, empty = (seconds[_name(state, 1)] / seconds[_name(state, 2)] for state in ("warm", "cold"))
    yield Claim(
        workload="threads",
        what="two threads to one, stock, warm",
        measured=warmed,
        unit="x",
        sense=">=",
        bound=1.8,
        note=(
            f"on {cores} cores; cold {empty:.2f} x; "
            f"two routers that share nothing, warm {seconds[ONE_BY_ONE] / seconds[AT_ONCE]:.2f} x"
        ),
    )


def single(scale: float, rounds: int, progress: Progress) -> Iterator[Row | Claim]:
    """Time ``router.match(key)`` on stock's keys: keys asked before, and keys never asked before."""
    progress("single: keys of stock, one at a time")
    workload = make_workload("stock", scale=min(scale, 0.2))
    distinct = pc.unique(workload.keys).to_pylist()
    router = dr.compile([(p, f"q{i % 100}") for i, p in enumerate(workload.patterns)], cache_bytes=workload.cache_bytes)
    router.match_batch(workload.keys)
    seen = distinct[:500]
    table = {key: router.match(key) for key in seen}
    agree("single", {"one by one": _digest(table.values()), "in a batch": _digest(_destinations(router, seen))})
    turns = max(20, int(200 * scale))
    unseen = iter(distinct[1000:])
    per_round = max(1, (len(distinct) - 1000) // rounds)
    asked: list[int] = []

    def ask_seen() -> None:
        match = router.match
        for _ in range(turns):
            for key in seen:
                match(key)

    def look_up() -> None:
        for _ in range(turns):
            for key in seen:
                table[key]

    def ask_unseen() -> None:
        match, count = router.match, 0
        for key, _ in zip(unseen, range(per_round), strict=False):
            match(key)
            count += 1
        asked.append(count)

    # The router keeps its latest thousand answers, and the unseen keys have evicted those of the seen ones.
    before = {"match": lambda: [router.match(key) for key in seen]}
    seconds = medians({"match": ask_seen, "dict": look_up, "unseen": ask_unseen}, rounds=rounds, before=before)
    per_seen, per_look = (seconds[name] / (turns * len(seen)) for name in ("match", "dict"))
    per_unseen = seconds["unseen"] / asked[0]
    for name, value, count in (
        ("match(str), a key asked before", per_seen, turns * len(seen)),
        ("a dict look-up of the key", per_look, turns * len(seen)),
        ("match(str), a key never asked before", per_unseen, asked[0]),
    ):
        yield Row(workload="single", contestant=name, ns_per_key=value * 1e9, ratio=None, keys=count)
    yield Claim(
        workload="single",
        what="match(str) on a seen key to a dict look-up",
        measured=per_seen / per_look,
        unit="x",
        sense="<=",
        bound=2.0,
    )
    yield Claim(
        workload="single",
        what="match(str) on an unseen five-word key",
        measured=per_unseen * 1e6,
        unit="us",
        sense="<=",
        bound=1.5,
        note="its words' transitions are in the cache",
    )
    yield from small_batches(router, workload.keys, rounds)


def small_batches(router: dr.Router, keys: pa.Array, rounds: int) -> Iterator[Row]:
    """Time ``match_batch`` of few keys that were matched before, as a list of str and as an Arrow array."""
    for size in SIZES:
        arrays = [pa.array(keys[start : start + size].to_pylist()) for start in range(0, FEW_BATCHES * size, size)]
        lists = [array.to_pylist() for array in arrays]

        def ask(batches: list[Any]) -> None:
            match_batch = router.match_batch
            for _ in range(REPEATED):
                for batch in batches:
                    match_batch(batch)

        forms = {"a list of str": lists, "an Arrow array": arrays}
        seconds = medians({form: partial(ask, batches) for form, batches in forms.items()}, rounds=rounds)
        for form, value in seconds.items():
            per_batch = value / (REPEATED * FEW_BATCHES)
            plural = "" if size == 1 else "s"
            yield Row(
                workload="single",
                contestant=f"match_batch of {size} key{plural}, {form}",
                ns_per_key=per_batch / size * 1e9,
                ratio=None,
                keys=size,
                note=f"{per_batch * 1e6:.1f} us a batch",
            )


def process(_scale: float, rounds: int, progress: Progress) -> Iterator[Row | Claim]:
    """Time a new process: importing the package, and the first batch, 10,000 keys for 1,000 bindings."""
    progress("process: import and first batch in new processes")
    found: list[Any] = []
    with every_core():
        for _ in range(rounds + 1):
            started = time.perf_counter()
            done = subprocess.run([sys.executable, "-c", FIRST_BATCH], capture_output=True, text=True, check=True)
            found.append([*json.loads(done.stdout), time.perf_counter() - started])
    assert len({pairs for _, _, pairs, _ in found}) == 1, f"process: answers differ: {found}"
    warm = found[1:]  # the first process may have compiled kernels, which the others load from the disk
    imported, first, whole = (statistics.median(run[i] for run in warm) for i in (0, 1, 3))
    note = f"the first of all took {found[0][1]:.2f} s; with the interpreter's start and end {whole:.2f} s"
    yield Claim(workload="process", what="import dfa_router", measured=imported, unit="s", sense="<=", bound=0.5)
    yield Claim(
        workload="process",
        what="import, compile and first batch, kernels on disk",
        measured=first,
        unit="s",
        sense="<=",
        bound=1.5,
        note=note,
    )


def _name(state: str, count: int) -> str:
    return f"dfa, {state}, {'one thread' if count == 1 else f'{count} threads'}"


def _destinations(router: dr.Router, keys: list[str]) -> list[tuple[str, ...]]:
    return [tuple(row) for row in router.match_batch(keys).destinations().to_pylist()]


def _digest(answers: Any) -> tuple[int, int]:
    rows = list(answers)
    return sum(map(len, rows)), hash(tuple(rows))
