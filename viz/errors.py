"""What can go wrong in drawing; part of the project's one tree of exceptions.

::

    compiler.errors.RouterError
    ├── InputError (ValueError)
    │   └── DrawingTooLargeError     more nodes than a picture can show; the text says what to do instead
    └── RendererError (RuntimeError) Graphviz is missing, or refused; the text says what to install
"""

from __future__ import annotations

from compiler.errors import InputError, RouterError

__all__ = ["DrawingTooLargeError", "RendererError"]


class DrawingTooLargeError(InputError):
    """There is more to draw than a picture can show; the text names the limit and the ways around it."""


class RendererError(RouterError, RuntimeError):
    """No Graphviz that can draw this format is installed, or the one that is refused to; the text says what to do."""
