"""The run: every workload is matched by every contestant, and they take turns.

*Warm* means that the keys were matched before until nothing was left to build, or 16 passes were tried; *cold* that the cache
is empty, so that building states and transitions is timed as well. Both are timed until ``set_ids`` is there. Peers that are
called key by key run on the first keys only; their figures are per key all the same. Two contestants that disagree on what
matches (the number of pairs of key and binding, or the sum of the bindings' positions) end the run: a benchmark is also a test.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import dfa_router as dr
from benchmarks.agreement import agree, summary, trie_summary
from benchmarks.compiled_trie import CompiledTrie
from benchmarks.engine.adversarial import adversarial
from benchmarks.engine.memory import memory
from benchmarks.engine.peers import LOOKUPS, MATCHERS, PeerMatcher, installed
from benchmarks.engine.rows import DFA_COLD, DFA_WARM, DISTINCT, KEY_CACHE, NFA, TRIE, Claim, Row, claims
from benchmarks.engine.service import process, single, threads
from benchmarks.measure import medians, until_warm, warm_up
from benchmarks.workloads import WORKLOADS, Workload, make_workload
from compiler.prepare import compile_kernels

__all__ = ["PARTS", "run"]

Progress = Callable[[str], None]
SAMPLE_SECONDS = 2.0
"""About how long a peer that is called key by key may take for a pass over its keys."""

PARTS: Mapping[str, Callable[[float, int, Progress], Iterator[Row | Claim]]] = {
    "threads": threads,
    "single": single,
    "process": process,
    "memory": memory,
    "adversarial": adversarial,
}
"""What is measured beside the workloads, by name: functions of a scale, a number of rounds, and what is told of progress."""


def run(
    names: Sequence[str] = (*WORKLOADS, *PARTS),
    *,
    scale: float = 1.0,
    rounds: int = 5,
    progress: Progress = lambda _: None,
) -> Iterator[Row | Claim]:
    """Run workloads and other parts by name, yielding what is measured; ``progress`` is told what is going on.

    A ``scale`` below 1 makes a quick run, whose figures are not for quoting. Raises ``AssertionError`` if two contestants
    disagree on what matches.
    """
    compile_kernels()  # compiles the kernels before anything is timed
    for name in names:
        if name in PARTS:
            yield from PARTS[name](scale, rounds, progress)
            continue
        progress(f"{name}: making bindings and keys")
        rows = []
        for row in _run(make_workload(name, scale=scale), rounds, progress):
            rows.append(row)
            yield row
        yield from claims(rows)
        if name == "fleet":
            build = next(row.build_seconds for row in rows if row.build_seconds is not None)
            what = "building a million bindings" if scale == 1.0 else f"building {1e6 * scale:,.0f} bindings"
            yield Claim(workload=name, what=what, measured=build, unit="s", sense="<=", bound=6.0)


def _run(workload: Workload, rounds: int, progress: Progress) -> Iterator[Row]:
    bindings = [(pattern, str(position)) for position, pattern in enumerate(workload.patterns)]

    def compiled(**options: Any) -> dr.Router:
        return dr.compile(bindings, cache_bytes=workload.cache_bytes, **(options or {"key_cache": "off"}))

    keys = workload.keys
    plain = keys.cast(pa.string()) if pa.types.is_dictionary(keys.type) else keys
    distinct = pc.unique(plain)
    progress(f"{workload.name}: dfa, nfa, compiled trie and look-ups of whole keys")
    started = time.perf_counter()
    router = compiled()
    build = time.perf_counter() - started
    expected = router.match_batch(keys)
    passes = 1 + warm_up(router, keys)
    nfa_keys = plain[: max(100_000, len(plain) // 10)]
    simulated, with_key_cache = compiled(engine="nfa"), compiled(key_cache="on")
    fresh: dict[str, dr.Router] = {}
    found: dict[str, Any] = {}
    contestants: dict[str, Callable[[], object]] = {
        DFA_COLD: lambda: found.update(cold=_until_set_ids(fresh["router"], keys)),
        DFA_WARM: lambda: _until_set_ids(router, keys),
        KEY_CACHE: lambda: found.update(key_cache=_until_set_ids(with_key_cache, keys)),
    }
    warm_up(with_key_cache, keys)
    if plain is not keys:
        contestants[DISTINCT] = lambda: router.match_batch(keys.dictionary).set_ids.take(keys.indices)
    contestants[NFA] = lambda: _until_set_ids(simulated, nfa_keys)
    trie_keys = keys.dictionary if plain is not keys else keys
    CompiledTrie(["a"]).match(pa.array(["a"]))  # compiles its kernels, or loads them from the disk
    started = time.perf_counter()
    trie = CompiledTrie(workload.patterns)
    trie_build = time.perf_counter() - started
    contestants[TRIE] = lambda: found.update(trie=trie.match(trie_keys))
    for lookup in LOOKUPS:
        if installed(lookup.package):
            contestants[lookup.name] = lookup.prepare(plain, distinct)
    seconds = medians(contestants, rounds=rounds, before={DFA_COLD: lambda: fresh.update(router=compiled())})
    answers = {
        DFA_WARM: summary(expected),
        DFA_COLD: summary(found["cold"]),
        KEY_CACHE: summary(found["key_cache"]),
        TRIE: trie_summary(found["trie"], keys),
    }
    agree(workload.name, answers)
    some = {NFA: summary(simulated.match_batch(nfa_keys)), "dfa": summary(router.match_batch(nfa_keys))}
    agree(f"{workload.name}, the first keys", some)
    base = seconds[LOOKUPS[0].name] / len(plain)
    stats = router.stats()
    held = f"{stats.states} states, {stats.transitions} transitions, {stats.bytes / 2**20:.1f} MiB"
    for name, value in seconds.items():
        note = ""
        if name == DFA_WARM:
            note = f"{held}; {expected.pair_count} pairs; {until_warm(passes)}"
        elif name == TRIE:
            alone = "; the distinct keys alone, their rows named by the dictionary" if plain is not keys else ""
            note = f"{trie.nbytes / 2**20:.1f} MiB{alone}"
        yield _row(
            workload,
            name,
            value / (len(nfa_keys) if name == NFA else len(keys)),
            base,
            keys=len(nfa_keys) if name == NFA else len(keys),
            build_seconds={DFA_COLD: build, TRIE: trie_build}.get(name),
            note=note,
        )
    for peer in MATCHERS:
        progress(f"{workload.name}: {peer.name}")
        yield _peer(workload, peer, plain, router, base)


def _peer(workload: Workload, peer: PeerMatcher, keys: pa.Array, router: dr.Router, base: float) -> Row:
    """Time a peer on the keys that it manages in a few seconds, 20,000 at most, and check what it found."""
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
    _timed(match, sample)  # RE2 builds its DFA lazily, too: now it is warm
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


def _until_set_ids(router: dr.Router, keys: pa.Array) -> dr.Matches:
    matches = router.match_batch(keys)
    matches.set_ids  # noqa: B018  # materialising it is what is timed
    return matches


def _row(workload: Workload, name: str, seconds_per_key: float, base: float, **more: Any) -> Row:
    return Row(
        workload=workload.name, contestant=name, ns_per_key=seconds_per_key * 1e9, ratio=seconds_per_key / base, **more
    )
