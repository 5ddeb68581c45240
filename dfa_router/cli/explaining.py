"""``dfa-router explain`` and ``dfa-router why-not``: what a binding table does with a key, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from compiler.once import once
from dfa_router.analysis.explaining import Explanation, Miss
from dfa_router.analysis.explaining import explain as explanation_of
from dfa_router.analysis.explaining import why_not as misses_of
from dfa_router.cli.binding_files import BindingFile, check_bindings, of_destination, read_bindings
from dfa_router.cli.definition_options import broker_option, check_vhost
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.options import bindings_dialect_option, count_option, json_option
from dfa_router.cli.pattern_options import checked_text
from dfa_router.cli.tables import write_line
from dfa_router.cli.ways import (
    barrier_lines,
    check_queue,
    message_options,
    nearest_key,
    read_attributes,
    taken_texts,
    way_lines,
    why_missed,
)
from dfa_router.errors import OptionError
from dfa_router.file_names import local_name
from dfa_router.inspection.arrows import quoted_exchange
from dfa_router.inspection.way import Way, barriers, way
from dfa_router.language.dialects import dialect_named
from dfa_router.permissions.files import name_permissions, topic_permissions
from dfa_router.permissions.rabbitmq import refusal
from dfa_router.rabbitmq import Topology, load_definitions

__all__ = ["explain", "why_not"]


@dataclass(frozen=True)
class _Question:
    """What is asked about which key."""

    file: str
    key: str
    dialect: str | None
    exchange: str | None
    vhost: str
    user: str | None
    broker: str | None
    headers: str | None
    cc: tuple[str, ...]
    bcc: tuple[str, ...]

    @property
    def is_definitions(self) -> bool:
        return self.file.lower().endswith(".json")

    @property
    def told(self) -> bool:
        """Whether anything is told that a message has beside its key."""
        return any(given not in (None, ()) for given in (self.user, self.headers, self.cc, self.bcc, self.broker))

    def bindings(self, followed_by: str) -> tuple[BindingFile, str]:
        """Return the bindings of a list or of one exchange, and their dialect; a message is followed by other options."""
        if self.told:
            raise OptionError(
                "--user, --broker, --headers, --cc and --bcc are of a message that is followed through a definitions file (.json): "
                f"they need {followed_by}, too"
            )
        found = read_bindings(Path(self.file), exchange=self.exchange, vhost=self.vhost)
        return found, self.dialect or found.dialect or "amqp"

    @once
    def topology(self) -> Topology:
        """The definitions file."""
        if self.dialect is not None:
            raise OptionError(
                f"--dialect is for lists of bindings: the exchanges of {self.file} say by their types what theirs is"
            )
        topology = load_definitions(self.file, self.vhost, broker=self.broker)
        check_vhost(topology, self.vhost)
        return topology

    def way(self) -> Way:
        """Follow the message."""
        assert self.exchange is not None
        attributes = read_attributes(self.headers, self.cc, self.bcc)
        return way(self.topology, self.exchange, self.key, self.vhost, **attributes)

    def refused(self) -> str | None:
        """Tell why the broker does not take it."""
        assert self.exchange is not None
        exchange = self.topology.exchange(self.exchange, self.vhost)
        if exchange.internal:
            return f"exchange {self.exchange!r} is internal: it takes messages from other exchanges, and from no client"
        if self.user is None:
            return None
        rules = Path(self.file)
        return refusal(name_permissions(rules), topic_permissions(rules), self.user, exchange, self.key)


def _file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what says which bindings are asked about which key."""
    for option in (
        message_options,
        broker_option,
        click.option(
            "--user",
            help="Who publishes: a user of the definitions file, whose permissions are asked, too (extra: permissions).",
        ),
        click.option("--vhost", default="/", show_default=True, help="The vhost of the exchange."),
        click.option("--exchange", help="The exchange of a definitions file to which the key is published."),
        bindings_dialect_option,
        click.argument("key", callback=checked_text),
        click.argument("file", type=local_name, metavar="FILE"),
    ):
        command = option(command)
    return command


@click.command(short_help="Tell which bindings match a key, and how each word was consumed.")
@_file_options
@json_option
@click.pass_context
def explain(context: click.Context, /, *, file: str, key: str, as_json: bool, **asked: Any) -> None:
    """Show for each binding that matches KEY which words of the key each of its words took.

    Of a definitions file, the message is followed hop by hop from --exchange to its queues: through exchanges of all types that
    are simulated, alternates among them, with --headers and --cc where they count, and with the permissions of --user.

    Exit codes: 0 something matches, 1 nothing does (then why-not tells more), 2 wrong usage or input, 3 --user without the extra
    'permissions'.

    \b
    Examples:
      dfa-router explain definitions.json 'stock.nyse.ibm' --exchange market
      dfa-router explain definitions.json 'order' --exchange events --headers '{"region": "eu"}' --user shop
    """  # noqa: D301 - click wants the control character itself
    question = _Question(file, key, **asked)
    if question.exchange is not None and question.is_definitions:
        refused = question.refused()
        found = question.way() if refused is None else None
        queues = [] if found is None else list(found.route.queues)
        if as_json:
            hops = [] if found is None else [asdict(one) for one in found.hops]
            told = {"key": key, "refused": refused, "queues": queues, "hops": hops}
            click.echo(json.dumps(told, indent=2, ensure_ascii=False))
        elif found is None:
            assert refused is not None
            write_line(refused)
        else:
            for line in way_lines(file, found):
                write_line(line)
        if found is None or not found.route.routed:
            context.exit(ExitCode.FOUND)
        return
    bindings, language = question.bindings("--exchange")
    check_bindings(file, bindings, dialect_named(language))
    explained = explanation_of(bindings.bindings, key, language)
    if as_json:
        click.echo(json.dumps({**asdict(explained), "queues": None}, indent=2, ensure_ascii=False))
    else:
        _explained(file, bindings, explained, language)
    if not explained.matches:
        context.exit(ExitCode.FOUND)


