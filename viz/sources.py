"""Where drawings come from: everything that can be drawn, as a networkx multigraph with the compiler's attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx

from compiler import Nfa
from compiler.automata.nfa import OTHER
from compiler.automata.powerset import State, is_final, literals
from compiler.machine.cache import Snapshot

__all__ = ["cache_graph", "graph_of"]


def graph_of(thing: Any, nfa: Nfa | None = None) -> tuple[nx.MultiDiGraph, Nfa | None]:
    """Return a thing as a graph, and the NFA behind it if there is one."""
    automaton = nfa if nfa is not None else thing if isinstance(thing, Nfa) else getattr(thing, "nfa", None)
    if isinstance(thing, nx.Graph):
        return thing if isinstance(thing, nx.MultiDiGraph) else nx.MultiDiGraph(thing), automaton
    if hasattr(thing, "to_networkx"):
        graph = thing.to_networkx()
        if graph.graph.get("kind") == "cache" and automaton is not None:
            _complete_final(graph, automaton)
        return graph, automaton
    if isinstance(thing, Snapshot):
        if automaton is None:
            raise TypeError("a snapshot has numbers only: pass the automaton that it was taken of, as nfa=")
        return cache_graph(thing, automaton), automaton
    if hasattr(thing, "snapshot") and automaton is not None:  # a lazy DFA
        taken = thing.snapshot()
        return cache_graph(taken or Snapshot(None, (), {}, {}, frozenset()), automaton), automaton
    if hasattr(thing, "to_table"):
        return _table(thing.to_table()), None
    if callable(getattr(thing, "graph", None)):  # a topology
        return thing.graph(), None
    if (
        isinstance(thing, Sequence)
        and not isinstance(thing, str | bytes)
        and all(isinstance(row, Sequence) and not isinstance(row, str | bytes) for row in thing)
    ):
        return _table(thing), None
    raise TypeError(
        f"cannot draw {thing!r}: expected an automaton, a networkx graph, a table (rows of text), "
        "or an object with to_networkx(), graph() or to_table()"
    )


def cache_graph(snapshot: Snapshot, nfa: Nfa) -> nx.MultiDiGraph:
    """Return a kernel's cache as a graph with the attributes of :meth:`compiler.automata.twin.Twin.to_networkx`.

    Kernels count no visits, so there are none; a final state's successors are never built, nor missing.
    """
    graph = nx.MultiDiGraph(kind="cache")
    for number, state in enumerate(snapshot.states):
        unknown = [nfa.word(symbol) for symbol in literals(nfa, state) if (number, symbol) not in snapshot.successors]
        missing = (*unknown, *([] if number in snapshot.defaults else ["*"]))
        graph.add_node(
            number,
            start=number == snapshot.start,
            positions=state.positions,
            tags=state.tags,
            dead=not state.positions and not state.tags,
            unknown=() if number in snapshot.final else missing,
        )
    for (number, symbol), target in snapshot.successors.items():
        assert symbol != OTHER
        graph.add_edge(number, target, kind="literal", label=nfa.word(symbol))
    for number, target in snapshot.defaults.items():
        graph.add_edge(number, target, kind="default", label="*")
    return graph


def _complete_final(graph: nx.MultiDiGraph, nfa: Nfa) -> None:
    """A final state lacks nothing: an engine stops there, so its transitions are never built."""
    for node, data in graph.nodes(data=True):
        if is_final(nfa, State(data["positions"], data["tags"])):
            graph.nodes[node]["unknown"] = ()


def _table(rows: Sequence[Sequence[object]]) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph(kind="table")
    graph.add_node(0, role="table", label="table", rows=tuple(tuple(str(cell) for cell in row) for row in rows))
    return graph
