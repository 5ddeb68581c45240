"""``python -m benchmarks seeds``: the tables of published articles, measured again."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.options import out_option, plots_option, quick_option

__all__ = ["seeds"]


@click.command(short_help="Measure the tables of published articles again.")
@out_option("seeds.csv, seeds.md and the plots")
@quick_option("The same tables with less of everything, in less than a minute")
@plots_option
@click.pass_context
def seeds(context: click.Context, *, out: Path, quick: bool, plots: bool) -> None:
    """Measure the tables of published articles again: every matcher, in one run on this machine.

    Latency, throughput, memory, and mixes of reads and writes from Tyler Treat's articles, RabbitMQ's factor for
    splitting keys once, and the skipfilter's case, each beside the published figure. Takes some minutes.

    \b
    Example:
      python -m benchmarks seeds --quick --out /tmp/figures
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.seeds import Scale, run, write

    terminal = context.obj.terminal
    with terminal.progress("steps") as report:
        rows = list(run(Scale.quick() if quick else Scale.full(), report))
    for path in write(rows, out, quick=quick, plots=plots):
        terminal.show(f"wrote {path}")
