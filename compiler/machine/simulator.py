"""The NFA as a machine of its own: the lazy DFA's, with no room for a cache."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from compiler.automata.nfa import Nfa
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.values import CacheStats, KeyColumn, SetBatch

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

    def match_batch(self, columns: Iterable[KeyColumn], *, threads: int = 1) -> SetBatch:
        """Match every key of every column; the answer runs over all of them in order."""
        return self._machine.match_batch(columns, threads=threads)

    def stats(self) -> CacheStats:
        """Count the keys; there is no cache to describe."""
        return CacheStats(keys=self._machine.stats().keys)
