"""Measures one variant in this process: ``python -m benchmarks.families.child KIND VARIANT SEED SCALE ROUNDS`` prints a JSON line.

A process of its own, so that what the system counts for it is this variant's. First the keys go through a new router in
batches whose answers are dropped: what the process has grown by then are the automaton and the cache, with their scratch
space. Then all contestants take turns, in every round each of them once: a new router makes three passes over the keys, and
a router that was warmed, the simulation, the compiled trie and pyarrow's ``index_in`` of the distinct keys make one each.

Routers have the options that users get who give none.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import dfa_router as dr
from benchmarks.agreement import agree, summary, trie_summary
from benchmarks.compiled_trie import CompiledTrie
from benchmarks.engine.peers import MATCHERS, installed
from benchmarks.families.kinds import make_variant
from benchmarks.measure import warm_up
from benchmarks.resident import resident_bytes
from benchmarks.workloads import Workload
from compiler.prepare import compile_kernels

__all__ = ["Measured", "clocked", "measure"]

BATCH = 1 << 14
"""Keys of a batch while memory is watched."""
PASSES = ("first pass", "second pass", "third pass")
RE2_KEYS, RE2_SECONDS = 20_000, 2.0
"""The most keys that google-re2 is asked, and about how long that may take: it is called once per key from Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured of a variant."""

    kind: str
    variant: int
    about: str
    keys: int
    pairs: int
    cpu: dict[str, float]
    """Median nanoseconds of processor time per key, by contestant; one that is not there did not run."""
    wall: dict[str, float]
    """The same by the clock."""
    passes: int
    """After how many passes over the keys nothing was built any more; 17 where that took more than the 16 that are tried."""
    automaton_bytes: int
    """What compiling the bindings has added to the process's memory, resident."""
    resident_bytes: int
    """What matching has added, resident."""
    counted_bytes: int
    """What the router says that its cache takes."""
    capacity: int
    """The bound on that."""
    states: int
    transitions: int
    clears: int
    fallbacks: int


def measure(kind: str, variant: int, *, seed: int, scale: float = 1.0, rounds: int = 5) -> Measured:
    """Measure a variant; raises ``AssertionError`` if contestants disagree on what matches."""
    compile_kernels()
    work, about = make_variant(kind, variant, seed=seed, scale=scale)
    keys = work.keys
    bindings = [(pattern, str(position)) for position, pattern in enumerate(work.patterns)]
    distinct = pc.unique(keys)

    def compiled(engine: str = "dfa") -> dr.Router:
        return dr.compile(bindings, engine=engine)

    before = resident_bytes() or 0
    router = compiled()
    program = resident_bytes() or 0
    for start in range(0, len(keys), BATCH):
        router.match_batch(keys.slice(start, BATCH)).set_ids  # noqa: B018  # materialised when it is asked for
    counted = router.stats()
    grown = resident_bytes() or 0
    passes = 1 + warm_up(router, keys)
    simulated, trie = compiled("nfa"), CompiledTrie(work.patterns)
    trie.match(keys[:100])  # its kernels are compiled now, or loaded
    simulated.match_batch(keys[:100])
    fresh: dict[str, dr.Router] = {}
    found: dict[str, Any] = {}

    def anew() -> None:
        fresh["router"] = compiled()

    def asked(name: str, one: Callable[[], dr.Router]) -> Callable[[], object]:
        def ask() -> None:
            found[name] = one().match_batch(keys)
            found[name].set_ids  # noqa: B018

        return ask

    contestants = {name: asked(name, lambda: fresh["router"]) for name in PASSES}
    contestants |= {"warm": asked("warm", lambda: router), "nfa": asked("nfa", lambda: simulated)}
    contestants["compiled trie"] = lambda: found.update(trie=trie.match(keys))
    contestants["index_in"] = lambda: pc.index_in(keys, distinct)
    cpu, wall = clocked(contestants, rounds=rounds, before={PASSES[0]: anew}, per=len(keys))
    answers = {name: summary(one) for name, one in found.items() if name != "trie"}
    agree(work.name, answers | {"compiled trie": trie_summary(found["trie"], keys)})
    if kind == "hard" and installed("re2"):
        cpu["google-re2 Set"], wall["google-re2 Set"] = _re2(work)
    stats = router.stats()
    return Measured(
        kind=kind,
        variant=variant,
        about=about,
        keys=len(keys),
        pairs=answers["warm"][0],
        cpu=cpu,
        wall=wall,
        passes=passes,
        automaton_bytes=program - before,
        resident_bytes=grown - program,
        counted_bytes=counted.bytes,
        capacity=counted.capacity,
        states=stats.states,
        transitions=stats.transitions,
        clears=stats.clears,
        fallbacks=counted.fallbacks,
    )


def clocked(
    contestants: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    per: int,
    before: Mapping[str, Callable[[], object]],
) -> tuple[dict[str, float], dict[str, float]]:
    """Call each contestant once in each round; return median nanoseconds by ``per``, of processor time and by the clock.

    >>> cpu, wall = clocked({"sum": lambda: sum(range(10))}, rounds=3, per=10, before={})
    >>> list(cpu) == list(wall) == ["sum"]
    True
    """
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            before.get(name, lambda: None)()
            gc.collect()  # else looking through a million bindings falls to whoever is next: 20 ns a key
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            times[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    both = {
        name: [statistics.median(column) * 1e9 / per for column in zip(*values, strict=True)]
        for name, values in times.items()
    }
    return {name: pair[0] for name, pair in both.items()}, {name: pair[1] for name, pair in both.items()}


def _re2(work: Workload) -> tuple[float, float]:
    """Time google-re2's Set on the first keys, the least of three passes; return nanoseconds by both clocks."""
    peer = next(one for one in MATCHERS if one.package == "re2")
    match = peer.build(work.patterns)
    sample = work.keys[:200].to_pylist()
    each = _seconds(match, sample)[1] / len(sample)
    sample = work.keys[: int(min(len(work.keys), RE2_KEYS, max(200, RE2_SECONDS / each)))].to_pylist()
    _seconds(match, sample)
    cpu, wall = min(_seconds(match, sample) for _ in range(3))
    return cpu * 1e9 / len(sample), wall * 1e9 / len(sample)


def _seconds(match: Callable[[str], object], keys: list[str]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    for key in keys:
        match(key)
    return time.process_time() - cpu, time.perf_counter() - wall


def main(arguments: list[str]) -> None:
    """Measure the variant that the arguments name, and print it."""
    kind, variant, seed, scale, rounds = arguments
    pa.set_memory_pool(pa.system_memory_pool())  # so that memory which is given back is seen to be
    found = measure(kind, int(variant), seed=int(seed), scale=float(scale), rounds=int(rounds))
    print(json.dumps(asdict(found)))


if __name__ == "__main__":
    main(sys.argv[1:])
