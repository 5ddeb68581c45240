"""A cache that fills, word by word, as a moving picture: an SVG that moves by itself, or a GIF.

The picture is laid out once with all that the keys make the engine build. In an SVG each part gets an animation that says in
which frames it is there and in which a key is in it; a reader who wants no motion sees the last frame. A GIF is a PNG for each
frame (:mod:`viz.formats.frames`).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import networkx as nx

from compiler import Nfa
from compiler.errors import InputError
from compiler.machine.trace import TracedDfa
from viz.errors import RendererError
from viz.formats.files import Mode, to_svg
from viz.formats.frames import CELL, MARGIN, Scene, caption_size, frames_of
from viz.formats.style import theme_named
from viz.model.build import drawing
from viz.model.limits import MAX_NODES
from viz.model.sources import graph_of
from viz.text import cells, elided, isolated, shown, visible

__all__ = ["Film", "film", "film_of", "save_gif"]

_SVG = "http://www.w3.org/2000/svg"
_SECONDS = 1.3
"""For each frame."""
_MOST = 200
"""Frames of a film."""
_KEY = 30
"""Characters of a key that its captions show."""
_LINE = 2
"""Sizes of a caption that it has below the picture."""


class Film(NamedTuple):
    """The drawing model of all that is built, and the frames."""

    model: nx.DiGraph
    scenes: list[Scene]


def film_of(
    nfa: Nfa,
    keys: Sequence[str],
    *,
    names: Sequence[str] | None = None,
    separator: bytes = b".",
    title: str | None = None,
    other: bool = True,
    max_nodes: int = MAX_NODES,
) -> Film:
    """Record the engine while it reads keys, one after the other, and return the frames.

    ``names``, ``separator``, ``title``, ``other`` and ``max_nodes`` are those of :func:`viz.drawing`; the dead state is shown.
    Raises :class:`InputError` for a stream of over 200 words, and what :func:`viz.drawing` raises.
    """
    machine = TracedDfa(nfa, separator, 64 << 20)
    scenes: list[Scene] = []
    built: set[str] = set()
    for key in keys:
        words = key.split(separator.decode()) if key else []
        before: int | None = None
        for frame in machine.trace(key.encode()).frames:
            for kind, *what in frame.built:
                if kind == "state":
                    built |= {f"s{what[0]}", f"entry-s{what[0]}", f"entry-s{what[0]}-s{what[0]}"}
                else:
                    built.add(f"s{what[0]}-s{what[-1]}")
            word = (
                f"word {frame.word}, {isolated(shown(words[frame.word - 1]))}"
                if frame.word
                else "before the first word"
            )
            way = set() if before is None or frame.how == "stopped" else {f"s{before}-s{frame.state}"}
            how = {"start": "", "stopped": ": not read"}.get(frame.how, f": {frame.how}")
            caption = f"{isolated(elided(visible(key), _KEY)) or '(no words)'} · {word}{how}"
            scenes.append(Scene(caption, frozenset(built), frozenset({f"s{frame.state}", *way})))
            before = frame.state
        if len(scenes) > _MOST:
            raise InputError(f"the keys have over {_MOST} words, more than a film can show: give fewer of them")
    graph, _ = graph_of(machine)
    for _, data in graph.nodes(data=True):
        del data["visits"]  # lines are as wide as this frame says
    for *_, data in graph.edges(data=True):
        del data["visits"]
    model = drawing(
        graph,
        nfa=nfa,
        names=names,
        dead=True,
        other=other,
        max_nodes=max_nodes,
        title=title or "A lazy DFA's cache filling",
    )
    # A question mark says nothing where all is built sooner or later.
    model.remove_nodes_from([node for node, data in model.nodes(data=True) if "ghost" in data["roles"]])
    return Film(model, scenes)


def film(nfa: Nfa, keys: Sequence[str], *, theme: Mode = "auto", **options: Any) -> str:
    """Return the cache filling as an SVG that moves; options as in :func:`film_of`, and ``theme`` as in :func:`viz.to_svg`."""
    model, scenes = film_of(nfa, keys, **options)
    colours = theme_named("light" if theme == "auto" else theme)
    root = ET.fromstring(to_svg(model, theme=theme))  # noqa: S314 - it was written here
    left, top, width, height = map(float, str(root.get("viewBox")).split())
    size = caption_size(width)
    width = max(width, 2 * MARGIN + CELL * size * max(cells(scene.caption) for scene in scenes))
    sides = {"width": f"{width:.0f}", "height": f"{height + _LINE * size:.0f}"}
    root.set("viewBox", f"{left} {top} {sides['width']} {sides['height']}")
    for side, units in sides.items():
        root.set(side, f"{units}pt")
    paper = ET.Element(f"{{{_SVG}}}rect", {"x": f"{left}", "y": f"{top}", **sides, "fill": colours.paper})
    root.insert([child.tag for child in root].index(f"{{{_SVG}}}g"), paper)
    seconds = _SECONDS * (len(scenes) + 2)  # the last frame stays for a while
    rules = []
    for element in root.iter(f"{{{_SVG}}}g"):
        name = element.get("id")
        if name is None:
            continue
        safe = name.replace("-", "_")
        rules += _moving(
            f'[id="{name}"]', f"b_{safe}", [name in scene.built for scene in scenes], seconds, "opacity", ("0.13", "1")
        )
        active = [name in scene.active for scene in scenes]
        if any(active):
            rules += _moving(f'[id="{name}"] > path', f"a_{safe}", active, seconds, "stroke-width", ("1.2", "4"))
    for number, scene in enumerate(scenes):
        text = ET.SubElement(
            root,
            f"{{{_SVG}}}text",
            {"x": f"{left + MARGIN}", "y": f"{top + height + round(16 / 13 * size, 1)}", "class": f"caption c{number}"},
        )
        text.set("font-family", "ui-monospace, monospace")
        text.set("font-size", f"{size:g}")
        text.set("fill", colours.ink)
        text.text = scene.caption
        rules += _moving(
            f".c{number}", f"c_{number}", [number == at for at in range(len(scenes))], seconds, "opacity", ("0", "1")
        )
    style = ET.SubElement(root, f"{{{_SVG}}}style")
    last = f".c{len(scenes) - 1}"
    style.text = (
        f".caption{{opacity:0}} {last}{{opacity:1}} {' '.join(rules)} "
        "@media (prefers-reduced-motion: reduce) { * { animation: none !important } }"
    )
    return ET.tostring(root, encoding="unicode")


def save_gif(nfa: Nfa, keys: Sequence[str], path: str | Path, *, theme: Mode = "light", **options: Any) -> Path:
    """Write the cache filling as a GIF; options as in :func:`film_of`, and ``theme`` as in :func:`viz.render`.

    Raises :class:`RendererError` where the program dot or Pillow is missing.
    """
    try:
        from PIL import Image
    except ImportError:
        raise RendererError("a GIF needs Pillow: pip install 'dfa-router[viz]'; an SVG that moves needs none") from None
    model, scenes = film_of(nfa, keys, **options)
    try:
        # Without a palette of its own, each colour would be mixed of dots of others.
        images = [
            Image.open(io.BytesIO(picture)).convert("RGB").quantize(dither=Image.Dither.NONE)
            for picture in frames_of(model, scenes, "dark" if theme == "dark" else "light")
        ]
    except RendererError as error:
        raise RendererError(f"a GIF is made of PNG pictures: {error}") from error
    target = Path(path)
    times = [int(1000 * _SECONDS)] * (len(images) - 1) + [int(3000 * _SECONDS)]
    images[0].save(target, save_all=True, append_images=images[1:], duration=times, loop=0, optimize=True)
    return target


def _moving(
    selector: str, name: str, holds: Sequence[bool], seconds: float, attribute: str, values: tuple[str, str]
) -> list[str]:
    """Return the rules that give an attribute its second value in those frames in which something holds."""
    steps = len(holds) + 2
    frames = [
        f"{100 * at / steps:.2f}%{{{attribute}:{values[one]}}}"
        for at, one in enumerate(holds)
        if not at or one != holds[at - 1]
    ]
    frames.append(f"100%{{{attribute}:{values[holds[-1]]}}}")
    return [
        f"@keyframes {name}{{{''.join(frames)}}}",
        f"{selector}{{animation:{name} {seconds:.1f}s step-end infinite}}",
    ]
