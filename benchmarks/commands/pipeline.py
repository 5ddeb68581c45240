"""``python -m benchmarks pipeline``: what routing a log costs beside reading and writing it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.options import out_option, plots_option, rounds_option

__all__ = ["pipeline"]


@click.command(short_help="Measure dfa-router route beside a loop that only reads and writes.")
@out_option("pipeline.csv, pipeline.md and pipeline.svg")
@click.option("--messages", type=click.IntRange(1), default=10_000_000, show_default=True, help="Of the log.")
@click.option("--cores", type=click.IntRange(1), default=2, show_default=True, help="That Spark is given.")
@click.option(
    "--work",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="Where the log and results are made, and removed at the end; 200 bytes a message.  [default: the system's]",
)
@click.option(
    "--before",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="A checkout of an older version, whose command takes part in the first round.",
)
@click.option("--recount/--no-recount", default=True, show_default=True, help="Compare the counts with DuckDB's.")
@rounds_option(3)
@plots_option
@click.pass_context
def pipeline(
    context: click.Context,
    *,
    out: Path,
    messages: int,
    cores: int,
    work: Path | None,
    before: Path | None,
    recount: bool,
    rounds: int,
    plots: bool,
) -> None:
    """Route a log of the demo's messages, Parquet to Parquet, and compare with a loop that reads and writes as much.

    Processor time is that of all processes together; starting Java and Spark is measured apart, by a log of a few messages. Needs
    Linux, Java and about five minutes for ten million messages.

    \b
    Example:
      python -m benchmarks pipeline --messages 100_000_000 --rounds 1 --work /data
    """  # noqa: D301 - click wants the control character itself
    from benchmarks import pipeline as measuring

    terminal = context.obj.terminal
    with TemporaryDirectory(prefix="dfa-router-pipeline-", dir=work) as folder:
        turns = measuring.run(
            Path(folder), messages=messages, rounds=rounds, cores=cores, before=before, progress=terminal.show
        )
        runs = list(turns)
        counted = measuring.recount(Path(folder, "routed"), Path(folder, "log.counts")) if recount else None
    command = f"python -m benchmarks pipeline --messages {messages} --cores {cores} --rounds {rounds}"
    if before is not None:
        command += " --before CHECKOUT"
    named = "" if before is None else measuring.commit_of(before)
    for path in measuring.write(runs, out, command=command, recounted=counted, before=named, plots=plots):
        terminal.show(f"wrote {path}")
