"""``python -m benchmarks sealed``: what sealed tables are worth."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.options import out_option, quick_option, rounds_option

__all__ = ["sealed"]

QUICK = 0.02


@click.command(short_help="Measure sealed tables: keys, threads, opening a file, memory that is shared.")
@out_option("sealed.csv and sealed.md")
@quick_option("A fiftieth of the bindings and keys")
@rounds_option(5)
@click.pass_context
def sealed(context: click.Context, *, out: Path, quick: bool, rounds: int) -> None:
    """Measure routers that are sealed beside the caches that they were made of: a warm key on one thread and on two, loading a file
    with a million bindings and the first batch after it, and what processes that map the file share.

    Takes about three minutes, and two cores that do nothing else.

    \b
    Example:
      python -m benchmarks sealed --rounds 3 --out /tmp/figures
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.measure import pinned
    from benchmarks.sealed import run, write

    terminal = context.obj.terminal
    with pinned():
        figures = list(run(rounds=rounds, scale=QUICK if quick else 1.0, progress=terminal.show))
    command = f"python -m benchmarks sealed{' --quick' if quick else ''} --rounds {rounds}"
    for path in write(figures, out, command=command):
        terminal.show(f"wrote {path}")
