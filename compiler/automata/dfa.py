"""The complete DFA of a small binding set, built eagerly under limits.

Pictures and analysis need the whole automaton; routing does not (see :mod:`compiler.machine.lazy`). The number of states
can be exponential: ``#.a.*.*`` with n stars needs 2^(n+1) states, and n bindings ``#.w.#`` with different words need 2^n.
Hence the limit on states. There is another on bytes, because a few states with long lists of successors can be large too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compiler.automata.dump import Row, dump, quoted
from compiler.automata.nfa import ROOT, Nfa
from compiler.automata.powerset import State, default_successor, is_final, literals, start, successor
from compiler.errors import CapacityError
from compiler.notebook import mimebundle

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Dfa", "build_dfa"]

_STATE_BYTES, _ITEM_BYTES = 200, 36
"""Rough estimates of what CPython needs for a state, and for each of its positions, tags and literal successors."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dfa:
    """A complete DFA: every state has a successor for every word; made by :func:`build_dfa`."""

    nfa: Nfa
    starts: tuple[int, ...]
    """The start states, one for each root of the NFA."""
    states: tuple[State, ...]
    """The NFA positions and accept tags of each state, in order of discovery; state 0 is the start, if ``first`` has not said otherwise."""
    defaults: tuple[int, ...]
    """For each state its default successor: where every word leads that is not in its row of ``successors``."""
    successors: tuple[dict[int, int], ...]
    """For each state a row of its literal successors, by symbol."""

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"<Dfa: {len(self)} states, {sum(map(len, self.successors))} literal transitions>"

    def __str__(self) -> str:
        return self.dump(limit=200)

    def dump(self, limit: int | None = None) -> str:
        """Return the DFA as text, a line per state with its NFA positions in braces; ``limit`` is that of :meth:`Nfa.dump`.

        >>> from compiler import Wildcard, build_nfa
        >>> print(build_dfa(build_nfa([[b"a", Wildcard.ONE]])).dump())
        Dfa: 4 states, 1 literal transitions
        >0 {0} a->2 *->1
         1 {} *->1!
         2 {1} *->3
         3 {} *->1  tags 0
        """
        heading = f"Dfa: {len(self)} states, {sum(map(len, self.successors))} literal transitions"
        return dump(heading, map(self._row, range(len(self))), len(self), limit, "states")

    def _row(self, number: int) -> Row:
        state = self.states[number]
        moves = ["{" + ",".join(map(str, state.positions)) + "}"]
        for symbol, target in self.successors[number].items():
            moves.append(f"{quoted(self.nfa.word(symbol), literal=True)}->{target}")
        moves.append(f"*->{self.defaults[number]}" + "!" * self.is_final(number))
        return Row(number, number in self.starts, moves, state.tags)

    def match(self, words: list[bytes]) -> tuple[int, ...]:
        """Return the accept tags of a key given as its words, ascending.

        >>> from compiler import Wildcard, build_nfa
        >>> build_dfa(build_nfa([[b"a", Wildcard.MANY], [b"b"]])).match([b"a", b"x"])
        (0,)
        """
        state = self.starts[self.nfa.root(words[0]) if words else ROOT]
        for word in words:
            symbol = self.nfa.symbol_of.get(word)
            state = self.defaults[state] if symbol is None else self.successors[state].get(symbol, self.defaults[state])
        return self.states[state].tags

    def is_final(self, state: int) -> bool:
        """Tell whether no further word can change the state (dead or saturated)."""
        return is_final(self.nfa, self.states[state])

    def to_networkx(self) -> nx.MultiDiGraph[int]:
        """Return the automaton as a graph.

        Nodes are state numbers with ``start`` (bool), ``positions`` and ``tags`` (tuples of int) and ``dead`` (bool).
        Edges have ``kind`` ("literal" or "default") and ``label`` (the word, or ``*`` for every other word).
        """
        import networkx as nx

        graph: nx.MultiDiGraph[int] = nx.MultiDiGraph(kind="dfa")
        for number, state in enumerate(self.states):
            dead = not state.positions and not state.tags
            graph.add_node(number, start=number in self.starts, positions=state.positions, tags=state.tags, dead=dead)
        for number in range(len(self)):
            for symbol, target in self.successors[number].items():
                graph.add_edge(number, target, kind="literal", label=self.nfa.word(symbol))
            graph.add_edge(number, self.defaults[number], kind="default", label="*")
        return graph

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return mimebundle(self, str(self))


def build_dfa(nfa: Nfa, *, max_states: int = 10_000, max_bytes: int = 64 << 20, first: Iterable[State] = ()) -> Dfa:
    """Build the complete DFA, breadth first.

    States that are given as ``first``, such as those of a cache, have the first numbers, in that order.

    Raises :class:`CapacityError` as soon as a limit is exceeded; the text names the limit. ``max_bytes`` is compared with
    an estimate of the memory that the finished object takes.
    """
    numbers: dict[State, int] = {}
    defaults: list[int] = []
    rows: list[dict[int, int]] = []
    used = 0

    def number(state: State) -> int:
        nonlocal used
        if state not in numbers:
            used += _STATE_BYTES + _ITEM_BYTES * (len(state.positions) + len(state.tags))
            if len(numbers) >= max_states:
                raise CapacityError(_advice(f"more than {max_states} states (max_states)"))
            numbers[state] = len(numbers)
            states.append(state)
        return numbers[state]

    states: list[State] = []
    for state in first:
        number(state)
    starts = tuple(number(start(nfa, root)) for root in nfa.roots)
    for state in states:  # grows during the loop
        default = default_successor(nfa, state)
        defaults.append(number(default))
        rows.append({symbol: number(successor(nfa, state, symbol)) for symbol in literals(nfa, state)})
        used += _ITEM_BYTES * len(rows[-1])
        if used > max_bytes:
            raise CapacityError(_advice(f"more than {max_bytes} bytes (max_bytes)"))
    return Dfa(nfa=nfa, starts=starts, states=tuple(states), defaults=tuple(defaults), successors=tuple(rows))


def _advice(limit: str) -> str:
    return f"the complete DFA of this binding set has {limit}: raise the limit, or use the lazy DFA, which builds what keys need"
