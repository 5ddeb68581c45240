"""Graphviz's SVG made complete: with tooltips, a text alternative, and colours for a dark background.

Graphviz writes its own node names where a reader would see tooltips, and colours as attributes. Here each element gets
its tooltip as ``<title>``, and the picture gets its text alternative. A style sheet replaces the light theme's colours
where it is dark. It can find them by their values, because within a theme no two colours are equal, and a CSS rule
overrides an attribute. It is dark where the notebook is that the picture stands in, which the notebook's body says, and
elsewhere if the reader prefers that.
"""

from __future__ import annotations

from typing import Literal
from xml.etree import ElementTree as ET

import networkx as nx

from viz.formats.style import DARK, LIGHT, colours
from viz.text import isolated, visible

__all__ = ["finished_svg"]

_SVG = "http://www.w3.org/2000/svg"
_FONTS = "system-ui, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"
"""Each is narrower than the font of the layout (:data:`viz.formats.dot.FONT`), so the texts fit in any of them."""
_XLINK = "{http://www.w3.org/1999/xlink}"
_CLASS = "dfa-router"
"""The class of pictures, for rules that must not reach what else is on a page."""
_LIGHT_BODIES = ("[data-jp-theme-light=true]", ".vscode-light", ".vscode-high-contrast-light")
_DARK_BODIES = ("[data-jp-theme-light=false]", ".vscode-dark", ".vscode-high-contrast:not(.vscode-high-contrast-light)")
"""What JupyterLab, what converts its notebooks to HTML, and Visual Studio Code say on the body about their theme."""


def finished_svg(raw: bytes, model: nx.DiGraph, theme: Literal["auto", "light", "dark"]) -> str:
    """Return the SVG that Graphviz wrote as a complete picture of ``model``.

    It has no XML declaration, so it can be a file or a part of a page. With ``auto`` it follows the notebook that it is a
    part of, or else the reader's preference for light or dark.
    """
    ET.register_namespace("", _SVG)
    root = ET.fromstring(raw)  # noqa: S314 - Graphviz wrote it, from the text of to_dot()
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
            del group.attrib["id"]  # it is graph0 in every picture, and ids must be unique in a page with several
        if group.get("class", "").startswith("node") and "table" not in group.get("class", ""):
            _set_lines(group)
    for text in root.iter(f"{{{_SVG}}}text"):
        text.set("font-family", _FONTS)
        text.text = isolated(text.text or "")  # only now: Graphviz would measure the signs that isolate
    _describe(root, model)
    if theme == "auto":
        style = ET.Element(f"{{{_SVG}}}style")
        style.text = _translation()
        root.insert(2, style)
        root.set("class", _CLASS)
    return ET.tostring(root, encoding="unicode")


def _without_links(group: ET.Element) -> None:
    """Replace the links that Graphviz makes for tooltips, which have no target, by their content."""
    for wrapper in list(group):
        inner = wrapper.find(f"{{{_SVG}}}a")
        if wrapper.tag == f"{{{_SVG}}}g" and inner is not None and inner.get(f"{_XLINK}href") is None:
            place = list(group).index(wrapper)
            group.remove(wrapper)
            for offset, child in enumerate(inner):
                group.insert(place + offset, child)


def _set_lines(group: ET.Element) -> None:
    """Set the first of several lines in bold and the others smaller, which DOT cannot say of a plain label."""
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
    """Return the CSS rules that replace each colour of the light theme by the dark one, where it is dark."""
    dark = "".join(f"--dfa-{name}:{colour};" for name, colour in colours(DARK).items())
    light = "".join(f"--dfa-{name}:initial;" for name in colours(LIGHT))
    rules = [
        f"@media (prefers-color-scheme: dark) {{ .{_CLASS} {{{dark}}} }}",
        *(f"body{body} .{_CLASS} {{{light}}}" for body in _LIGHT_BODIES),
        *(f"body{body} .{_CLASS} {{{dark}}}" for body in _DARK_BODIES),
    ]
    for name, colour in colours(LIGHT).items():
        rules += [f".{_CLASS} [{what}='{colour}']{{{what}:var(--dfa-{name}, {colour})}}" for what in ("fill", "stroke")]
    return " ".join(rules)
