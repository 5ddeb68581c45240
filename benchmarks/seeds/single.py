"""The tables of one thread: latency, throughput and memory."""

from __future__ import annotations

import gc
import math
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from pyroaring import BitMap, BitMap64

import dfa_router as dr
from benchmarks.seeds.contestants import Contestant, random_topics
from benchmarks.seeds.rows import Row
from benchmarks.workloads import make_workload
from dfa_router.engines.protocol import Detector, DynamicMatcher, Matcher

__all__ = ["columns", "deep_size", "latency", "memory", "throughput"]

PATTERN, KEY = "foo.*.baz.qux.quux", "foo.bar.baz.qux.quux"
"""The subscription that is added and removed, and the message that is looked up."""


def latency(contestant: Contestant, subscriptions: int, seconds: float) -> Iterator[Row]:
    """Measure subscribe, unsubscribe, lookup and any, without subscriptions (cold) and with ``subscriptions`` (hot).

    A topic space, where a contestant needs one, has as many topics.
    """
    topics = [*random_topics(subscriptions, seed=2), KEY]
    for condition, patterns in (("cold", []), ("hot", random_topics(subscriptions))):
        engine = contestant.build(patterns, topics)
        key = KEY.encode()
        if isinstance(engine, DynamicMatcher):
            for measure, value in zip(
                ("subscribe", "unsubscribe"), _changes(engine, len(patterns), seconds), strict=True
            ):
                yield _ns(contestant, measure, condition, value)
            engine.add(10**6, PATTERN.encode())
            expected: tuple[int, ...] = (10**6,)
        else:
            value = _per_call(partial(contestant.build, [*patterns, PATTERN], topics), seconds)
            yield _ns(contestant, "subscribe", condition, value, "builds everything anew")
            engine, expected = contestant.build([*patterns, PATTERN], topics), (len(patterns),)
        assert engine.match(key) == expected, contestant
        yield _ns(contestant, "lookup", condition, _per_call(partial(engine.match, key), seconds))
        any_matches = engine.any if isinstance(engine, Detector) else engine.match  # what a router calls
        yield _ns(contestant, "any", condition, _per_call(partial(any_matches, key), seconds))


def _ns(contestant: Contestant, measure: str, condition: str, value: float, note: str = "") -> Row:
    return Row(
        table="latency",
        matcher=contestant.label,
        measure=measure,
        condition=condition,
        value=value * 1e9,
        unit="ns",
        note=note,
    )


def _changes(engine: DynamicMatcher, first: int, seconds: float) -> tuple[float, float]:
    """Return the median seconds of adding a subscription and of removing it again, minus the time that the clock takes."""
    pattern = PATTERN.encode()
    clock = time.perf_counter
    adding, removing, idle = [], [], []
    end = clock() + seconds
    for position in range(first, first + 1_000_000):
        begun = clock()
        engine.add(position, pattern)
        added = clock()
        engine.remove(position, pattern)
        removed = clock()
        idle.append(clock() - removed)
        adding.append(added - begun)
        removing.append(removed - added)
        if removed > end and len(adding) >= 3:
            break
    rest = statistics.median(idle)
    return max(statistics.median(adding) - rest, 0.0), max(statistics.median(removing) - rest, 0.0)


def _per_call(function: Callable[[], object], seconds: float) -> float:
    """Return the seconds of a call in the fastest of many short batches, which other processes disturbed least."""
    first = min(_batch(function, 1), _batch(function, 1))
    if first > seconds:
        return first
    calls = max(1, int(seconds / 100 / max(first, 1e-7)))
    return min(_batch(function, calls) for _ in range(100)) / calls


def _batch(function: Callable[[], object], calls: int) -> float:
    """Return the seconds of some calls."""
    begun = time.perf_counter()
    for _ in range(calls):
        function()
    return time.perf_counter() - begun


