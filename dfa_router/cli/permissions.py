"""``dfa-router permissions``: what rules of access let through against their evident intent."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click
from click.core import ParameterSource

import dfa_router
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.options import chosen_form, findings_option, json_option
from dfa_router.cli.pattern_options import checked_text
from dfa_router.cli.tables import write_line
from dfa_router.errors import OptionError
from dfa_router.file_names import local_name
from dfa_router.lint.findings import PERMISSION_RULES, Finding, Severity
from dfa_router.lint.sarif import entry_lines, sarif
from dfa_router.permissions.differences import Shift, shifts
from dfa_router.permissions.emqx import Client
from dfa_router.permissions.files import BROKERS, broker_of
from dfa_router.permissions.passages import Passage, passages
from dfa_router.permissions.verdicts import verdicts

__all__ = ["permissions"]

_TAKEN_BY = {
    "binding": ("rabbitmq", "emqx", "nats"),
    "exchange": ("rabbitmq",),
    "vhost": ("rabbitmq",),
    "client": ("rabbitmq", "mosquitto", "emqx"),
    "address": ("emqx",),
    "no_match": ("emqx",),
}
"""The brokers whose answers depend on an option; Mosquitto's lists let anybody subscribe, and are asked about each message."""
_OF_A_KEY = ("binding", "exchange", "vhost", "client", "address")
"""What is asked together with a user and a key."""


@click.command(short_help="Tell who can read what, and which binding or key gets past a permission.")
@click.argument("file", type=local_name, metavar="FILE")
@click.option("--broker", type=click.Choice(BROKERS), help="Whose rules FILE holds.  [default: told from the file]")
@click.option(
    "--no-match",
    type=click.Choice(["allow", "deny"]),
    default="allow",
    show_default=True,
    help="What EMQX does where no rule is about something, its option authorization.no_match.",
)
@click.option("--user", callback=checked_text, help="Ask about this user, with --key.")
@click.option(
    "--client", default="", callback=checked_text, help="The client identifier, for %c, ${clientid} and {client_id}."
)
@click.option("--address", help="The IP address that the client connects from, for rules of EMQX.")
@click.option("--key", callback=checked_text, help="May the user get or send this key?")
@click.option(
    "--exchange",
    help="The exchange of a definitions file that --key is asked of.  [default: those of the user's topic permissions]",
)
@click.option("--vhost", help="The vhost of that exchange.  [default: all in which the user has permissions]")
@click.option("--binding", callback=checked_text, help="May the user bind or subscribe this, and does it get --key?")
@click.option(
    "--against",
    metavar="OLD",
    type=local_name,
    help="An older version of the same rules: tell what each user gains and loses by FILE.",
)
@findings_option
@json_option
@click.pass_context
def permissions(
    context: click.Context,
    *,
    file: str,
    broker: str | None,
    no_match: str,
    user: str | None,
    client: str,
    address: str | None,
    key: str | None,
    exchange: str | None,
    vhost: str | None,
    binding: str | None,
    against: str | None,
    form: str,
    as_json: bool,
) -> None:
    """Find what rules of access let through against their evident intent, with a binding and a key that show it.

    FILE is a definitions file, with topic permissions of RabbitMQ, an access list of Mosquitto, EMQX' acl.conf or NATS'
    configuration; a name that ends in .json, or the text, tells which, and --broker says it.
    With --user and --key, tell what the broker would say about that key, of RabbitMQ by the permissions for names, too ('explain
    --user' tells which one refuses it); with --against, what changes for each user.

    Exit codes: 0 nothing is found but notes (or the key is allowed, or nothing changes), 1 a warning or an error is (or the key
    is refused, or something changes), 2 wrong usage or input, 3 the extra 'permissions' is not installed.

    \b
    Examples:
      dfa-router permissions definitions.json
      dfa-router permissions definitions.json --user ann --exchange events --binding '#.public' --key secret.x.public
      dfa-router permissions acl.txt --user ann --key a/b
      dfa-router permissions acl.conf --no-match deny
      dfa-router permissions nats.conf --user ann --binding 'foo.>' --key foo.a.b
      dfa-router permissions definitions.json --format sarif >permissions.sarif
      dfa-router permissions new.acl --against old.acl
    """  # noqa: D301 - click wants the control character itself
    if (user is None) != (key is None):
        raise OptionError("--user and --key belong together: give both, or neither")
    _check_taken(context, broker or broker_of(Path(file)))
    form = chosen_form(form, as_json=as_json)
    allowing = no_match == "allow"
    if against is not None:
        if user is not None or form == "sarif":
            raise OptionError(
                "--against compares all users, as text or --json: leave out --user, --key and --format sarif"
            )
        differing = shifts(Path(against), Path(file), client=client, broker=broker, no_match=allowing)
        if _compared(differing, form):
            context.exit(ExitCode.FOUND)
        return
    if user is not None and key is not None:
        if form == "sarif":
            raise OptionError("--format sarif is for findings: leave out --user and --key, or ask for --json")
        who = Client(user=user, client=client, address=address)
        about = {"binding": binding, "exchange": exchange, "vhost": vhost}
        told = verdicts(Path(file), who, key, **about, broker=broker, no_match=allowing)
        if form == "json":
            click.echo(json.dumps(told, indent=2))
        else:
            for what, yes in told.items():
                write_line(f"{what}: {'yes' if yes else 'no'}")
        if not all(told.values()):
            context.exit(ExitCode.FOUND)
        return
    found = passages(Path(file), broker, no_match=allowing)
    if form == "sarif":
        definitions = (broker or broker_of(Path(file))) == "rabbitmq"
        lines = entry_lines(Path(file).read_text("utf-8-sig")) if definitions else {}
        findings = [_finding(one) for one in found]
        log = sarif(findings, (), file, lines, dfa_router.__version__, rules=PERMISSION_RULES)
        click.echo(json.dumps(log, indent=2))
    elif form == "json":
        told_of = [{**asdict(one), "severity": _severity(one)} for one in found]
        click.echo(json.dumps(told_of, indent=2, ensure_ascii=False))
    else:
        for one in found:
            write_line(f"{file}:{one.place}: {_severity(one)} {one.rule}: user {one.user!r}: {one.message}")
        context.obj.terminal.show(f"{len(found) or 'nothing'} found in {file}")
    if any(PERMISSION_RULES[one.rule].severity >= Severity.WARNING for one in found):
        context.exit(ExitCode.FOUND)


