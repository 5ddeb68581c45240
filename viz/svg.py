"""What becomes of Graphviz's SVG: a picture that says what it is, and that is readable on dark paper too.

Graphviz writes its own node names where a reader would see tooltips, and colours as attributes. Here each element gets
its tooltip as ``<title>``, the picture gets its text alternative, and a style sheet translates the light theme's colours
for readers who prefer dark: a CSS rule wins over an attribute, and within a theme no colour is used twice.
"""

from __future__ import annotations

from typing import Literal
from xml.etree import ElementTree as ET

import networkx as nx

from viz.style import DARK, LIGHT, colours
from viz.text import visible

__all__ = ["finished_svg"]

_SVG = "http://www.w3.org/2000/svg"
_FONTS = "system-ui, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"
"""Narrower than the font that the picture was laid out with, whichever of them a reader has."""
_XLINK = "{http://www.w3.org/1999/xlink}"


def finished_svg(raw: bytes, model: nx.DiGraph, theme: Literal["auto", "light", "dark"]) -> str:
    """Return an SVG element without an XML declaration, so that it can stand in a file or in a page."""
    ET.register_namespace("", _SVG)
    root = ET.fromstring(raw)  # noqa: S314 - Graphviz wrote it just now, from our own text
    tooltips = {data["id"]: data["tooltip"] for _, data in model.nodes(data=True)}
    tooltips |= {data["id"]: data["tooltip"] for _, _, data in model.edges(data=True)}
    for group in root.iter(f"{{{_SVG}}}g"):
        _without_links(group)
        title = group.find(f"{{{_SVG}}}title")
        if title is not None:
            tooltip = tooltips.get(group.get("id", ""))
            if tooltip:
                title.text = tooltip
            else:
                group.remove(title)
        if group.get("class") == "graph":
            del group.attrib["id"]  # graph0 in every picture, and a page may hold several
        if group.get("class", "").startswith("node") and "table" not in group.get("class", ""):
            _set_lines(group)
    for text in root.iter(f"{{{_SVG}}}text"):
        text.set("font-family", _FONTS)
    _describe(root, model)
    if theme == "auto":
        style = ET.Element(f"{{{_SVG}}}style")
        style.text = f"@media (prefers-color-scheme: dark) {{ {_translation()} }}"
        root.insert(2, style)
    return ET.tostring(root, encoding="unicode")


def _without_links(group: ET.Element) -> None:
    """Take the content out of the links that Graphviz makes for tooltips: they lead nowhere."""
    for wrapper in list(group):
        inner = wrapper.find(f"{{{_SVG}}}a")
        if wrapper.tag == f"{{{_SVG}}}g" and inner is not None and inner.get(f"{_XLINK}href") is None:
            place = list(group).index(wrapper)
            group.remove(wrapper)
            for offset, child in enumerate(inner):
                group.insert(place + offset, child)


def _set_lines(group: ET.Element) -> None:
    """Set the first of several lines in bold and the others smaller: one plain label has one font only."""
    lines = group.findall(f"{{{_SVG}}}text")
    if len(lines) > 1:
        lines[0].set("font-weight", "bold")
        for line in lines[1:]:
            line.set("font-size", "10.5")


def _describe(root: ET.Element, model: nx.DiGraph) -> None:
    root.set("role", "img")
    for number, (name, text) in enumerate((("title", model.graph["title"]), ("desc", model.graph["alt"]))):
        element = ET.Element(f"{{{_SVG}}}{name}")
        element.text = visible(text)
        root.insert(number, element)
    root.set("aria-label", visible(f"{model.graph['title']}: {model.graph['alt']}"))


def _translation() -> str:
    dark = colours(DARK)
    rules = []
    for name, colour in colours(LIGHT).items():
        rules += [f"[fill='{colour}']{{fill:{dark[name]}}}", f"[stroke='{colour}']{{stroke:{dark[name]}}}"]
    return " ".join(rules)
