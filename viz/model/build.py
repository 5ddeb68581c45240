"""The drawing model: what a picture shows, before its looks are decided.

:func:`drawing` turns an automaton, a cache, a trie, a graph or a table into one kind of graph, a ``networkx.DiGraph``,
from which DOT, TikZ and SVG are written. Parallel edges become one. These are its attributes:

=========  ===================================================================================================
where      attributes
=========  ===================================================================================================
graph      ``kind``, ``title``, ``alt`` (the picture in words), ``clusters`` (caption by cluster)
node       ``id`` (unique, for SVG), ``roles`` (frozenset of str), ``label``, ``lines`` (tuple of more text),
           ``tooltip``, ``cluster`` (or None), ``visits`` (int), ``rows`` (tuple of rows of text; tables only)
edge       ``id``, ``roles``, ``label``, ``words`` (tuple of str, all that were merged), ``tooltip``, ``visits``
=========  ===================================================================================================

Roles decide what an element looks like (:mod:`viz.formats.style`). Of an automaton's nodes: ``position``, ``state``,
``start``, ``accept``, ``loop``, ``dead``, ``path``; of two helpers that are no part of what is drawn: ``entry`` (the
dot before the start) and ``ghost`` (what is unknown or left out); of a table: ``table``. Of edges: ``literal``,
``other``, ``one``, ``epsilon``, ``loop``, ``unknown``, ``to-dead``, ``path``, ``entry``. The role and the classes of a
plain graph's elements are roles as well (:mod:`viz.model.sources` says what a plain graph may hand over).

What is left out: nodes that say they are ``hidden`` and, unless asked for, the dead state and the edges to it, among
them every ``other`` edge that leads nowhere. An ``other`` edge to a living state stays, because without it the picture
would show another automaton; ``other=False`` hides those as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx

from compiler import Nfa
from viz.model.describe import describe
from viz.model.edges import add_edges
from viz.model.helpers import add_elided, add_entries, add_unknown
from viz.model.key_path import key_path
from viz.model.limits import MAX_NODES, around, check_edges, check_nodes
from viz.model.nodes import add_nodes
from viz.model.sources import graph_of
from viz.patterns import words_of
from viz.text import shown
from viz.walk import ends

__all__ = ["drawing", "model_of"]

_TITLES = {
    "nfa": "NFA",
    "dfa": "DFA",
    "cache": "Lazy DFA cache",
    "minimal": "Minimal DFA",
    "trie": "Trie",
    "table": "Table",
}


def drawing(
    thing: Any,
    *,
    nfa: Nfa | None = None,
    names: Sequence[str] | None = None,
    key: str | bytes | Sequence[bytes] | None = None,
    separator: bytes = b".",
    dead: bool = False,
    other: bool = True,
    max_nodes: int = MAX_NODES,
    title: str | None = None,
) -> nx.DiGraph:
    """Return the drawing model of a thing.

    ``thing`` is an ``Nfa``, ``Dfa``, ``MinimalDfa``, a lazy DFA or its ``Snapshot`` (which needs ``nfa``), a networkx
    graph, anything with ``to_networkx()`` or ``to_table()``, or a table: rows of text, the first of them the header.

    ``names`` are what to call the accept tags, such as their patterns. ``key`` marks the path of a key, which
    is given as its words, or as text with ``separator`` between them; if the graph has more than ``max_nodes`` nodes, only
    that path and its nearest successors are drawn. ``dead`` shows the dead state, ``other=False`` hides the transitions on
    words that are no literals.

    Raises :class:`DrawingTooLargeError` for a graph over the limit without a key, ``TypeError`` for what is no graph.

    >>> from viz.patterns import nfa_of
    >>> graph = drawing(nfa_of(["a.#"]), names=["a.#"])
    >>> graph.nodes[2]["label"], graph.nodes[2]["lines"], sorted(graph.nodes[2]["roles"])
    ('2', ('✓ a.#',), ['accept', 'loop', 'position'])
    """
    source, automaton = graph_of(thing, nfa)
    kind = source.graph.get("kind", "graph")
    words = words_of(key, separator) if isinstance(key, str | bytes) else key
    path = key_path(source, automaton, words) if words is not None else None
    hidden = {node for node, data in source.nodes(data=True) if (data.get("dead") and not dead) or data.get("hidden")}
    if path is not None:
        hidden -= path.nodes.keys()
    kept = [node for node in source if node not in hidden]
    if path is None:
        check_nodes(kind, len(kept), max_nodes)
    elif len(kept) > max_nodes:
        kept = around(source, path, hidden, max_nodes)
    model = nx.DiGraph(kind=kind, title=title or source.graph.get("title") or _TITLES.get(kind, "Graph"), clusters={})
    add_nodes(model, source, kept, names=names, ends=ends(automaton) if automaton is not None else {}, path=path)
    add_edges(model, source, other=other, path=path)
    check_edges(kind, model.number_of_edges(), max_nodes, other=other)
    add_entries(model, source)
    add_unknown(model, source)
    cut = len(kept) + len(hidden) < len(source)
    if cut:
        add_elided(model, source, hidden)
    _set_clusters(model, source.graph.get("cluster_noun", "group"))
    unseen = 0 if cut else sum(bool(source.nodes[node].get("dead")) for node in hidden)
    whole = len(source) if cut else None
    model.graph["alt"] = describe(model, path, names=names, dead=unseen, whole=whole, separator=separator)
    return model


def model_of(thing: Any, **options: Any) -> nx.DiGraph:
    """Return ``thing`` if it is a drawing model, and else its drawing model; options as in :func:`drawing`."""
    return thing if isinstance(thing, nx.DiGraph) and "alt" in thing.graph else drawing(thing, **options)


def _set_clusters(model: nx.DiGraph, noun: str) -> None:
    """Write a caption for each cluster; a single one is drawn without a frame."""
    clusters = sorted({data["cluster"] for _, data in model.nodes(data=True) if data["cluster"] is not None})
    if len(clusters) > 1:
        model.graph["clusters"] = {cluster: f"{noun} {shown(cluster, 40)}" for cluster in clusters}
    else:
        nx.set_node_attributes(model, None, "cluster")
