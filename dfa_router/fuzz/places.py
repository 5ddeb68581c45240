"""Parts of a target's source: where a finding was decided, if no single line is more suspect than the others.

Less than a suspect line says, and marked as such: the lines that build or run the regular expression that a pattern became, the
line that raised an error, or the functions in which what matches and what does not go different ways, in the case or in plain ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Place", "Why", "in_ranges"]


class Why(StrEnum):
    """Why a part of the source is named."""

    EXPRESSION = "builds or runs the regular expression"
    RAISED = "raised the error"
    DECIDES = "ran and decided"
    PLAIN = "decides plain cases, as this one was not followed"
    """It hangs, ends the process, answers what is no answer, or needs a history: what it runs is not known."""


@dataclass(frozen=True, slots=True)
class Place:
    """Some lines of a function."""

    file: str
    lines: tuple[int, ...]
    """Ascending; all lines of the function where none of them is known to matter more."""
    name: str
    """The function's name; empty for one without a name, and for a module."""
    why: Why

    def text(self, file: str | None = None) -> str:
        """Return it in words; ``file`` is the file's name to be shown, if it is another.

        >>> Place("lib/x.js", tuple(range(10, 35)), "matches", Why.DECIDES).text()
        'in `matches`, lib/x.js:10-34'
        """
        shown = f"{self.file if file is None else file}:{in_ranges(self.lines)}"
        return f"in `{self.name}`, {shown}" if self.name else shown


def in_ranges(lines: Iterable[int]) -> str:
    """Return ascending line numbers as text, neighbours as ranges.

    >>> in_ranges([3, 4, 5, 9])
    '3-5, 9'
    """
    ranges: list[tuple[int, int]] = []
    for line in lines:
        if ranges and ranges[-1][1] == line - 1:
            ranges[-1] = ranges[-1][0], line
        else:
            ranges.append((line, line))
    return ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in ranges)
