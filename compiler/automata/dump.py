"""Automata as text: for tests, for bug reports, and for reading without a picture.

The first line has the counts. Then follows a line per position or state: ``>`` marks a start, transitions are
``word->target``, and a ``!`` at the end says that no further word can change the state. The automata provide the rows
(:meth:`Nfa.dump`, :meth:`Dfa.dump`); this module formats them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

__all__ = ["Row", "dump", "quoted"]


class Row(NamedTuple):
    """A line of a dump: a position of an NFA, or a state of a DFA."""

    number: int
    start: bool
    moves: Sequence[str]
    """The words of the line between number and tags: what the position is, and its transitions."""
    tags: tuple[int, ...]


def dump(heading: str, rows: Iterable[Row], count: int, limit: int | None, things: str) -> str:
    """Return the heading and a line per row.

    With a ``limit``, only the first ``limit`` of the ``count`` rows, and a last line that says how many others there are.

    >>> print(dump("Two states", [Row(0, True, ["a->1"], ()), Row(1, False, [], (0, 2))], 2, None, "states"))
    Two states
    >0 a->1
     1   tags 0,2
    """
    lines = [heading, *map(_line, islice(rows, limit))]
    if limit is not None and count > limit:
        lines.append(f" ... and {count - limit} more {things}")
    return "\n".join(lines)


def quoted(word: str, *, literal: bool) -> str:
    """Return a word for a dump; a literal that could be mistaken for another part of the line is put in quotes."""
    plain = word.isprintable() and word not in ("", "*", "ε", "loops") and not set(word) & set(' "->{}!')
    return word if plain or not literal else repr(word)


def _line(row: Row) -> str:
    text = f"{'>' if row.start else ' '}{row.number} {' '.join(row.moves)}"
    return f"{text}  tags {','.join(map(str, row.tags))}" if row.tags else text.rstrip()
