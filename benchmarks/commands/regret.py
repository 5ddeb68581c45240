"""``python -m benchmarks regret``: what deciding by counting costs over the best fixed choice."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.options import new_seed_option, out_option, quick_option, rounds_option

__all__ = ["regret"]

QUICK = 0.1
"""The share of the keys that a quick run makes."""


@click.command(short_help="Hold what the engine decides by counting against every fixed choice.")
@new_seed_option
@click.option("--families", type=click.IntRange(1), default=40, show_default=True, help="Families to draw.")
@out_option("regret.csv and regret.md")
@quick_option("A tenth of the keys")
@rounds_option(3)
@click.pass_context
def regret(context: click.Context, *, seed: int, families: int, out: Path, quick: bool, rounds: int) -> None:
    """Measure the lazy DFA as it decides by counting beside each of its fixed choices: key cache, rows, doorkeeper, simulating,
    and shares of memory; in the first pass, warm, and after the keys have changed.

    Each run draws other families, unless it is given the seed that another one has printed. Takes an hour at most. A regret over
    the target is reported as such; answers that disagree end the run.

    \b
    Examples:
      python -m benchmarks regret
      python -m benchmarks regret --quick --families 10 --out /tmp/figures
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.measure import pinned
    from benchmarks.regret import run, write
    from benchmarks.regret.child import MEASURES
    from benchmarks.regret.page import summary

    terminal = context.obj.terminal
    terminal.show(f"seed {seed}")
    found = []
    with pinned():
        for one in run(families, seed=seed, scale=QUICK if quick else 1.0, rounds=rounds, progress=terminal.show):
            found.append(one)
            terminal.show("  " + ", ".join(f"{measure} {one.regret(measure):.2f}" for measure in MEASURES))
    for measure, median, worst, noise, over in summary(found):
        figures = f"median {median:.2f}, worst {worst:.2f}, noise {noise:.2f}, {over} of {len(found)} over the target"
        terminal.show(f"{measure}: {figures}")
    options = [f"--seed {seed}", f"--families {families}", *(["--quick"] if quick else []), f"--rounds {rounds}"]
    for path in write(found, out, command=" ".join(["python -m benchmarks regret", *options])):
        terminal.show(f"wrote {path}")
