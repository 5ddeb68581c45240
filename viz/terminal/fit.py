"""Text that fits a terminal: widths in cells, lines folded to a width, and short forms of sets, names and counts."""

from __future__ import annotations

from collections.abc import Sequence

from viz.text import cells, visible

__all__ = ["MAX_LINES", "binding_name", "cut", "folded", "number_set", "padded"]

MAX_LINES = 400
"""Lines of a tree or a table, and words of a key, that are shown."""


def cut(text: str, width: int) -> str:
    """Return the text in at most ``width`` cells of a terminal; an ellipsis stands for what was cut off."""
    if cells(text) <= width:
        return text
    return _fitting(text, width - 1) + "…"


def folded(text: str, width: int, indent: str = "") -> list[str]:
    """Return the text in lines of at most ``width`` cells, each but the first behind ``indent``, where that is narrower.

    A line ends at a space, or where it is full if it has none; it has one character at least.

    >>> folded("the state is final", 9, "  "), folded("internationalisation", 9)
    (['the state', '  is', '  final'], ['internati', 'onalisati', 'on'])
    """
    lines, lead = [], ""
    indent = indent if cells(indent) < width else ""
    while len(text) > 1 and cells(lead + text) > width:
        end = max(1, len(_fitting(text, width - cells(lead))))
        space = text.rfind(" ", 0, end + 1)
        if text[: max(space, 0)].strip():
            end = space
        lines.append(lead + text[:end].rstrip())
        text, lead = text[end:].lstrip(), indent
    return [*lines, lead + text]


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


def _fitting(text: str, width: int) -> str:
    """Return as much of the beginning of a text as ``width`` cells hold."""
    kept = ""
    for character in text:
        if cells(kept + character) > width:
            break
        kept += character
    return kept
