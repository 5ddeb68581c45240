"""The commands of ``dfa-router``, as one group."""

from __future__ import annotations

from collections.abc import Sequence

import click

import dfa_router
from dfa_router.cli.audit import audit
from dfa_router.cli.diff import diff
from dfa_router.cli.explaining import explain, why_not
from dfa_router.cli.fuzz import fuzz
from dfa_router.cli.lint import lint
from dfa_router.cli.mcp import mcp
from dfa_router.cli.measure import measure
from dfa_router.cli.permissions import permissions
from dfa_router.cli.play import play
from dfa_router.cli.relations import normalise, relation
from dfa_router.cli.render import render
from dfa_router.cli.replay import replay
from dfa_router.cli.route import route
from dfa_router.cli.running import begin, common_options, run_group
from dfa_router.cli.show import show
from dfa_router.cli.teach import teach

__all__ = ["run"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(dfa_router.__version__, prog_name="dfa-router")
@common_options
@click.pass_context
def app(context: click.Context, *, quiet: bool, verbose: bool, debug: bool) -> None:
    """Answer who gets which message, from a broker's binding table.

    Exit codes: 0 fine, 1 something was found (a wrong answer, or what --fail-on names), 2 wrong usage or input, 3 the
    machine lacks something, 130 interrupted, 143 terminated. Results go to stdout, progress and warnings to stderr. NO_COLOR switches colours off.
    """
    begin(context, quiet=quiet, verbose=verbose, debug=debug)


COMMANDS = (
    *(route, replay, diff, audit, lint, explain, why_not),
    *(relation, normalise, permissions, mcp, render, show, teach, play, fuzz, measure),
)
for command in COMMANDS:
    app.add_command(command)


def run(arguments: Sequence[str] | None = None, since: float | None = None) -> int:
    """Run a command line and return its exit code; ``since`` is when its process began, by the monotonic clock."""
    return run_group(app, arguments, "dfa-router", since)
