"""What a notebook shows of an automaton: its text, and a picture if a package that draws is installed.

The function that draws is looked up among the entry points of installed packages (:data:`GROUP`), so that nothing here
imports it. Without such an entry point a notebook shows the text.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

__all__ = ["GROUP", "mimebundle"]

GROUP = "dfa_router.pictures"
"""The group of entry points. Its entry ``notebook`` is a function that takes a thing, its text and drawing options, and
returns what a notebook shows, by MIME type."""


def mimebundle(thing: Any, text: str, **options: Any) -> dict[str, str]:
    """Return what a notebook shows of a thing, by MIME type: text always, and a picture where one can be drawn.

    ``thing`` is an automaton, a networkx graph, or an object with ``to_networkx()``; options are those of
    :func:`viz.drawing`.
    """
    for entry in entry_points(group=GROUP, name="notebook"):
        bundle: dict[str, str] = entry.load()(thing, text, **options)
        return bundle
    return {"text/plain": text}
