"""What commands show to people: reports, which are results, on stdout; other lines, tables and progress on stderr."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from dfa_router.cli.tables import plain_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Terminal", "stderr_console", "write_report"]

_NOW_AND_THEN = 10.0
"""Seconds between two lines of progress where there is no terminal to redraw."""


def stderr_console(*, soft_wrap: bool = False) -> Console:
    """Return what writes messages."""
    return _console(stderr=True, soft_wrap=soft_wrap)


def write_report(parts: Iterable[RenderableType]) -> None:
    """Write a report to stdout, also where the user wants quiet: it is what was asked for.

    What rich fills the rows of tables up with is left out where a file or another program reads them.
    """
    console = _console()
    for part in parts:
        if isinstance(part, str) or console.is_terminal:
            console.print(part, soft_wrap=isinstance(part, str))
            continue
        with console.capture() as written:
            console.print(part)
        console.print("\n".join(line.rstrip(" ") for line in written.get().split("\n")), end="", soft_wrap=True)


def _console(*, stderr: bool = False, soft_wrap: bool = False) -> Console:
    """Return what writes text as it is: names may look like rich's markup, as ``a[/b]`` does, or like an emoji, as ``:key:``."""
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=soft_wrap)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """Where messages for people go, and how many of them."""

    quiet: bool = False
    verbose: bool = False
    console: Console = field(default_factory=stderr_console)

    def show(self, what: RenderableType) -> None:
        """Show a line or a table, unless the user wants quiet."""
        if not self.quiet:
            self.console.print(plain_lines(what) if isinstance(what, str) else what, soft_wrap=isinstance(what, str))

    @contextmanager
    def progress(
        self, unit: str = "tasks", units: Mapping[str, str] = MappingProxyType({})
    ) -> Iterator[Callable[[str, int, int], None] | None]:
        """Yield a function of (what runs, units done, units known) that shows progress, or None where the user wants quiet.

        ``units`` names the unit of what runs where that is another; of those, it shows the rate and the time that is left. Units
        known are 0 where their number is not.
        """
        if self.quiet:
            yield None
        elif self.console.is_terminal:
            with self._bar() as bar:
                task = bar.add_task("starting", total=None, tail=unit)
                begun = _Begun()

                def redraw(label: str, done: int, total: int) -> None:
                    tail = begun.rate(label, done, total, units[label]) if label in units else unit
                    bar.update(task, description=label, completed=done, total=total or None, tail=tail)

                yield redraw
        else:
            said = time.monotonic()
            last = ""
            begun = _Begun()

            def line(label: str, done: int, total: int) -> None:
                nonlocal said, last
                if label == last and time.monotonic() - said < _NOW_AND_THEN:
                    return
                rate = begun.rate(label, done, total, units[label]) if label in units else unit
                known = f"{done:,} of {total:,}" if total else f"{done:,}"
                self.console.print(f"{label} ..." if label != last else f"{label}: {known} {rate}")
                said, last = time.monotonic(), label

            yield line

    def _bar(self) -> Progress:
        return Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[tail]}"),
            TimeElapsedColumn(),
            console=self.console,
            transient=True,
        )


@dataclass(slots=True)
class _Begun:
    """When what runs began, and so how fast it is."""

    label: str = ""
    at: float = 0.0

    def rate(self, label: str, done: int, total: int, unit: str) -> str:
        """Return the unit with units per second and the seconds that are left, where these can be told."""
        if label != self.label:
            self.label, self.at = label, time.monotonic()
        took = time.monotonic() - self.at
        if not done or not took:
            return unit
        fast = f"{unit}, {done / took:,.0f}/s"
        if not total:
            return fast
        left = took * (total - done) / done
        return f"{fast}, {left // 60:.0f}:{left % 60:02.0f} left"
