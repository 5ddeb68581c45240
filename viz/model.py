"""The drawing model: what a picture shows, before anybody decides what it looks like.

:func:`drawing` turns an automaton, a cache, a trie, a topology or a table into one kind of graph, a
``networkx.DiGraph``, from which DOT, TikZ and the terminal drawing are written. Parallel edges are merged into one.

=========  ===================================================================================================
where      attributes
=========  ===================================================================================================
graph      ``kind``, ``title``, ``alt`` (the picture in words), ``clusters`` (label by cluster)
node       ``id`` (unique, for SVG), ``roles`` (frozenset of str), ``label``, ``lines`` (tuple of more text), ``tooltip``,
           ``cluster`` (or None), ``visits`` (int), ``rows`` (tuple of rows of text; tables only)
edge       ``id``, ``roles``, ``label``, ``words`` (tuple of str, all that were merged), ``tooltip``, ``visits``
=========  ===================================================================================================

Roles of nodes: ``position``, ``state``, ``start``, ``accept``, ``loop``, ``dead``, ``path``, ``exchange``, ``queue``,
``undeclared``, ``table``, and two that are no part of what is drawn: ``entry`` (the dot before the start) and ``ghost``
(what is unknown or left out). Roles of edges: ``literal``, ``other``, ``one``, ``epsilon``, ``loop``, ``unknown``,
``to-dead``, ``path``, ``entry``, and those of a topology.

What it leaves out: exchanges that every broker has and nobody uses. And unless asked: the dead state and the edges to
it, among them every ``other`` edge that leads nowhere. An ``other`` edge to a living state stays, for without it the
picture would show another automaton; ``other=False`` hides those as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import networkx as nx

from compiler import Nfa
from viz.describe import describe
from viz.errors import DrawingTooLargeError
from viz.key_path import KeyPath, key_path
from viz.sources import graph_of
from viz.text import elided, listed, shown, visible
from viz.walk import ends

__all__ = ["MAX_NODES", "drawing"]

MAX_NODES = 250
"""Nodes that a page can hold and a reader can follow."""
_EDGES_PER_NODE = 3
"""More edges than this for each of ``max_nodes`` nodes take Graphviz minutes, and nobody can follow them."""

_EDGE_ROLES = {
    "default": "other",
    "literal": "literal",
    "one": "one",
    "epsilon": "epsilon",
    "loop": "loop",
    "many": "epsilon",
}
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
    dead: bool = False,
    other: bool = True,
    max_nodes: int = MAX_NODES,
    title: str | None = None,
) -> nx.DiGraph:
    """Return the drawing model of a thing.

    ``thing`` is an ``Nfa``, ``Dfa``, ``MinimalDfa``, a lazy DFA or its ``Snapshot`` (which needs ``nfa``), a networkx
    graph, anything with ``to_networkx()``, or a table: rows of text, the first of them the header.

    ``names`` says what to call the accept tags, such as their patterns. ``key`` marks the path of a key; if the graph
    has more than ``max_nodes`` nodes, only that path and where it could have gone are drawn. ``dead`` shows the dead
    state, ``other=False`` hides the transitions on words that are no literals.

    Raises :class:`DrawingTooLargeError` for a graph over the limit without a key, ``TypeError`` for what is no graph.

    >>> from viz.patterns import nfa_of
    >>> graph = drawing(nfa_of(["a.#"]), names=["a.#"])
    >>> graph.nodes[2]["label"], graph.nodes[2]["lines"], sorted(graph.nodes[2]["roles"])
    ('2', ('✓ a.#',), ['accept', 'loop', 'position'])
    """
    source, automaton = graph_of(thing, nfa)
    kind = source.graph.get("kind", "graph")
    path = key_path(source, automaton, key) if key is not None else None
    hidden = {node for node, data in source.nodes(data=True) if (data.get("dead") and not dead) or data.get("idle")}
    if path is not None:
        hidden -= path.nodes.keys()
    kept = [node for node in source if node not in hidden]
    if len(kept) > max_nodes:
        if path is None:
            what = {"nfa": "positions", "trie": "nodes", "graph": "nodes"}.get(kind, "states")
            raise DrawingTooLargeError(_advice(kind, len(kept), max_nodes, what, len(kept)))
        kept = _around(source, path, hidden, max_nodes)
    model = nx.DiGraph(kind=kind, title=title or source.graph.get("title") or _TITLES.get(kind, "Graph"), clusters={})
    numbers = {node: number for number, node in enumerate(source)}
    last = ends(automaton) if automaton is not None else {}
    for node in kept:
        model.add_node(node, **_node(node, source.nodes[node], kind, numbers[node], names, last, path))
    _merge_edges(model, source, other=other, path=path)
    if model.number_of_edges() > _EDGES_PER_NODE * max_nodes:
        raise DrawingTooLargeError(
            _advice(kind, model.number_of_edges(), _EDGES_PER_NODE * max_nodes, "edges", max_nodes)
        )
    _add_entries(model, source)
    _add_unknown(model, source)
    if len(kept) + len(hidden) < len(source):
        _add_elided(model, source, hidden)
    _add_clusters(model)
    model.graph["alt"] = describe(model, path)
    return model


def _node(
    node: Hashable,
    data: Mapping[str, Any],
    kind: str,
    number: int,
    names: Sequence[str] | None,
    last: Mapping[int, int],
    path: KeyPath | None,
) -> dict[str, Any]:
    tags: Sequence[int] = data.get("tags", ())
    base = {"nfa": "position", "trie": "position", "dfa": "state", "cache": "state", "minimal": "state"}.get(kind)
    flags = {"start": data.get("start"), "accept": bool(tags), "loop": data.get("loops"), "dead": data.get("dead")}
    roles = {base or data.get("role", "state"), *(role for role, on in flags.items() if on)}
    if data.get("declared") is False:
        roles.add("undeclared")
    if path is not None and node in path.nodes:
        roles.add("path")
    lines = []
    tooltip = []
    if "positions" in data:
        positions = sorted({*data["positions"], *(last[tag] for tag in tags if tag in last)})
        lines.append("{" + _few(positions) + "}")
        tooltip.append("NFA positions " + (", ".join(map(str, positions)) or "none"))
    if "members" in data and len(data["members"]) > 1:
        lines.append("= {" + _few(data["members"]) + "}")
        tooltip.append("DFA states " + ", ".join(map(str, data["members"])))
    if data.get("type") is not None:
        lines.append(visible(str(data["type"])))
    if tags:
        called = [visible(names[tag]) if names is not None and tag < len(names) else f"binding {tag}" for tag in tags]
        if names is not None and len(tags) <= 3:
            lines += ["✓ " + (elided(name, 28) or '""') for name in called]
        else:
            lines.append("✓ " + listed(tags, 6))
        tooltip.append("accepts " + listed(called, 40))
    if "visits" in data:
        tooltip.append(f"{data['visits']} visits")
    label = shown(str(data["label"]), 40) if "label" in data else ("" if kind == "trie" else str(node))
    return {
        "id": f"{'n' if base == 'position' else 's'}{number}",
        "roles": frozenset(roles),
        "label": label,
        "lines": tuple(lines),
        "rows": data.get("rows"),
        "tooltip": "; ".join([f"{base or 'node'} {visible(str(data.get('label', node)))}", *tooltip]),
        "cluster": data.get("vhost"),
        "visits": data.get("visits", 0),
    }


def _merge_edges(model: nx.DiGraph, source: nx.Graph, *, other: bool, path: KeyPath | None) -> None:
    """Add one edge for all that run between the same two nodes."""
    merged: defaultdict[tuple[Hashable, Hashable], list[Mapping[str, Any]]] = defaultdict(list)
    for tail, head, data in source.edges(data=True):
        walked = path is not None and (tail, head) in path.edges
        if tail in model and head in model and (other or walked or data.get("kind") != "default"):
            merged[tail, head].append(data)
    for (tail, head), edges in merged.items():
        roles = {_EDGE_ROLES.get(data.get("kind", ""), data.get("role", "literal")) for data in edges}
        words = tuple(str(data.get("label", "")) for data in edges if data.get("kind", "literal") == "literal")
        label = _label(source, tail, roles, words)
        if source.graph.get("kind") in (None, "graph") and "role" in next(iter(edges)):
            label = _binding_label(edges)
        if "dead" in model.nodes[head]["roles"] and tail != head:
            roles.add("to-dead")
        numbers = path.edges.get((tail, head), ()) if path is not None else ()
        if numbers:
            roles.add("path")
            if path is not None and path.numbered:
                label = f"{_ranges(numbers)}: {label}"
        model.add_edge(
            tail,
            head,
            id=f"{model.nodes[tail]['id']}-{model.nodes[head]['id']}",
            roles=frozenset(roles),
            label=label,
            words=words,
            tooltip=_edge_tooltip(words, roles, sum(data.get("visits", 0) for data in edges)),
            visits=sum(data.get("visits", 0) for data in edges),
        )


def _label(source: nx.Graph, tail: Hashable, roles: set[str], words: Sequence[str]) -> str:
    parts = [shown(word) for word in words] if len(words) <= 3 else [f"{len(words)} words"]
    if "other" in roles:
        literals = any(data.get("kind") == "literal" for _, _, data in source.out_edges(tail, data=True))
        pending = len(source.nodes[tail].get("unknown", ())) > 0
        parts.append("other" if literals or pending else "any word")
    if roles & {"one", "loop"}:
        parts.append("*")
    if "epsilon" in roles:
        parts.append("#" if source.graph.get("kind") == "trie" else "ε")
    return ", ".join(parts)


def _binding_label(edges: Sequence[Mapping[str, Any]]) -> str:
    labels = list(dict.fromkeys(str(data.get("label", "")) for data in edges))
    texts = [elided(visible(label), 40) or '""' for label in labels]  # patterns, in which * and # mean themselves
    return ", ".join(texts) if len(texts) <= 3 else f"{len(texts)} bindings"


def _edge_tooltip(words: Sequence[str], roles: Iterable[str], visits: int) -> str:
    texts = [shown(word, 60) for word in words]
    meaning = {
        "other": "any other word",
        "one": "* reads any one word",
        "loop": "stays on any word",
        "epsilon": "reads no word",
        "alternate": "alternate exchange: messages that match no binding",
    }
    texts += [text for role, text in meaning.items() if role in roles]
    return listed(texts, 60) + (f" ({visits} visits)" if visits else "")


def _add_entries(model: nx.DiGraph, source: nx.Graph) -> None:
    """Point at where every key begins."""
    for node in [node for node, data in source.nodes(data=True) if data.get("start") and node in model]:
        number = model.nodes[node]["id"]
        _add_helper(model, ("entry", node), f"entry-{number}", "entry", "")
        _add_helper_edge(model, ("entry", node), node, "entry", "")


def _add_unknown(model: nx.DiGraph, source: nx.Graph) -> None:
    """Draw the transitions that a cache has not built as leading nobody knows where."""
    for node in [node for node in model if source.has_node(node) and source.nodes[node].get("unknown")]:
        unknown = source.nodes[node]["unknown"]
        words = list(unknown[:-1]) if unknown[-1] == "*" else list(unknown)
        parts = [shown(word) for word in words] if len(words) <= 3 else [f"{len(words)} words"]
        if unknown[-1] == "*":
            literals = words or any("literal" in data["roles"] for _, _, data in model.out_edges(node, data=True))
            parts.append("other" if literals else "any word")
        _add_helper(model, ("unknown", node), f"u{model.nodes[node]['id']}", "ghost", "?", "not built yet")
        _add_helper_edge(model, node, ("unknown", node), "unknown", ", ".join(parts), tuple(words))


def _add_elided(model: nx.DiGraph, source: nx.Graph, hidden: set[Hashable]) -> None:
    """Say how many successors of each drawn node are not drawn."""
    for node in [node for node in model if source.has_node(node)]:
        beyond = {head for head in source.successors(node) if head not in model and head not in hidden}
        if beyond:
            label = f"… {len(beyond)} more"
            _add_helper(model, ("more", node), f"m{model.nodes[node]['id']}", "ghost", label, "left out of the picture")
            _add_helper_edge(model, node, ("more", node), "unknown", "")


def _add_clusters(model: nx.DiGraph) -> None:
    """Group by vhost where there are several."""
    clusters = sorted({data["cluster"] for _, data in model.nodes(data=True) if data["cluster"] is not None})
    if len(clusters) > 1:
        model.graph["clusters"] = {cluster: f"vhost {shown(cluster, 40)}" for cluster in clusters}
    else:
        nx.set_node_attributes(model, None, "cluster")


def _add_helper(model: nx.DiGraph, node: Hashable, name: str, role: str, label: str, tooltip: str = "") -> None:
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


def _add_helper_edge(
    model: nx.DiGraph, tail: Hashable, head: Hashable, role: str, label: str, words: tuple[str, ...] = ()
) -> None:
    name = f"{model.nodes[tail]['id']}-{model.nodes[head]['id']}"
    tooltip = _edge_tooltip(words, (), 0)
    model.add_edge(tail, head, id=name, roles=frozenset({role}), label=label, words=words, tooltip=tooltip, visits=0)


def _around(source: nx.Graph, path: KeyPath, hidden: set[Hashable], limit: int) -> list[Hashable]:
    """Return the nodes of a path, and their successors where there is room."""
    kept = dict.fromkeys(node for node in path.nodes if node in source)
    if len(kept) > limit:
        raise DrawingTooLargeError(
            f"the key alone visits {len(kept)} nodes, more than the {limit} of a picture: raise max_nodes, or shorten the key"
        )
    for node in list(kept):
        near = [head for head in source.successors(node) if head not in hidden and head not in kept]
        if len(near) <= 4 and len(kept) + len(near) <= limit:
            kept |= dict.fromkeys(near)
    return [node for node in source if node in kept]


def _few(numbers: Sequence[int]) -> str:
    return (
        ",".join(map(str, numbers))
        if len(numbers) <= 10
        else f"{','.join(map(str, numbers[:8]))},… {len(numbers)} in all"
    )


def _ranges(numbers: Iterable[int]) -> str:
    """Write ascending numbers with their runs drawn together.

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


def _advice(kind: str, count: int, limit: int, what: str, enough: int) -> str:
    ways = {
        "dfa": [
            "draw what one key visits (key=...)",
            "minimise it first",
            "draw the lazy cache, which holds what keys have needed",
        ],
        "minimal": ["draw what one key visits (key=...)"],
        "cache": ["draw what one key visits (key=...)"],
        "nfa": ["draw what one key visits (key=...)", "draw a part of the set"],
    }.get(kind, ["draw a part of it"])
    if what == "edges" and kind in {"dfa", "minimal", "cache"}:
        ways.append("hide transitions on other words (other=False)")
    ways.append(f"raise the limit (max_nodes={enough if what != 'edges' else count // _EDGES_PER_NODE + 1})")
    return (
        f"{count:,} {what} are more than the {limit:,} that a picture can hold: {', '.join(ways[:-1])}, or {ways[-1]}"
    )
