"""What an engine takes for a user's own bindings and keys: time, memory, and how its cache fares.

Keys are matched as one batch, again and again. The first pass is *cold*: it begins with an empty cache. Passes follow
until one builds no transition any more, and then the *warm* passes, of which the median counts. Times are processor time
of this process, all its threads together, so that other work on the machine disturbs them little; what threads save shows
in the elapsed time only.

Kernels must have been compiled before (:func:`compiler.prepare.compile_kernels`), or that is measured too.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

import dfa_router as dr
from compiler.machine.dividing import parts_of
from compiler.machine.policy import Policy

__all__ = ["Measurement", "Pass", "Request", "canonical_answers", "in_words", "measure"]

MOST_PASSES = 16
"""How many passes are tried for a cache that builds nothing any more, the cold one included."""

FEW_KEYS = 50_000
"""Below this number of keys, a pass is over in a few milliseconds, and what is paid once per call distorts the time per key."""

_COUNTERS = ("words", "hits", "misses", "clears", "fallbacks", "key_cache_hits")
"""The fields of :class:`CacheStats` that only grow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be measured."""

    bindings: Sequence[tuple[str, str]]
    keys: Any
    """The routing keys, as an Arrow column."""
    dialect: str
    cache_bytes: int | None
    """The bound on the cache; None leaves it to the automaton."""
    threads: int = 1
    rounds: int = 5
    """How many warm passes are timed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One pass over all keys: its time per key, and what happened to the cache meanwhile."""

    cpu_ns_per_key: float
    elapsed_ns_per_key: float
    words: int
    """Words that the automaton read."""
    hits: int
    """Words whose transition was in the cache."""
    misses: int
    """Transitions that were built."""
    clears: int
    fallbacks: int
    """Keys that were simulated on the NFA, at least in part."""
    key_cache_hits: int
    """Keys that were answered whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What an engine took."""

    engine: str
    build_cpu_seconds: float
    automaton_bytes: int | None
    """Bytes of the NFA and of the tables that kernels read, or None for an engine without an NFA."""
    cache_bytes: int
    """Bytes of the cache at the end."""
    cache_bound: int
    """The bound on them, or 0 for an engine without a cache."""
    states: int
    transitions: int
    accept_sets: int
    pairs: int
    """(key, matching binding) pairs."""
    passes: int
    """Passes until nothing was built any more, the cold one included."""
    settled: bool
    """Whether there was such a pass."""
    closed: bool = False
    """Whether the cache is full and kept as it is, at the end."""
    cold: Pass
    warm: Pass
    """The medians of the times; the counters of the last pass."""


def measure(
    engine: str, request: Request, report: Callable[[str, int, int], None] | None = None
) -> tuple[Measurement, dr.Matches]:
    """Compile the bindings, match the keys until the cache is warm, and return what that took, with the answer.

    ``report`` is called with a label, the passes done and the passes known before each step. There must be at least one key.
    """

    def say(label: str, done: int = 0, total: int = 0) -> None:
        if report is not None:
            report(f"{engine}: {label}", done, total)

    say("compiling the bindings")
    gc.collect()
    started = time.process_time()
    router = dr.compile(request.bindings, dialect=request.dialect, engine=engine, cache_bytes=request.cache_bytes)
    build_cpu_seconds = time.process_time() - started
    say("cold pass")
    cold, matches = _pass(router, request)
    passes, last = 1, cold
    while last.misses and passes < MOST_PASSES:
        say("passes until the cache is warm", passes, MOST_PASSES)
        last, _ = _pass(router, request)
        passes += 1
    rounds = []
    for number in range(request.rounds):
        say("warm passes", number, request.rounds)
        rounds.append(_pass(router, request)[0])
    stats = router.stats()
    measured = Measurement(
        engine=engine,
        build_cpu_seconds=build_cpu_seconds,
        automaton_bytes=_automaton_bytes(router),
        cache_bytes=stats.bytes,
        cache_bound=stats.capacity,
        states=stats.states,
        transitions=stats.transitions,
        accept_sets=stats.accept_sets,
        pairs=matches.pair_count,
        passes=passes,
        settled=not last.misses,
        closed=stats.closed > 0,
        cold=cold,
        warm=replace(
            rounds[-1],
            cpu_ns_per_key=statistics.median(one.cpu_ns_per_key for one in rounds),
            elapsed_ns_per_key=statistics.median(one.elapsed_ns_per_key for one in rounds),
        ),
    )
    return measured, matches


def canonical_answers(matches: dr.Matches, numbers: dict[bytes, int]) -> npt.NDArray[np.int64]:
    """Return for each key a number of its set of bindings, or -1 for null, to compare the answers of engines with.

    Equal sets get equal numbers in all calls with the same ``numbers``.

    >>> numbers: dict[bytes, int] = {}
    >>> [canonical_answers(dr.compile([("a.*", ""), ("#", "")], engine=name).match_batch(["b", "a.c", None]), numbers).tolist()
    ...  for name in ("dfa", "scan")]
    [[0, 1, -1], [0, 1, -1]]
    """
    ids = matches.set_ids.fill_null(-1).to_numpy()
    offsets, positions = matches.sets.offsets.to_numpy(), matches.sets.values.to_numpy()
    number_of = np.full(len(offsets), -1, np.int64)  # of set -1, the last one, too
    for one in np.unique(ids[ids >= 0]).tolist():
        found = positions[offsets[one] : offsets[one + 1]].tobytes()
        number_of[one] = numbers.setdefault(found, len(numbers))
    answers: npt.NDArray[np.int64] = number_of[ids]
    return answers


def in_words(measured: Measurement, keys: int) -> str:
    """Return in a sentence or two what the figures mean, and what to do."""
    sentences = []
    cold, warm, bound = measured.cold, measured.warm, measured.cache_bound
    clears = max(cold.clears, warm.clears)
    if not bound and "cache_bytes" not in dr.engine_info(measured.engine).options:
        sentences.append("this engine has no cache, so each pass costs about the same.")
    elif not measured.states and warm.fallbacks:
        sentences.append(
            f"{bound:,} bytes have no room for a cache, and every key is simulated: give more --cache-bytes."
        )
    elif clears:
        often = "once" if clears == 1 else f"{clears:,} times"
        sentences.append(
            f"the cache of {bound:,} bytes was full and was cleared {often} in a pass: give --cache-bytes {4 * bound}."
        )
    elif measured.closed and warm.fallbacks:
        sentences.append(
            f"the cache of {bound:,} bytes is full, and is kept, as it knows most: {warm.fallbacks / keys:.1%} of the keys need more, and "
            f"are simulated; give --cache-bytes {4 * bound} if that is too many."
        )
    elif warm.fallbacks > keys // 100:
        sentences.append(
            f"{warm.fallbacks / keys:.0%} of the keys are simulated even in a warm pass, as building the states that they "
            "need does not pay; more --cache-bytes change little. Often bindings with several # are the reason."
        )
    elif not measured.settled:
        sentences.append(
            f"after {measured.passes} passes transitions were still being built: what these keys cost lies between cold and warm."
        )
    elif warm.key_cache_hits > keys // 2:
        sentences.append(
            f"{warm.key_cache_hits / keys:.0%} of the keys are answered without reading their words: they recur, or patterns "
            "without wildcards spell them."
        )
    else:
        sentences.append(
            f"all that these keys need fits into the cache, {measured.cache_bytes:,} of {bound:,} bytes; keys that have been "
            f"seen take {warm.cpu_ns_per_key / cold.cpu_ns_per_key:.2f} times the processor time of new ones."
        )
    if keys < FEW_KEYS:
        sentences.append(
            f"{keys:,} {'keys are' if keys != 1 else 'key is'} few: for times that mean something, measure {FEW_KEYS:,} or more."
        )
    return f"{measured.engine}: {' '.join(sentences)}"


def _pass(router: dr.Router, request: Request) -> tuple[Pass, dr.Matches]:
    """Match all keys once."""
    before = router.stats()
    gc.collect()
    started, begun = time.perf_counter_ns(), time.process_time_ns()
    matches = router.match_batch(request.keys, threads=request.threads)
    spent, passed = time.process_time_ns() - begun, time.perf_counter_ns() - started
    after = router.stats()
    counts = {name: getattr(after, name) - getattr(before, name) for name in _COUNTERS}
    count = len(request.keys)
    return Pass(cpu_ns_per_key=spent / count, elapsed_ns_per_key=passed / count, **counts), matches


def _automaton_bytes(router: dr.Router) -> int | None:
    """Add up the arrays of the NFA and of its tables; those that both hold count once."""
    if router.engine.name not in {"dfa", "nfa"}:
        return None
    compiled = router.compiled()
    nfa, capacity = compiled.nfa, getattr(compiled.options, "cache_bytes", None)
    policy = Policy(exact=None if router.engine.name == "dfa" else False)
    parts = parts_of(nfa, router.dialect.separator, policy, capacity)
    arrays = [getattr(nfa, field.name, None) for field in fields(nfa)]
    arrays += [*parts.program, *(parts.exact or ()), nfa.symbols.data, nfa.symbols.offsets]
    distinct = {
        array.__array_interface__["data"][0]: array.nbytes
        for array in arrays
        if isinstance(array, np.ndarray) and array.size
    }
    return sum(distinct.values())
