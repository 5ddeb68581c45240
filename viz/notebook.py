"""What a notebook shows: text always, and a picture where one can be drawn.

:func:`mimebundle` is entered in pyproject.toml as the function that draws for :mod:`compiler.notebook`. So automata,
routers and topologies are drawn as the last line of a cell, though they do not import this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from viz.errors import DrawingTooLargeError, RendererError
from viz.formats.files import to_svg
from viz.model.build import drawing
from viz.page.html import CACHE_BYTES, teach
from viz.text import counted, markup

__all__ = ["Lecture", "Picture", "lecture", "mimebundle", "picture"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A thing, and the options to draw it with; made by :func:`picture`."""

    thing: Any
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        names = ("theme", "rules", "direction")
        model = drawing(self.thing, **{name: value for name, value in self.options.items() if name not in names})
        return str(model.graph["alt"])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return mimebundle(self.thing, str(self), **self.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lecture:
    """The page that steps through matches, in a frame of a notebook; made by :func:`lecture`."""

    patterns: tuple[str, ...]
    keys: tuple[str, ...]
    height: int
    cache_bytes: int

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        keys = ", ".join(map(repr, self.keys))
        text = f"the match of {keys} by {counted(len(self.patterns), 'pattern')}, step by step: save it with viz.teach(..., path)"
        page = teach(self.patterns, self.keys, cache_bytes=self.cache_bytes)
        size = f'width="100%" height="{self.height}"'
        frame = f'<iframe srcdoc="{markup(page)}" {size} title="Step through a match"></iframe>'
        return {"text/html": frame, "text/plain": text}


def picture(thing: Any, **options: Any) -> Picture:
    """Return a value that a notebook shows as a picture of ``thing``; options as in :func:`viz.to_svg`."""
    return Picture(thing=thing, options=options)


def lecture(
    patterns: Sequence[str], key: str | Sequence[str], *, height: int = 900, cache_bytes: int = CACHE_BYTES
) -> Lecture:
    """Return a value that a notebook shows as the page of :func:`viz.teach`, in a frame ``height`` pixels high.

    A notebook runs the page's script once it is trusted.
    """
    keys = (key,) if isinstance(key, str) else tuple(key)
    return Lecture(patterns=tuple(patterns), keys=keys, height=height, cache_bytes=cache_bytes)


def mimebundle(thing: Any, text: str, **options: Any) -> dict[str, str]:
    """Return a picture and ``text`` by MIME type or, where no picture can be drawn, ``text`` with the reason.

    The picture comes as SVG, and once more as HTML: JupyterLab shows SVG as an image, in which nothing tells the notebook's
    theme, but HTML as a part of the notebook.

    No error is raised where Graphviz is missing or the thing is too large, since that would break a cell whose last
    line happens to be an automaton. Options as in :func:`viz.to_svg`.
    """
    try:
        svg = to_svg(thing, **options)
    except (DrawingTooLargeError, RendererError) as reason:
        return {"text/plain": f"{text}\n(no picture: {reason})"}
    return {"text/html": f"<div>{svg}</div>", "image/svg+xml": svg, "text/plain": text}
