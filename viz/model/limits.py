"""How much a picture can hold, what a larger graph is refused with, and which part of it a key's path selects."""

from __future__ import annotations

from collections.abc import Hashable

import networkx as nx

from viz.errors import DrawingTooLargeError
from viz.model.key_path import KeyPath

__all__ = ["MAX_NODES", "around", "check_edges", "check_nodes"]

MAX_NODES = 250
"""Nodes that a page can hold and a reader can follow."""
_EDGES_PER_NODE = 3
"""Edges per node of ``max_nodes`` from which Graphviz takes minutes, for a picture that nobody can follow."""
_NEAR = 4
"""Successors up to which a node of a path is drawn with all of them."""

_THINGS = {"nfa": "positions", "trie": "nodes", "graph": "nodes"}
_WAYS = {"dfa": ("key", "minimal", "cache"), "minimal": ("key",), "cache": ("key",), "nfa": ("key", "part")}
"""Those of a kind of graph to a smaller picture, of :data:`viz.errors.WAYS`; any other can be drawn in part."""


def check_nodes(kind: str, count: int, max_nodes: int) -> None:
    """Raise :class:`DrawingTooLargeError` if there are more nodes than ``max_nodes``."""
    if count > max_nodes:
        ways = (*_WAYS.get(kind, ("part",)), "limit")
        raise DrawingTooLargeError(_found(count, _THINGS.get(kind, "states"), max_nodes), ways, count)


def check_edges(kind: str, count: int, max_nodes: int, *, other: bool) -> None:
    """Raise :class:`DrawingTooLargeError` if there are more edges than a picture of ``max_nodes`` nodes can hold.

    ``other`` tells whether transitions on other words are among them, and so can be hidden.
    """
    limit = _EDGES_PER_NODE * max_nodes
    if count > limit:
        hiding = ("other",) if other and kind in {"dfa", "minimal", "cache"} else ()
        ways = (*_WAYS.get(kind, ("part",)), *hiding, "limit")
        raise DrawingTooLargeError(_found(count, "edges", limit), ways, count // _EDGES_PER_NODE + 1)


def around(source: nx.Graph, path: KeyPath, hidden: set[Hashable], limit: int) -> list[Hashable]:
    """Return the nodes of a path and, where there is room, their successors.

    Raises :class:`DrawingTooLargeError` if the path alone has more than ``limit`` nodes.
    """
    kept = dict.fromkeys(node for node in path.nodes if node in source)
    if len(kept) > limit:
        found = f"the key alone visits {len(kept)} nodes, more than the {limit} of a picture"
        raise DrawingTooLargeError(found, ("shorter", "limit"), len(kept))
    for node in list(kept):
        near = [head for head in source.successors(node) if head not in hidden and head not in kept]
        if len(near) <= _NEAR and len(kept) + len(near) <= limit:
            kept |= dict.fromkeys(near)
    return [node for node in source if node in kept]


def _found(count: int, what: str, limit: int) -> str:
    return f"{count:,} {what} are more than the {limit:,} that a picture can hold"
