"""The commands of ``dfa-router``, as one group.

Each is imported when it is asked for: importing all of them takes nearly as long as importing the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import click

import dfa_router
from dfa_router.cli.running import begin, common_options, run_group

__all__ = ["run"]

PLACES = {
    "audit": "audit",
    "diff": "diff",
    "explain": "explaining",
    "fuzz": "fuzz",
    "lint": "lint",
    "mcp": "mcp",
    "measure": "measure",
    "normalise": "relations",
    "permissions": "permissions",
    "play": "play",
    "relation": "relations",
    "render": "render",
    "replay": "replay",
    "route": "route",
    "show": "show",
    "teach": "teach",
    "why-not": "explaining",
}
"""From a command's name, which is that of its function, to the module of this package that has it."""


class _Commands(click.Group):
    """A group whose commands are imported one by one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in PLACES:
            return None
        command = getattr(import_module(f"{__package__}.{PLACES[cmd_name]}"), cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(dfa_router.__version__, prog_name="dfa-router")
@common_options
@click.pass_context
def app(context: click.Context, *, quiet: bool, verbose: bool, debug: bool) -> None:
    """Answer who gets which message, from a broker's binding table.

    Exit codes: 0 fine, 1 something was found (a wrong answer, or what --fail-on names), 2 wrong usage or input, 3 the
    machine lacks something, 130 interrupted, 143 terminated. Results go to stdout, progress and warnings to stderr. NO_COLOR switches colours off.
    """
    begin(context, quiet=quiet, verbose=verbose, debug=debug)


def run(arguments: Sequence[str] | None = None, since: float | None = None) -> int:
    """Run a command line and return its exit code; ``since`` is when its process began, by the monotonic clock."""
    return run_group(app, arguments, "dfa-router", since)
