"""The tables of one thread that Tyler Treat's article has: latency and throughput."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from functools import partial

import dfa_router as dr
from benchmarks.seeds.clock import batch, changes, per_call
from benchmarks.seeds.contestants import Contestant, random_topics
from benchmarks.seeds.rows import Row
from benchmarks.workloads import make_workload
from dfa_router.engines.protocol import Detector, DynamicMatcher

__all__ = ["columns", "latency", "throughput"]

PATTERN, KEY = "foo.*.baz.qux.quux", "foo.bar.baz.qux.quux"
"""The subscription that is added and removed, and the message that is looked up."""


def latency(contestant: Contestant, subscriptions: int, seconds: float) -> Iterator[Row]:
    """Measure subscribe, unsubscribe, lookup and any, without subscriptions (cold) and with ``subscriptions`` (hot).

    A topic space, where a contestant needs one, has as many topics.
    """
    topics = [*random_topics(subscriptions, seed=2), KEY]
    pattern, key = PATTERN.encode(), KEY.encode()
    for condition, patterns in (("cold", []), ("hot", random_topics(subscriptions))):
        row = partial(_nanoseconds, contestant, condition)
        engine = contestant.build(patterns, topics)
        first = len(patterns)
        if isinstance(engine, DynamicMatcher):
            changed: DynamicMatcher = engine
            adding, removing = changes(
                lambda number, changed=changed, first=first: changed.add(first + number, pattern),  # type: ignore[misc]
                lambda number, changed=changed, first=first: changed.remove(first + number, pattern),  # type: ignore[misc]
                seconds,
            )
            yield row("subscribe", adding)
            yield row("unsubscribe", removing)
            engine.add(10**7, pattern)
            expected: tuple[int, ...] = (10**7,)
        else:
            value = per_call(partial(contestant.build, [*patterns, PATTERN], topics), seconds)
            yield row("subscribe", value, "builds everything anew")
            engine, expected = contestant.build([*patterns, PATTERN], topics), (first,)
        assert engine.match(key) == expected, contestant
        yield row("lookup", per_call(partial(engine.match, key), seconds))
        any_matches = engine.any if isinstance(engine, Detector) else engine.match  # what a router calls
        yield row("any", per_call(partial(any_matches, key), seconds))


def _nanoseconds(contestant: Contestant, condition: str, measure: str, seconds: float, note: str = "") -> Row:
    return Row(
        table="latency",
        matcher=contestant.label,
        measure=measure,
        condition=condition,
        value=seconds * 1e9,
        unit="ns",
        note=note,
    )


def throughput(contestant: Contestant, seconds: float) -> Iterator[Row]:
    """Measure messages per second, in the fastest pass over 1,000 keys of three digits.

    There are 1,000 subscriptions of three digits, one in eight with a ``*``, as in Treat's test.
    """
    patterns, keys = _digits()
    engine = contestant.build(patterns, keys)
    encoded = [key.encode() for key in keys]
    fastest = math.inf
    passes = pairs = 0
    end = time.thread_time() + seconds
    while not passes or time.thread_time() < end:
        begun = time.thread_time()
        pairs += sum(len(engine.match(key)) for key in encoded)
        fastest = min(fastest, time.thread_time() - begun)
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


def columns(keys: int) -> Iterator[Row]:
    """Measure the same workload as one Arrow column, with the table of whole keys and without it.

    The keys are 1,000 again and again, so with that table hardly a key is walked.
    """
    patterns, _ = _digits()
    column = make_workload("throughput", scale=keys / 1_000_000).keys
    for label, key_cache in (("dfa, Arrow column", "auto"), ("dfa, Arrow column, without the key cache", "off")):
        router = dr.compile([(pattern, "q") for pattern in patterns], key_cache=key_cache)
        assert router.match_batch(column).pair_count == _pairs() * keys // 1000
        took = min(batch(lambda router=router: router.match_batch(column).pair_count) for _ in range(9))  # type: ignore[misc]
        yield Row(
            table="throughput",
            matcher=label,
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
