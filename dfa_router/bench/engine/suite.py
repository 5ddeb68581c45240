"""The run: every workload through every contestant, in turns.

*Warm* means that the cache has seen these keys; *cold*, that it is empty and all determinisation is timed. Both are
timed until ``set_ids`` is there. Peers that are called key by key run on the first keys only; their figures are per key
all the same. Two contestants that disagree on what matches (the number of pairs, or the sum of their binding positions)
end the run: a benchmark is also a test.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import dfa_router as dr
from dfa_router.automaton import prepare
from dfa_router.bench.engine.peers import LOOKUPS, MATCHERS, PeerMatcher, installed
from dfa_router.bench.engine.workloads import WORKLOADS, Workload, make_workload
from dfa_router.bench.measure import medians

__all__ = ["Row", "run"]

SAMPLE_SECONDS = 2.0
"""About how long a peer that is called key by key may take per round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the report."""

    workload: str
    contestant: str
    ns_per_key: float | None
    """None where the contestant did not run; ``note`` says why."""
    ratio: float | None
    """To pyarrow's ``index_in`` of the same keys, in the same rounds."""
    build_seconds: float | None = None
    keys: int = 0
    note: str = ""


def run(
    names: Sequence[str] = tuple(WORKLOADS),
    *,
    scale: float = 1.0,
    rounds: int = 5,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Row]:
    """Run workloads by name, yielding rows as they are measured; ``progress`` is told what is going on.

    Raises ``AssertionError`` if two contestants disagree on what matches: a benchmark is also a test.
    """
    prepare()  # before the first clock starts
    for name in names:
        progress(f"{name}: making bindings and keys")
        yield from _run(make_workload(name, scale=scale), rounds, progress)


def _run(workload: Workload, rounds: int, progress: Callable[[str], None]) -> Iterator[Row]:
    bindings = [(pattern, str(position)) for position, pattern in enumerate(workload.patterns)]

    def compiled(engine: str = "dfa") -> dr.Router:
        return dr.compile(bindings, engine=engine, cache_bytes=workload.cache_bytes)

    keys = workload.keys
    plain = keys.cast(pa.string()) if pa.types.is_dictionary(keys.type) else keys
    distinct = pc.unique(plain)
    progress(f"{workload.name}: dfa, nfa and whole-key look-ups")
    started = time.perf_counter()
    router = compiled()
    build = time.perf_counter() - started
    cold = [_cold(compiled(), keys) for _ in range(min(rounds, 3))]
    expected = router.match_batch(keys)
    nfa_keys = plain[: max(1, len(plain) // 10)]
    simulated = compiled("nfa")
    contestants: dict[str, Callable[[], object]] = {"dfa, warm": lambda: router.match_batch(keys).set_ids}
    if plain is not keys:
        contestants["dfa, warm, the distinct keys and a take"] = lambda: _distinct_and_take(router, keys)
    contestants["nfa"] = lambda: simulated.match_batch(nfa_keys).set_ids
    for lookup in LOOKUPS:
        if installed(lookup.package):
            contestants[lookup.name] = lookup.prepare(plain, distinct)
    seconds = medians(contestants, rounds=rounds)
    _check(f"{workload.name}: nfa", simulated.match_batch(nfa_keys), router.match_batch(nfa_keys))
    base = seconds[LOOKUPS[0].name] / len(plain)
    stats = router.stats()
    held = f"{stats.states} states, {stats.transitions} transitions, {stats.bytes / 2**20:.1f} MiB"
    yield _row(workload, "dfa, cold", float(np.median(cold)) / len(keys), base, build_seconds=build, keys=len(keys))
    for name, value in seconds.items():
        count = len(nfa_keys) if name == "nfa" else len(keys)
        note = f"{held}; {expected.pair_count} pairs" if name == "dfa, warm" else ""
        yield _row(workload, name, value / count, base, keys=count, note=note)
    for peer in MATCHERS:
        progress(f"{workload.name}: {peer.name}")
        yield _peer(workload, peer, plain, router, base)


def _peer(workload: Workload, peer: PeerMatcher, keys: pa.Array, router: dr.Router, base: float) -> Row:
    """Time a peer on as many keys as it manages in a few seconds, and check what it found."""
    spoken = [position for position, pattern in enumerate(workload.patterns) if peer.speaks(pattern)]
    reason = ""
    if not installed(peer.package):
        reason = "not installed"
    elif not spoken or len(spoken) < 0.5 * len(workload.patterns):
        reason = f"its language has {len(spoken)} of the {len(workload.patterns)} patterns"
    elif len(spoken) > peer.limit:
        reason = f"not tried with over {peer.limit} patterns"
    if reason:
        return Row(workload=workload.name, contestant=peer.name, ns_per_key=None, ratio=None, note=reason)
    started = time.perf_counter()
    match = peer.build([workload.patterns[position] for position in spoken])
    build = time.perf_counter() - started
    sample = keys[:200].to_pylist()
    per_key = _timed(match, sample)[0] / len(sample)
    count = int(min(len(keys), 20_000, max(200, SAMPLE_SECONDS / per_key)))
    sample = keys[:count].to_pylist()
    _timed(match, sample)  # RE2 builds its DFA as it goes, too: it shall be warm
    seconds, found = min((_timed(match, sample) for _ in range(3)), key=lambda timed: timed[0])
    ours = router.match_batch(keys[:count]).bindings()
    wanted = set(spoken)
    theirs = [(len(positions), sum(spoken[p] for p in positions)) for positions in found]
    mine = [[p for p in positions if p in wanted] for positions in ours.to_pylist()]
    assert theirs == [(len(positions), sum(positions)) for positions in mine], f"{workload.name}: {peer.name} disagrees"
    missing = len(workload.patterns) - len(spoken)
    note = f"called per key from Python{f'; without the {missing} patterns it cannot express' if missing else ''}"
    return _row(workload, peer.name, seconds / count, base, build_seconds=build, keys=count, note=note)


def _timed(match: Callable[[str], Sequence[int]], keys: list[str]) -> tuple[float, list[Sequence[int]]]:
    started = time.perf_counter()
    found = [match(key) for key in keys]
    return time.perf_counter() - started, found


def _cold(router: dr.Router, keys: pa.Array) -> float:
    started = time.perf_counter()
    router.match_batch(keys).set_ids  # noqa: B018  # materialising it is what is timed
    return time.perf_counter() - started


def _distinct_and_take(router: dr.Router, keys: pa.DictionaryArray) -> object:
    return router.match_batch(keys.dictionary).set_ids.take(keys.indices)


def _check(what: str, left: dr.Matches, right: dr.Matches) -> None:
    """Compare the number of pairs and the sum of their binding positions."""

    def summary(matches: dr.Matches) -> tuple[int, int]:
        rows = matches.bindings()
        return matches.pair_count, pc.sum(rows.flatten()).as_py() or 0

    assert summary(left) == summary(right), f"{what} disagrees with dfa: {summary(left)} and {summary(right)}"


def _row(workload: Workload, name: str, seconds_per_key: float, base: float, **more: Any) -> Row:
    return Row(
        workload=workload.name, contestant=name, ns_per_key=seconds_per_key * 1e9, ratio=seconds_per_key / base, **more
    )
