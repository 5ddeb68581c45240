"""Pictures of automata, and a page that steps through a match.

>>> from compiler import Wildcard, build_nfa
>>> nfa = build_nfa([[b"a", Wildcard.MANY]])
>>> print(to_dot(nfa, names=["a.#"]).splitlines()[0])
digraph {

This package draws what ``compiler`` builds, and any networkx graph or table that it is given; it knows no broker.
Graphviz does the layout (see :mod:`viz.formats.layout` for which); DOT text, TikZ, the terminal drawing
and pages work without it.

Its folders, each of which imports only those below::

    notebook           what a notebook shows
    page, terminal     matches step by step, as an HTML page that compiles by itself or as text
    formats            looks, and DOT, SVG, PNG, PDF, TikZ and films
    model              what a picture shows, whatever it is drawn from
    walk, trie_walk    what happens while a key is read
    patterns, text     patterns as people type them; words as they can be shown
"""

from __future__ import annotations

from viz.errors import DrawingTooLargeError, RendererError
from viz.formats.dot import to_dot
from viz.formats.files import render, save, to_svg
from viz.formats.style import DARK, LIGHT, Rule, Theme
from viz.formats.tikz import to_tikz
from viz.model.build import drawing
from viz.notebook import lecture, mimebundle, picture
from viz.page.html import teach
from viz.terminal.show import show

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
