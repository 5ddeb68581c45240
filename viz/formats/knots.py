"""How Graphviz is asked to lay a picture out: in ranks from left to right or, of an automaton that is one knot, as springs would.

Ranks are read best, and they are what Graphviz's ``dot`` makes. Of a knot, where every state is reached from every other, it makes as many ranks
as there are states, and takes long to lead curves back through them. Springs (``neato``) put neighbours beside each other.
"""

from __future__ import annotations

import networkx as nx

__all__ = ["SPRING", "layout_of"]

_KNOT = 50
"""Edges, loops apart, of a strongly connected part that is a knot. Of smaller ones dot draws any number, side by side: 14 of 30 edges in 0.3 s."""
_KNOTTED = 100
"""Edges in knots above which a picture is laid out by springs. Measured of DFAs, in ranks with curves as against springs: 0.6 s and 9,248 by 1,257
points, or 0.7 s and 1,526 by 1,491, for the 126 edges of `#.a.*.*.*.*.*`; over 25 s, or 1.4 s and 1,490 by 1,324, for 240 (`#.a.*.*.*`,
`#.b.*.*.*`), which straight edges in ranks drew 11,167 points wide; 4.5 s and 3,942 by 7,820, or 0.2 s and 2,172 by 2,026, for six knots of 78."""
_CURVES = 2_000_000
"""Nodes squared times edges up to which springs have curves around the nodes: each takes about a microsecond. Above, edges are straight."""

SPRING = "2.5"
"""Inches between neighbours that springs aim at, so that overlaps are few: how they are removed is each build's own. With 1.5, the
build from PyPI made six knots of 78 edges 5,242 points wide, where the program dot took 2,247; with 2.5 they are 2,682 and 2,172."""


def layout_of(model: nx.DiGraph, direction: str | None, usual: str) -> dict[str, str]:
    """Return the attributes of a graph by which it is laid out: by springs if it is knotted, no ``direction`` is asked for and no node is in a frame.

    Springs know neither. Otherwise a graph is in ranks, which run as asked for or as is ``usual``. In a knotted one edges are straight and the
    search for places is bounded; neither alone is enough: for 240 edges in a knot, these take 0.3 s, and polylines, which go around nodes as
    well, ten times that.
    """
    knotted = sum(size for size in _edges_on_circles(model) if size >= _KNOT) > _KNOTTED
    if knotted and direction is None and not model.graph["clusters"]:
        few = len(model) ** 2 * model.number_of_edges() <= _CURVES
        return {"layout": "neato", "overlap": "false", "sep": "+20", "splines": "true" if few else "line"}
    bounded = {"nslimit": "0.3", "nslimit1": "0.3", "mclimit": "0.1", "splines": "line"}
    return {"rankdir": direction or usual, **(bounded if knotted else {})}


def _edges_on_circles(model: nx.DiGraph) -> list[int]:
    """Count the edges inside each strongly connected part, but for those from a node to itself."""
    parts = {node: number for number, nodes in enumerate(nx.strongly_connected_components(model)) for node in nodes}
    counts = [0] * (max(parts.values(), default=-1) + 1)
    for tail, head in model.edges:
        if tail != head and parts[tail] == parts[head]:
            counts[parts[tail]] += 1
    return counts
