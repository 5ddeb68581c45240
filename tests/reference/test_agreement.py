"""All engines against the specification: exhaustively over a small alphabet, and on random sets."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from functools import cache

import pytest

import dfa_router as dr
from dfa_router.reference.naive import matches
from tests.strides import strides
from tests.suite.matrix import CONFIGURATIONS, Configuration

WORDS = ("a", "b", "")
TOKENS = ("a", "b", "*", "#", "")


def texts(words: Sequence[str], longest: int) -> list[str]:
    """All texts of up to that many words; the empty text and the text of one empty word are one."""
    lengths = (itertools.product(words, repeat=length) for length in range(longest + 1))
    return list(dict.fromkeys(".".join(parts) for parts in itertools.chain.from_iterable(lengths)))


PATTERNS = texts(TOKENS, 4)
KEYS = texts(WORDS, 5)
SLOW = [Configuration("codegen", {"max_states": 4})]
"""Compiles Python code for every key: it gets a tenth of the cases."""


@cache
def truth() -> dict[tuple[str, str], bool]:
    """What the specification says of every pattern and key."""
    return {(pattern, key): matches(pattern.encode(), key.encode()) for pattern in PATTERNS for key in KEYS}


def expected(patterns: Sequence[str], key: str) -> list[int]:
    return [position for position, pattern in enumerate(patterns) if truth()[pattern, key]]


def bound(patterns: Sequence[str]) -> list[tuple[str, str]]:
    return [(pattern, f"q{position}") for position, pattern in enumerate(patterns)]


def test_the_small_world_is_as_large_as_it_should_be() -> None:
    assert (len(PATTERNS), len(KEYS)) == (780, 363)
    assert sum(truth().values()) == sum(len(expected(PATTERNS, key)) for key in KEYS) > 20_000


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_all_small_patterns_against_all_small_keys(configuration: Configuration) -> None:
    """283,140 pairs, all patterns in one binding set."""
    router = configuration.router(bound(PATTERNS), KEYS)
    rows = router.match_batch(KEYS).bindings().to_pylist()
    wrong = [(key, sorted(set(row) ^ set(expected(PATTERNS, key)))) for key, row in zip(KEYS, rows, strict=True)]
    assert [(key, [PATTERNS[position] for position in positions]) for key, positions in wrong if positions] == []
    assert all(row == sorted(row) for row in rows)


@strides(7)
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_each_small_pattern_alone(configuration: Configuration, stride: int) -> None:
    """A set of one pattern, so that no other pattern hides a mistake; with a third of the keys, in turns."""
    for number, pattern in list(enumerate(PATTERNS))[::stride]:
        keys = KEYS[number % 3 :: 30 if configuration in SLOW else 3]
        router = configuration.router([(pattern, "q")], keys)
        rows = router.match_batch(keys).bindings().to_pylist()
        assert [key for key, row in zip(keys, rows, strict=True) if bool(row) is not truth()[pattern, key]] == [], (
            pattern
        )
        for key in keys[number % 12 :: 12]:
            assert router.any(key) is truth()[pattern, key], (pattern, key)


@strides(7)
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_random_sets_and_keys(configuration: Configuration, stride: int) -> None:
    """1,000 sets of up to 12 small patterns, or the first of them, ten keys each: the same cases for every engine."""
    chance = random.Random(20110328)
    for _ in range((100 if configuration in SLOW else 1000) // stride):
        patterns = chance.choices(PATTERNS, k=chance.randint(0, 12))
        keys = chance.choices(KEYS, k=10)
        router = configuration.router(bound(patterns), keys)
        for key in keys:
            answer = expected(patterns, key)
            assert list(router.match_bindings(key)) == answer, (patterns, key)
            assert router.any(key) is bool(answer), (patterns, key)


@pytest.mark.parametrize("configuration", [c for c in CONFIGURATIONS if c.info.dynamic], ids=str)
def test_subscribing_one_by_one_is_compiling(configuration: Configuration) -> None:
    """A set answers the same, whether it was compiled or made by changes."""
    chance = random.Random(2022)
    for _ in range(100):
        patterns = chance.choices(PATTERNS, k=chance.randint(1, 12))
        gone = {position for position in range(len(patterns)) if chance.random() < 0.4}
        keys = chance.choices(KEYS, k=10)
        router = configuration.router([], keys)
        for position, pattern in enumerate(patterns):
            assert router.subscribe(pattern, f"q{position}") == position
        for position in chance.sample(sorted(gone), len(gone)):
            assert router.unsubscribe(patterns[position], f"q{position}") == position
        for key in keys:
            answer = [position for position in expected(patterns, key) if position not in gone]
            assert list(router.match_bindings(key)) == answer, (patterns, gone, key)
            assert router.any(key) is bool(answer), (patterns, gone, key)


def test_every_engine_is_among_the_configurations() -> None:
    assert {configuration.engine for configuration in CONFIGURATIONS} == set(dr.engines())
    assert {"naive", "scan", "inverted", "inverted_opt", "trie", "cstrie", "word_cache", "word_index"} <= set(
        dr.engines()
    )
