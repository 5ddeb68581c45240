"""The nodes of a drawing: what is written in each, and what stands in its tooltip."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import networkx as nx

from viz.model.key_path import KeyPath
from viz.text import elided, listed, shown, visible

__all__ = ["add_nodes"]

_BASES = {"nfa": "position", "trie": "position", "dfa": "state", "cache": "state", "minimal": "state"}
"""What the nodes of an automaton are, by the kind of its graph."""


def add_nodes(
    model: nx.DiGraph,
    source: nx.MultiDiGraph,
    kept: Iterable[Hashable],
    *,
    names: Sequence[str] | None,
    ends: Mapping[int, int],
    path: KeyPath | None,
) -> None:
    """Add the nodes ``kept`` of ``source``.

    ``names`` are what to call the accept tags; ``ends`` has for each accept tag the position where its pattern ends.
    """
    kind = source.graph.get("kind", "graph")
    numbers = {node: number for number, node in enumerate(source)}
    for node in kept:
        data = source.nodes[node]
        base = _BASES.get(kind)
        lines, tooltip = _texts(data, names, ends)
        model.add_node(
            node,
            id=f"{'n' if base == 'position' else 's'}{numbers[node]}",
            roles=_roles(data, base, walked=path is not None and node in path.nodes),
            label=shown(str(data["label"]), 40) if "label" in data else "" if kind == "trie" else visible(str(node)),
            lines=tuple(lines),
            rows=_rows(data["rows"]) if "rows" in data else None,
            tooltip="; ".join([f"{base or 'node'} {visible(str(data.get('label', node)))}", *tooltip]),
            cluster=data.get("cluster"),
            visits=data.get("visits", 0),
        )


def _roles(data: Mapping[str, Any], base: str | None, *, walked: bool) -> frozenset[str]:
    flags = {
        "start": data.get("start"),
        "accept": data.get("tags"),
        "loop": data.get("loops"),
        "dead": data.get("dead"),
        "path": walked,
    }
    own = base or data.get("role", "state")
    return frozenset({own, *data.get("classes", ()), *(role for role, holds in flags.items() if holds)})


def _texts(
    data: Mapping[str, Any], names: Sequence[str] | None, ends: Mapping[int, int]
) -> tuple[list[str], list[str]]:
    """Return the lines below a node's label, and the parts of its tooltip."""
    tags: Sequence[int] = data.get("tags", ())
    lines: list[str] = []
    tooltip: list[str] = []
    if "positions" in data:
        positions = sorted({*data["positions"], *(ends[tag] for tag in tags if tag in ends)})
        lines.append("{" + _few(positions) + "}" if positions else "∅")
        tooltip.append("NFA positions " + (", ".join(map(str, positions)) or "none"))
    if "members" in data and len(data["members"]) > 1:
        lines.append("= {" + _few(data["members"]) + "}")
        tooltip.append("DFA states " + ", ".join(map(str, data["members"])))
    lines += [visible(line) for line in data.get("lines", ())]
    if tags:
        called = [visible(names[tag]) if names is not None and tag < len(names) else f"binding {tag}" for tag in tags]
        if names is not None and len(tags) <= 3:
            lines += ["✓ " + (elided(name, 28) or '""') for name in called]
        else:
            lines.append("✓ " + listed(tags, 6))
        tooltip.append("accepts " + listed(called, 40))
    if "tooltip" in data:
        tooltip.append(visible(data["tooltip"]))
    if "visits" in data:
        tooltip.append(f"{data['visits']} visits")
    return lines, tooltip


def _rows(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(shown(cell, 40) if cell else "" for cell in row) for row in rows)


def _few(numbers: Sequence[int]) -> str:
    if len(numbers) <= 10:
        return ",".join(map(str, numbers))
    return f"{','.join(map(str, numbers[:8]))},… {len(numbers)} in all"
