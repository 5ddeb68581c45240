"""The edges of a drawing: one for all that run between the same two nodes, with a label for what they read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import networkx as nx

from viz.model.key_path import KeyPath
from viz.model.unbuilt import unbuilt
from viz.text import elided, listed, shown, visible

__all__ = ["add_edge", "add_edges", "word_labels"]

_ROLES = {
    "default": "other",
    "literal": "literal",
    "one": "one",
    "epsilon": "epsilon",
    "loop": "loop",
    "many": "epsilon",
}
"""The role of an automaton's edge, by its kind."""
_MEANINGS = {
    "other": "any other word",
    "one": "* reads any one word",
    "loop": "stays on any word",
    "epsilon": "reads no word",
}
_LABELS = 3
"""Parallel edges whose labels are all written; of more, only the number is."""


def add_edges(model: nx.DiGraph, source: nx.MultiDiGraph, *, other: bool, path: KeyPath | None) -> None:
    """Add an edge for all edges of ``source`` that run between the same two nodes.

    Without ``other``, transitions on words that are no literals are left out, unless the path takes them.
    """
    parallel: defaultdict[tuple[Hashable, Hashable], list[Mapping[str, Any]]] = defaultdict(list)
    for tail, head, data in source.edges(data=True):
        walked = path is not None and (tail, head) in path.edges
        if tail in model and head in model and (other or walked or data.get("kind") != "default"):
            parallel[tail, head].append(data)
    for (tail, head), edges in parallel.items():
        _add_merged(model, source, tail, head, edges, path)


def add_edge(
    model: nx.DiGraph,
    tail: Hashable,
    head: Hashable,
    *,
    roles: Iterable[str],
    label: str,
    words: tuple[str, ...] = (),
    tooltip: str = "",
    visits: int = 0,
) -> None:
    """Add one edge with all attributes of the drawing model."""
    name = f"{model.nodes[tail]['id']}-{model.nodes[head]['id']}"
    roles = frozenset(roles)
    model.add_edge(tail, head, id=name, roles=roles, label=label, words=words, tooltip=tooltip, visits=visits)


def word_labels(words: Sequence[str]) -> list[str]:
    """Return the words as they can be shown, or their number where they are many."""
    return [shown(word) for word in words] if len(words) <= _LABELS else [f"{len(words)} words"]


def _add_merged(
    model: nx.DiGraph,
    source: nx.MultiDiGraph,
    tail: Hashable,
    head: Hashable,
    edges: Sequence[Mapping[str, Any]],
    path: KeyPath | None,
) -> None:
    roles = {_ROLES.get(data.get("kind", ""), data.get("role", "literal")) for data in edges}
    roles.update(name for data in edges for name in data.get("classes", ()))
    words = tuple(str(data.get("label", "")) for data in edges if data.get("kind", "literal") == "literal")
    if source.graph.get("kind") in (None, "graph") and "role" in edges[0]:
        label = _plain_label(edges, source.graph.get("edge_noun", "edges"))
    else:
        label = _label(source, tail, roles, words)
    if "dead" in model.nodes[head]["roles"] and tail != head:
        roles.add("to-dead")
    numbers = path.edges.get((tail, head), ()) if path is not None else ()
    if path is not None and numbers:
        roles.add("path")
        if path.numbered:
            label = f"{_ranges(numbers)}: {label}"
    visits = sum(data.get("visits", 0) for data in edges)
    tooltip = _tooltip(edges, roles, visits)
    add_edge(model, tail, head, roles=roles, label=label, words=words, tooltip=tooltip, visits=visits)


def _label(source: nx.MultiDiGraph, tail: Hashable, roles: set[str], words: Sequence[str]) -> str:
    """Return the label of an automaton's edge: the words and wildcards that it reads."""
    parts = word_labels(words)
    if "other" in roles:
        literals = any(data.get("kind") == "literal" for _, _, data in source.out_edges(tail, data=True))
        parts.append("other" if literals or unbuilt(source, tail) else "any word")
    if roles & {"one", "loop"}:
        parts.append("*")
    if "epsilon" in roles:
        parts.append("#" if source.graph.get("kind") == "trie" else "ε")
    return ", ".join(parts)


def _plain_label(edges: Sequence[Mapping[str, Any]], noun: str) -> str:
    """Return the label of a plain graph's edge: its texts, which are no words, so that a ``*`` is not quoted."""
    labels = list(dict.fromkeys(str(data.get("label", "")) for data in edges))
    texts = [elided(visible(label), 40) or '""' for label in labels]
    return ", ".join(texts) if len(texts) <= _LABELS else f"{len(texts)} {noun}"


def _tooltip(edges: Iterable[Mapping[str, Any]], roles: Iterable[str], visits: int) -> str:
    """Return what each edge says of itself, or else its word, and what the roles mean."""
    texts = [
        visible(data["tooltip"]) if "tooltip" in data else shown(str(data.get("label", "")), 60)
        for data in edges
        if data.get("kind", "literal") == "literal"
    ]
    texts += [text for role, text in _MEANINGS.items() if role in roles]
    return listed(texts, 60) + (f" ({visits} visits)" if visits else "")


def _ranges(numbers: Iterable[int]) -> str:
    """Write ascending numbers, with runs of consecutive ones as ranges.

    >>> _ranges([1, 2, 3, 7])
    '1–3, 7'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == end else f"{first}–{end}" for first, end in runs)
