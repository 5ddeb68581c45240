"""Pictures in notebooks, drawn by a package that this one does not import.

A value that has a picture hands over itself and its text. The drawing function is found among the entry points of the
installed packages, in the group :data:`GROUP`. Where none is installed, the notebook shows the text.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["GROUP", "mimebundle"]

GROUP = "dfa_router.pictures"
"""The group of entry points that draw.

Each is a function ``(thing, text, **options)`` that returns a dictionary from MIME type to content.
"""


def mimebundle(thing: Any, text: str, **options: Any) -> dict[str, str]:
    """Return what a notebook shows of a thing, by MIME type: the text always, and a picture where one can be drawn.

    ``thing`` is an automaton or a networkx graph; options are those of :func:`viz.drawing`.
    """
    from importlib.metadata import entry_points  # which takes a tenth of the time of importing dfa_router

    for entry in entry_points(group=GROUP, name="notebook"):
        try:
            draw = entry.load()
        except (ImportError, AttributeError) as error:  # another module has the package's name
            found = getattr(sys.modules.get(entry.module.partition(".")[0]), "__file__", None) or "no file"
            return {"text/plain": f"{text}\n(no picture: {error}; found was {found}, rename it if it is yours)"}
        bundle: dict[str, str] = draw(thing, text, **options)
        return bundle
    return {"text/plain": text}
