"""The table of memory: what an engine holds, with its topic space, and before and after it has been used.

Three things are easily left out, and each turned a comparison round in an earlier form of this table: a topic space and its
bitmaps, which the plain inverted bitmap cannot do without; the states that a lazy DFA has when it has seen keys; and
wildcards, without which a DFA has no more states than a trie has nodes.
"""

from __future__ import annotations

import gc
import random
import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from pyroaring import BitMap, BitMap64

from benchmarks.seeds.contestants import Contestant, contestant, random_topics
from benchmarks.seeds.rows import Row
from dfa_router.engines.protocol import Matcher

__all__ = [
    "BY_SUBSCRIPTIONS",
    "LITERAL",
    "OVER_TOPICS",
    "WILDCARDS",
    "deep_size",
    "literal_memory",
    "space_memory",
    "wildcard_memory",
]

LITERAL, WILDCARDS, OVER_TOPICS, BY_SUBSCRIPTIONS = (
    "literal subscriptions",
    "300 subscriptions with wildcards",
    "subscriptions over a topic space",
    "9,000 topics, by subscriptions",
)
"""What is measured."""
SPACES = (1_000, 3_000, 9_000, 27_000)
"""Topics of a topic space."""
SHARES, SHARED = (0.03, 0.1, 0.3, 1.0), 9_000
"""Shares of the subscriptions that are held over a topic space of this size."""
WILD, WILD_KEYS = 300, 20_000
"""Patterns with wildcards, and the keys after which their DFA is measured."""


def literal_memory(one: Contestant, subscriptions: int) -> Iterator[Row]:
    """Measure bytes per subscription, random ones of five words: as built, and after a look-up of each as a key.

    A topic space, where one is needed, has as many topics, and is counted with its bitmaps.
    """
    topics, patterns = random_topics(subscriptions, seed=2), random_topics(subscriptions)
    engine = one.build(patterns, topics)
    row = partial(_row, one.label, LITERAL, unit="bytes")
    built = _built(one, patterns, topics) if one.engine == "codegen" else deep_size(engine)
    note = "counted while it was built" if one.engine == "codegen" else ""
    yield row("as built", built / subscriptions, note=note)
    if one.engine in ("dfa", "nfa"):
        assert [engine.match(pattern.encode()) for pattern in patterns] == [(i,) for i in range(len(patterns))]
        yield row("after use", deep_size(engine) / subscriptions)


def wildcard_memory(words: int = 8) -> Iterator[Row]:
    """Measure the kilobytes of 300 patterns with wildcards, in a trie and in a DFA that has seen 20,000 random keys."""
    chance = random.Random(2011)
    vocabulary = [f"w{number}" for number in range(words)]
    tokens = [*vocabulary, *["*"] * 3, "#"]
    patterns = list({".".join(chance.choices(tokens, k=5)): None for _ in range(2 * WILD)})[:WILD]
    keys = [".".join(chance.choices(vocabulary, k=chance.randint(3, 7))).encode() for _ in range(WILD_KEYS)]
    answers = []
    for name in ("trie", "dfa"):
        engine = contestant(name).build(patterns, [])
        yield _row(name, WILDCARDS, "as built", deep_size(engine) / 1000, unit="KB")
        answers.append([engine.match(key) for key in keys])
        yield _row(name, WILDCARDS, "after use", deep_size(engine) / 1000, unit="KB")
    assert answers[0] == answers[1]


def space_memory(subscriptions: int) -> Iterator[Row]:
    """Measure the kilobytes of both inverted bitmaps, by the number of topics and by that of subscriptions."""
    for size in SPACES:
        yield from _both_bitmaps(OVER_TOPICS, f"{size:,} topics", size, subscriptions)
    for share in SHARES:
        count = max(1, round(share * subscriptions))
        yield from _both_bitmaps(BY_SUBSCRIPTIONS, f"{count:,} subscriptions", SHARED, count)


def _both_bitmaps(measure: str, condition: str, size: int, subscriptions: int) -> Iterator[Row]:
    """Measure both over a topic space of this size; one subscription in three has a ``*``, which takes some 30 topics or 10."""
    chance = random.Random(4)
    topics = [f"{number % 10}.{number // 10 % 30}.{number // 300}" for number in range(size)]
    patterns = []
    for number in range(subscriptions):
        words = chance.choice(topics).split(".")
        if number % 3 == 0:
            words[chance.randrange(3)] = "*"
        patterns.append(".".join(words))
    found = []
    for name in ("inverted", "inverted_opt"):
        engine = contestant(name).build(patterns, topics)
        found.append(engine.match(topics[-1].encode()))
        yield _row(name, measure, condition, deep_size(engine) / 1000, unit="KB")
    assert found[0] == found[1]


def _row(matcher: str, measure: str, condition: str, value: float, *, unit: str, note: str = "") -> Row:
    return Row(table="memory", matcher=matcher, measure=measure, condition=condition, value=value, unit=unit, note=note)


def _built(one: Contestant, patterns: Sequence[str], topics: Sequence[str]) -> int:
    """Return what is allocated while an engine is built: functions do not tell the size of their code."""
    gc.collect()
    tracemalloc.start()
    try:
        alive = one.build(patterns, topics)
        gc.collect()
        allocated = tracemalloc.get_traced_memory()[0]
        del alive
        return allocated
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
