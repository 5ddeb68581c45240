"""``dfa-router bench growth``: how time and bytes grow with bindings, words and ``#``."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["growth"]

QUICK = 0.1
"""The share of the keys that a quick run matches."""


@click.command(short_help="Measure how cost grows with bindings, words and #.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("benchmarks"),
    show_default=True,
    help="The folder for growth.csv, growth.md and growth.svg; files of an earlier run are replaced.",
)
@click.option("--quick", is_flag=True, help="Fewer keys and at most 10,000 bindings: to see it work, not to quote.")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True, help="Rounds to take the median of.")
@click.option("--plots/--no-plots", default=True, show_default=True, help="Draw the plot, which needs matplotlib.")
@click.pass_context
def growth(context: click.Context, *, out: Path, quick: bool, rounds: int, plots: bool) -> None:
    """Measure how time per key and bytes grow: with the number of bindings from a hundred to a million, with the words
    of a key from 1 to 64, and with the share of patterns that have a # from none to half.

    The lazy DFA warm and cold, the simulated NFA, the compiled trie and pyarrow's index_in take turns; those that match
    are held to each other. Takes about three minutes.

    \b
    Example:
      dfa-router bench growth --out /tmp/figures
    """  # noqa: D301 - click wants the control character itself
    from dfa_router.bench.growth import run, write
    from dfa_router.bench.measure import pinned
    from dfa_router.bench.plotting import check_installed

    if plots:
        check_installed()  # before the run, not after it
    terminal = context.obj.terminal
    with pinned():
        points = list(run(scale=QUICK if quick else 1.0, rounds=rounds, progress=terminal.show))
    command = f"dfa-router bench growth{' --quick' if quick else ''}"
    for path in write(points, out, command=command, plots=plots):
        terminal.show(f"wrote {path}")
