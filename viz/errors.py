"""The errors of drawing, which are part of the project's one tree of exceptions.

::

    compiler.errors.RouterError
    ├── InputError (ValueError)
    │   └── DrawingTooLargeError     more nodes than a picture can show; the text says what to do instead
    └── RendererError (RuntimeError) Graphviz is missing or fails; the text says what to install
"""

from __future__ import annotations

from compiler.errors import InputError, RouterError

__all__ = ["DrawingTooLargeError", "RendererError"]


class DrawingTooLargeError(InputError):
    """There is more to draw than a picture can show; the text names the limit, and what can be drawn instead."""


class RendererError(RouterError, RuntimeError):
    """No Graphviz is installed that can draw this format, or it failed; the text says what to do."""
