"""All small patterns against all small keys, in each dialect: the engines and the specification agree on every pair."""

from __future__ import annotations

import re
from functools import cache
from itertools import product

import numpy as np
import pytest

import dfa_router as dr
from dfa_router.language.dialects import DIALECTS
from tests.strides import strides
from tests.suite.matrix import CONFIGURATIONS, Configuration

PATTERNS = sorted({".".join(tokens) for n in range(5) for tokens in product(("a", "b", "*", "#", ""), repeat=n)})
KEYS = sorted({".".join(words) for n in range(6) for words in product(("a", "b", ""), repeat=n)})


@pytest.fixture(scope="module")
def specified() -> np.ndarray:
    """The specification's answer: a truth table with a row per key and a column per pattern."""
    naive = dr.compile([(pattern, pattern) for pattern in PATTERNS], engine="naive")
    return truth_table(naive.match_batch(KEYS))


def truth_table(matches: dr.Matches, columns: int = len(PATTERNS)) -> np.ndarray:
    """Return which key matched which binding."""
    table = np.zeros((len(matches), columns), np.bool_)
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


@strides(5)
@pytest.mark.parametrize("engine", ["dfa", "nfa"])
def test_each_pattern_alone(specified: np.ndarray, engine: str, stride: int) -> None:
    """A set of one pattern has states and accept sets that no larger set has."""
    wrong = []
    for column, pattern in list(enumerate(PATTERNS))[::stride]:
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


WORDS = {
    # Words of patterns, and words of keys: wildcards of the dialect and of others, reserved bytes, empty words.
    "mqtt": (("a", "b", "", "$", "$share", "*", "+", "#"), ("a", "b", "", "$", "$share", "*", "+")),
    "nats": (("a", "b", "$", "#", "*a", "*", ">"), ("a", "b", "", "$", "*", ">")),
    "solace": (("a", "b", "", "$", "#P2P", "a*b", "*", ">"), ("a", "b", "", "$", "#P2P", "*", ">")),
    "amqp": (("a", "", "$", "*", "#"), ("a", "b", "", "$", "*")),
    "amqp-4.3.5": (("a", "", "$", "*", "#"), ("a", "b", "", "$", "*")),
    "exact": (("a", "", "$", "*", "#"), ("a", "b", "", "$", "*")),
}


def test_every_dialect_has_its_words() -> None:
    """The tests below take their dialects from the registry; this one names a dialect that has no words yet."""
    assert set(WORDS) == set(DIALECTS)


@cache
def space(dialect: str) -> tuple[list[str], list[str]]:
    """Return all valid patterns and all keys of up to three words."""
    separator = dr.dialect_named(dialect).separator.decode()
    patterns, keys = (
        list(dict.fromkeys(separator.join(row) for n in range(4) for row in product(words, repeat=n)))
        for words in WORDS[dialect]
    )
    return [pattern for pattern in patterns if dr.pattern_problem(pattern, dr.dialect_named(dialect)) is None], keys


@cache
def table(dialect: str) -> np.ndarray:
    patterns, keys = space(dialect)
    naive = dr.compile([(pattern, "q") for pattern in patterns], dialect=dialect, engine="naive")
    return truth_table(naive.match_batch(keys), len(patterns))


def differences(found: np.ndarray, dialect: str) -> list[tuple[str, str]]:
    """Return the first pairs of pattern and key on which an engine takes another side."""
    patterns, keys = space(dialect)
    return [(patterns[column], keys[row]) for row, column in np.argwhere(found != table(dialect))[:10]]


each_dialect = pytest.mark.parametrize("dialect", DIALECTS)


@pytest.mark.parametrize(
    ("configuration", "dialect"),
    [
        pytest.param(configuration, dialect, id=f"{configuration}-{dialect}")
        for configuration in CONFIGURATIONS
        for dialect in DIALECTS
        if configuration.speaks(dialect)
    ],
)
def test_every_engine_in_every_dialect(configuration: Configuration, dialect: str) -> None:
    """One set of all patterns, asked as a batch and key by key."""
    patterns, keys = space(dialect)
    router = configuration.router([(pattern, "q") for pattern in patterns], keys, dialect)
    assert differences(truth_table(router.match_batch(keys), len(patterns)), dialect) == []
    single = np.zeros(table(dialect).shape, np.bool_)
    for row, key in enumerate(keys):
        single[row, list(router.match_bindings(key))] = True
        assert router.any(key) == bool(single[row].any()), key
    assert differences(single, dialect) == []


@each_dialect
@strides(5)
@pytest.mark.parametrize("engine", ["dfa", "nfa"])
def test_each_pattern_alone_in_every_dialect(engine: str, dialect: str, stride: int) -> None:
    patterns, keys = space(dialect)
    found = table(dialect).copy()
    for column, pattern in list(enumerate(patterns))[::stride]:
        batch = dr.compile([(pattern, "q")], dialect=dialect, engine=engine).match_batch(keys)
        found[:, column] = truth_table(batch, 1)[:, 0]
    assert differences(found, dialect) == []


def expression(pattern: str, dialect: str) -> str:
    """Say a pattern as a regular expression: the rules once more, from the brokers' documents, by other means."""
    if dialect == "mqtt":
        pattern = re.sub(r"^\$share/[^/]+/", "", pattern)
        unseen = r"(?!\$)" if pattern[0] in "+#" else ""
        found = re.escape(pattern).replace(r"/\#", "(/.*)?").replace(r"\#", ".*").replace(r"\+", "[^/]*")
        return rf"(?=.)(?!.*[+#\0]){unseen}(?:{found})"
    if dialect == "nats":
        words = [{"*": r"[^.]+", ">": ".+"}.get(word, re.escape(word)) for word in pattern.split(".")]
        return r"(?!\.|.*\.\.|.*\.$)(?:" + r"\.".join(words) + ")"
    if dialect == "solace":
        *words, last = pattern.split("/")
        parts = ["[^/]*" if word == "*" else re.escape(word) for word in words]
        parts.append({"*": "[^/]*", ">": ".*"}.get(last, re.escape(last)))
        unseen = r"(?!\$)" if pattern.split("/")[0] == "*" or pattern == ">" else ""
        return rf"(?=.)(?!#P2P){unseen}(?:{'/'.join(parts)})"
    if dialect == "exact" or not pattern:
        return re.escape(pattern)
    # Every word with a separator of its own, and not the empty key, which has no word.
    words = [{"*": r"[^.]*\.", "#": r"(?:[^.]*\.)*"}.get(word, re.escape(word + ".")) for word in pattern.split(".")]
    return "".join(words)


@each_dialect
def test_the_specification_says_what_regular_expressions_say(dialect: str) -> None:
    patterns, keys = space(dialect)
    found = np.zeros(table(dialect).shape, np.bool_)
    for column, pattern in enumerate(patterns):
        compiled = re.compile(expression(pattern, dialect), re.DOTALL)
        for row, key in enumerate(keys):
            text = key + "." if dialect.startswith("amqp") and key else key
            found[row, column] = compiled.fullmatch(text) is not None
    assert differences(found, dialect) == []
    assert 0.001 < found.mean() < 0.2