def throughput(contestant: Contestant, seconds: float) -> Iterator[Row]:
    """Measure messages per second, in the fastest pass over 1,000 keys of three digits.

    There are 1,000 subscriptions of three digits, one in eight with a ``*``, as in Treat's test.
    """
    patterns, keys = _digits()
    engine = contestant.build(patterns, keys)
    encoded = [key.encode() for key in keys]
    fastest = math.inf
    passes = pairs = 0
    end = time.perf_counter() + seconds
    while not passes or time.perf_counter() < end:
        begun = time.perf_counter()
        pairs += sum(len(engine.match(key)) for key in encoded)
        fastest = min(fastest, time.perf_counter() - begun)
        passes += 1
    assert pairs == passes * _pairs(), (
        f"{contestant} found {pairs} pairs in {passes} passes, the others {_pairs()} in each"
    )
    yield Row(
        table="throughput",
        matcher=contestant.label,
        measure="lookup",
        condition="hot",
        value=len(encoded) / fastest,
        unit="messages/s",
    )


def columns(engine: str, keys: int) -> Iterator[Row]:
    """Measure the same workload as one Arrow column: batches are what this project is for."""
    patterns, _ = _digits()
    router = dr.compile([(pattern, "q") for pattern in patterns], engine=engine)
    column = make_workload("throughput", scale=keys / 1_000_000).keys
    assert router.match_batch(column).pair_count == _pairs() * keys // 1000
    took = min(_batch(lambda: router.match_batch(column).pair_count, 1) for _ in range(5))
    yield Row(
        table="throughput",
        matcher=f"{engine}, Arrow column",
        measure="lookup",
        condition="hot",
        value=keys / took,
        unit="messages/s",
        note=f"match_batch of {keys:,} keys",
    )


def _digits() -> tuple[list[str], list[str]]:
    """Return patterns and keys of the throughput test."""
    workload = make_workload("throughput", scale=0.001)
    keys: list[str] = workload.keys.to_pylist()
    return workload.patterns, keys


def _pairs() -> int:
    """Return the number of matches of the workload, counted by the word index."""
    patterns, keys = _digits()
    router = dr.compile([(pattern, "q") for pattern in patterns], engine="word_index")
    return sum(len(router.match_bindings(key)) for key in keys)


def memory(contestant: Contestant, subscriptions: int) -> Iterator[Row]:
    """Measure the engine's bytes per subscription, random ones of five words; a topic space is not counted."""
    topics = random_topics(subscriptions, seed=2)
    full, empty = contestant.build(random_topics(subscriptions), topics), contestant.build([], topics)
    if full.match(topics[0].encode()):
        raise AssertionError("a random topic matches a random subscription")
    yield Row(
        table="memory",
        matcher=contestant.label,
        measure="bytes per subscription",
        condition=f"{subscriptions} subscriptions",
        value=(_held(contestant, subscriptions, full) - _held(contestant, 0, empty)) / subscriptions,
        unit="bytes",
        note="counted while it was built" if contestant.engine == "codegen" else "",
    )


def _held(contestant: Contestant, subscriptions: int, engine: Matcher) -> int:
    """Return the bytes that an engine holds.

    Functions do not tell the size of their code, so generated code is built once more while allocations are counted.
    """
    if contestant.engine != "codegen":
        return deep_size(engine)
    patterns, topics = random_topics(subscriptions), random_topics(subscriptions, seed=2)
    gc.collect()
    tracemalloc.start()
    try:
        built = [contestant.build(patterns, topics)]  # must be alive while it is counted
        gc.collect()
        return tracemalloc.get_traced_memory()[0] * len(built)
    finally:
        tracemalloc.stop()


_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, CodeType)
"""Types of objects that belong to the program and not to an engine."""


def deep_size(start: Matcher | Sequence[Any]) -> int:
    """Return the bytes of an object and of all objects that it refers to, each once; bitmaps and arrays with their data.

    >>> deep_size([BitMap(range(0, 6000, 3))]) > 4000
    True
    """
    seen: set[int] = set()
    stack: list[Any] = [start]
    total = 0
    while stack:
        one = stack.pop()
        if id(one) in seen or isinstance(one, _SHARED) or (isinstance(one, dict) and "__builtins__" in one):
            continue
        seen.add(id(one))
        total += sys.getsizeof(one)
        if isinstance(one, BitMap | BitMap64):
            total += len(one.serialize())  # the containers, which Python does not see; without unused capacity
        elif isinstance(one, np.ndarray) and one.base is None:
            continue  # getsizeof has counted the data
        stack += gc.get_referents(one)
    return total
