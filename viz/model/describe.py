"""A picture in words, for readers who cannot see it and for programs that do not show it."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx

from viz.model.key_path import KeyPath
from viz.text import counted, listed, shown, visible

__all__ = ["describe"]

_THINGS = {"nfa": "position", "dfa": "state", "cache": "state", "minimal": "state", "trie": "node"}
_ITEMS = 12
"""Items of a list that are named; the others are counted."""
_STEPS = 40
"""Nodes of a key's path that are named."""


def describe(
    model: nx.DiGraph,
    path: KeyPath | None,
    *,
    names: Sequence[str] | None,
    dead: int,
    whole: int | None,
    separator: bytes,
) -> str:
    """Return the text alternative of a drawing: what it is, how large, what accepts, and where the key goes.

    ``names`` are what the accept tags are called; ``dead`` counts the dead states that are there and not drawn;
    ``whole`` counts the nodes of all if only a part of them is drawn; ``separator`` stands between the words of a key.
    """
    kind = model.graph["kind"]
    if kind == "table":
        rows = next(data["rows"] for _, data in model.nodes(data=True))
        columns = listed(rows[0], _ITEMS) if rows else "none"
        return f"{model.graph['title']} with {counted(len(rows) - 1, 'row')} and the columns {columns}."
    real = [(node, data) for node, data in model.nodes(data=True) if not data["roles"] & {"entry", "ghost"}]
    drawn = {node for node, _ in real}
    edges = sum(tail in drawn and head in drawn for tail, head in model.edges)
    noun = _THINGS.get(kind, "node")
    if whole is None:
        unseen = ", the dead state among them, which is not drawn," if dead else ""
        size = f"with {counted(len(real) + dead, noun)}{unseen}"
    else:
        size = f"of which a part is drawn: {len(real):,} of {counted(whole, noun)}"
    texts = [f"{model.graph['title']} {size} and {counted(edges, 'edge')}."]
    start = [data["label"] for _, data in real if "start" in data["roles"] and data["label"]]
    if start:
        texts.append(f"It starts at {' or '.join(start)}.")
    accepting = [
        f"{data['label']} ({' '.join(data['lines'])})".strip() for _, data in real if "accept" in data["roles"]
    ]
    if accepting:
        texts.append(f"Accepting: {listed(accepting, _ITEMS)}.")
    unknown = sum("unknown" in data["roles"] for _, _, data in model.edges(data=True))
    if unknown and kind == "cache":
        texts.append(
            f"{counted(unknown, 'state')} {'has' if unknown == 1 else 'have'} transitions that are not built yet."
        )
    if kind not in _THINGS:
        moves = [
            f"{model.nodes[tail]['label']} to {model.nodes[head]['label']} ({data['label']})"
            for tail, head, data in model.edges(data=True)
        ]
        texts.append(f"Edges: {listed(moves, _ITEMS)}.")
    if path is not None:
        texts.append(_path(path, names, separator.decode()))
    return " ".join(texts)


def _path(path: KeyPath, names: Sequence[str] | None, separator: str) -> str:
    key = separator.join(shown(word.decode("utf-8", "backslashreplace")) for word in path.words) or "(no words)"
    if path.tags is None:
        return f"The key {key} leaves what is drawn."
    called = [
        visible(names[tag]) or '""' if names is not None and tag < len(names) else f"binding {tag}" for tag in path.tags
    ]
    verdict = f"accepted by {listed(called, _ITEMS)}" if called else "accepted by none"
    if not path.numbered or path.end is None:
        return f"The key {key} is {verdict}."
    visited = sorted((number, node) for node, numbers in path.nodes.items() for number in numbers)
    return f"The key {key} visits {listed((node for _, node in visited), _STEPS)} and is {verdict}."
