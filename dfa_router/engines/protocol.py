"""What an engine is: the protocols that the automata and the reference matchers implement.

An engine is built by a function ``build(patterns, dialect, **options)`` from the patterns of a binding set, in the order
of their positions. It knows no destinations: it maps a key to the ascending positions of the bindings that match. For an
automaton these are its accept tags: the pattern of binding i has the tag i. :class:`dfa_router.Router` adds destinations,
Arrow columns and checks of the input. The position of a binding is never used again for another one.

Only ``match`` is required. Each further protocol is for engines that can do more, and the router asks once, when it is
made, which of them an engine implements.

Keys and patterns are bytes, because a log may hold keys that are not valid UTF-8, and brokers compare bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from compiler.values import AtOnce, CacheStats, KeyColumn, Memory, SetBatch
from dfa_router.language.dialects import DIALECTS, Dialect

__all__ = [
    "NO_OPTIONS",
    "BatchMatcher",
    "ConcurrentMatcher",
    "Detector",
    "DynamicMatcher",
    "EngineInfo",
    "EngineSpec",
    "FewMatcher",
    "Matcher",
    "NoOptions",
    "SnapshotMatcher",
    "SnapshotView",
]


class Matcher(Protocol):
    """An engine."""

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the positions of the bindings that match, ascending."""


@runtime_checkable
class Detector(Matcher, Protocol):
    """An engine that can tell whether any binding matches faster than find all that do."""

    def any(self, key: bytes) -> bool:
        """Tell whether at least one binding matches."""


@runtime_checkable
class TextMatcher(Matcher, Protocol):
    """An engine that reads text sooner than the bytes of it."""

    def match_text(self, key: str) -> tuple[int, ...] | None:
        """Do as :meth:`match`; None where the key's bytes must be asked for, for whatever reason."""


@runtime_checkable
class ReadyMatcher(TextMatcher, Protocol):
    """An engine whose functions in C's terms may be asked for single keys by another such function."""

    def answer_at_once(self) -> AtOnce | None:
        """Return these, and when they may be asked; None if they never may."""


@runtime_checkable
class BatchMatcher(Matcher, Protocol):
    """An engine that matches whole columns faster than key by key."""

    def match_batch(self, columns: Iterable[KeyColumn], *, threads: int = 1) -> SetBatch:
        """Match every key of every column on up to ``threads`` threads; ``set_ids`` has all keys in their order."""

    def stats(self) -> CacheStats:
        """Describe the cache."""


@runtime_checkable
class FewMatcher(Protocol):
    """An engine that matches a few keys faster than a column of them: at most ``compiler.values.FEW``.

    Both methods return None for keys that must go the way of columns, for whatever reason.
    """

    def match_joined(self, joined: bytes, count: int) -> SetBatch | None:
        """Match ``count`` keys that are joined by NUL bytes."""

    def match_memory(self, offsets: Memory, data: Memory | None, first: int, count: int, width: int) -> SetBatch | None:
        """Match keys of Arrow's layout, with offsets of ``width`` bytes, which are checked."""


@runtime_checkable
class DynamicMatcher(Detector, Protocol):
    """An engine whose bindings may change after it is built."""

    def add(self, position: int, pattern: bytes) -> None:
        """Add a binding at a position that was never used before."""

    def remove(self, position: int, pattern: bytes) -> None:
        """Remove the binding at this position; ``pattern`` is the one that it was added with."""


@runtime_checkable
class SnapshotView(Detector, Protocol):
    """The bindings of an engine at one moment, which never change."""

    def subscriptions(self) -> Iterable[tuple[bytes, int]]:
        """Return the pattern and position of each binding, in any order."""


@runtime_checkable
class SnapshotMatcher(DynamicMatcher, Protocol):
    """A dynamic engine that can return its bindings of one moment while others change them."""

    def snapshot(self) -> SnapshotView:
        """Return the bindings of this moment, in constant time."""


@runtime_checkable
class ConcurrentMatcher(SnapshotMatcher, Protocol):
    """A dynamic engine that any number of threads may ask and change at once without a lock."""

    def held(self, pattern: bytes) -> tuple[int, ...]:
        """Return the positions that are bound with this very pattern, ascending."""

    def discard(self, position: int, pattern: bytes) -> bool:
        """Remove the binding at this position unless another thread has done it; tell whether it was removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInfo:
    """What an engine can do, as ``dfa_router.engine_info(name)`` reports it."""

    name: str
    summary: str
    rules: bool = False
    """Whether it knows all rules that a dialect can have; else it knows only words, ``one`` and ``many``."""
    complete_many: bool = True
    """Whether the zero-or-more wildcard may stand anywhere in a pattern, any number of times."""
    dynamic: bool = False
    """Whether bindings can be added and removed after compilation."""
    concurrent: bool = False
    """Whether several threads may ask and change a dynamic engine at once without a lock."""
    needs_topics: bool = False
    """Whether it is made for keys that are known: its option ``topics``. Without that each key is added when it is first met."""
    options: tuple[str, ...] = ()
    """The names of the options that ``compile`` takes for this engine."""

    def speaks(self, dialect: Dialect) -> bool:
        """Tell whether the engine can be built for a dialect."""
        return self.rules or dialect.plain

    @property
    def dialects(self) -> tuple[str, ...]:
        """The names of the dialects that it can be built for."""
        return tuple(name for name, dialect in DIALECTS.items() if self.speaks(dialect))


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of an engine that has none, or whose options are never saved."""


NO_OPTIONS = NoOptions()


class EngineSpec(NamedTuple):
    """An entry of the registry: what an engine can do, and how it is built."""

    info: EngineInfo
    build: Callable[..., Matcher]
    """``build(patterns: Sequence[bytes], dialect: Dialect, **options)``; positions are 0, 1, 2, ..."""
    restore: Callable[..., Matcher] | None = None
    """``restore(nfa: Nfa, dialect: Dialect, options)``, for an engine whose compiled form can be saved."""
    options: type[Any] = NoOptions
    """The frozen dataclass of the options, which is saved with the compiled form; its fields are ``info.options``."""
