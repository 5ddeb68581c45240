"""``python -m benchmarks frames``: routing of DataFrames beside functions that return constants, classic and on Connect."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.options import out_option, plots_option, quick_option, rounds_option

__all__ = ["frames"]

QUICK = 20_000
"""Messages of a quick run."""


@click.command(short_help="Measure routing of Spark's DataFrames.")
@out_option("frames.csv, frames.md and frames.svg")
@click.option("--messages", type=click.IntRange(1000), default=1_000_000, show_default=True, help="Rows to route.")
@quick_option("Few messages")
@rounds_option(3)
@plots_option
@click.pass_context
def frames(context: click.Context, *, out: Path, messages: int, quick: bool, rounds: int, plots: bool) -> None:
    """Measure spark.route(df), written to Parquet, beside an Arrow UDF and a mapInArrow of the same form that return
    constant columns, in a classic session and on Spark Connect.

    Processor time of Java and of the Python workers, read from /proc: Linux only. Takes about six minutes.

    \b
    Example:
      python -m benchmarks frames --out /tmp/figures
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.frames import run, write

    terminal = context.obj.terminal
    messages = QUICK if quick else messages
    figures = run(messages=messages, rounds=rounds, progress=terminal.show)
    command = f"python -m benchmarks frames --messages {messages} --rounds {rounds}"
    for path in write(figures, out, command=command, plots=plots):
        terminal.show(f"wrote {path}")
