"""``dfa-router replay``: what a broker has traced, routed by definitions and compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import click
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dfa_router.cli.definition_options import (
    broker_option,
    definitions_option,
    listing_option,
    tell_loading,
    vhost_option,
)
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.options import count_option, json_option
from dfa_router.cli.tables import plain, shown
from dfa_router.cli.terminal import write_report
from dfa_router.counted import counted
from dfa_router.errors import MessagesError
from dfa_router.file_names import local_name
from dfa_router.inspection.replay import CAUSES, Difference, Replay
from dfa_router.inspection.replay import replay as replayed
from dfa_router.logs.formats import format_of
from dfa_router.logs.scanning import plan_log
from dfa_router.rabbitmq import load_definitions

__all__ = ["replay"]


@click.command(
    short_help="Route what a RabbitMQ has traced, and compare the queues.",
    epilog="Example: dfa-router replay --definitions defs.json --trace /var/tmp/rabbitmq-tracing/all.log",
)
@definitions_option
@listing_option
@broker_option
@click.option(
    "--trace",
    type=local_name,
    required=True,
    metavar="PATH",
    help="What RabbitMQ's tracing plugin wrote, in JSON or as text: a file, a folder, or a pattern.",
)
@vhost_option
@count_option("--top", 10, "How many groups of differences are shown; 0 is all.", least=0)
@json_option
@click.pass_context
def replay(
    context: click.Context,
    *,
    definitions: str,
    listings: tuple[str, ...],
    broker: str | None,
    trace: str,
    vhost: str,
    top: int,
    as_json: bool,
) -> None:
    """Tell whether definitions route as the broker did when it was traced.

    Each message that a client published is routed and compared with the queues in the broker's record. Differences are grouped by
    their cause and by the binding or queue that they hang on, each with an example. What queues delivered is left out.

    Exit codes: 0 all messages go where the broker routed them, 1 some do not, 2 wrong usage or input, 130 interrupted, 143
    terminated.
    """
    terminal = context.obj.terminal
    format_of(trace, "trace")
    with terminal.progress(units={"reading": "messages", "routing": "messages"}) as report:
        tell_loading(report)
        topology = load_definitions(definitions, vhost, broker=broker, listings=listings)
        found = replayed(topology, plan_log(trace, "trace", report=report), report=report)
    if as_json:
        causes = {one.cause: CAUSES[one.cause] for one in found.differences}
        click.echo(json.dumps({**asdict(found), "causes": causes}, ensure_ascii=False))
    else:
        write_report(_parts(found, top))
    if (
        found.messages and found.unreadable == found.messages
    ):  # else a log of something else would pass for one that agrees
        raise MessagesError(
            f"{trace}: nothing was compared, as no record of a publication could be read: give what RabbitMQ's plugin rabbitmq_tracing "
            "writes"
        )
    if found.differing:
        context.exit(ExitCode.FOUND)


def _parts(found: Replay, top: int) -> Iterator[RenderableType]:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")
    rows = [
        ("messages", found.messages, True),
        ("routed as the broker did", found.agreeing, True),
        ("routed otherwise", found.differing, True),
        ("named an absent queue on the default exchange", found.expected, False),
        ("undecided (they reach exchanges that are not simulated)", found.undecided, False),
        ("records that could not be read", found.unreadable, False),
        ("records without routed queues", found.without_queues, False),
    ]
    for label, count, always in rows:
        if count or always:
            table.add_row(label, f"{count:,}")
    yield table
    if not found.messages:
        yield "nothing was compared: no client published a message while the broker was traced, or the trace has deliveries alone (pattern deliver.#)"
    for name, count in found.not_simulated.items():
        yield f"{counted(count, 'message')} {'reaches' if count == 1 else 'reach'} {name!r}, whose type is not simulated"
    for problem, count in found.problems.items():
        yield f"{counted(count, 'record')}: {problem}"
    listed = found.differences[: top or None]
    for difference in listed:
        yield from _difference(difference)
    if len(listed) < len(found.differences):
        yield f"\n... and {counted(len(found.differences) - len(listed), 'more group')}; --top 0 shows all"


def _difference(one: Difference) -> Iterator[RenderableType]:
    where = f" queue {one.queue!r}" if one.queue is not None else ""
    yield Text(f"\n{counted(one.messages, 'message')}: {one.cause}{where}", style="bold")
    yield Padding(Text(CAUSES[one.cause]), (0, 0, 0, 2))
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    if one.binding is not None:
        table.add_row("  binding", shown(one.binding))
    keys = ", ".join(plain(key) or '""' for key in one.example["routing_keys"])
    table.add_row(
        "  example", Text(f"{plain(one.example['timestamp'])}  exchange {one.exchange!r} of {one.vhost!r}, key {keys}")
    )
    table.add_row("  the broker", shown(", ".join(one.example["recorded"]) or "nobody"))
    table.add_row("  here", shown(", ".join(one.example["ours"]) or "nobody"))
    yield table
