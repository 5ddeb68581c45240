"""Tables and lines of what commands found, as people read them: a terminal takes no orders from a name."""

from __future__ import annotations

from collections.abc import Iterator

import click
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from dfa_router.counted import counted

__all__ = ["LONG_KEY", "more_than", "plain", "plain_lines", "shown", "table_of", "title", "write_line"]


LONG_KEY = 80
"""Characters that are shown of a routing key in a list of the most frequent ones; most have fewer, and ``--json`` has all."""
_NAME, _NUMBER = 16, 8
"""Cells that a column of names and one of numbers should have: with fewer, words are broken into pieces of a few letters."""


class _Rows(Table):
    """A table of which a narrow terminal gets each row as a list, where its columns would break words into a few letters each."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        least = sum(_NUMBER if column.no_wrap else _NAME for column in self.columns)
        if options.max_width >= least or options.max_width >= self.__rich_measure__(console, options).maximum:
            yield from super().__rich_console__(console, options)
            return
        for place, cells in enumerate(zip(*(column.cells for column in self.columns), strict=True)):
            row = Table(box=None, show_header=False, pad_edge=False)
            row.add_column(style="dim")
            row.add_column(overflow="fold")
            for column, cell in zip(self.columns, cells, strict=True):
                row.add_row(column.header, cell)
            if place:
                yield ""
            yield row


def title(text: str) -> Text:
    """Return a line that stands above a table."""
    return Text(f"\n{text}", style="bold")


def table_of(*columns: str, numbers: int = 1) -> Table:
    """Return an empty table; the last columns, so many, hold numbers."""
    table = _Rows(box=None, pad_edge=False, header_style="dim")
    for place, column in enumerate(columns):
        number = place >= len(columns) - numbers
        table.add_column(column, justify="right" if number else "left", no_wrap=number, overflow="fold")
    return table


def more_than(top: int | None, count: int, thing: str = "", about: str = "") -> Iterator[str]:
    """Yield the line below a list of so many entries of which only the first ``top`` are shown; nothing where all of them are.

    ``thing`` is what one of them is, and ``about`` what follows that.

    >>> list(more_than(10, 12)), list(more_than(10, 12, "reason", "of it")), list(more_than(None, 12))
    (['... and 2 more; --top 0 shows all'], ['... and 2 more reasons of it; --top 0 shows all'], [])
    """
    if top is not None and count > top:
        more = counted(count - top, f"more {thing}") if thing else f"{count - top:,} more"
        yield f"... and {more}{about and f' {about}'}; --top 0 shows all"


def shown(text: str | None, most: int | None = None) -> Text:
    """Return a name as it can be told apart: null and the empty one included; a terminal takes no orders from it.

    Of one of over ``most`` characters both ends are shown, and how many it has: it would fill lines.

    >>> shown("a" * 30 + "." + "b" * 30, most=20).plain
    'aaaaaaaaaa…bbbbbbbbbb (61 characters)'
    """
    if text is None:
        return Text("null", style="italic")
    said = plain(text)
    if most is not None and len(said) > most:
        said = f"{said[: most // 2]}…{said[-(most // 2) :]} ({counted(len(text), 'character')})"
    return Text(said or '""')


def plain(text: str) -> str:
    r"""Return a name without characters that a terminal would act on.

    >>> print(plain("a\nb\x1b[31m"))
    a\nb\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def plain_lines(text: str) -> str:
    """Return a text of several lines, each without characters that a terminal would act on."""
    return "\n".join(map(plain, text.split("\n")))


def write_line(text: str, *, to_stderr: bool = False) -> None:
    """Write a line to stdout, or to stderr. Names in it cannot begin another one either."""
    click.echo(plain(text), err=to_stderr)
