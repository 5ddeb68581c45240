"""The lazy DFA in plain Python: tests compare the kernels with it, and pictures show how its cache fills.

It calls the pure functions of :mod:`compiler.automata.powerset`, keeps states and transitions in dictionaries, counts how
often each is used, and clears all of them when their estimated size exceeds the capacity. It is also the engine ``dfa``
where numba's compiler is switched off.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from compiler.automata.nfa import OTHER, Nfa
from compiler.automata.powerset import State, default_successor, is_final, literals, start, successor
from compiler.leases import Lease, Leases
from compiler.values import CacheStats, KeyColumn, SetBatch, key_by_key

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Twin", "TwinSimulator"]

_STATE_BYTES, _ITEM_BYTES, _TRANSITION_BYTES = 24, 4, 16
"""What a state, each of its positions and tags, and a transition count in bytes: about what flat tables would take."""


class Twin:
    """A lazily built, bounded DFA in plain Python; answers like :class:`compiler.machine.lazy.LazyDfa`.

    >>> from compiler import Wildcard, build_nfa
    >>> twin = Twin(build_nfa([[b"a", Wildcard.MANY], [b"b"]]), b".", 1 << 20)
    >>> twin.match(b"a.x.y"), twin.stats().states
    ((0,), 2)
    """

    def __init__(self, nfa: Nfa, separator: bytes, capacity: int) -> None:
        """Begin with an empty cache of at most ``capacity`` bytes; one too small for the start state never holds anything."""
        self._nfa = nfa
        self._separator = separator
        self._capacity = capacity
        self._leases = Leases([Twin.match.__code__, Twin.match_batch.__code__])
        self._keys = self._words = self._misses = self._clears = self._fallbacks = 0
        self._empty()
        self._midway = False
        """Whether a key was begun and has not ended."""

    @property
    def nfa(self) -> Nfa:
        """The NFA of the binding set."""
        return self._nfa

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._nfa, self._separator, self._capacity)

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the accept tags of a key, ascending; they are the positions of its bindings."""
        lease: Lease = {}
        if self._leases.take(lease, [0]) is None:
            return Twin(self._nfa, self._separator, 0).match(key)  # for a signal handler that has interrupted a call
        try:
            return self._match_safely(key)
        finally:
            self._leases.give_back(0)

    def match_batch(self, columns: Iterable[KeyColumn], *, threads: int = 1) -> SetBatch:  # noqa: ARG002  # Python runs one at a time
        """Match every key of every column; the answer runs over all of them in order."""
        lease: Lease = {}
        if self._leases.take(lease, [0]) is None:
            return Twin(self._nfa, self._separator, 0).match_batch(columns)
        try:
            return key_by_key(self._match_safely, columns)
        finally:
            self._leases.give_back(0)

    def stats(self) -> CacheStats:
        """Describe the cache."""
        return CacheStats(
            states=len(self._states),
            transitions=len(self._transitions),
            accept_sets=len({state.tags for state in self._states}),
            bytes=self._bytes,
            capacity=self._capacity,
            keys=self._keys,
            words=self._words,
            hits=self._words - self._misses,
            misses=self._misses,
            clears=self._clears,
            fallbacks=self._fallbacks,
        )

    def to_networkx(self) -> nx.MultiDiGraph[int]:
        """Return the present content of the cache as a graph.

        Nodes are state numbers with ``start``, ``positions``, ``tags``, ``dead``, ``visits`` (how often a key was in the
        state) and ``unknown`` (the labels of its literals whose transition is not built, and ``*`` if the default is not).
        Edges are the transitions that are built, with ``kind`` ("literal" or "default"), ``label`` and ``visits``.
        """
        import networkx as nx

        graph: nx.MultiDiGraph[int] = nx.MultiDiGraph(kind="cache")
        starts = {start(self._nfa, root) for root in self._nfa.roots}
        for state, number in self._states.items():
            unknown = [
                self._nfa.word(symbol)
                for symbol in literals(self._nfa, state)
                if (number, symbol) not in self._transitions
            ]
            graph.add_node(
                number,
                start=state in starts,
                positions=state.positions,
                tags=state.tags,
                dead=not state.positions and not state.tags,
                visits=self._visits[number],
                unknown=(*unknown, *([] if (number, OTHER) in self._transitions else ["*"])),
            )
        for (number, symbol), target in self._transitions.items():
            kind, label = ("default", "*") if symbol == OTHER else ("literal", self._nfa.word(symbol))
            visits = self._crossings[number, symbol]
            graph.add_edge(number, self._states[target], kind=kind, label=label, visits=visits)
        return graph

    def _match_safely(self, key: bytes) -> tuple[int, ...]:
        """Match a key; if an exception has ended the key before, whatever the cache holds is thrown away first."""
        if self._midway:
            self._empty()
        self._midway = True
        found = self._match(key)
        self._midway = False
        return found

    def _match(self, key: bytes) -> tuple[int, ...]:
        self._keys += 1
        words = key.split(self._separator) if key else []
        state = start(self._nfa, self._nfa.root(key))
        kept = self._keep(state)
        simulated = not kept
        for word in words:
            if is_final(self._nfa, state):
                break
            self._words += kept
            symbol = self._nfa.symbol_of.get(word, OTHER)
            if symbol not in literals(self._nfa, state):
                symbol = OTHER
            here = self._states[state] if kept else -1
            target = self._transitions.get((here, symbol))
            if target is None:
                self._misses += kept
                target = successor(self._nfa, state, symbol) if symbol else default_successor(self._nfa, state)
                kept = self._keep(target, state, symbol)
                simulated |= not kept
            else:
                kept = True
                self._visits[self._states[target]] += 1
            if kept and (here, symbol) in self._crossings:
                self._crossings[here, symbol] += 1
            state = target
        self._fallbacks += simulated
        return state.tags

    def _keep(self, state: State, source: State | None = None, symbol: int = OTHER) -> bool:
        """Add a state and the transition that led to it, clearing the cache if it is full; False if the state is too large."""
        known = state in self._states
        needed = 0 if known else _STATE_BYTES + _ITEM_BYTES * (len(state.positions) + len(state.tags))
        needed += _TRANSITION_BYTES * (source is not None)
        if self._bytes + needed > self._capacity:
            if self._states:
                self._empty()
                self._clears += 1
                return self._keep(state)
            return False
        self._bytes += needed
        number = self._states.setdefault(state, len(self._states))
        if not known:
            self._visits.append(0)
        self._visits[number] += 1
        if source is not None and source in self._states:
            self._transitions[self._states[source], symbol] = state
            self._crossings[self._states[source], symbol] = 0
        return True

    def _empty(self) -> None:
        self._states: dict[State, int] = {}
        self._visits: list[int] = []
        self._transitions: dict[tuple[int, int], State] = {}
        self._crossings: dict[tuple[int, int], int] = {}
        self._bytes = 0


class TwinSimulator(Twin):
    """The NFA in plain Python: a twin with no room for a cache; answers like :class:`compiler.machine.simulator.Simulator`."""

    def __init__(self, nfa: Nfa, separator: bytes) -> None:
        super().__init__(nfa, separator, 0)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._nfa, self._separator)

    def stats(self) -> CacheStats:
        """Count the keys; there is no cache to describe."""
        return CacheStats(keys=self._keys)
