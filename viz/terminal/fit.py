"""Text that fits a terminal: lines of one width, and short forms of sets, names and counts."""

from __future__ import annotations

from collections.abc import Sequence

from viz.text import cells, visible

__all__ = ["MAX_LINES", "binding_name", "number_set", "padded"]

MAX_LINES = 400
"""Lines of a tree or a table, and words of a key, that are shown."""


def padded(text: str, width: int) -> str:
    """Return the text with spaces up to ``width`` cells."""
    return text + " " * (width - cells(text))


def number_set(numbers: Sequence[int]) -> str:
    """Write a set of numbers, ``∅`` if it is empty; of a large one, the first ten and how many more there are.

    >>> number_set([1, 3]), number_set(range(20)), number_set([])
    ('{1,3}', '{0,1,2,3,4,5,6,7,8,9,…+10}', '∅')
    """
    if not numbers:
        return "∅"
    if len(numbers) <= 12:
        return f"{{{','.join(map(str, numbers))}}}"
    return f"{{{','.join(map(str, numbers[:10]))},…+{len(numbers) - 10}}}"


def binding_name(tag: int, names: Sequence[str] | None) -> str:
    """Return what a binding is called, or its accept tag if it has no name."""
    return (visible(names[tag]) or '""') if names is not None and tag < len(names) else str(tag)
