"""What every engine is: the protocol that the automata and the reference matchers answer.

An engine is built by a function ``build(patterns, dialect, **options)`` from the patterns of a binding set in the order
of their positions, and knows nothing of destinations: it maps a key to the ascending positions of the bindings that
match. :class:`dfa_router.Router` adds destinations, Arrow columns and input checks on top. Positions are handed in by
the caller and are never reused.

Keys and patterns reach an engine as bytes, because a log may hold keys that are no valid UTF-8 and a broker compares
bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from compiler.values import CacheStats, KeyColumn, SetBatch
from dfa_router.language.dialects import DIALECTS, Dialect

__all__ = [
    "BatchMatcher",
    "DynamicMatcher",
    "EngineInfo",
    "EngineSpec",
    "Matcher",
    "SnapshotMatcher",
    "SnapshotView",
]


class Matcher(Protocol):
    """The calls that every engine answers."""

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the positions of the bindings that match, ascending."""

    def any(self, key: bytes) -> bool:
        """Tell whether at least one binding matches; may stop at the first."""


@runtime_checkable
class BatchMatcher(Matcher, Protocol):
    """An engine that matches whole columns faster than key by key."""

    def match_batch(self, columns: Iterable[KeyColumn], *, threads: int = 1) -> SetBatch:
        """Match every key of every column on that many threads; ``set_ids`` runs over all of them in order."""

    def stats(self) -> CacheStats:
        """Describe the cache."""


@runtime_checkable
class DynamicMatcher(Matcher, Protocol):
    """An engine whose bindings may change after it is built."""

    def add(self, position: int, pattern: bytes) -> None:
        """Add a binding at a position that was never used before."""

    def remove(self, position: int, pattern: bytes) -> None:
        """Remove the binding at this position; the pattern is the one it was added with."""


@runtime_checkable
class SnapshotView(Matcher, Protocol):
    """The bindings of an engine at one moment, which never change."""

    def subscriptions(self) -> Iterable[tuple[bytes, int]]:
        """List the pattern and position of each binding, in any order."""


@runtime_checkable
class SnapshotMatcher(DynamicMatcher, Protocol):
    """A dynamic engine whose bindings can be read at one moment while they change."""

    def snapshot(self) -> SnapshotView:
        """Return the bindings of this moment, in constant time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInfo:
    """What an engine can do, as ``dfa_router.engine_info(name)`` reports it."""

    name: str
    summary: str
    rules: bool = False
    """Whether it knows every rule that a dialect can state; else words, ``one`` and ``many`` anywhere are all it knows."""
    complete_many: bool = True
    """Whether the zero-or-more wildcard works anywhere and any number of times."""
    dynamic: bool = False
    """Whether bindings can be added and removed after compilation."""
    concurrent: bool = False
    """Whether a dynamic engine may be asked and changed by several threads at once without a lock around it."""
    needs_topics: bool = False
    """Whether every key must belong to a topic space that is given at compilation."""
    options: tuple[str, ...] = ()
    """The keyword options that ``compile`` takes for this engine beside the common ones."""

    def speaks(self, dialect: Dialect) -> bool:
        """Tell whether the engine can be built for a dialect."""
        return self.rules or dialect.plain

    @property
    def dialects(self) -> tuple[str, ...]:
        """The names of the dialects that it can be built for; others can be given as values."""
        return tuple(name for name, dialect in DIALECTS.items() if self.speaks(dialect))


class EngineSpec(NamedTuple):
    """An entry of the registry: what an engine can do, and how it is built."""

    info: EngineInfo
    build: Callable[..., Matcher]
    """``build(patterns: Sequence[bytes], dialect: Dialect, **options)``; positions are 0, 1, 2, ..."""
    restore: Callable[..., Matcher] | None = None
    """``restore(nfa: Nfa, dialect: Dialect, **options)``, for an engine whose compiled form can be saved."""
