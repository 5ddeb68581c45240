"""The group of commands, and the one place where errors become messages and exit codes.

Errors that the project raises on purpose are shown as their text. Anything else is a defect, and shows its traceback: a
report without one is worth little.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click
from rich.console import Console

import dfa_router
from dfa_router.cli.bench import bench
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.fuzz import fuzz
from dfa_router.cli.interrupts import terminable
from dfa_router.cli.play import play
from dfa_router.cli.render import render
from dfa_router.cli.route import route
from dfa_router.cli.show import show
from dfa_router.cli.teach import teach
from dfa_router.cli.terminal import Terminal
from dfa_router.errors import InputError, RouterError

__all__ = ["run"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(dfa_router.__version__, prog_name="dfa-router")
@click.option("-q", "--quiet", is_flag=True, help="Show errors only.")
@click.option("-v", "--verbose", is_flag=True, help="Show all warnings, and what is going on.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def app(context: click.Context, *, quiet: bool, verbose: bool, debug: bool) -> None:
    """Answer who gets which message, from a broker's binding table.

    Exit codes: 0 fine, 1 something was found (a wrong answer, or what --fail-on names), 2 wrong usage or input, 3 the
    machine lacks something, 130 interrupted, 143 terminated. NO_COLOR switches colours off.
    """
    context.ensure_object(_Settings).debug = debug
    context.obj.terminal = Terminal(quiet=quiet, verbose=verbose)
    context.call_on_close(_log_to_stderr(quiet=quiet, verbose=verbose))


app.add_command(route)
app.add_command(render)
app.add_command(show)
app.add_command(teach)
app.add_command(play)
app.add_command(bench)
app.add_command(fuzz)


@dataclass(slots=True)
class _Settings:
    """What the group's options say, for its commands and for :func:`run`."""

    debug: bool = False
    terminal: Terminal | None = None


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    settings, terminated = _Settings(), threading.Event()
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        with terminable(terminated):
            code = app.main(args=arguments, prog_name="dfa-router", standalone_mode=False, obj=settings)
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        errors.print("terminated" if terminated.is_set() else "interrupted", style="bold")
        return ExitCode.TERMINATED if terminated.is_set() else ExitCode.INTERRUPTED
    except RouterError as error:
        if settings.debug:
            errors.print_exception()
        errors.print("error:", style="bold red", end=" ")
        errors.print(str(error), markup=False)
        return ExitCode.USAGE if isinstance(error, InputError) else ExitCode.ENVIRONMENT
    except BrokenPipeError:  # the reader of our stdout has gone, such as head: nothing to say, and nobody to say it to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    return code if isinstance(code, int) else ExitCode.OK  # an int where a command ended by context.exit


def _log_to_stderr(*, quiet: bool, verbose: bool) -> Callable[[], None]:
    """Show the library's log on stderr; return what puts the process's logging back as it was."""
    log, queries, root = logging.getLogger("dfa_router"), logging.getLogger("DataFrameQueryContextLogger"), logging.root
    handler, silent = logging.StreamHandler(), logging.NullHandler()
    before = log.level, log.propagate, queries.level
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    log.addHandler(handler)
    log.propagate = False
    log.setLevel(logging.ERROR if quiet else logging.INFO if verbose else logging.WARNING)
    # PySpark and py4j log what they also raise: a failed query as ten kilobytes of JSON, an interrupt with its stack.
    queries.setLevel(logging.CRITICAL)
    root.addHandler(silent)

    def restore() -> None:
        log.removeHandler(handler)
        root.removeHandler(silent)
        log.propagate = before[1]
        log.setLevel(before[0])
        queries.setLevel(before[2])

    return restore
