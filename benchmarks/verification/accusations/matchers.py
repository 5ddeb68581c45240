"""Matchers that are right, in the forms that the fuzz tester takes; each is asked in a process of its own.

The dialect is the one that the fuzz tester names in the environment. They are built of the reference matchers, and not of what
judges large rounds, the automaton.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import dfa_router as dr
from dfa_router.language.dialects import DIALECTS
from dfa_router.reference.naive import matches

__all__ = ["Changing", "lenient", "strict"]

_DIALECT = DIALECTS[os.environ.get("DFA_ROUTER_DIALECT", "amqp")]


def lenient(patterns: list[str], key: str) -> list[int]:
    """Answer whatever is asked, as a function does that leaves it to others to check patterns and keys."""
    return [i for i, pattern in enumerate(patterns) if matches(pattern.encode(), key.encode(), _DIALECT)]


def strict(patterns: list[str], key: str) -> tuple[int, ...]:
    """Refuse invalid patterns, by an error that is a ``ValueError``."""
    router = dr.compile([(pattern, "") for pattern in patterns], engine="scan", dialect=_DIALECT)
    return router.match_bindings(key)


class Changing:
    """A set that changes, in a trie that several threads ask; a pattern's destination is its position."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = dict(enumerate(patterns))
        self._count = len(patterns)
        bindings = [(pattern, str(place)) for place, pattern in self._patterns.items()]
        self._router = dr.compile(bindings, engine="trie", dialect=_DIALECT)

    def match(self, key: str) -> list[int]:
        """Return the positions of the patterns that match."""
        return [int(place) for place in self._router.match(key)]

    def bind(self, pattern: str) -> None:
        """Take a pattern in; it has the next position."""
        self._router.subscribe(pattern, str(self._count))
        self._patterns[self._count] = pattern
        self._count += 1

    def unbind(self, position: int) -> None:
        """Take a pattern out."""
        self._router.unsubscribe(self._patterns.pop(position), str(position))
