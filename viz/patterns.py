"""Patterns and keys as people type them, with the spelling and the limits of AMQP 0-9-1.

The compiler knows tokens and no spelling; the pages and commands of this package take text. The empty text has zero
words; any other text is split at the dots, and empty words are kept. ``*`` is exactly one word and ``#`` zero or more.
"""

from __future__ import annotations

from collections.abc import Sequence

from compiler import Nfa, PatternError, Token, Wildcard, build_nfa
from compiler.errors import InputError

__all__ = ["MAX_BYTES", "MAX_PATTERNS", "checked_key", "nfa_of", "tokens", "words_of"]

MAX_PATTERNS = 64
"""The most patterns that a page can show side by side."""
MAX_BYTES = 255
"""The longest pattern or key that AMQP 0-9-1 can carry."""

_WILDCARDS = {b"*": Wildcard.ONE, b"#": Wildcard.MANY}


def words_of(key: str | bytes, separator: bytes = b".") -> list[bytes]:
    """Return the words of a key.

    >>> words_of("a..b"), words_of(""), words_of("a/b.c", b"/")
    ([b'a', b'', b'b'], [], [b'a', b'b.c'])
    """
    data = key if isinstance(key, bytes) else key.encode("utf-8", "surrogatepass")
    return data.split(separator) if data else []


def tokens(pattern: str | bytes) -> list[Token]:
    """Return the compiler's tokens of a pattern.

    >>> tokens("stock.*.#")
    [b'stock', *, #]
    """
    return [_WILDCARDS.get(word, word) for word in words_of(pattern)]


def nfa_of(patterns: Sequence[str], *, max_patterns: int | None = None) -> Nfa:
    """Build the NFA of patterns, whose accept tags are their numbers in the order given.

    Raises :class:`PatternError` for a pattern longer than :data:`MAX_BYTES`, or more than ``max_patterns`` of them.
    """
    if max_patterns is not None and len(patterns) > max_patterns:
        raise PatternError(
            f"{len(patterns)} patterns are more than this page can show: give at most {max_patterns}, "
            "or draw a part of the set with 'dfa-router render'"
        )
    for number, pattern in enumerate(patterns):
        size = len(pattern.encode("utf-8", "surrogatepass"))
        if size > MAX_BYTES:
            raise PatternError(
                f"pattern {number} has {size} bytes: AMQP carries at most {MAX_BYTES}; "
                f"it begins {pattern[:20]!r}: shorten it"
            )
    return build_nfa(tokens(pattern) for pattern in patterns)


def checked_key(key: str) -> str:
    """Return the key; raises :class:`InputError` if it is longer than :data:`MAX_BYTES`."""
    size = len(key.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise InputError(f"the routing key has {size} bytes: AMQP carries at most {MAX_BYTES}; shorten it")
    return key
