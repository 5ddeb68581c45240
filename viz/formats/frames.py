"""The frames of a film as PNG pictures: of one layout, each with its caption below.

The picture is laid out once, and each frame is told where everything lies; what is not built yet is a shadow in its place, as in an SVG
that moves: else the first frames were empty paper but for a corner. A layout for each frame took most of a film's time, above all where springs lay a knot out (:mod:`viz.formats.knots`).

A caption is text in the same picture, so that Pango sets it as it does labels, with fonts for whatever it is written in. The captions are
measured before, all at once, and the paper is made wide and high enough for each of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import networkx as nx

from viz.formats.dot import dot_of, text_node
from viz.formats.layout import layout
from viz.formats.style import Rule, theme_named
from viz.text import folded, left_to_right

__all__ = ["CELL", "MARGIN", "Scene", "caption_size", "frames_of"]

CELL = 0.608
"""Of a caption's size, what a character takes: monospace fonts are 0.6 of their size wide."""
MARGIN = 12
"""Units beside a caption."""
_SHADOW = "30"
"""How opaque is what is not built yet, as a colour's two last digits: it can be seen, and is not taken for what is there."""
_NARROWEST = 400
"""Units that a caption's lines may take beneath a picture that is narrower."""
_SHRUNK = 800
"""Units that a picture has on a page or a slide, whatever its width: a wider one is shrunk to them, and its captions with it."""


def caption_size(width: float) -> float:
    """Return the size of the captions of a film whose picture is so wide: 13 units where it is shown, as others are 13.

    >>> caption_size(300), caption_size(1600)
    (13.0, 26.0)
    """
    return round(13 * max(1.0, width / _SHRUNK), 1)


class Scene(NamedTuple):
    """One frame."""

    caption: str
    """With words isolated that are written from right to left."""
    built: frozenset[str]
    """The ids of all nodes and edges that are in the cache."""
    active: frozenset[str]
    """Those of the state that the key is in, and of the way there."""


class _Paper(NamedTuple):
    """Where things lie on the paper of all frames."""

    placed: Mapping[str, Mapping[str, str]]
    """The attributes that put a node or an edge where it is, by its id."""
    box: tuple[float, float, float, float]
    """Left, bottom, right and top, captions included."""


def frames_of(model: nx.DiGraph, scenes: Sequence[Scene], theme: Literal["light", "dark"]) -> Iterator[bytes]:
    """Return the PNG of each scene, all of one size; raises :class:`viz.errors.RendererError` where the program dot is missing."""
    laid = json.loads(layout(dot_of(model, [], theme, None, left_to_right), "json0", drawn="png"))
    parts = [*laid.get("objects", ()), *laid.get("edges", ())]
    placed = {
        part["id"]: {name: part[name] for name in ("pos", "lp", "width", "height") if name in part} for part in parts
    }
    left, bottom, right, top = map(float, laid["bb"].split(","))
    size = caption_size(right - left)
    most = int((max(right - left, _NARROWEST) - 2 * MARGIN) / (CELL * size))
    # Pango takes a line's direction from its first letter.
    captions = [
        [f"\u200e{line}" if "\u2068" in line else line for line in folded(scene.caption, most)] for scene in scenes
    ]
    sizes = _measured(captions, size)
    right = max(right, left + 2 * MARGIN + max(width for width, _ in sizes))
    under = bottom - MARGIN
    paper = _Paper(placed, (left, under - max(height for _, height in sizes), right, top))
    ink = theme_named(theme).ink
    for scene, caption, (width, height) in zip(scenes, captions, sizes, strict=True):
        place = f"{left + MARGIN + width / 2:.2f},{under - height / 2:.2f}"
        text = text_node("caption", caption, pos=place, fontsize=f"{size:g}", fontcolor=ink)
        yield layout(_frame(model, scene, paper, theme, text), "png")


def _frame(model: nx.DiGraph, scene: Scene, paper: _Paper, theme: Literal["light", "dark"], caption: str) -> str:
    """Return a frame as DOT text with its places."""
    colours = theme_named(theme)
    active: dict[str, str] = {"color": colours.path, "penwidth": "3"}
    shadow = {"color": f"{colours.line}{_SHADOW}", "fontcolor": f"{colours.ink}{_SHADOW}", "fillcolor": colours.paper}
    rules = []
    for kind, more in (("node", {"fillcolor": colours.path_fill}), ("edge", {})):
        rules += [
            Rule(kind, lambda one: one["id"] in paper.placed, lambda one: paper.placed[one["id"]]),  # type: ignore[arg-type]
            Rule(kind, lambda one: one["id"] not in scene.built, shadow),  # type: ignore[arg-type]
            Rule(kind, lambda one: one["id"] in scene.active, active | more),  # type: ignore[arg-type]
        ]
    left, bottom, right, top = paper.box
    corners = [
        f'"corner {x} {y}" [shape="point" style="invis" width="0.01" height="0.01" pos="{x:.2f},{y:.2f}"];'
        for x, y in ((left, bottom), (right, top))
    ]
    body = dot_of(model, rules, theme, None, left_to_right).rstrip().removesuffix("}")
    return "\n".join([body, '    graph [layout="nop2"];', *corners, caption, "}", ""])


def _measured(captions: Sequence[Sequence[str]], size: float) -> list[tuple[float, float]]:
    """Return the width and the height of each caption of this size, in points."""
    nodes = [text_node(f"{number}", lines, fontsize=f"{size:g}") for number, lines in enumerate(captions)]
    laid: Any = json.loads(layout("\n".join(["digraph {", *nodes, "}"]), "json0"))
    sizes = {one["name"]: (72 * float(one["width"]), 72 * float(one["height"])) for one in laid["objects"]}
    return [sizes[f"{number}"] for number in range(len(captions))]