def _explained(file: str, bindings: BindingFile, found: Explanation, language: str) -> None:
    separator = dialect_named(language).separator.decode()
    if found.problem is not None:
        write_line(f"{found.key!r} is no valid key: {found.problem}")
    for match in found.matches:
        pattern, destination = bindings.bindings[match.binding]
        taken = ", ".join(taken_texts(match.taken, separator))
        head = f"{destination or repr('')}: {pattern!r} ({file}:{bindings.places[match.binding]})"
        write_line(f"{head}: {taken or 'neither has a word'}")
    if not found.matches:
        write_line(f"no binding matches {found.key!r}")


@click.command(name="why-not", short_help="Tell why a queue does not get a key, and the nearest key that it gets.")
@_file_options
@click.option("--queue", help="Only bindings of this destination; of a definitions file, those on a way to this queue.")
@count_option("--most", 3, "Bindings to tell about, of each exchange on the way, the nearest first.")
@json_option
@click.pass_context
def why_not(
    context: click.Context, /, *, file: str, key: str, queue: str | None, most: int, as_json: bool, **asked: Any
) -> None:
    """Tell for the nearest bindings how far KEY could have matched, which word broke it, and the nearest key that matches.

    Nearest means the fewest words to put in, leave out or replace. Of a definitions file and a --queue, the message is followed
    hop by hop from --exchange, and what keeps it from the queue is told of each exchange on the way; --headers, --cc, --bcc,
    --user and --broker are of such a message.

    Exit codes: 0 the destination, or without --queue a binding, does not get the key, 1 it does (then explain tells more), or all
    bindings do, 2 wrong usage or input, 3 --user without the extra 'permissions'.

    \b
    Example:
      dfa-router why-not definitions.json 'stock.nyse' --exchange market --queue ibm
    """  # noqa: D301 - click wants the control character itself
    question = _Question(file, key, **asked)
    if question.exchange is not None and question.is_definitions and queue is not None:
        gets = _barred(question, queue, most, as_json)
    else:
        gets = _missing(question, queue, most, as_json)
    if gets:
        context.exit(ExitCode.FOUND)


def _barred(question: _Question, queue: str, most: int, as_json: bool) -> bool:
    """Tell what keeps a message from a queue of a topology; return whether nothing does."""
    topology, vhost = question.topology, question.vhost
    check_queue(topology, queue, vhost)
    refused = question.refused()
    found = question.way() if refused is None else None
    gets = found is not None and queue in found.route.queues
    barred = () if gets or found is None else barriers(topology, found, question.key, queue, vhost, most=most)
    if as_json:
        queues = [] if found is None else list(found.route.queues)
        told = {"gets": gets, "refused": refused, "queues": queues, "barriers": [asdict(one) for one in barred]}
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
    elif found is None:
        assert refused is not None
        write_line(refused)
    elif gets:
        write_line(f"{queue} gets it:")
        for line in way_lines(question.file, found):
            write_line(line)
    else:
        write_line(f"on its way the message visits {', '.join(quoted_exchange(hop.exchange) for hop in found.hops)}")
        for line in barrier_lines(question.file, question.key, barred):
            write_line(line)
        if not barred:
            write_line(f"none of them has a binding behind which there is a way to {queue!r}")
    return gets


def _missing(question: _Question, queue: str | None, most: int, as_json: bool) -> bool:
    """Tell which bindings of one list do not match; return whether one of the queue's does, or without a queue all do."""
    file, key = question.file, question.key
    try:
        bindings, language = question.bindings("--exchange and --queue")
    except OptionError as error:
        if question.exchange is None or not question.is_definitions or question.told:
            raise
        raise OptionError(
            f"{error}; or say which --queue, and the message is followed to it through exchanges of all types"
        ) from None
    chosen = of_destination(file, bindings, queue)
    part = BindingFile([bindings.bindings[i] for i in chosen], [bindings.places[i] for i in chosen], bindings.dialect)
    check_bindings(file, part, dialect_named(language))
    matching = explanation_of(part.bindings, key, language)
    found = misses_of(part.bindings, key, language, most=most)
    gets = bool(matching.matches) and (queue is not None or not found)
    if as_json:
        told = [
            {**asdict(miss), "binding": chosen[miss.binding], "pattern": part.bindings[miss.binding][0]}
            for miss in found
        ]
        shown = {"matches": len(matching.matches), "queues": None, "misses": told}
        click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
    elif gets:
        if queue is not None:
            write_line(f"{queue} gets it:")
        _explained(file, part, matching, language)
    else:
        for line in _missed(file, part, key, found):
            write_line(line)
    return gets


def _missed(file: str, part: BindingFile, key: str, found: Sequence[Miss]) -> list[str]:
    lines = []
    for miss in found:
        pattern, destination = part.bindings[miss.binding]
        head = f"{destination or repr('')}: {pattern!r} ({file}:{part.places[miss.binding]}) does not match {key!r}"
        lines += [f"{head}: {why_missed(miss)}", f"    {nearest_key(miss)}"]
    return lines
