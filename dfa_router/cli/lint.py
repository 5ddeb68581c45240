"""``dfa-router lint``: defects of a binding table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import dfa_router
from dfa_router.cli.binding_files import read_bindings
from dfa_router.cli.configurations import CONFIGURED, ENDINGS, lint_configuration
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.options import chosen_form, findings_option
from dfa_router.cli.tables import write_line
from dfa_router.counted import counted
from dfa_router.errors import OptionError
from dfa_router.file_names import local_name
from dfa_router.language.dialects import DIALECTS
from dfa_router.lint.findings import RULES, Finding, Severity
from dfa_router.lint.linting import lint_bindings, lint_topology
from dfa_router.lint.patterns import STEPS
from dfa_router.lint.sarif import entry_lines, sarif
from dfa_router.lint.suppression import Suppression, read_suppressions, suppressed, unused_suppressions
from dfa_router.rabbitmq import load_definitions

__all__ = ["lint"]

_LEVELS = [severity.name.lower() for severity in Severity]


@click.command(short_help="Find bindings that repeat, do nothing, or do not do what they seem to.")
@click.argument("files", nargs=-1, required=True, type=local_name, metavar="FILE...")
@click.option("--exchange", help="Only this exchange of a definitions file, as if it were a list of bindings.")
@click.option(
    "--broker",
    type=click.Choice(list(CONFIGURED)),
    help="FILE is configuration of this broker.  [default: told from files that end in .conf, .cfg or .acl]",
)
@click.option("--vhost", default="/", show_default=True, help="Where entries belong that name no vhost.")
@click.option("--dialect", type=click.Choice(list(DIALECTS)), help="The pattern language of a list.  [default: amqp]")
@click.option(
    "--fail-on",
    type=click.Choice([*_LEVELS, "never"]),
    default="warning",
    show_default=True,
    help="The least severity of a finding that makes the exit code 1.",
)
@click.option(
    "--least",
    type=click.Choice(_LEVELS),
    default="note",
    show_default=True,
    help="The least severity to show; all count for --fail-on.",
)
@click.option("--rule", "names", multiple=True, type=click.Choice(list(RULES)), help="Only this rule; may be repeated.")
@click.option(
    "--suppress", type=local_name, metavar="TOML", help="A file of findings to keep quiet about, with reasons."
)
@findings_option
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.pass_context
def lint(
    context: click.Context,
    *,
    files: tuple[str, ...],
    exchange: str | None,
    broker: str | None,
    vhost: str,
    dialect: str | None,
    fail_on: str,
    least: str,
    names: tuple[str, ...],
    suppress: str | None,
    form: str,
    as_json: bool,
) -> None:
    """Find defects in binding tables, by proof: each finding says what, where, for instance which key, and what to do.

    A definitions file (.json) is read as a whole topology. Configuration (.conf, .cfg, .acl, or --broker) is an access list or the
    bridges of Mosquitto, or what users of NATS may do. Other files are lists of bindings: .csv and .jsonl with pattern and
    destination, else a pattern per line, or pattern, tab, destination. Lines without a destination are one consumer's.

    Each rule has a page in docs/rules. A file for --suppress has tables of TOML:

    \b
      [[suppress]]
      rule = "covered-binding"
      subject = "stock.*.#"
      reason = "until the old consumers are gone"

    That is the finding with this subject alone, whose * is the pattern's. With subjects = "tmp-*" instead of subject, it is all
    that fit, * being any characters, ? any one, and [*] a * itself.

    Exit codes: 0 nothing found, 1 something of the severity of --fail-on was found, 2 wrong usage or input.

    \b
    Examples:
      dfa-router lint definitions.json
      dfa-router lint --dialect mqtt subscriptions.txt --fail-on error
      dfa-router lint mosquitto.conf nats-server.conf
      dfa-router lint definitions.json --format sarif >lint.sarif
    """  # noqa: D301 - click wants the control character itself
    if sum(name == "-" for name in files):
        raise OptionError("lint reads files, whose names say what they are: save standard input to one")
    form = chosen_form(form, as_json=as_json)
    if form == "sarif" and len(files) > 1:
        raise OptionError("--format sarif takes one file: a run of SARIF is about one")
    suppressions = read_suppressions(Path(suppress)) if suppress is not None else ()
    left: list[tuple[str, Finding]] = []
    kept: list[tuple[Finding, Suppression]] = []
    with context.obj.terminal.progress("exchanges", dict.fromkeys(STEPS, "bindings")) as report:
        for name in files:
            others, quiet = suppressed(_found(Path(name), exchange, broker, vhost, dialect, report), suppressions)
            left += [(name, one) for one in others]
            kept += quiet
    left += [(str(suppress), one) for one in unused_suppressions(suppressions, kept)]
    left = [(name, one) for name, one in left if not names or one.rule.name in names]
    kept = [(one, why) for one, why in kept if not names or one.rule.name in names]
    shown = [(name, one) for name, one in left if one.severity >= Severity[least.upper()]]
    if form == "sarif":
        (name,) = files
        lines = entry_lines(Path(name).read_text("utf-8-sig")) if name.lower().endswith(".json") else {}
        click.echo(json.dumps(sarif([one for _, one in shown], kept, name, lines, dfa_router.__version__), indent=2))
    elif form == "json":
        click.echo(json.dumps([_as_json(name, one) for name, one in shown], indent=2, ensure_ascii=False))
    else:
        _tell(shown)
        context.obj.terminal.show(_counted(left, len(left) - len(shown), len(kept), len(files)))
    worst = max((one.severity for _, one in left), default=0)
    if fail_on != "never" and worst >= Severity[fail_on.upper()]:
        context.exit(ExitCode.FOUND)


def _found(
    path: Path, exchange: str | None, broker: str | None, vhost: str, dialect: str | None, report: Any
) -> Sequence[Finding]:
    if broker is not None or path.suffix.lower() in ENDINGS:
        if exchange is not None or dialect is not None:
            raise OptionError(
                f"{path} is configuration of a broker, which says its dialect: leave out --exchange and --dialect"
            )
        return lint_configuration(path, broker, report)
    if path.suffix.lower() == ".json" and exchange is None:
        if dialect is not None:
            raise OptionError(
                f"--dialect is for lists of bindings: the exchanges of {path} say by their types what theirs is"
            )
        return lint_topology(load_definitions(path, vhost), report)
    file = read_bindings(path, exchange=exchange, vhost="/" if exchange is None else vhost)
    language = dialect or file.dialect or "amqp"
    found = lint_bindings(file.by_consumer(), language, places=file.places, report=report)
    return found if exchange is None else [replace(one, vhost=vhost) for one in found]


def _tell(shown: Iterable[tuple[str, Finding]]) -> None:
    """Write findings for people."""
    for name, one in shown:
        where = one.place if one.rule.name == "unused-suppression" else f"{name}:{one.place}"
        vhost = f" (vhost {one.vhost!r})" if one.vhost not in ("", "/") else ""
        write_line(f"{where}: {one.severity.name.lower()} {one.rule}: {one.subject!r}{vhost}: {one.message}")
        if one.witness is not None:
            write_line(f"    for instance the key {one.witness!r}")


def _counted(left: Iterable[tuple[str, Finding]], hidden: int, quiet: int, files: int) -> str:
    """Return how many findings there are, how many of them are below ``--least``, and how many are suppressed."""
    counts = Counter(one.severity.name.lower() for _, one in left)
    told = ", ".join(counted(counts[level], level) for level in reversed(_LEVELS) if counts[level])
    below = f", {hidden} of them not shown" if hidden else ""
    suffix = f", {quiet} suppressed" if quiet else ""
    return f"{told or 'nothing found'} in {counted(files, 'file')}{below}{suffix}"


def _as_json(name: str, one: Finding) -> dict[str, Any]:
    return {
        "file": name,
        "place": one.place,
        "rule": one.rule.name,
        "severity": one.severity.name.lower(),
        "vhost": one.vhost,
        "subject": one.subject,
        "message": one.message,
        "witness": one.witness,
    }
