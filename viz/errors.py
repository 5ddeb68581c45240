"""The errors of drawing, which are part of the project's one tree of exceptions.

::

    compiler.errors.RouterError
    ├── InputError (ValueError)
    │   └── DrawingTooLargeError     more nodes than a picture can show; the text says what to do instead
    └── RendererError (RuntimeError) Graphviz is missing or fails; the text says what to install
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compiler.errors import InputError, RouterError

__all__ = ["WAYS", "DrawingTooLargeError", "RendererError"]

WAYS = {
    "key": "draw what one key visits (key=...)",
    "shorter": "shorten the key",
    "minimal": "minimise it first",
    "cache": "draw the lazy cache, which holds what keys have needed",
    "part": "draw a part of it",
    "other": "hide transitions on other words (other=False)",
    "limit": "raise the limit (max_nodes={max_nodes})",
}
"""What can be drawn instead of what is too large, in the words of the library."""


class DrawingTooLargeError(InputError):
    """There is more to draw than a picture can show; the text names the limit, and what can be drawn instead."""

    def __init__(self, found: str, ways: Sequence[str] = (), max_nodes: int = 0) -> None:
        """Take what there is too much of, the names of the ways to less (:data:`WAYS`), and the limit that would do."""
        super().__init__(found, ways, max_nodes)
        self.found, self.ways, self.max_nodes = found, ways, max_nodes

    def told(self, words: Mapping[str, str]) -> str:
        """Return the text with each way in somebody's words; those that have none are left out."""
        ways = [words[way].format(max_nodes=self.max_nodes) for way in self.ways if way in words]
        if not ways:
            return self.found
        return f"{self.found}: {', '.join([*ways[:-1], f'or {ways[-1]}'] if ways[1:] else ways)}"

    def __str__(self) -> str:
        """Return the text in the words of the library."""
        return self.told(WAYS)


class RendererError(RouterError, RuntimeError):
    """No Graphviz is installed that can draw this format, or it failed; the text says what to do."""
