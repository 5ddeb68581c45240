"""``python -m benchmarks growth``: how time and bytes grow with bindings, words and ``#``."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.options import out_option, plots_option, quick_option, rounds_option

__all__ = ["growth"]

QUICK = 0.1
"""The share of the keys that a quick run matches."""


@click.command(short_help="Measure how cost grows with bindings, words and #.")
@out_option("growth.csv, growth.md and growth.svg")
@quick_option("Fewer keys and at most 10,000 bindings")
@rounds_option(3)
@plots_option
@click.pass_context
def growth(context: click.Context, *, out: Path, quick: bool, rounds: int, plots: bool) -> None:
    """Measure how time per key and bytes grow: with the number of bindings from a hundred to a million, with the words
    of a key from 1 to 64, and with the share of patterns that have a # from none to half.

    The lazy DFA warm and cold, the simulated NFA, the compiled trie and pyarrow's index_in take turns; the answers of
    those that match are compared. Takes about three minutes.

    \b
    Example:
      python -m benchmarks growth --out /tmp/figures
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.growth import run, write
    from benchmarks.measure import pinned

    terminal = context.obj.terminal
    with pinned():
        points = list(run(scale=QUICK if quick else 1.0, rounds=rounds, progress=terminal.show))
    command = f"python -m benchmarks growth{' --quick' if quick else ''} --rounds {rounds}"
    for path in write(points, out, command=command, plots=plots):
        terminal.show(f"wrote {path}")
