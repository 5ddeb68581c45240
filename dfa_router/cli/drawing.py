"""What the drawing commands have in common: patterns of a dialect as an automaton, and the engine's record of keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dfa_router.errors import InputError
from dfa_router.language.bindings import pattern_bytes
from dfa_router.language.dialects import Dialect
from dfa_router.language.rules import compile_nfa, screen_of
from dfa_router.language.validity import key_problem

if TYPE_CHECKING:
    from compiler import Nfa
    from compiler.machine.trace import TracedDfa

__all__ = ["CACHE_BYTES", "checked_keys", "nfa_of", "recorded", "unrouted", "why_unrouted"]

CACHE_BYTES = 64 << 20
"""The bound on the cache of a command that was given none."""


def nfa_of(patterns: Sequence[str], dialect: Dialect) -> Nfa:
    """Build the NFA of patterns; raises :class:`PatternError` for one that the dialect refuses, with its position and why."""
    return compile_nfa((pattern_bytes(pattern, i, dialect) for i, pattern in enumerate(patterns)), dialect)


def checked_keys(keys: Sequence[str], dialect: Dialect) -> list[str]:
    """Return the keys; raises :class:`InputError` for one that is longer than the protocol can carry."""
    for key in keys:
        size = len(key.encode())
        if dialect.max_bytes is not None and size > dialect.max_bytes:
            raise InputError(
                f"the key {key[:20]!r}... has {size} bytes, but {dialect.name} carries at most {dialect.max_bytes}: shorten it"
            )
    return list(keys)


def unrouted(key: str, dialect: Dialect) -> str | None:
    """Return why no broker of the dialect routes a key, or None if it is routed."""
    screen = screen_of(dialect)
    return None if screen is None or screen.passes(key.encode()) else key_problem(key, dialect) or "it is not routed"


def why_unrouted(keys: Sequence[str], dialect: Dialect) -> list[str]:
    """Return a sentence for each key that is not routed."""
    reasons = ((key, unrouted(key, dialect)) for key in keys)
    return [
        f"The key {key!r} matches nothing, whatever the patterns: {why}." for key, why in reasons if why is not None
    ]


def recorded(nfa: Nfa, keys: Sequence[str], dialect: Dialect, cache_bytes: int = CACHE_BYTES) -> TracedDfa:
    """Match keys one after the other in the engine, and return it with its record; keys that are not routed are left out."""
    from compiler.machine.trace import TracedDfa

    machine = TracedDfa(nfa, dialect.separator, cache_bytes, key_cache="auto")
    for key in checked_keys(keys, dialect):
        if unrouted(key, dialect) is None:
            machine.match(key.encode())
    return machine
