"""``dfa-router permissions``: what rules of access let through against their evident intent."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

import dfa_router
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.options import json_option
from dfa_router.cli.pattern_options import checked_text
from dfa_router.errors import OptionError
from dfa_router.lint.findings import PERMISSION_RULES, Finding
from dfa_router.lint.sarif import entry_lines, sarif
from dfa_router.permissions.differences import shifts
from dfa_router.permissions.files import Passage, access_list, passages, topic_permissions
from dfa_router.permissions.rabbitmq import TopicPermission

__all__ = ["permissions"]


@click.command(short_help="Tell who can read what, and which binding or key gets past a permission.")
@click.argument("file", metavar="FILE")
@click.option("--user", callback=checked_text, help="Ask about this user, with --key.")
@click.option("--client", default="", callback=checked_text, help="The client identifier, for %c and {client_id}.")
@click.option("--key", callback=checked_text, help="May the user get or send this key?")
@click.option("--exchange", help="The topic exchange of a definitions file that --key is asked of.")
@click.option("--binding", callback=checked_text, help="May the user bind this, and does it get --key?")
@click.option(
    "--against",
    metavar="OLD",
    type=click.Path(path_type=Path),
    help="An older version of the same rules: tell what each user gains and loses by FILE.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="How findings are written to stdout; sarif is what GitHub's code scanning takes.",
)
@json_option
@click.pass_context
def permissions(
    context: click.Context,
    *,
    file: str,
    user: str | None,
    client: str,
    key: str | None,
    exchange: str | None,
    binding: str | None,
    against: Path | None,
    form: str,
    as_json: bool,
) -> None:
    """Find what rules of access let through against their evident intent, with a binding and a key that show it.

    A definitions file (.json) has topic permissions of RabbitMQ; any other file is an access list of Mosquitto.
    With --user and --key, tell what the broker would say about that key; with --against, what changes for each user.

    Exit codes: 0 nothing gets through (or the key is allowed), 1 something does (or it is refused), 2 wrong usage or input,
    3 the extra 'permissions' is not installed.

    \b
    Examples:
      dfa-router permissions definitions.json
      dfa-router permissions definitions.json --user ann --exchange events --binding '#.public' --key secret.x.public
      dfa-router permissions acl.txt --user ann --key a/b
      dfa-router permissions definitions.json --format sarif >permissions.sarif
      dfa-router permissions new.acl --against old.acl
    """  # noqa: D301 - click wants the control character itself
    if (user is None) != (key is None):
        raise OptionError("--user and --key belong together: give both, or neither")
    form = "json" if as_json else form
    if against is not None:
        if user is not None or form == "sarif":
            raise OptionError(
                "--against compares all users, as text or --json: leave out --user, --key and --format sarif"
            )
        if _compared(against, Path(file), client, form):
            context.exit(ExitCode.FOUND)
        return
    if user is not None and key is not None:
        if form == "sarif":
            raise OptionError("--format sarif is for findings: leave out --user and --key, or ask for --json")
        told = _verdicts(Path(file), user, client, key, exchange, binding)
        click.echo(
            json.dumps(told, indent=2)
            if form == "json"
            else "\n".join(f"{what}: {'yes' if yes else 'no'}" for what, yes in told.items())
        )
        if not all(told.values()):
            context.exit(ExitCode.FOUND)
        return
    found = passages(Path(file))
    if form == "sarif":
        lines = entry_lines(Path(file).read_text("utf-8-sig")) if file.lower().endswith(".json") else {}
        findings = [_finding(one) for one in found]
        log = sarif(findings, (), file, lines, dfa_router.__version__, rules=PERMISSION_RULES)
        click.echo(json.dumps(log, indent=2))
    elif form == "json":
        click.echo(json.dumps([asdict(one) for one in found], indent=2, ensure_ascii=False))
    else:
        for one in found:
            click.echo(f"{file}:{one.place}: {one.rule}: user {one.user!r}: {one.message}")
        context.obj.terminal.show(f"{len(found) or 'nothing'} found in {file}")
    if found:
        context.exit(ExitCode.FOUND)


def _compared(old: Path, new: Path, client: str, form: str) -> bool:
    """Show what two versions differ in; return whether they do."""
    found = shifts(old, new, client=client)
    if form == "json":
        click.echo(json.dumps([asdict(one) for one in found], indent=2, ensure_ascii=False))
        return bool(found)
    for one in found:
        for verb, example in (("gains", one.gained), ("loses", one.lost)):
            if example is not None:
                click.echo(
                    f"{repr(one.user) if one.user else 'who gives no name'} {verb}: {one.what}, for instance {example!r}"
                )
    if not found:
        click.echo("both versions allow the same")
    return bool(found)


def _finding(one: Passage) -> Finding:
    rule, subject = PERMISSION_RULES[one.rule], one.binding or one.user
    return Finding(
        rule=rule, place=one.place, subject=subject, message=f"user {one.user!r}: {one.message}", witness=one.key
    )


def _verdicts(
    path: Path, user: str, client: str, key: str, exchange: str | None, binding: str | None
) -> dict[str, bool]:
    """Return what the broker says, by question."""
    if path.suffix.lower() != ".json":
        rules = access_list(path)
        return {f"may {what} {key}": rules.allows(what, key, user=user, client=client) for what in ("read", "write")}
    chosen = [one for one in topic_permissions(path) if one.user == user and exchange in (None, one.exchange)]
    found: dict[str, bool] = {}
    for one in chosen or [TopicPermission(user=user, exchange=exchange or "any exchange", write="", read="")]:
        found[f"may publish {key} to {one.exchange}"] = one.may_publish(key, client)
        if binding is not None:
            found[f"may bind {binding} to {one.exchange}"] = one.may_bind(binding, client)
    return found
