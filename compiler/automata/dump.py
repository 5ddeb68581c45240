"""Automata as text: for tests, for issues, and for reading without a picture.

The first line counts; then a line per position or state: ``>`` marks the start, transitions are ``word->target``, a
final ``!`` says that no further word can change the state. The automata hand over their rows (:meth:`Nfa.dump`,
:meth:`Dfa.dump`), and this module writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

__all__ = ["Row", "dump", "quoted"]


class Row(NamedTuple):
    """A position or a state."""

    number: int
    start: bool
    moves: Sequence[str]
    """What it is and where it leads, each a word of the line."""
    tags: tuple[int, ...]


def dump(heading: str, rows: Iterable[Row], count: int, limit: int | None, things: str) -> str:
    """Return a line per row below the heading; with a limit, that many of the ``count`` rows, and how many others there are.

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
    """Return a word for a dump, quoted where it is a literal that could be mistaken for something else."""
    plain = word.isprintable() and word not in ("", "*", "ε", "loops") and not set(word) & set(' "->{}!')
    return word if plain or not literal else repr(word)


def _line(row: Row) -> str:
    text = f"{'>' if row.start else ' '}{row.number} {' '.join(row.moves)}"
    return f"{text}  tags {','.join(map(str, row.tags))}" if row.tags else text.rstrip()
