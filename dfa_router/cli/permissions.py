"""``dfa-router permissions``: what rules of access let through against their evident intent."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.options import json_option
from dfa_router.cli.pattern_options import checked_text
from dfa_router.errors import OptionError
from dfa_router.permissions.files import passages, topic_permissions
from dfa_router.permissions.mosquitto import read_access_list
from dfa_router.permissions.rabbitmq import TopicPermission

__all__ = ["permissions"]


@click.command(short_help="Tell who can read what, and which binding or key gets past a permission.")
@click.argument("file", metavar="FILE")
@click.option("--user", callback=checked_text, help="Ask about this user, with --key.")
@click.option("--client", default="", callback=checked_text, help="The client identifier, for %c and {client_id}.")
@click.option("--key", callback=checked_text, help="May the user get or send this key?")
@click.option("--exchange", help="The topic exchange of a definitions file that --key is asked of.")
@click.option("--binding", callback=checked_text, help="May the user bind this, and does it get --key?")
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
    as_json: bool,
) -> None:
    """Find what rules of access let through against their evident intent, with a binding and a key that show it.

    A definitions file (.json) has topic permissions of RabbitMQ; any other file is an access list of Mosquitto.
    With --user and --key, tell what the broker would say about that key.

    Exit codes: 0 nothing gets through (or the key is allowed), 1 something does (or it is refused), 2 wrong usage or input,
    3 the extra 'permissions' is not installed.

    \b
    Examples:
      dfa-router permissions definitions.json
      dfa-router permissions definitions.json --user ann --exchange events --binding '#.public' --key secret.x.public
      dfa-router permissions acl.txt --user ann --key a/b
    """  # noqa: D301 - click wants the control character itself
    if (user is None) != (key is None):
        raise OptionError("--user and --key belong together: give both, or neither")
    if user is not None and key is not None:
        told = _verdicts(Path(file), user, client, key, exchange, binding)
        click.echo(
            json.dumps(told, indent=2)
            if as_json
            else "\n".join(f"{what}: {'yes' if yes else 'no'}" for what, yes in told.items())
        )
        if not all(told.values()):
            context.exit(ExitCode.FOUND)
        return
    found = passages(Path(file))
    if as_json:
        click.echo(json.dumps([asdict(one) for one in found], indent=2, ensure_ascii=False))
    else:
        for one in found:
            click.echo(f"{file}:{one.place}: {one.rule}: user {one.user!r}: {one.message}")
        context.obj.terminal.show(f"{len(found) or 'nothing'} found in {file}")
    if found:
        context.exit(ExitCode.FOUND)


def _verdicts(
    path: Path, user: str, client: str, key: str, exchange: str | None, binding: str | None
) -> dict[str, bool]:
    """Return what the broker says, by question."""
    if path.suffix.lower() != ".json":
        rules = read_access_list(path.read_text("utf-8-sig"), str(path))
        return {f"may {what} {key}": rules.allows(what, key, user=user, client=client) for what in ("read", "write")}
    chosen = [one for one in topic_permissions(path) if one.user == user and exchange in (None, one.exchange)]
    found: dict[str, bool] = {}
    for one in chosen or [TopicPermission(user=user, exchange=exchange or "any exchange", write="", read="")]:
        found[f"may publish {key} to {one.exchange}"] = one.may_publish(key, client)
        if binding is not None:
            found[f"may bind {binding} to {one.exchange}"] = one.may_bind(binding, client)
    return found
