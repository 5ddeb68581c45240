"""Pictures as files: SVG by any Graphviz that is installed, PNG and PDF by the program ``dot``, DOT and TikZ without.

Which Graphviz is used, and what to install where there is none: see :mod:`viz.formats.layout`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from viz.formats.dot import dot_of, to_dot
from viz.formats.layout import layout
from viz.formats.style import Rule
from viz.formats.svg import finished_svg
from viz.formats.tikz import to_tikz
from viz.model.build import model_of

__all__ = ["FORMATS", "Mode", "render", "save", "to_svg"]

FORMATS = ("svg", "png", "pdf", "dot", "tex")
"""What :func:`save` writes, by the name of the file."""

Mode = Literal["auto", "light", "dark"]


def to_svg(thing: Any, *, theme: Mode = "auto", rules: list[Rule] | None = None, **options: Any) -> str:
    """Return a picture as an SVG element; options as in :func:`viz.drawing` and :func:`viz.to_dot`.

    With ``auto`` it follows the reader's preference for light or dark. Raises :class:`RendererError`, with what to
    install, where there is no Graphviz.
    """
    direction = options.pop("direction", None)
    model = model_of(thing, **options)
    # The signs of direction come into it once it is laid out, as Graphviz would measure them, but for Pango's pictures.
    dot = dot_of(model, rules or [], "light" if theme == "auto" else theme, direction)
    return finished_svg(layout(dot, "svg"), model, theme)


def render(
    thing: Any,
    kind: Literal["svg", "png", "pdf"] = "svg",
    *,
    theme: Mode = "light",
    rules: list[Rule] | None = None,
    **options: Any,
) -> bytes:
    """Return a picture as the bytes of an SVG, PNG or PDF file; options as in :func:`to_svg`.

    PNG and PDF need the ``dot`` program and cannot follow the reader's preference, so ``auto`` means light.
    """
    if kind == "svg":
        return (to_svg(thing, theme=theme, rules=rules, **options) + "\n").encode()
    direction = options.pop("direction", None)
    model = model_of(thing, **options)
    dot = to_dot(model, theme="light" if theme == "auto" else theme, rules=rules or [], direction=direction)
    return layout(dot, kind)


def save(thing: Any, path: str | Path, *, theme: Mode = "auto", **options: Any) -> Path:
    """Write a picture to a file in the format that its name ends in, and return the path.

    Raises ``ValueError`` for a name that ends in none of :data:`FORMATS` and for ``rules`` of a TikZ picture, whose looks are
    its own, and what :func:`render` raises.
    """
    target = Path(path)
    kind = target.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise ValueError(f"cannot write {target}: its name should end in one of {', '.join('.' + f for f in FORMATS)}")
    plain: Literal["light", "dark"] = "dark" if theme == "dark" else "light"
    if kind == "dot":
        target.write_text(to_dot(thing, theme=plain, **options), encoding="utf-8")
    elif kind == "tex":
        if options.pop("rules", None):
            raise ValueError(
                f"cannot write {target}: rules are Graphviz' styles, which TikZ does not know: leave them out"
            )
        target.write_text(to_tikz(thing, **options), encoding="utf-8")
    else:
        target.write_bytes(render(thing, kind, theme=theme, **options))  # type: ignore[arg-type]  # one of the three
    return target
