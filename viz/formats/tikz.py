r"""The drawing model as TikZ, for slides.

Nodes and edges lie where Graphviz puts them. Without a Graphviz, the nodes stand in columns by their distance from the
start and the edges are straight: a draft to be finished by hand. The text needs ``\usepackage{tikz,amssymb}`` and the
libraries ``arrows.meta`` and ``quotes``, in any encoding of fonts; words beyond ASCII need LuaLaTeX or XeLaTeX, and a font
that has them.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx

from viz.errors import RendererError
from viz.formats.dot import dot_of
from viz.formats.layout import layout
from viz.model.build import model_of

__all__ = ["to_tikz"]

_SCALE = 0.8 * 2.54 / 72
"""Centimetres for a point of Graphviz: at 0.8 its 12 points become LaTeX's small text."""
_WIDEST = 15.0
"""Centimetres of the widest picture, as wide as a page's text; a wider one is scaled down, its words with it."""
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "ε": r"$\varepsilon$", "✓": r"$\checkmark$", "∅": r"$\varnothing$", "…": r"\ldots{}",
    "–": "--", "‹": r"$\langle$", "›": r"$\rangle$", "*": r"$\ast$", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"{\ttfamily\char34}", " ": r"\ ", "-": "{-}", ",": "{,}", "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}", "[": "{[}",
}  # fmt: skip
"""What LaTeX would not write as it is. Two quotation marks, hyphens or commas become one sign, two spaces become one, and a
bracket at the start of a table's row is an option of the row before. The encoding that LaTeX begins with has no straight
double quotation mark but in typewriter type, and no single guillemets."""
_STYLES = r"""  every node/.style={font=\small, align=center, inner sep=2pt},
  round node/.style={draw, circle, fill=black!3}, box node/.style={draw, rounded corners, fill=black!3},
  many node/.style={draw=blue!60!black, fill=blue!8}, dead node/.style={densely dashed, draw=gray},
  accept node/.style={double, double distance=1pt, draw=teal!70!black, fill=teal!10},
  path node/.style={very thick, draw=orange!70!black, fill=orange!15}, ghost node/.style={text=gray},
  relay node/.style={draw, rounded corners, fill=blue!8}, store node/.style={draw, fill=teal!10},
  missing node/.style={dashed, fill=white}, entry node/.style={fill, circle, inner sep=1.2pt},
  free edge/.style={blue!60!black}, unread edge/.style={blue!60!black, dashed}, unknown edge/.style={dotted, gray},
  path edge/.style={very thick, orange!70!black}, label/.style={font=\footnotesize, fill=white, inner sep=1pt}"""
_EDGES = {
    "other": "free edge", "one": "free edge", "loop": "free edge", "epsilon": "unread edge", "fallback": "unread edge",
    "unknown": "unknown edge", "to-dead": "unknown edge", "path": "path edge",
}  # fmt: skip

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    """Where everything is placed, in centimetres."""

    nodes: Mapping[Hashable, Point]
    sizes: Mapping[Hashable, Point]
    curves: Mapping[str, Sequence[Point]]
    """For each edge's id the points of its Bézier curve (a start, then two control points and an end for each segment),
    then the arrow's tip."""
    labels: Mapping[str, Point]


def to_tikz(thing: Any, *, direction: str | None = None, **options: Any) -> str:
    r"""Return a picture as a ``tikzpicture``; options as in :func:`viz.drawing`, and ``direction`` as in :func:`viz.to_dot`.

    >>> from viz.patterns import nfa_of
    >>> print(to_tikz(nfa_of(["a.50%"])))  # doctest: +ELLIPSIS
    % \usepackage{tikz,amssymb} \usetikzlibrary{arrows.meta,quotes}
    ... {50\%};
    ...
    """
    model = model_of(thing, **options)
    places = _places(model, direction)
    lines = [
        r"% \usepackage{tikz,amssymb} \usetikzlibrary{arrows.meta,quotes}",
        "% " + model.graph["alt"].replace("\n", " "),
        rf"\begin{{tikzpicture}}[>={{Stealth[round]}}, semithick,{_scale(places)}",
        _STYLES + "]",
    ]
    for node, place in places.nodes.items():
        data = model.nodes[node]
        style = _node_style(data, places.sizes.get(node))
        lines.append(rf"  \node[{style}] ({data['id']}) at {_point(place)} {{{_label(data)}}};")
    for tail, head, data in model.edges(data=True):
        style = ", ".join(["->", *(_EDGES[role] for role in _EDGES if role in data["roles"])])
        lines.append(rf"  \draw[{style}] {_line(model, tail, head, places)};")
    return "\n".join([*lines, r"\end{tikzpicture}", ""])


