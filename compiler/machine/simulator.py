"""The NFA as a machine of its own: the lazy DFA's, with no room for a cache."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from compiler.automata.nfa import Nfa
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.values import CacheStats, KeyColumn, Memory, SetBatch

__all__ = ["Simulator"]


class Simulator:
    """The NFA without a cache: every key is simulated. Usable from any number of threads."""

    def __init__(self, nfa: Nfa, separator: bytes) -> None:
        """Lay the NFA out for the kernel."""
        self._separator = separator
        self._machine = LazyDfa(nfa, separator, 0, policy=Policy(exact=False))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._machine.nfa, self._separator)

    @property
    def nfa(self) -> Nfa:
        """The automaton that is simulated."""
        return self._machine.nfa

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the accept tags of a key, ascending."""
        return self._machine.match(key)

    def match_text(self, key: str) -> tuple[int, ...] | None:
        """Do as :meth:`match`; None for a key whose bytes that must be asked."""
        return self._machine.match_text(key)

    def match_joined(self, joined: bytes, count: int) -> SetBatch | None:
        """Match ``count`` keys as :meth:`compiler.machine.lazy.LazyDfa.match_joined` does."""
        return self._machine.match_joined(joined, count)

    def match_memory(self, offsets: Memory, data: Memory | None, first: int, count: int, width: int) -> SetBatch | None:
        """Match keys where they lie, as :meth:`compiler.machine.lazy.LazyDfa.match_memory` does."""
        return self._machine.match_memory(offsets, data, first, count, width)

    def match_batch(self, columns: Iterable[KeyColumn], *, threads: int = 1) -> SetBatch:
        """Match every key of every column; the answer runs over all of them in order."""
        return self._machine.match_batch(columns, threads=threads)

    def stats(self) -> CacheStats:
        """Count the keys; there is no cache to describe."""
        return CacheStats(keys=self._machine.stats().keys)
