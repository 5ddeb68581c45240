"""``dfa-router diff``: what a change of definitions does to messages."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dfa_router.cli.definition_options import (
    broker_option,
    check_messages_given,
    listing_option,
    tell_loading,
    vhost_option,
)
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.options import count_option, json_option
from dfa_router.cli.tables import more_than, plain, shown, table_of, title
from dfa_router.cli.terminal import write_report
from dfa_router.errors import OptionError
from dfa_router.file_names import local_name
from dfa_router.inspection.comparison import Comparison, Sample, compare_messages
from dfa_router.inspection.imports import Declared, Import, declared_differences, import_over
from dfa_router.inspection.witnesses import Change, Changes, changes_between
from dfa_router.logs.formats import FORMATS, format_of
from dfa_router.logs.scanning import plan_log
from dfa_router.rabbitmq import load_definitions

__all__ = ["diff"]


@click.command(
    short_help="Tell what a change of RabbitMQ definitions does to messages.",
    epilog="Example: dfa-router diff deployed.json proposed.json --messages yesterday.parquet",
)
@click.argument("old")
@click.argument("new")
@listing_option
@broker_option
@click.option(
    "--messages",
    type=local_name,
    metavar="PATH",
    help="A log, as 'dfa-router route' takes it: how many of its messages change hands, and which.",
)
@click.option(
    "--format", "kind", type=click.Choice(list(FORMATS)), help="Of the messages.  [default: by their file names]"
)
@vhost_option
@count_option("--top", 10, "Length of each list; 0 is all.", least=0)
@json_option
@click.pass_context
def diff(
    context: click.Context,
    *,
    old: str,
    new: str,
    listings: tuple[str, ...],
    broker: str | None,
    messages: str | None,
    kind: str | None,
    vhost: str,
    top: int,
    as_json: bool,
) -> None:
    """Compare two definitions by what they do: OLD and NEW.

    For each exchange that clients publish to, it tells which queues, and which exchanges behind it, get messages that they did not get
    before, and which no longer get some, each with a shortest routing key of such a message; messages with CC or BCC, which have several keys, are left out here. It tells what importing NEW into a
    broker with OLD does, which removes nothing, and where the import would end in an error. With a log, its messages are routed by
    both and counted.

    OLD and NEW are files that 'rabbitmqctl export_definitions' wrote, addresses of management APIs, or one of them '-', standard input.
    A listing is added to both.

    Exit codes: 0 no message goes elsewhere and the import would not fail, 1 otherwise, 2 wrong usage or input, 130 interrupted,
    143 terminated.
    """
    terminal = context.obj.terminal
    check_messages_given(messages, kind)
    if old == new == "-":
        raise OptionError("OLD and NEW cannot both be standard input: save one of them to a file")
    if messages is not None:
        kind = format_of(messages, kind)
    with terminal.progress("exchanges", {"reading": "messages", "routing": "messages"}) as report:
        tell_loading(report)
        before, after = (load_definitions(one, vhost, broker=broker, listings=listings) for one in (old, new))
        changes = changes_between(before, after, report=report)
        added, removed = declared_differences(before, after)
        imported = import_over(before, after)
        compared = None
        if messages is not None and kind is not None:
            plan = plan_log(messages, kind, report=report)
            compared = compare_messages(before, after, plan, vhost=vhost, report=report)
    if as_json:
        machine = {
            **asdict(changes),
            "added": asdict(added),
            "removed": asdict(removed),
            "import": asdict(imported),
            "messages": None if compared is None else _machine(compared),
        }
        click.echo(json.dumps(machine, ensure_ascii=False))
    else:
        write_report(_parts(changes, added, removed, imported, compared, top or None))
    if changes.changes or changes.unsearched or imported.failures or (compared is not None and compared.moved):
        context.exit(ExitCode.FOUND)


def _machine(compared: Comparison) -> dict[str, object]:
    machine = asdict(compared)

    def named(samples: Sequence[Sample]) -> list[dict[str, str | None]]:
        return [sample._asdict() for sample in samples]

    machine["unroutable_samples"] = named(compared.unroutable_samples)
    for told, one in zip(machine["queues"], compared.queues, strict=True):
        told["gained_samples"], told["lost_samples"] = named(one.gained_samples), named(one.lost_samples)
    return machine


def _parts(
    changes: Changes,
    added: Declared,
    removed: Declared,
    imported: Import,
    compared: Comparison | None,
    top: int | None,
) -> Iterator[RenderableType]:
    yield _declared(added, removed)
    if changes.changes:
        yield from _changes(changes.changes, top)
    elif not changes.unsearched:
        yield "\nno message goes elsewhere, whatever its key (CC and BCC, which are further keys, are left out)"
    yield from _unsearched(changes.unsearched, top)
    yield from _import(imported, top)
    if compared is not None:
        yield from _compared(compared, top)


def _declared(added: Declared, removed: Declared) -> Table:
    table = table_of("declared", "added", "removed", numbers=2)
    for what in ("vhosts", "exchanges", "queues", "bindings"):
        table.add_row(what, *(f"{len(getattr(some, what)):,}" for some in (added, removed)))
    return table


def _changes(changes: Sequence[Change], top: int | None) -> Iterator[RenderableType]:
    yield title("who gets other messages, with a shortest key")
    order = {"nobody": 0, "queue": 1, "exchange": 2}
    # Each queue that is new or gone changes the default exchange; what others send elsewhere says more.
    ranked = sorted(changes, key=lambda one: (not one.exchange, order[one.kind], one.gained))
    table = table_of("published to", "change", "who", "routing key", numbers=0)
    for one in ranked[:top]:
        who = Text("becomes unroutable" if one.gained else "becomes routable") if one.kind == "nobody" else None
        if who is None:
            who = Text.assemble(f"{one.kind} ", shown(one.destination))
        sign = Text("") if one.kind == "nobody" else Text("gains" if one.gained else "loses")
        table.add_row(_place(one.exchange or "(default)", one.vhost), sign, who, shown(one.key))
    yield table
    yield from more_than(top, len(ranked))


def _unsearched(unsearched: Sequence[tuple[str, str, str]], top: int | None) -> Iterator[str]:
    """Yield a line for each reason: one exchange in the middle is a reason for all that are in front of it."""
    exchanges: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for vhost, exchange, reason in unsearched:
        exchanges[vhost, reason].append(plain(exchange) or "all")
    for (vhost, reason), names in list(exchanges.items())[:top]:
        more = f" and {len(names) - top:,} more (--top 0 shows all)" if top is not None and len(names) > top else ""
        yield f"{', '.join(names[:top])}{more} of {plain(vhost)}: {plain(reason)}"
    yield from more_than(top, len(exchanges), "reason", "why exchanges were not searched to the end")


def _place(name: str, vhost: str) -> Text:
    return shown(name) if vhost == "/" else Text(f"{plain(name)} ({plain(vhost)})")


def _import(imported: Import, top: int | None) -> Iterator[RenderableType]:
    if imported.failures:
        first = imported.failures[0]
        if first.since is None:
            yield title(
                "the import leaves this out without a word (RabbitMQ 3.10), or ends in an error there (newer ones)"
            )
        else:
            yield title(f"the import into RabbitMQ {first.since} or later ends in an error at {first.place}")
        for failure in imported.failures[:top]:
            version = "" if failure.since is None else f" (from {failure.since} on)"
            yield f"{failure.place}{version}: {plain(failure.reason)}: {failure.remedy}"
        yield from more_than(top, len(imported.failures))
    for heading, lines in (
        ("an import removes nothing: these bindings stay until they are unbound", imported.staying),
        ("an import changes nothing that exists", imported.keeping),
    ):
        if lines:
            yield title(heading)
            yield from (plain(line) for line in lines[:top])
            yield from more_than(top, len(lines))


def _compared(compared: Comparison, top: int | None) -> Iterator[RenderableType]:
    yield title("messages of the log")
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")
    for label, count in (
        ("messages", compared.messages),
        ("go to other queues", compared.moved),
        ("become unroutable", compared.becoming_unroutable),
        ("become routable", compared.becoming_routable),
        ("get more copies", compared.more_copies),
        ("get fewer copies", compared.fewer_copies),
        ("unroutable before", compared.unroutable_before),
        ("unroutable after", compared.unroutable_after),
        ("undecided (they reach exchanges that are not simulated)", compared.undecided),
    ):
        table.add_row(label, f"{count:,}")
    if compared.problem_rows:
        table.add_row("rows with problems", f"{compared.problem_rows:,}")
    yield table
    if compared.queues:
        yield title("queues that gain or lose messages")
        lines = table_of("queue", "example", "before", "after", "gained", "lost", numbers=4)
        for one in compared.queues[:top]:
            sample = (one.lost_samples or one.gained_samples)[0]
            example = f"{plain(sample.exchange or '')} {plain(sample.routing_key or '')}"
            counts = (f"{count:,}" for count in (one.before, one.after, one.gained, one.lost))
            lines.add_row(_place(one.queue, one.vhost), Text(example), *counts)
        yield lines
        yield from more_than(top, len(compared.queues), "queue")
