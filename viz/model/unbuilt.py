"""What a cache has not built at one of its states."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import networkx as nx

__all__ = ["Unbuilt", "unbuilt"]


class Unbuilt(NamedTuple):
    """The transitions of a state that are not built; false where none is lacking."""

    words: tuple[str, ...]
    """The literals among them."""
    default: bool
    """Whether the default successor is one of them."""

    def __bool__(self) -> bool:
        return bool(self.words) or self.default


def unbuilt(graph: nx.MultiDiGraph, node: Hashable) -> Unbuilt:
    """Read a node's ``unknown``: literals, and ``*`` at the end if the default successor is not built.

    Where a dialect has other wildcards, ``*`` is a word like any other. So it is not the text that tells the two apart, but
    that a default successor which is built has an edge.
    """
    unknown = tuple(graph.nodes[node].get("unknown", ()))
    default = bool(unknown) and all(data.get("kind") != "default" for *_, data in graph.out_edges(node, data=True))
    return Unbuilt(unknown[:-1] if default else unknown, default)
