"""All small patterns against all small keys: the automata and the specification agree on every pair."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import dfa_router as dr

PATTERNS = sorted({".".join(tokens) for n in range(5) for tokens in product(("a", "b", "*", "#", ""), repeat=n)})
KEYS = sorted({".".join(words) for n in range(6) for words in product(("a", "b", ""), repeat=n)})


@pytest.fixture(scope="module")
def specified() -> np.ndarray:
    """The specification's answer: a truth table with a row per key and a column per pattern."""
    naive = dr.compile([(pattern, pattern) for pattern in PATTERNS], engine="naive")
    return truth_table(naive.match_batch(KEYS))


def truth_table(matches: dr.Matches) -> np.ndarray:
    """Return which key matched which binding."""
    table = np.zeros((len(KEYS), len(PATTERNS)), np.bool_)
    for row, positions in enumerate(matches.bindings().to_pylist()):
        table[row, positions] = True
    return table


def test_the_space_is_what_it_claims_to_be() -> None:
    """Up to four tokens of five kinds and up to five words of three kinds; "" stands for zero words and for one empty one."""
    assert len(PATTERNS) == 1 + 5 + 25 + 125 + 625 - 1
    assert len(KEYS) == 1 + 3 + 9 + 27 + 81 + 243 - 1


@pytest.mark.parametrize("engine", ["dfa", "nfa"])
@pytest.mark.parametrize("cache_bytes", [0, 2_000, 20_000, 1 << 26])
def test_all_patterns_in_one_set(specified: np.ndarray, engine: str, cache_bytes: int) -> None:
    """One binding set of all 780 patterns, from no cache at all to one that is never full."""
    router = dr.compile([(pattern, pattern) for pattern in PATTERNS], engine=engine, cache_bytes=cache_bytes)
    wrong = np.argwhere(truth_table(router.match_batch(KEYS)) != specified)
    assert [(PATTERNS[column], KEYS[row]) for row, column in wrong[:10]] == []


@pytest.mark.parametrize("engine", ["dfa", "nfa"])
def test_each_pattern_alone(specified: np.ndarray, engine: str) -> None:
    """A set of one pattern has states and accept sets that no larger set has."""
    wrong = []
    for column, pattern in enumerate(PATTERNS):
        matches = dr.compile([(pattern, pattern)], engine=engine).match_batch(KEYS)
        found = np.array([bool(positions) for positions in matches.bindings().to_pylist()])
        wrong += [(pattern, KEYS[row]) for row in np.flatnonzero(found != specified[:, column])]
    assert wrong == []


def test_single_keys_answer_like_batches(specified: np.ndarray) -> None:
    """The single-key calls of every engine against the same table."""
    for engine in ("dfa", "nfa"):
        router = dr.compile([(pattern, pattern) for pattern in PATTERNS], engine=engine)
        for row, key in enumerate(KEYS):
            assert router.match_bindings(key) == tuple(np.flatnonzero(specified[row]).tolist())