def _check_taken(context: click.Context, broker: str) -> None:
    """Raise :class:`OptionError` for an option that changes no answer about the rules of this broker, or to what is asked."""
    given = {
        option.name: option.opts[-1]
        for option in context.command.params
        if option.name is not None and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    }
    for name, spelt in given.items():
        if broker not in _TAKEN_BY.get(name, BROKERS):
            others = " or ".join(_TAKEN_BY[name])
            raise OptionError(
                f"{spelt} changes nothing with rules of {broker}, but with those of {others}: leave it out"
            )
        if name in _OF_A_KEY and "key" not in given and (name != "client" or "against" not in given):
            raise OptionError(f"{spelt} is about one key: give --user and --key, too, or leave it out")


def _compared(found: tuple[Shift, ...], form: str) -> bool:
    """Show what two versions differ in; return whether they do."""
    if form == "json":
        click.echo(json.dumps([asdict(one) for one in found], indent=2, ensure_ascii=False))
        return bool(found)
    for one in found:
        for verb, example in (("gains", one.gained), ("loses", one.lost)):
            if example is not None:
                write_line(
                    f"{repr(one.user) if one.user else 'who gives no name'} {verb}: {one.what}, for instance {example!r}"
                )
    if not found:
        click.echo("both versions allow the same")
    return bool(found)


def _severity(one: Passage) -> str:
    return PERMISSION_RULES[one.rule].severity.name.lower()


def _finding(one: Passage) -> Finding:
    rule, subject = PERMISSION_RULES[one.rule], one.binding or one.user
    return Finding(
        rule=rule, place=one.place, subject=subject, message=f"user {one.user!r}: {one.message}", witness=one.key
    )
