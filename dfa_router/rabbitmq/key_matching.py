"""Exchange types that read the routing key: each binding is a pattern, and an exchange is a router over its patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from compiler.values import CacheStats
from dfa_router.build import compile, restored
from dfa_router.language.dialects import Dialect
from dfa_router.rabbitmq.declared import Binding
from dfa_router.rabbitmq.matching import ROUTING_KEY, Columns, ExchangeType, MatchedColumns, Message
from dfa_router.rabbitmq.traversal import Sets
from dfa_router.router import Router
from dfa_router.storage.compiled import Compiled

__all__ = ["KeyMatcher", "key_type"]


@dataclass(frozen=True, slots=True)
class KeyMatcher:
    """A router as a :class:`dfa_router.rabbitmq.matching.Matcher`: condition i is the pattern of its binding i."""

    router: Router

    def match(self, message: Message) -> tuple[int, ...]:
        """Return the numbers of the patterns that the routing key matches, ascending."""
        return self.router.match_bindings(message[ROUTING_KEY])

    def match_columns(self, columns: Columns) -> MatchedColumns:
        """Return the numbers of the patterns that each routing key matches."""
        matches = self.router.match_batch(columns[ROUTING_KEY])
        sets = Sets(matches.sets.offsets.to_numpy(), matches.sets.values.to_numpy())
        return MatchedColumns(matches.set_ids.to_numpy().astype(np.int64), sets)

    def stats(self) -> CacheStats:
        """Describe the router's cache."""
        return self.router.stats()


def key_type(dialect: Dialect, pattern: Callable[[Binding], str]) -> ExchangeType:
    """Return the exchange type whose bindings are patterns of a dialect."""

    def compiled(patterns: Sequence[str], engine: str, cache_bytes: int) -> KeyMatcher:
        bindings = [(pattern, "") for pattern in patterns]  # where they lead to is not the router's concern
        return KeyMatcher(compile(bindings, dialect=dialect, engine=engine, cache_bytes=cache_bytes))

    def store(matcher: KeyMatcher) -> Compiled:
        return matcher.router.compiled()

    def restore(stored: Compiled) -> KeyMatcher:
        return KeyMatcher(restored(stored))

    return ExchangeType(condition=pattern, compile=compiled, store=store, restore=restore)
