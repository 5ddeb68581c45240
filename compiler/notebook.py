"""Pictures in notebooks, drawn by whoever is installed for that.

A value that has a picture hands over what there is to draw, and its text. Who draws is entered in the installation
(:data:`GROUP` among the entry points), so that nothing here imports it; without it, a notebook shows the text.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

__all__ = ["GROUP", "mimebundle"]

GROUP = "dfa_router.pictures"
"""The entry points that draw: functions of a thing, its text and options, which return what a notebook shows by MIME type."""


def mimebundle(thing: Any, text: str, **options: Any) -> dict[str, str]:
    """Return what a notebook shows of a thing: text always, and a picture where one can be drawn.

    ``thing`` is an automaton or a networkx graph; options are those of :func:`viz.drawing`.
    """
    for entry in entry_points(group=GROUP, name="notebook"):
        bundle: dict[str, str] = entry.load()(thing, text, **options)
        return bundle
    return {"text/plain": text}
