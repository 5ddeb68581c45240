"""``dfa-router relation`` and ``dfa-router normalise``: what can be proven of patterns."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from dfa_router.analysis.intersections import intersection
from dfa_router.analysis.normalising import Normalised
from dfa_router.analysis.normalising import normalise as normal_form
from dfa_router.analysis.relations import Relation, RelationKind
from dfa_router.analysis.relations import relation as relation_of
from dfa_router.cli.binding_files import read_set
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.options import dialect_option, json_option
from dfa_router.cli.pattern_options import checked_text
from dfa_router.errors import CapacityError, OptionError
from dfa_router.file_names import local_name
from dfa_router.language.dialects import dialect_named

__all__ = ["normalise", "relation"]

_SAID = {
    RelationKind.EQUAL: "{a!r} and {b!r} match the same keys",
    RelationKind.COVERS: "{a!r} matches every key that {b!r} matches, and others",
    RelationKind.COVERED: "{b!r} matches every key that {a!r} matches, and others",
    RelationKind.OVERLAPS: "{a!r} and {b!r} share some keys, and each has keys of its own",
    RelationKind.DISJOINT: "{a!r} and {b!r} share no key",
}


@click.command(short_help="Tell whether two patterns or sets are equal, overlap, or one covers the other.")
@click.argument("first", callback=checked_text, metavar="A")
@click.argument("second", callback=checked_text, metavar="B")
@click.option(
    "--sets",
    is_flag=True,
    help="A and B are lists, as 'lint' takes them: .csv, .jsonl, or a pattern per line; - is stdin. Destinations do not count.",
)
@dialect_option
@json_option
def relation(*, first: str, second: str, sets: bool, dialect: str | None, as_json: bool) -> None:
    """Compare two patterns, or two sets of them, by proof, with a shortest key for each thing that can be shown by one.

    A set matches what any of its patterns does, so --sets tells whether one list of subscriptions can replace another. Quote
    patterns: a shell expands * and takes what follows a # for a comment.

    \b
    Examples:
      dfa-router relation 'stock.#' 'stock.*.ibm'
      dfa-router relation --dialect mqtt 'a/+/#' 'a/b'
      dfa-router relation --sets old.txt new.txt
    """  # noqa: D301 - click wants the control character itself
    if sets and first == second == "-":
        raise OptionError("A and B cannot both be stdin: save one of them to a file")
    language = dialect_named(dialect or "amqp")
    ours, theirs = (read_set(local_name(file), language) for file in (first, second)) if sets else ([first], [second])
    found = relation_of(ours, theirs, language)
    common = None if sets else _intersection(first, second, dialect or "amqp")
    if as_json:
        shown = asdict(found) if sets else {**asdict(found), "intersection": common}
        click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
        return
    click.echo(_SAID[found.kind].format(a=first, b=second))
    for line in _witnesses(first, second, found):
        click.echo(f"  {line}")
    if found.both is not None and not sets:
        click.echo(f"  keys of both: {'over 64 patterns' if common is None else ', '.join(map(repr, common))}")


def _intersection(first: str, second: str, dialect: str) -> tuple[str, ...] | None:
    """Return the keys of both as patterns, or None if that takes over 64."""
    try:
        return intersection(first, second, dialect, most=64)
    except CapacityError:
        return None


def _witnesses(first: str, second: str, found: Relation) -> list[str]:
    shown = [(f"only {first!r}", found.only_first), (f"only {second!r}", found.only_second), ("both", found.both)]
    return [f"{who}: for instance {key!r}" for who, key in shown if key is not None]


@click.command(short_help="Write a pattern in its shortest form, or prove that it needs its wildcards.")
@click.argument("patterns", nargs=-1, required=True, callback=checked_text, metavar="PATTERN...")
@dialect_option
@click.option(
    "--most", type=click.IntRange(min=0), default=2, show_default=True, help="The most '#' that a broker takes."
)
@json_option
@click.pass_context
def normalise(
    context: click.Context, *, patterns: tuple[str, ...], dialect: str | None, most: int, as_json: bool
) -> None:
    """Write the shortest pattern that matches the same keys, a line for each.

    RabbitMQ from 4.3.5 on refuses a binding with more than two '#'. Where each equal pattern has more than --most, keys are
    told that prove it, and the exit code is 1. Quote patterns: a shell expands * and takes what follows a # for a comment.

    \b
    Example:
      dfa-router normalise 'primary.#.#.#.#.#.X.#.#.#'
    """  # noqa: D301 - click wants the control character itself
    found = [normal_form(pattern, dialect or "amqp", most=most) for pattern in patterns]
    if as_json:
        click.echo(json.dumps([asdict(one) for one in found], indent=2, ensure_ascii=False))
    else:
        for one in found:
            click.echo(one.pattern)
            if one.proof is not None:
                click.echo(_proof(one, most), err=True)
    if not all(one.accepted for one in found):
        context.exit(ExitCode.FOUND)


def _proof(one: Normalised, most: int) -> str:
    assert one.proof is not None
    shortest, longest = one.proof.matched
    others = " or ".join(map(repr, one.proof.unmatched))
    claim = f"{one.pattern!r} has {one.many} '#', and no pattern with at most {most} matches the same keys: "
    if not others:
        return f"{claim}without one, all keys of a pattern have the same number of words, which {shortest!r} and {longest!r} have not"
    return f"{claim}one that matches {shortest!r} and {longest!r} also matches {others}, which {one.pattern!r} does not"
