"""How far a campaign is, on a terminal and elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dfa_router.counted import counted

if TYPE_CHECKING:
    from dfa_router.cli.terminal import Terminal
    from dfa_router.fuzz.tally import Tally

__all__ = ["progress_on"]

_REDRAWN, _SAID = 0.2, 10.0
"""Seconds between two updates of the progress: redrawn on a terminal, and as lines elsewhere."""


@contextmanager
def progress_on(terminal: Terminal) -> Iterator[Callable[[Tally, float], None] | None]:
    """Yield a function that shows how far a campaign is, redrawn on a terminal and as a line from time to time elsewhere."""
    if terminal.quiet:
        yield None
        return
    last = 0.0
    if not terminal.console.is_terminal:

        def say(tally: Tally, passed: float) -> None:
            nonlocal last
            if passed - last >= _SAID:
                last = passed
                terminal.show(_status(tally, passed))

        yield say
        return
    from rich.live import Live

    with Live(console=terminal.console, transient=True, auto_refresh=False) as live:

        def redraw(tally: Tally, passed: float) -> None:
            nonlocal last
            if passed - last >= _REDRAWN:
                last = passed
                counts = ", ".join(f"{name} {count:,}" for name, count in sorted(tally.classes.items()))
                live.update(f"{_status(tally, passed)}\nrounds by class: {counts}", refresh=True)

        yield redraw


def _status(tally: Tally, passed: float) -> str:
    from dfa_router.fuzz.generating.classes import CLASSES  # those that the summary counts, too

    rate = tally.cases / max(passed, 1e-9)
    classes = sum(entry.name in tally.classes for entry in CLASSES)
    asked = (
        f"{counted(tally.rounds, 'round')} of {classes} class{'es' * (classes != 1)}, {counted(tally.cases, 'case')}"
    )
    return f"{passed:.0f} s: {asked}, {rate:,.0f} cases/s, {counted(len(tally.findings), 'finding')}"
