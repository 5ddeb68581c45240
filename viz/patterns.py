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

    Raises :class:`PatternError` for a pattern longer than :data:`MAX_BYTES` or with a lone surrogate, and for more than
    ``max_patterns`` of them.
    """
    if max_patterns is not None and len(patterns) > max_patterns:
        raise PatternError(
            f"{len(patterns)} patterns are more than this page can show: give at most {max_patterns}, "
            "or draw a part of the set with 'dfa-router render'"
        )
    for number, pattern in enumerate(patterns):
        if why := _problem(pattern):
            raise PatternError(f"pattern {number}, which begins {pattern[:20]!r}, {why}")
    return build_nfa(tokens(pattern) for pattern in patterns)


def checked_key(key: str) -> str:
    """Return the key; raises :class:`InputError` if it is longer than :data:`MAX_BYTES` or has a lone surrogate."""
    if why := _problem(key):
        raise InputError(f"the routing key, which begins {key[:20]!r}, {why}")
    return key


def _problem(text: str) -> str:
    """Return what keeps AMQP from carrying a text, or nothing."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        return f"has a lone surrogate at character {error.start}, which has no UTF-8 form: remove it"
    return f"has {size} bytes: AMQP carries at most {MAX_BYTES}; shorten it" if size > MAX_BYTES else ""
