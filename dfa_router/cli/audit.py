"""``dfa-router audit``: what in a topology can hardly be meant, and what a log does to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dfa_router.cli.definition_options import (
    broker_option,
    check_messages_given,
    definitions_option,
    listing_option,
    tell_loading,
    vhost_option,
)
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.options import count_option, json_option
from dfa_router.cli.tables import LONG_KEY, more_than, plain, shown, table_of, title
from dfa_router.cli.terminal import write_report
from dfa_router.cli.written import check_place, written
from dfa_router.file_names import local_name
from dfa_router.inspection.audit import SIZES, Audit, Traffic, audit_of
from dfa_router.inspection.times import NAMES
from dfa_router.logs.formats import FORMATS, format_of
from dfa_router.logs.scanning import plan_log
from dfa_router.rabbitmq import Topology, load_definitions
from dfa_router.siblings import check_sibling

__all__ = ["audit"]

EDGES = 60
"""Bindings in the picture of a report: those with most messages."""


@click.command(
    short_help="Look over RabbitMQ definitions, and what a log does to them.",
    epilog="Example: dfa-router audit --definitions defs.json --messages log.parquet --html audit.html",
)
@definitions_option
@listing_option
@broker_option
@click.option(
    "--messages",
    type=local_name,
    metavar="PATH",
    help=f"A log, as 'dfa-router route' takes it. Of its columns, the first of {', '.join(NAMES)} tells when a message was sent, or "
    f"else the first of times; the first of {', '.join(SIZES)} how large it was.",
)
@click.option(
    "--format", "kind", type=click.Choice(list(FORMATS)), help="Of the messages.  [default: by their file names]"
)
@vhost_option
@click.option(
    "--html",
    type=local_name,
    metavar="FILE",
    help="Write a report to this file: one page, with charts, that needs no network.",
)
@count_option("--top", 10, "Length of each list; 0 is all.", least=0)
@json_option
@click.pass_context
def audit(
    context: click.Context,
    *,
    definitions: str,
    listings: tuple[str, ...],
    broker: str | None,
    messages: str | None,
    kind: str | None,
    vhost: str,
    html: str | None,
    top: int,
    as_json: bool,
) -> None:
    """Tell what in definitions can hardly be meant, and with a log what becomes of its messages.

    Without a log: binding keys whose wildcard is none, names that nobody declares, queues and exchanges that lead nowhere, bindings
    that newer brokers refuse. With one: messages that nobody gets and the bindings nearest to them, bindings and queues that matched
    nothing, the hottest bindings, copies per message and per queue.

    Each message counts as routed, unroutable or undecided. One with a problem, such as an exchange that is not there, counts among the
    rows with problems as well.

    Exit codes: 0 nothing was found but notes, 1 there are warnings or unroutable messages, 2 wrong usage or input, 3 the machine
    lacks something, 130 interrupted, 143 terminated.
    """
    terminal = context.obj.terminal
    check_messages_given(messages, kind)
    if messages is not None:
        kind = format_of(messages, kind)
    if html is not None:
        from dfa_router.inspection.charts import check_charts

        check_charts()  # before the work, not after it
        check_place(html, "--html")
    with terminal.progress("keys", {"reading": "messages", "routing": "messages"}) as report:
        tell_loading(report)
        topology = load_definitions(definitions, vhost, broker=broker, listings=listings)
        plan = None if messages is None or kind is None else plan_log(messages, kind, report=report)
        found = audit_of(topology, plan, vhost=vhost, report=report)
    if as_json:
        click.echo(json.dumps(asdict(found), ensure_ascii=False))
    else:
        write_report(_parts(found, top or None))
    if html is not None:
        terminal.show(_written(html, found, topology))
    if found.has_found:
        context.exit(ExitCode.FOUND)


def _written(html: str, found: Audit, topology: Topology) -> str:
    from dfa_router.inspection.report import page_of

    picture, why_none = _picture(found, topology)
    page = page_of(found, picture=picture, why_none=why_none)
    with written(html, "--html"):
        Path(html).write_text(page, encoding="utf-8", errors="replace")
    return f"\nwrote {html}" if why_none is None else f"\nwrote {html}, without a picture of the topology: {why_none}"


def _picture(found: Audit, topology: Topology) -> tuple[str | None, str | None]:
    """Return the busiest part of the topology as SVG, each binding with its messages; or why there is no picture."""
    if found.traffic is None or not found.traffic.bindings:
        return None, None
    check_sibling("viz")
    from viz.errors import DrawingTooLargeError, RendererError
    from viz.formats.files import to_svg

    graph = topology.graph()
    counts = {one.position: one.messages for one in found.traffic.bindings}
    busy = {one.position for one in found.traffic.bindings[:EDGES] if one.messages}
    edges = list(graph.edges(keys=True, data=True))
    visited = {node for tail, head, _, data in edges if data.get("position") in busy for node in (tail, head)}
    for tail, head, key, data in edges:
        position = data.get("position")
        # Of alternates and dead letters only those of what is drawn: any number of queues may send theirs to one exchange.
        kept = tail in visited if position is None else position in busy
        if not kept:
            graph.remove_edge(tail, head, key)
        elif position is not None:
            data["label"] = f"{data['label']}  {counts[position]:,}"
    graph.remove_nodes_from([node for node in list(graph) if graph.degree(node) == 0])
    if not len(graph):
        return None, None
    try:
        return to_svg(graph, theme="light"), None
    except (DrawingTooLargeError, RendererError) as error:  # the rest of the report stands without it
        return None, str(error)


def _parts(found: Audit, top: int | None) -> Iterator[RenderableType]:
    yield found.size_in_words
    if found.findings:
        yield title("findings in the declarations")
        table = table_of("severity", "rule", "what", numbers=0)
        for one in found.findings[:top]:
            table.add_row(
                Text(one.severity, style="bold" if one.severity == "warning" else "dim"), one.rule, shown(one.text)
            )
        yield table
        yield from more_than(top, len(found.findings))
    if found.traffic is not None:
        yield from _traffic(found.traffic, top)


def _traffic(traffic: Traffic, top: int | None) -> Iterator[RenderableType]:
    yield title("messages")
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")
    for name in ("messages", "routed", "unroutable", "undecided", "copies"):
        table.add_row(name, f"{getattr(traffic, name):,}")
    if traffic.problem_rows:
        table.add_row("rows with problems", f"{traffic.problem_rows:,}")
    idle_queues = sum(not one.messages for one in traffic.queues)
    idle_bindings = sum(not one.messages for one in traffic.bindings)
    table.add_row("queues that got nothing", f"{idle_queues:,} of {len(traffic.queues):,}")
    table.add_row("bindings that matched nothing", f"{idle_bindings:,} of {len(traffic.bindings):,}")
    yield table
    yield title("copies of a message")
    fan_out = table_of("copies", "messages", numbers=2)
    for copies, count in list(traffic.fan_out.items())[:top]:
        fan_out.add_row(f"{copies:,}", f"{count:,}")
    yield fan_out
    yield from more_than(top, len(traffic.fan_out))
    if traffic.unroutable_keys:
        yield title("unroutable messages, and the binding nearest to them")
        lines = table_of("exchange", "routing key", "nearest", "messages")
        for one in traffic.unroutable_keys[:top]:
            near = shown(one.nearest[0]) if one.nearest else Text("none", style="dim")
            lines.add_row(shown(one.exchange), shown(one.routing_key, LONG_KEY), near, f"{one.messages:,}")
        yield lines
        yield from more_than(top, len(traffic.unroutable_keys))
    yield title("hottest bindings")
    hot = table_of("binding", "messages")
    matched = [one for one in traffic.bindings if one.messages]
    for binding in matched[:top]:
        hot.add_row(shown(binding.binding), f"{binding.messages:,}")
    yield hot
    yield from more_than(top, len(matched))
    cold = [one for one in traffic.bindings if not one.messages]
    if cold:
        yield title("bindings that matched nothing")
        yield from (f"bindings[{one.position}]: {plain(one.binding)}" for one in cold[:top])
        yield from more_than(top, len(cold))
