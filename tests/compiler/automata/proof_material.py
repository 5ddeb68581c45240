"""All small patterns and keys, and which match: by regular expressions, which share nothing with the automata."""

from __future__ import annotations

import re
from itertools import product

import numpy as np

from compiler import Pattern, Token, Wildcard

TOKENS: dict[str, Token] = {"a": b"a", "b": b"b", "*": Wildcard.ONE, "#": Wildcard.MANY}
PATTERNS = ["".join(tokens) for n in range(5) for tokens in product(TOKENS, repeat=n)]
"""Patterns of up to four tokens, a character for each."""
KEYS = ["".join(words) for n in range(7) for words in product("abce", repeat=n) if words != ("e",)]
"""Keys of up to six words: two literals, c for any other, e for the empty word, which alone is no key."""


def tokens_of(pattern: str) -> Pattern:
    """Return the compiler's tokens of a pattern."""
    return [TOKENS[token] for token in pattern]


def words_of(key: str) -> tuple[bytes, ...]:
    """Return the words of a key."""
    return tuple(b"" if word == "e" else word.encode() for word in key)


def key_of(words: tuple[bytes | None, ...]) -> str:
    """Return words as a key; what is neither a nor b nor empty is c."""
    return "".join("e" if word == b"" else word.decode() if word in (b"a", b"b") else "c" for word in words)


def matches(pattern: str, key: str) -> bool:
    """Tell whether a pattern matches a key."""
    return re.fullmatch(pattern.replace("*", ".").replace("#", ".*"), key) is not None


def truth_table() -> np.ndarray:
    """Return which pattern matches which key, shape (patterns, keys)."""
    compiled = [re.compile(pattern.replace("*", ".").replace("#", ".*")) for pattern in PATTERNS]
    return np.array([[one.fullmatch(key) is not None for key in KEYS] for one in compiled])
