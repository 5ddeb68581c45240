"""``dfa-router explain`` and ``dfa-router why-not``: what a binding table does with a key, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from dfa_router.analysis.explaining import Explanation, Miss
from dfa_router.analysis.explaining import explain as explanation_of
from dfa_router.analysis.explaining import why_not as misses_of
from dfa_router.cli.binding_files import BindingFile, read_bindings
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.options import count_option, dialect_option, json_option
from dfa_router.cli.pattern_options import checked_text
from dfa_router.errors import BindingError

__all__ = ["explain", "why_not"]


def _file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what says which bindings are asked about which key."""
    for option in (
        click.option("--vhost", default="/", show_default=True, help="The vhost of the exchange."),
        click.option("--exchange", help="The exchange of a definitions file to which the key is published."),
        dialect_option,
        click.argument("key", callback=checked_text),
        click.argument("file", metavar="FILE"),
    ):
        command = option(command)
    return command


@click.command(short_help="Tell which bindings match a key, and how each word was consumed.")
@_file_options
@json_option
@click.pass_context
def explain(
    context: click.Context, *, file: str, key: str, dialect: str | None, exchange: str | None, vhost: str, as_json: bool
) -> None:
    """Show for each binding that matches KEY which words of the key each of its words took.

    Exit codes: 0 something matches, 1 nothing does (then why-not tells more), 2 wrong usage or input.

    \b
    Example:
      dfa-router explain definitions.json 'stock.nyse.ibm' --exchange market
    """  # noqa: D301 - click wants the control character itself
    bindings, language = _read(file, exchange, vhost, dialect)
    found = explanation_of(bindings.bindings, key, language)
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2, ensure_ascii=False))
    else:
        _explained(file, bindings, found)
    if not found.matches:
        context.exit(ExitCode.FOUND)


def _explained(file: str, bindings: BindingFile, found: Explanation) -> None:
    if found.problem is not None:
        click.echo(f"{found.key!r} is no valid key: {found.problem}")
    for match in found.matches:
        pattern, destination = bindings.bindings[match.binding]
        taken = ", ".join(f"{token or repr('')} took {'.'.join(words) or 'nothing'}" for token, words in match.taken)
        click.echo(f"{destination}: {pattern!r} ({file}:{bindings.places[match.binding]}): {taken}")
    if not found.matches:
        click.echo(f"no binding matches {found.key!r}")


@click.command(name="why-not", short_help="Tell why a queue does not get a key, and the nearest key that it gets.")
@_file_options
@click.option("--queue", help="Only bindings of this destination.")
@count_option("--most", 3, "Bindings to tell about, the nearest first.")
@json_option
@click.pass_context
def why_not(
    context: click.Context,
    *,
    file: str,
    key: str,
    dialect: str | None,
    exchange: str | None,
    vhost: str,
    queue: str | None,
    most: int,
    as_json: bool,
) -> None:
    """Tell for the nearest bindings how far KEY could have matched, which word broke it, and the nearest key that matches.

    Nearest means the fewest words to put in, leave out or replace.

    Exit codes: 0 the destination does not get the key, 1 it does (then explain tells more), 2 wrong usage or input.

    \b
    Example:
      dfa-router why-not definitions.json 'stock.nyse' --exchange market --queue ibm
    """  # noqa: D301 - click wants the control character itself
    bindings, language = _read(file, exchange, vhost, dialect)
    chosen = [i for i, (_, destination) in enumerate(bindings.bindings) if queue in (None, destination)]
    if not chosen:
        names = ", ".join(sorted({repr(destination) for _, destination in bindings.bindings})[:8])
        raise BindingError(f"{file}: no binding has the destination {queue!r}; there are {names}")
    part = BindingFile([bindings.bindings[i] for i in chosen], [bindings.places[i] for i in chosen], bindings.dialect)
    matching = explanation_of(part.bindings, key, language)
    found = misses_of(part.bindings, key, language, most=most)
    if as_json:
        told = [
            {**asdict(miss), "binding": chosen[miss.binding], "pattern": part.bindings[miss.binding][0]}
            for miss in found
        ]
        click.echo(json.dumps({"matches": len(matching.matches), "misses": told}, indent=2, ensure_ascii=False))
    else:
        if matching.matches and queue is not None:
            _explained(file, part, matching)
        for line in _missed(file, part, key, found):
            click.echo(line)
    if matching.matches and queue is not None:
        context.exit(ExitCode.FOUND)


def _missed(file: str, part: BindingFile, key: str, found: Sequence[Miss]) -> list[str]:
    lines = []
    for miss in found:
        pattern, destination = part.bindings[miss.binding]
        head = f"{destination}: {pattern!r} ({file}:{part.places[miss.binding]}) does not match {key!r}"
        if miss.rule is not None:
            why = miss.rule
        elif miss.broken_by is None:
            why = f"the key ends too early; expected {' or '.join(map(repr, miss.expected))}"
        else:
            behind = f"behind {miss.prefix!r}" if miss.prefix else "at its beginning"
            why = f"{behind}, {miss.broken_by!r} breaks it; expected {' or '.join(map(repr, miss.expected))}"
        near = (
            "no key matches it"
            if miss.nearest is None
            else f"nearest key that does, {miss.edits} word{'s' * (miss.edits != 1)} away: {miss.nearest!r}"
        )
        lines += [f"{head}: {why}", f"    {near}"]
    return lines


def _read(file: str, exchange: str | None, vhost: str, dialect: str | None) -> tuple[BindingFile, str]:
    found = read_bindings(Path(file), exchange=exchange, vhost=vhost)
    return found, dialect or found.dialect or "amqp"
