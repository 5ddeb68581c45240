"""``dfa-router bench engine``: the automata beside whole-key look-ups and the matchers that people use."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["engine"]

QUICK = 0.02
"""The share of each workload that a quick run makes."""


@click.command(short_help="Measure the automata beside hash joins and other matchers.")
@click.argument("workloads", nargs=-1)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("benchmarks"),
    show_default=True,
    help="The folder for engine.csv, engine.md and engine.svg; files of an earlier run are replaced.",
)
@click.option("--quick", is_flag=True, help="Small workloads, in about a minute: to see it work, not to quote.")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True, help="Rounds to take the median of.")
@click.option("--plots/--no-plots", default=True, show_default=True, help="Draw the plot, which needs matplotlib.")
@click.pass_context
def engine(
    context: click.Context, *, workloads: tuple[str, ...], out: Path, quick: bool, rounds: int, plots: bool
) -> None:
    """Measure nanoseconds per key, as a ratio to pyarrow's index_in in the same run.

    WORKLOADS are among throughput, stock, fleet, hard, rabbit2011, nservicebus and repeat; all by default. Peers that
    are not installed are left out and named.

    \b
    Example:
      dfa-router bench engine stock fleet --out /tmp/figures
    """  # noqa: D301 - click wants the control character itself
    from dfa_router.bench.engine import WORKLOADS, run, write
    from dfa_router.bench.measure import pinned
    from dfa_router.bench.plotting import check_installed

    unknown = sorted(set(workloads) - set(WORKLOADS))
    if unknown:
        raise click.BadParameter(f"no workload {unknown[0]!r}: use {', '.join(WORKLOADS)}", param_hint="WORKLOADS")
    if plots:
        check_installed()  # before the run, not after it
    terminal = context.obj.terminal
    names = workloads or tuple(WORKLOADS)
    rows = []
    with pinned():
        for row in run(names, scale=QUICK if quick else 1.0, rounds=rounds, progress=terminal.show):
            rows.append(row)
            if row.ratio is not None:
                terminal.show(f"  {row.contestant}: {row.ns_per_key:,.0f} ns/key, {row.ratio:.2f} x index_in")
    command = " ".join(["dfa-router bench engine", *workloads, *(["--quick"] if quick else [])])
    for path in write(rows, out, command=command, plots=plots):
        terminal.show(f"wrote {path}")
