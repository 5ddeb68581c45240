"""``python -m benchmarks seeds``: the tables of published articles, measured again, and their claims."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.options import out_option, plots_option, quick_option
from dfa_router.errors import OptionError

__all__ = ["seeds"]


@click.command(short_help="Measure the tables of published articles again.")
@out_option("seeds.csv, seeds.md, seeds-claims.md and the plots")
@quick_option("The same tables with less of everything, in two minutes")
@plots_option
@click.option(
    "--free-threaded",
    metavar="PYTHON",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A Python without the global lock, with numpy, for the tables of several threads: "
    "scripts/free_threaded.sh builds one.",
)
@click.option(
    "--claim",
    metavar="NAME",
    help="Measure what one claim needs, and judge it alone; writes no file. seeds-claims.md has the names.",
)
@click.pass_context
def seeds(
    context: click.Context, *, out: Path, quick: bool, plots: bool, free_threaded: Path | None, claim: str | None
) -> None:
    """Measure the tables of published articles again, and judge their claims: every matcher, in one run on this machine.

    Latency, throughput, memory, and mixes of reads and writes from Tyler Treat's articles, RabbitMQ's factor for
    splitting keys once, ZeroMQ's fields, and the skipfilter's case, each beside the published figure. Takes some minutes.

    \b
    Examples:
      python -m benchmarks seeds --quick --out /tmp/figures
      python -m benchmarks seeds --claim automata.split-once
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.seeds import Scale, run, write
    from benchmarks.seeds.claims import CLAIMS
    from benchmarks.seeds.pages.claims import verdict_lines
    from benchmarks.seeds.suite import TABLES
    from benchmarks.seeds.threads.interpreters import check_free_threaded

    if free_threaded is not None:
        free_threaded = free_threaded.absolute()  # not resolved: a virtual environment is known by its link
        check_free_threaded(free_threaded)
    terminal = context.obj.terminal
    judged = next((one for one in CLAIMS if one.name == claim), None)
    if claim is not None and judged is None:
        raise OptionError(f"there is no claim {claim!r}: seeds-claims.md lists them, such as {CLAIMS[0].name}")
    tables = TABLES if judged is None else judged.tables
    with terminal.progress("steps") as report:
        scale = Scale.quick() if quick else Scale.full()
        rows = list(run(scale, report, tables=tables, free_threaded=free_threaded))
    if judged is not None:
        for line in [*verdict_lines(judged, rows), f"  {judged.command}"]:
            click.echo(line)
        return
    for path in write(rows, out, quick=quick, plots=plots):
        terminal.show(f"wrote {path}")
