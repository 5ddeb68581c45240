"""What commands show to people, on stderr: lines, tables and progress."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Terminal"]

_NOW_AND_THEN = 10.0
"""Seconds between two lines of progress where there is no terminal to redraw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """Where messages for people go, and how many of them."""

    quiet: bool = False
    verbose: bool = False
    console: Console = field(default_factory=lambda: Console(stderr=True, highlight=False))

    def show(self, what: RenderableType) -> None:
        """Show a line or a table, unless the user wants quiet."""
        if not self.quiet:
            self.console.print(what, soft_wrap=isinstance(what, str))

    @contextmanager
    def progress(self, unit: str = "tasks") -> Iterator[Callable[[str, int, int], None] | None]:
        """Yield a function of (what runs, units done, units known) that shows progress, or None where the user wants quiet."""
        if self.quiet:
            yield None
        elif self.console.is_terminal:
            with self._bar(unit) as bar:
                task = bar.add_task("starting", total=None)

                def redraw(label: str, done: int, total: int) -> None:
                    bar.update(task, description=label, completed=done, total=total or None)

                yield redraw
        else:
            said = time.monotonic()
            last = ""

            def line(label: str, done: int, total: int) -> None:
                nonlocal said, last
                if label == last and time.monotonic() - said < _NOW_AND_THEN:
                    return
                self.console.print(f"{label} ..." if label != last else f"{label}: {done} of {total} {unit}")
                said, last = time.monotonic(), label

            yield line

    def _bar(self, unit: str) -> Progress:
        return Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(unit),
            TimeElapsedColumn(),
            console=self.console,
            transient=True,
        )
