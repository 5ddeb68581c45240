"""Pictures of automata, and a page that steps through a match.

>>> from compiler import Wildcard, build_nfa
>>> nfa = build_nfa([[b"a", Wildcard.MANY]])
>>> print(to_dot(nfa, names=["a.#"]).splitlines()[0])
digraph {

This package draws what ``compiler`` builds, and any networkx graph or table that others hand it. Graphviz does the
layout (see :mod:`viz.layout` for which); DOT text, TikZ and the terminal drawing work without it.
"""

from __future__ import annotations

from viz.dot import to_dot
from viz.errors import DrawingTooLargeError, RendererError
from viz.model import drawing
from viz.notebook import lecture, mimebundle, picture
from viz.pictures import render, save, to_svg
from viz.style import DARK, LIGHT, Rule, Theme
from viz.teaching import teach
from viz.terminal import show
from viz.tikz import to_tikz

__all__ = [
    "DARK",
    "LIGHT",
    "DrawingTooLargeError",
    "RendererError",
    "Rule",
    "Theme",
    "drawing",
    "lecture",
    "mimebundle",
    "picture",
    "render",
    "save",
    "show",
    "teach",
    "to_dot",
    "to_svg",
    "to_tikz",
]
