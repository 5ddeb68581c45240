"""Exchange types that read the routing key: each binding is a pattern.

With the engines that are automata, all exchanges of a topology share one (:mod:`dfa_router.rabbitmq.stations`), and an exchange
asks it by its word. With the other engines, an exchange is a router over its patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compiler.automata.pattern import Pattern
from compiler.relay.unions import united
from compiler.values import CacheStats, Int32s, SetBatch
from dfa_router.build import compile
from dfa_router.engines.automaton import Automaton
from dfa_router.key_bytes import key_bytes
from dfa_router.language.bindings import pattern_bytes
from dfa_router.language.dialects import Dialect
from dfa_router.language.rules import tokens
from dfa_router.rabbitmq.copies import keys_of_column
from dfa_router.rabbitmq.declared import Binding
from dfa_router.rabbitmq.matching import (
    FURTHER_KEYS,
    ROUTING_KEY,
    Columns,
    ExchangeType,
    MatchedColumns,
    Message,
    keys_of,
)
from dfa_router.rabbitmq.traversal import Sets
from dfa_router.router import Router

__all__ = ["KeyMatcher", "StationMatcher", "key_type"]


@dataclass(frozen=True, slots=True)
class KeyMatcher:
    """A router as a :class:`dfa_router.rabbitmq.matching.Matcher`: condition i is the pattern of its binding i."""

    router: Router

    def match(self, message: Message) -> tuple[int, ...]:
        """Return the numbers of the patterns that any of the routing keys matches, ascending."""
        keys = keys_of(message)
        if len(keys) == 1:
            return self.router.match_bindings(keys[0])
        return tuple(sorted({number for key in keys for number in self.router.match_bindings(key)}))

    def match_columns(self, columns: Columns) -> MatchedColumns:
        """Return the numbers of the patterns that any routing key of each message matches."""
        found = self._matched(columns[ROUTING_KEY])
        further = columns.get(FURTHER_KEYS)
        if further is not None:
            owners, _ = keys_of_column(further).of(np.arange(len(further), dtype=np.int32))
            found = united(found, owners, self._matched(further.flatten()))
        return MatchedColumns(found.set_ids.astype(np.int64), Sets(found.offsets, found.positions))

    def _matched(self, keys: Any) -> SetBatch:
        matches = self.router.match_batch(keys)
        parts = matches.set_ids, matches.sets.offsets, matches.sets.values
        return SetBatch(*(part.to_numpy(zero_copy_only=False) for part in parts))

    def stats(self) -> CacheStats:
        """Describe the router's cache."""
        return self.router.stats()


@dataclass(frozen=True, slots=True, kw_only=True)
class StationMatcher:
    """An exchange that asks the automaton of all exchanges, key by key.

    Columns go through :class:`compiler.relay.relay.Relay` instead, where kernels are compiled; this is what it is held to.
    """

    machine: Automaton
    word: bytes
    """What stands in front of a key of this exchange."""
    tags: Int32s
    """The condition, of all exchanges, that each accept tag stands for."""
    first: int
    """The first condition of this exchange."""
    last: int
    """The condition behind its last one."""
    constant: bool
    """Whether every message meets all of its conditions; then the automaton has none of them."""

    def match(self, message: Message) -> tuple[int, ...]:
        """Return the numbers of the patterns that any of the routing keys matches, ascending."""
        keys = list(map(key_bytes, keys_of(message)))
        if self.constant:
            return tuple(range(self.last - self.first))
        tags = [tag for key in keys for tag in self.machine.match(self.word + b"." + key if key else self.word)]
        met = self.tags[tags]
        return tuple(np.unique(met[(met >= self.first) & (met < self.last)] - self.first).tolist())

    def match_columns(self, columns: Columns) -> MatchedColumns:
        """Return the numbers of the patterns that any routing key of each message matches."""
        keys = columns[ROUTING_KEY].to_pylist()
        further = columns[FURTHER_KEYS].to_pylist() if FURTHER_KEYS in columns else [()] * len(keys)
        found = [
            self.match({ROUTING_KEY: key, FURTHER_KEYS: more or ()}) for key, more in zip(keys, further, strict=True)
        ]
        offsets = np.cumsum([0, *map(len, found)])
        values = np.array([one for numbers in found for one in numbers], np.int64)
        return MatchedColumns(np.arange(len(found)), Sets(offsets, values))

    def stats(self) -> CacheStats:
        """Describe the cache of the automaton."""
        return self.machine.stats()


def key_type(dialect: Dialect, pattern: Callable[[Binding], str]) -> ExchangeType:
    """Return the exchange type whose bindings are patterns of a dialect."""

    def compiled(patterns: Sequence[str], engine: str, cache_bytes: int) -> KeyMatcher:
        bindings = [(pattern, "") for pattern in patterns]  # where they lead to is not the router's concern
        return KeyMatcher(compile(bindings, dialect=dialect, engine=engine, cache_bytes=cache_bytes))

    def as_tokens(text: str, position: int) -> Pattern:
        return tokens(pattern_bytes(text, position, dialect), dialect)

    return ExchangeType(condition=pattern, compile=compiled, tokens=as_tokens, reads=(FURTHER_KEYS,))
