"""What a notebook shows: a picture where one can be drawn, and text always."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from viz.errors import DrawingTooLargeError, RendererError
from viz.model import drawing
from viz.pictures import to_svg
from viz.teaching import teach
from viz.text import markup

__all__ = ["Lecture", "Picture", "lecture", "mimebundle", "picture"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A thing and how to draw it; made by :func:`picture`."""

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
    """A page that steps through a match, in a frame of a notebook; made by :func:`lecture`."""

    patterns: tuple[str, ...]
    key: str
    height: int

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        text = f"the match of {self.key!r} by {len(self.patterns)} patterns, step by step: save it with viz.teach(..., path)"
        try:
            page = teach(self.patterns, self.key)
        except RendererError as reason:
            return {"text/plain": f"{text}\n(no page: {reason})"}
        frame = f'<iframe srcdoc="{markup(page)}" width="100%" height="{self.height}" title="Step through a match"></iframe>'
        return {"text/html": frame, "text/plain": text}


def picture(thing: Any, **options: Any) -> Picture:
    """Return what shows in a notebook as a picture; options as in :func:`viz.to_svg`."""
    return Picture(thing=thing, options=options)


def lecture(patterns: Sequence[str], key: str, *, height: int = 900) -> Lecture:
    """Return what shows in a notebook as the page of :func:`viz.teach`, ``height`` pixels high.

    Notebooks run the page's script in a frame of its own once the notebook is trusted.
    """
    return Lecture(patterns=tuple(patterns), key=key, height=height)


def mimebundle(thing: Any, text: str, **options: Any) -> dict[str, str]:
    """Return a picture and the text, or the text alone, with the reason, where there is no picture.

    A picture that cannot be drawn is no reason to break a cell whose last line happens to be an automaton: where
    Graphviz is missing, or the thing is too large, the text says so. Options as in :func:`viz.drawing`.
    """
    try:
        return {"image/svg+xml": to_svg(thing, **options), "text/plain": text}
    except (DrawingTooLargeError, RendererError) as reason:
        return {"text/plain": f"{text}\n(no picture: {reason})"}
