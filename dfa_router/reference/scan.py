"""Scan: a hash map from pattern to subscribers, of which every entry is tested for every message.

The naive solution of Tyler Treat's "Fast Topic Matching", and what brokers began with. Subscribing adds an entry to the map,
or a subscriber to an entry. In his example:

===========================  ====================
map                          message ``forex.eur``
===========================  ====================
``forex.usd``: 1             second word differs
``forex.*``: 2               matches: 2
``stock.nasdaq.msft``: 3     first word differs
===========================  ====================

With n distinct patterns of m words: subscribing O(m), matching O(n m), space O(n m).

``split="once"`` splits each pattern when it is added, and the key once per message; ``split="every"`` splits both again
for each pair, as RabbitMQ did before its articles on topic routing (2011), which report a factor of three "in all
cases" for not doing so. Both are kept so that the factor can be measured.

Deviations: the source has only ``*``; ``#`` is tested by :func:`~dfa_router.reference.words.fits`. ``any`` stops at
the first pattern that matches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dfa_router.engines.protocol import EngineInfo, EngineSpec
from dfa_router.errors import OptionError
from dfa_router.language.dialects import Dialect
from dfa_router.reference.words import (
    Token,
    Wildcard,
    check_free,
    check_held,
    fits,
    routed,
    tokens_of,
    unseen_by_wildcards,
    words_of,
)

__all__ = ["ENGINE", "Scan"]


class Scan:
    """A map from pattern to positions, scanned for every key."""

    def __init__(self, patterns: Sequence[bytes], dialect: Dialect, *, split: str = "once") -> None:
        if split not in ("once", "every"):
            raise OptionError(f"split is {split!r}: expected 'once' or 'every'")
        self._dialect = dialect
        self._split_once = split == "once"
        self._subscribers: dict[bytes, dict[int, None]] = {}
        self._tokens: dict[bytes, tuple[Token, ...]] = {}
        for position, pattern in enumerate(patterns):
            self.add(position, pattern)

    def add(self, position: int, pattern: bytes) -> None:
        """Add the position to the pattern's entry: O(1)."""
        subscribers = self._subscribers.setdefault(pattern, {})
        check_free(position in subscribers, position)
        subscribers[position] = None
        if self._split_once:
            self._tokens[pattern] = tokens_of(pattern, self._dialect)

    def remove(self, position: int, pattern: bytes) -> None:
        """Remove the position from the pattern's entry, and the entry if it is empty then: O(1)."""
        subscribers = self._subscribers.get(pattern, {})
        check_held(position in subscribers, position, pattern)
        del subscribers[position]
        if not subscribers:
            del self._subscribers[pattern]
            self._tokens.pop(pattern, None)

    def match(self, key: bytes) -> tuple[int, ...]:
        """Test every entry."""
        return tuple(sorted(position for pattern in self._matching(key) for position in self._subscribers[pattern]))

    def any(self, key: bytes) -> bool:
        """Test entries up to the first that matches."""
        return next(self._matching(key), None) is not None

    def _matching(self, key: bytes) -> Iterator[bytes]:
        """Yield the patterns that match."""
        if not routed(key, self._dialect):
            return
        only_literal = unseen_by_wildcards(key, self._dialect)
        words = words_of(key, self._dialect)
        for pattern in self._subscribers:
            if self._split_once:
                tokens = self._tokens[pattern]
            else:
                tokens, words = tokens_of(pattern, self._dialect), words_of(key, self._dialect)
            wild = bool(tokens) and isinstance(tokens[0], Wildcard)
            if not (only_literal and wild) and fits(tokens, words):
                yield pattern


ENGINE = EngineSpec(
    info=EngineInfo(
        name="scan",
        summary="a hash map of patterns, every entry tested for every key",
        rules=True,
        dynamic=True,
        options=("split",),
    ),
    build=Scan,
)
