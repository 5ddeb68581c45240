"""Where drawings come from: whatever can be drawn, as a networkx multigraph.

A thing hands itself over by a protocol: it is a networkx graph, or it has ``to_networkx()``, ``to_table()`` or, as a
lazy DFA, ``snapshot()`` and the ``nfa`` of which the snapshot was taken.

The graphs of automata have the attributes that :mod:`compiler` gives them, and a ``kind`` (``nfa``, ``dfa``, ``cache``,
``minimal``, ``trie``). A plain graph of somebody else may say by these attributes how it is to be drawn; it needs none:

=========  ===================================================================================================
where      attributes
=========  ===================================================================================================
graph      ``title``; ``edge_noun`` and ``cluster_noun``, what edges (in the plural) and a cluster are called
node       ``label``; ``lines`` (more text); ``tooltip``; ``cluster`` (nodes of one cluster stand in one frame);
           ``role`` and ``classes`` (for the style); ``hidden`` (left out of the picture)
edge       ``label``, ``tooltip``, ``role``, ``classes``
=========  ===================================================================================================

A role is any name; rules of the caller's may style it. Classes may be any names too, of which these have a style:
``relay`` (a node that passes on what it gets), ``store`` (one that keeps it), ``missing`` (named, but not there), and
of edges ``trunk`` (from relay to relay) and ``fallback`` (taken where no other is).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol, TypeGuard, runtime_checkable

import networkx as nx

from compiler import Nfa
from compiler.automata.nfa import OTHER
from compiler.automata.powerset import State, is_final, literals, start
from compiler.machine.cache import Snapshot

__all__ = ["HasGraph", "HasSnapshot", "HasTable", "cache_graph", "graph_of"]


@runtime_checkable
class HasGraph(Protocol):
    """What is drawn as a graph."""

    def to_networkx(self) -> nx.MultiDiGraph:
        """Return the graph, with the attributes that this module lists."""


@runtime_checkable
class HasTable(Protocol):
    """What is drawn as a table."""

    def to_table(self) -> Sequence[Sequence[object]]:
        """Return the rows; the first of them is the header."""


@runtime_checkable
class HasSnapshot(Protocol):
    """What is drawn as the cache of a lazy DFA."""

    def snapshot(self) -> Snapshot | None:
        """Return the cache as it is now, or None before the first key."""


@runtime_checkable
class HasVisits(Protocol):
    """What counts how often keys have been where, as :class:`compiler.machine.trace.TracedDfa` does."""

    visits: Counter[int]
    crossings: Counter[tuple[int, int]]


@runtime_checkable
class HasRows(Protocol):
    """A DFA that tells its start states, one for each root of its NFA, and rows of literal successors, as :class:`compiler.Dfa` does."""

    nfa: Nfa
    starts: tuple[int, ...]
    successors: tuple[dict[int, int], ...]


def graph_of(thing: Any, nfa: Nfa | None = None) -> tuple[nx.MultiDiGraph, Nfa | None]:
    """Return a thing as a graph, and the NFA behind it if there is one; raises ``TypeError`` for what is neither."""
    automaton = nfa if nfa is not None else thing if isinstance(thing, Nfa) else getattr(thing, "nfa", None)
    if isinstance(thing, nx.Graph):
        return thing if isinstance(thing, nx.MultiDiGraph) else nx.MultiDiGraph(thing), automaton
    if isinstance(thing, HasGraph):
        graph = thing.to_networkx()
        if graph.graph.get("kind") == "cache" and automaton is not None:
            _complete_final(graph, automaton)
        if isinstance(thing, HasRows):
            graph.graph["starts"] = thing.starts
            _add_words(graph, thing)
        return graph, automaton
    if isinstance(thing, Snapshot):
        if automaton is None:
            raise TypeError("a snapshot has numbers only: pass the automaton that it was taken of, as nfa=")
        return cache_graph(thing, automaton), automaton
    if isinstance(thing, HasSnapshot) and automaton is not None:
        graph = cache_graph(thing.snapshot() or Snapshot(None, (), {}, {}, frozenset()), automaton)
        if isinstance(thing, HasVisits):
            _add_visits(graph, thing, automaton)
        return graph, automaton
    if isinstance(thing, HasTable):
        return _table(thing.to_table()), None
    if _is_table(thing):
        return _table(thing), None
    raise TypeError(
        f"cannot draw {thing!r}: expected an automaton, a networkx graph, a table (rows of text), "
        "or an object with to_networkx() or to_table()"
    )


def cache_graph(snapshot: Snapshot, nfa: Nfa) -> nx.MultiDiGraph:
    """Return a kernel's cache as a graph with the attributes of :meth:`compiler.automata.twin.Twin.to_networkx`.

    Two differences: a kernel counts no visits, so there are none; and the successors of a final state, which are never
    built, are not listed as unknown.
    """
    graph = nx.MultiDiGraph(kind="cache")
    starts = {start(nfa, root) for root in nfa.roots}
    for number, state in enumerate(snapshot.states):
        unknown = [nfa.word(symbol) for symbol in literals(nfa, state) if (number, symbol) not in snapshot.successors]
        missing = (*unknown, *([] if number in snapshot.defaults else ["*"]))
        graph.add_node(
            number,
            start=state in starts,
            positions=state.positions,
            tags=state.tags,
            dead=not state.positions and not state.tags,
            unknown=() if number in snapshot.final else missing,
        )
    for (number, symbol), target in snapshot.successors.items():
        assert symbol != OTHER
        graph.add_edge(number, target, kind="literal", label=nfa.word(symbol), word=nfa.symbols.word(symbol))
    for number, target in snapshot.defaults.items():
        if number not in snapshot.final:  # it is its own successor, by which nothing is stored
            graph.add_edge(number, target, kind="default", label="*")
    return graph


def _add_words(graph: nx.MultiDiGraph, thing: HasRows) -> None:
    """Give each literal edge its word, as text may stand for several; edges between two nodes are in the order of their row."""
    for tail, row in enumerate(thing.successors):
        for head in set(row.values()):
            edges = [data for data in graph[tail][head].values() if data["kind"] == "literal"]
            symbols = [symbol for symbol, target in row.items() if target == head]
            for symbol, data in zip(symbols, edges, strict=True):
                data["word"] = thing.nfa.symbols.word(symbol)


def _add_visits(graph: nx.MultiDiGraph, thing: HasVisits, nfa: Nfa) -> None:
    for node, data in graph.nodes(data=True):
        data["visits"] = thing.visits[node]
    for tail, _, data in graph.edges(data=True):
        symbol = OTHER if data["kind"] == "default" else nfa.symbol_of[data["word"]]
        data["visits"] = thing.crossings[tail, symbol]


def _complete_final(graph: nx.MultiDiGraph, nfa: Nfa) -> None:
    """Mark final states as lacking no transition: an engine stops there, so none is ever built."""
    for node, data in graph.nodes(data=True):
        if is_final(nfa, State(data["positions"], data["tags"])):
            graph.nodes[node]["unknown"] = ()


def _is_table(thing: object) -> TypeGuard[Sequence[Sequence[object]]]:
    return _is_row(thing) and all(map(_is_row, thing))


def _is_row(thing: object) -> TypeGuard[Sequence[object]]:
    return isinstance(thing, Sequence) and not isinstance(thing, str | bytes)


def _table(rows: Sequence[Sequence[object]]) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph(kind="table")
    graph.add_node(0, role="table", label="table", rows=tuple(tuple(str(cell) for cell in row) for row in rows))
    return graph
