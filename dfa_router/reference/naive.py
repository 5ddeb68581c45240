"""The specification: what it means that a pattern matches a key.

:func:`matches` is the definition, a recursion over the ``#`` of the pattern, as short as possible. Everything else in this
project is checked against it, and live brokers check it. It takes time exponential in the number of ``#``: it is made for
judging, not for speed.
"""

from __future__ import annotations

from collections.abc import Sequence

from dfa_router.engines.protocol import EngineInfo, EngineSpec
from dfa_router.language.dialects import AMQP, Dialect

__all__ = ["ENGINE", "Naive", "matches"]


def matches(pattern: bytes, key: bytes, dialect: Dialect = AMQP) -> bool:
    """Tell whether ``pattern``, which must be valid in the dialect, matches ``key``, which may be any bytes.

    >>> matches(b"*.stock.#", b"usd.stock"), matches(b"*.stock.#", b"stock.nasdaq")
    (True, False)
    """

    def stretches(pattern: list[bytes]) -> bool:
        return pattern[0] in (dialect.many, dialect.some) and not (pattern[1:] and dialect.tail_only)

    def rest(pattern: list[bytes], key: list[bytes]) -> bool:
        while pattern and not stretches(pattern):  # in a loop, as MQTT's patterns have more words than Python recurses
            if not key or pattern[0] not in (dialect.one, key[0]):
                return False
            pattern, key = pattern[1:], key[1:]
        if not pattern:
            return not key
        first, *others = pattern
        fewest = 0 if first == dialect.many else 1
        return any(rest(others, key[taken:]) for taken in range(fewest, len(key) + 1))

    tokens, words = _words(pattern, dialect), _words(key, dialect)
    if tokens[1:] and tokens[0] == dialect.shared:
        tokens = tokens[2:]
    wild = bool(tokens) and (tokens[0] == dialect.one or stretches(tokens))
    if wild and dialect.reserved is not None and key.startswith(dialect.reserved):
        return False
    return _is_routed(key, words, dialect) and rest(tokens, words)


def _words(text: bytes, dialect: Dialect) -> list[bytes]:
    return text.split(dialect.separator) if text else []


def _is_routed(key: bytes, words: list[bytes], dialect: Dialect) -> bool:
    """Tell whether the broker routes such a key at all."""
    if not key and not dialect.empty_text:
        return False
    if dialect.unseen is not None and key.startswith(dialect.unseen):
        return False
    return not set(key) & set(dialect.dropped) and (dialect.empty_words or b"" not in words)


class Naive:
    """Tests every pattern by the definition."""

    def __init__(self, patterns: Sequence[bytes], dialect: Dialect) -> None:
        self._patterns = tuple(patterns)
        self._dialect = dialect

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the positions of the patterns that match, ascending."""
        return tuple(i for i, pattern in enumerate(self._patterns) if matches(pattern, key, self._dialect))

    def any(self, key: bytes) -> bool:
        """Tell whether any pattern matches."""
        return any(matches(pattern, key, self._dialect) for pattern in self._patterns)


ENGINE = EngineSpec(
    info=EngineInfo(
        name="naive", summary="the specification: a recursive definition, tried on every pattern", rules=True
    ),
    build=Naive,
)
