"""Nodes that are no part of what is drawn: the dot before the start, and what is unknown or left out."""

from __future__ import annotations

from collections.abc import Hashable

import networkx as nx

from viz.model.edges import add_edge, word_labels
from viz.model.unbuilt import unbuilt
from viz.text import listed, shown

__all__ = ["add_elided", "add_entries", "add_unknown"]


def add_entries(model: nx.DiGraph, source: nx.MultiDiGraph) -> None:
    """Add an arrow to each node at which keys begin."""
    for node in [node for node, data in source.nodes(data=True) if data.get("start") and node in model]:
        _add(model, ("entry", node), f"entry-{model.nodes[node]['id']}", "entry", "")
        add_edge(model, ("entry", node), node, roles={"entry"}, label="")


def add_unknown(model: nx.DiGraph, source: nx.MultiDiGraph) -> None:
    """Add a question mark for the transitions of each state that a cache has not built."""
    lacking = {node: unbuilt(source, node) for node in model if source.has_node(node)}
    for node, (words, default) in [item for item in lacking.items() if item[1]]:
        parts = word_labels(words)
        if default:
            literals = words or any("literal" in data["roles"] for _, _, data in model.out_edges(node, data=True))
            parts.append("other" if literals else "any word")
        _add(model, ("unknown", node), f"u{model.nodes[node]['id']}", "ghost", "?", "not built yet")
        tooltip = listed((shown(word, 60) for word in words), 60)
        add_edge(
            model, node, ("unknown", node), roles={"unknown"}, label=", ".join(parts), words=words, tooltip=tooltip
        )


def add_elided(model: nx.DiGraph, source: nx.MultiDiGraph, hidden: set[Hashable]) -> None:
    """Add to each node how many of its successors were left out for want of room; ``hidden`` ones do not count."""
    for node in [node for node in model if source.has_node(node)]:
        beyond = {head for head in source.successors(node) if head not in model and head not in hidden}
        if beyond:
            label = f"… {len(beyond)} more"
            _add(model, ("more", node), f"m{model.nodes[node]['id']}", "ghost", label, "left out of the picture")
            add_edge(model, node, ("more", node), roles={"unknown"}, label="")


def _add(model: nx.DiGraph, node: Hashable, name: str, role: str, label: str, tooltip: str = "") -> None:
    model.add_node(
        node,
        id=name,
        roles=frozenset({role}),
        label=label,
        lines=(),
        rows=None,
        tooltip=tooltip,
        cluster=None,
        visits=0,
    )