def _scale(places: _Places) -> str:
    xs = [
        x + side * places.sizes.get(node, (0.0, 0.0))[0] / 2
        for node, (x, _) in places.nodes.items()
        for side in (-1, 1)
    ]
    width = max(xs, default=0.0) - min(xs, default=0.0)
    return f" scale={_WIDEST / width:.3f}, transform shape," if width > _WIDEST else ""


def _places(model: nx.DiGraph, direction: str | None) -> _Places:
    try:
        laid_out = json.loads(layout(dot_of(model, [], "light", direction), "json0"))
    except RendererError:
        return _columns(model)
    by_id = {data["id"]: node for node, data in model.nodes(data=True)}
    objects = [item for item in laid_out.get("objects", ()) if item.get("name") in by_id]
    edges = laid_out.get("edges", ())
    return _Places(
        nodes={by_id[item["name"]]: _scaled(item["pos"]) for item in objects},
        sizes={
            by_id[item["name"]]: (72 * _SCALE * float(item["width"]), 72 * _SCALE * float(item["height"]))
            for item in objects
        },
        curves={item["id"]: _curve(item["pos"]) for item in edges if item.get("pos")},
        labels={item["id"]: _scaled(item["lp"]) for item in edges if item.get("lp")},
    )


def _columns(model: nx.DiGraph) -> _Places:
    roots = [node for node in model if model.in_degree(node) == 0] or list(model)[:1]
    places: dict[Hashable, Point] = {}
    for x, layer in enumerate(nx.bfs_layers(model, roots)):
        places |= {node: (2.5 * x, -1.6 * y) for y, node in enumerate(layer)}
    return _Places(nodes={node: places.get(node, (0.0, 2.0)) for node in model}, sizes={}, curves={}, labels={})


def _line(model: nx.DiGraph, tail: Hashable, head: Hashable, places: _Places) -> str:
    """Return an edge: Graphviz's curve with its label, or a line that TikZ draws between the two nodes."""
    data = model.edges[tail, head]
    label = _escaped(data["label"])
    start, *rest = places.curves.get(data["id"], ((0.0, 0.0),))
    if not rest:
        bend = "loop above" if tail == head else "bend left=15" if model.has_edge(head, tail) else ""
        quoted = f'"{{{label}}}"' if label else ""
        return (
            f"({model.nodes[tail]['id']}) edge [{', '.join(filter(None, [quoted, bend]))}] ({model.nodes[head]['id']})"
        )
    *bends, tip = rest
    curve = _point(start)
    for a, b, c in zip(bends[::3], bends[1::3], bends[2::3], strict=True):
        curve += f" .. controls {_point(a)} and {_point(b)} .. {_point(c)}"
    curve += f" -- {_point(tip)}"
    return curve + (f" node[label] at {_point(places.labels[data['id']])} {{{label}}}" if label else "")


def _curve(text: str) -> list[Point]:
    """Read a spline of Graphviz, ``e,x,y x,y x,y ...``; the point with ``e`` is the arrow's tip and comes first."""
    parts = text.split()
    tip = next((part[2:] for part in parts if part.startswith("e,")), parts[-1])
    return [_scaled(part) for part in [*(part for part in parts if part[:2] not in {"e,", "s,"}), tip]]


def _node_style(data: Mapping[str, Any], size: Point | None) -> str:
    shapes = [role for role in ("relay", "store", "missing", "ghost", "entry") if role in data["roles"]]
    if "position" in data["roles"] and not data["lines"]:
        shapes.append("round")
    elif data["roles"] & {"position", "state"}:
        shapes.append("box")
    shapes += [{"loop": "many"}.get(role, role) for role in ("loop", "accept", "dead", "path") if role in data["roles"]]
    styles = [f"{shape} node" for shape in shapes]
    if size is not None and "entry" not in data["roles"]:
        width, height = size if "round" not in shapes else (size[0], size[0])
        styles += [f"minimum width={width:.2f}cm", f"minimum height={height:.2f}cm"]
    return ", ".join(styles)


def _label(data: Mapping[str, Any]) -> str:
    if data["rows"]:
        rows = [" & ".join(map(_escaped, row)) + r" \\" for row in data["rows"]]
        columns = "l" * max(map(len, data["rows"]))
        return rf"\begin{{tabular}}{{{columns}}}" + " ".join([rows[0], r"\hline", *rows[1:]]) + r"\end{tabular}"
    lines = [rf"\scriptsize {_escaped(line)}" for line in data["lines"]]
    return r"\\".join([_escaped(data["label"]), *lines] if data["label"] else lines)


def _scaled(text: str) -> Point:
    x, y = text.split(",")
    return _SCALE * float(x), _SCALE * float(y)


def _point(place: Point) -> str:
    return f"({place[0]:.2f}, {place[1]:.2f})"


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)
