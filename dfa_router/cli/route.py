"""``dfa-router route``: a message log through a topology, on Spark."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from compiler.kernels.aside import in_background
from compiler.prepare import compile_kernels
from dfa_router.build import compile
from dfa_router.cli.definition_options import (
    broker_option,
    definitions_option,
    listing_option,
    tell_loading,
    vhost_option,
)
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.options import cache_bytes_option, count_option, json_option
from dfa_router.cli.spark_session import spark_session
from dfa_router.cli.tables import LONG_KEY, shown, table_of, title
from dfa_router.counted import counted
from dfa_router.engines.registry import engine_info, engines
from dfa_router.file_names import local_name
from dfa_router.rabbitmq import Topology, load_definitions

if TYPE_CHECKING:
    from dfa_router.spark.job import Summary

__all__ = ["route"]

_FORMATS = ("parquet", "jsonl", "csv", "trace")
_ENGINES = [
    info.name
    for info in map(engine_info, engines())
    if info.complete_many and not info.needs_topics and {"amqp", "exact"} <= set(info.dialects)
]
"""The matchers that can do whatever a topology asks of them."""


SLOW_SECONDS = 60.0
"""From which time on a job is told how it would be faster."""


@click.command(
    short_help="Route a message log through a RabbitMQ topology, on Spark.",
    epilog="Example: dfa-router route --definitions defs.json --messages log.parquet --out routed",
)
@definitions_option
@click.option(
    "--messages",
    required=True,
    type=local_name,
    metavar="PATH",
    help="A file, a folder, a pattern such as 'logs/*.jsonl', a Delta or Iceberg table ('table@v3' for a version of it), or a URI "
    "that Spark can read, with the columns exchange, routing_key and perhaps vhost; or what RabbitMQ's tracing plugin wrote.",
)
@click.option(
    "--out",
    required=True,
    type=local_name,
    metavar="FOLDER",
    help="Where the result goes: the messages, with their queues.",
)
@click.option("--format", "kind", type=click.Choice(_FORMATS), help="Of the messages.  [default: by their file names]")
@click.option(
    "--out-format",
    "out_kind",
    type=click.Choice(_FORMATS[:-1]),
    help="Of the result.  [default: as the messages, and Parquet for a trace]",
)
@listing_option
@broker_option
@vhost_option
@click.option("--master", default="local[*]", show_default=True, help="The Spark master.")
@click.option("--engine", type=click.Choice(_ENGINES), default="dfa", show_default=True, help="The matcher.")
@cache_bytes_option(
    "The bound on the automata's caches in each Python worker. A smaller one is slower, never different."
)
@click.option(
    "--fail-on", type=click.Choice(["unroutable"]), help="Exit with 1 if there is a message that nobody gets."
)
@click.option("--overwrite", is_flag=True, help="Replace the result if it exists.")
@click.option(
    "--counts",
    type=local_name,
    metavar="FILE",
    help="Write all counts to this Parquet file: kind, vhost, name, key, messages; of keys that nobody gets, those of --top.",
)
@count_option("--top", 10, "Length of the summary's lists; 0 is all.", least=0)
@json_option
@click.pass_context
def route(
    context: click.Context,
    *,
    definitions: str,
    listings: tuple[str, ...],
    broker: str | None,
    messages: str,
    out: str,
    kind: str | None,
    out_kind: str | None,
    vhost: str,
    master: str,
    engine: str,
    cache_bytes: int,
    fail_on: str | None,
    overwrite: bool,
    counts: str | None,
    top: int,
    as_json: bool,
) -> None:
    """Tell for every message of a log which queues get it.

    The result has all rows and columns of the log, and these: queues, routed (false: nobody gets it), not_simulated
    (exchanges on the way whose type is not simulated) and problem (what was wrong with this row). Where the topology has
    exchanges that take one of their destinations, one_of has these with their candidates and shares. In CSV, lists are JSON text. No row is dropped: a line that cannot be read is kept, and says so in problem.

    Spark's workers read and write the files themselves where they can: Parquet to Parquet, and JSON lines and CSV to any format.
    What is left goes through Spark's rows, which takes several times as long, and a warning says why.

    A trace log of RabbitMQ (.log, in JSON or as text) is read as columns; what clients published is routed, and what queues
    delivered is left out.

    Each message counts as routed, unroutable or undecided. One with a problem, such as an exchange that is not there, counts among the
    rows with problems as well.

    The result lies in the folder, so that the summary is a message and goes to stderr; --json writes it to stdout.

    Exit codes: 0 routed, 1 what --fail-on names was found, 2 wrong usage or input, 3 the machine lacks something, the job
    failed, or something appeared at --out meanwhile (then the result is kept beside it, and the message says where), 130
    interrupted, 143 terminated.
    """
    terminal = context.obj.terminal
    from dfa_router.logs.formats import format_of
    from dfa_router.logs.outputs import check_output
    from dfa_router.spark.job import route_log  # it tells where there is no Spark, before kernels are compiled

    compile((), engine=engine, cache_bytes=cache_bytes)  # cheap checks, before Spark starts, which takes seconds
    check_output(messages, out, overwrite=overwrite, counts=counts)
    kind = format_of(messages, kind)
    with terminal.progress(units={"routing": "messages"}) as report, ExitStack() as cleaning:
        tell_loading(report)
        topology = load_definitions(definitions, vhost, broker=broker, listings=listings)
        started = time.monotonic()
        # Spark's workers would each compile the kernels, all at once; so they are compiled here, while Java starts.
        # They match batches, in front of no sealed tables.
        compiled = in_background(compile_kernels, batches_only=True)
        if report is not None:
            report("starting Spark", 0, 0)
        ends = context.obj.since is not None
        session = cleaning.enter_context(spark_session(terminal, master, app_name="dfa-router route", ends=ends))
        if report is not None and not compiled.done():
            report("compiling kernels, for the first time here", 0, 0)
        compiled.result()
        starting = time.monotonic() - started
        summary = route_log(
            session,
            topology,
            messages,
            out,
            kind=kind,
            out_kind=out_kind or ("parquet" if kind == "trace" else kind),
            engine=engine,
            cache_bytes=cache_bytes,
            vhost=vhost,
            overwrite=overwrite,
            top=top,
            counts=counts,
            report=report,
            alone=True,
        )
    for part in _parts(summary, starting):
        terminal.show(part)
    if as_json:
        machine = {**_machine(summary, topology), "starting_seconds": starting}
        click.echo(json.dumps(machine, ensure_ascii=False))
    if fail_on == "unroutable" and summary.unroutable:
        context.exit(ExitCode.FOUND)


def _machine(summary: Summary, topology: Topology) -> dict[str, object]:
    keys = [{"exchange": name, "routing_key": key, "messages": count} for name, key, count in summary.unroutable_keys]
    return {
        **asdict(summary),
        "unroutable_keys": keys,
        "messages_per_second": round(summary.messages_per_second),
        "warnings": [asdict(warning) for warning in topology.warnings],
    }


def _parts(summary: Summary, starting: float) -> Iterator[RenderableType]:
    yield _totals(summary)
    if summary.copies_per_queue:
        more = counted(summary.other_queues, "more queue") if summary.other_queues else None
        yield from _counts("copies per queue", "queue", summary.copies_per_queue, more, summary.other_copies)
    if summary.unroutable_keys:
        yield title("most frequent unroutable keys")
        table = table_of("exchange", "routing key", "messages")
        for name, key, count in summary.unroutable_keys:
            table.add_row(shown(name), shown(key, LONG_KEY), f"{count:,}")
        yield table
    if summary.not_simulated:
        yield from _counts("exchanges that are not simulated", "exchange", summary.not_simulated)
    if summary.problems:
        yield from _counts("problems", "problem", summary.problems)
    stages = ", ".join(f"{label} {seconds:.1f}" for label, seconds in summary.stages.items())
    rate = f"{summary.messages_per_second:,.0f} messages/s"
    yield f"\n{rate} ({summary.seconds:.1f} s: {stages}; starting Spark took {starting:.1f} s before)"
    if summary.way == "frames" and summary.seconds > SLOW_SECONDS:
        yield "Spark read and wrote each row, which takes several times as long as reading and writing files"
    yield f"the result lies in {summary.out}"


def _totals(summary: Summary) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")
    rows = [
        ("messages", summary.messages),
        ("routed", summary.routed),
        ("unroutable", summary.unroutable),
        ("undecided (they reach exchanges that are not simulated)", summary.undecided),
        ("rows with problems", summary.problem_rows),
        ("copies in all queues", summary.copies),
    ]
    for label, count in rows:
        table.add_row(label, f"{count:,}")
    return table


def _counts(
    heading: str, what: str, counts: dict[str, int], more: str | None = None, more_count: int = 0
) -> Iterator[RenderableType]:
    yield title(heading)
    table = table_of(what, "messages")
    for name, count in counts.items():
        table.add_row(shown(name), f"{count:,}")
    if more is not None:
        table.add_row(Text(more, style="italic"), f"{more_count:,}")
    yield table
