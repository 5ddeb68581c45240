"""``python -m benchmarks topology``: what a message costs from exchange to queues."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.options import out_option, plots_option, quick_option, rounds_option, seed_option

__all__ = ["topology"]

MESSAGES, QUICK = 400_000, 20_000


@click.command(short_help="Measure routing through topologies, beside matching keys alone.")
@out_option("topology.csv, topology.md and topology.svg")
@quick_option("A twentieth of the messages")
@rounds_option(5)
@seed_option
@plots_option
@click.pass_context
def topology(context: click.Context, *, out: Path, quick: bool, rounds: int, seed: int, plots: bool) -> None:
    """Measure what a message costs from exchange to queues, in batches of 100,000, 4,096 and 256: the demo's messages, a few of
    them that recur, and topologies that are drawn from the seed. Beside it stands what matching the key alone costs.

    Takes about a minute.

    \b
    Example:
      python -m benchmarks topology --seed 7 --out /tmp/figures
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.measure import pinned
    from benchmarks.topology import run, write

    terminal = context.obj.terminal
    count = QUICK if quick else MESSAGES
    with pinned():
        figures = list(run(messages=count, rounds=rounds, seed=seed, progress=terminal.show))
    command = f"python -m benchmarks topology{' --quick' if quick else ''} --rounds {rounds} --seed {seed}"
    for path in write(figures, out, command=command, plots=plots):
        terminal.show(f"wrote {path}")
