"""Engines that match one key at a time, behind the calls for whole columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from compiler.values import CacheStats, KeyColumn, SetBatch, key_by_key
from dfa_router.engines.protocol import BatchMatcher, Matcher

__all__ = ["KeyByKey", "with_batches"]


@dataclass(frozen=True, slots=True)
class KeyByKey:
    """A matcher that is asked for every key of a column; it has no cache to describe."""

    matcher: Matcher

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the positions of the bindings that match, ascending."""
        return self.matcher.match(key)

    def match_batch(self, columns: Iterable[KeyColumn], *, threads: int = 1) -> SetBatch:  # noqa: ARG002 - uses one
        """Match every key of every column, on one thread."""
        return key_by_key(self.matcher.match, columns)

    def stats(self) -> CacheStats:
        """Return zeros."""
        return CacheStats()


def with_batches(matcher: Matcher) -> BatchMatcher:
    """Return the matcher itself if it matches whole columns, and one around it that does otherwise."""
    return matcher if isinstance(matcher, BatchMatcher) else KeyByKey(matcher)
