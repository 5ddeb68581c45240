"""What the analysis is held to: the specification, asked about every small key."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product

import numpy as np

from dfa_router.language.dialects import DIALECTS, Dialect
from dfa_router.language.validity import pattern_problem
from dfa_router.reference.naive import matches

WORDS = {
    # Words of patterns, and words of keys: the dialect's wildcards, reserved bytes, empty words.
    "amqp": (("a", "b", "", "*", "#"), ("a", "b", "c", "")),
    "amqp-4.3.5": (("a", "b", "", "*", "#"), ("a", "b", "c", "")),
    "mqtt": (("a", "", "$", "$s", "+", "#"), ("a", "c", "", "$", "$s", "$c")),
    "nats": (("a", "b", "$", "*", ">"), ("a", "b", "c", "$", "")),
    "solace": (("a", "", "$", "#P2P", "*", ">"), ("a", "c", "", "$", "#P2P", ">")),
    "exact": (("a", "b", "", "*"), ("a", "b", "c", "", "*")),
}


def patterns_of(name: str, most: int) -> list[str]:
    """Return all valid patterns of up to ``most`` words."""
    dialect = DIALECTS[name]
    joined = {_joined(words, dialect) for n in range(most + 1) for words in product(WORDS[name][0], repeat=n)}
    return sorted(pattern for pattern in joined if pattern_problem(pattern, dialect) is None)


def keys_of(name: str, most: int) -> list[str]:
    """Return all texts of up to ``most`` words, the shortest first; those that are no keys match nothing."""
    dialect = DIALECTS[name]
    joined = {_joined(words, dialect): None for n in range(most + 1) for words in product(WORDS[name][1], repeat=n)}
    return sorted(joined, key=lambda key: word_count(key, dialect))


@cache
def table_of(name: str, words: int, length: int) -> np.ndarray:
    """Return which pattern matches which key, shape (patterns, keys), by the specification."""
    dialect, keys = DIALECTS[name], [key.encode() for key in keys_of(name, length)]
    return np.array([[matches(one.encode(), key, dialect) for key in keys] for one in patterns_of(name, words)])


def word_count(key: str, dialect: Dialect) -> int:
    """Return how many words a key has."""
    return len(key.split(dialect.separator.decode())) if key else 0


def matched(patterns: Iterable[str], key: str, dialect: Dialect) -> bool:
    """Tell whether any of the patterns matches a key."""
    return any(matches(pattern.encode(), key.encode(), dialect) for pattern in patterns)


def _joined(words: tuple[str, ...], dialect: Dialect) -> str:
    return dialect.separator.decode().join(words)
