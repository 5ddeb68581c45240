"""A picture in words, for readers who cannot see it and for programs that do not show it."""

from __future__ import annotations

import networkx as nx

from viz.model.key_path import KeyPath
from viz.text import listed, shown

__all__ = ["describe"]

_THINGS = {"nfa": "positions", "dfa": "states", "cache": "states", "minimal": "states", "trie": "nodes"}
_ITEMS = 12
"""Items of a list that are named; the others are counted."""
_STEPS = 40
"""Nodes of a key's path that are named."""


def describe(model: nx.DiGraph, path: KeyPath | None) -> str:
    """Return the text alternative of a drawing: what it is, how large, what accepts, and where the key goes."""
    kind = model.graph["kind"]
    if kind == "table":
        rows = next(data["rows"] for _, data in model.nodes(data=True))
        return f"{model.graph['title']} with {len(rows) - 1} rows and the columns {', '.join(rows[0]) if rows else 'none'}."
    real = [(node, data) for node, data in model.nodes(data=True) if not data["roles"] & {"entry", "ghost"}]
    drawn = {node for node, _ in real}
    edges = sum(tail in drawn and head in drawn for tail, head in model.edges)
    texts = [f"{model.graph['title']} with {len(real)} {_THINGS.get(kind, 'nodes')} and {edges} edges."]
    start = [data["label"] for _, data in real if "start" in data["roles"] and data["label"]]
    if start:
        texts.append(f"It starts at {start[0]}.")
    accepting = [
        f"{data['label']} ({' '.join(data['lines'])})".strip() for _, data in real if "accept" in data["roles"]
    ]
    if accepting:
        texts.append(f"Accepting: {listed(accepting, _ITEMS)}.")
    unknown = sum("unknown" in data["roles"] for _, _, data in model.edges(data=True))
    if unknown and kind == "cache":
        texts.append(f"{unknown} states have transitions that are not built yet.")
    if kind not in _THINGS:
        moves = [
            f"{model.nodes[tail]['label']} to {model.nodes[head]['label']} ({data['label']})"
            for tail, head, data in model.edges(data=True)
        ]
        texts.append(f"Edges: {listed(moves, _ITEMS)}.")
    if path is not None:
        texts.append(_path(path))
    return " ".join(texts)


def _path(path: KeyPath) -> str:
    key = ".".join(shown(word.decode("utf-8", "backslashreplace")) for word in path.words) or "(no words)"
    if path.tags is None:
        return f"The key {key} leaves what is drawn."
    verdict = (
        f"accepted by binding{'s' * (len(path.tags) > 1)} {listed(path.tags, _ITEMS)}"
        if path.tags
        else "accepted by none"
    )
    if not path.numbered or path.end is None:
        return f"The key {key} is {verdict}."
    visited = sorted((number, node) for node, numbers in path.nodes.items() for number in numbers)
    return f"The key {key} visits {listed((node for _, node in visited), _STEPS)} and is {verdict}."
