"""How a group of commands runs: its common options, and the one place where errors become messages and exit codes.

Errors that the project raises on purpose are shown as their text. Anything else is a defect, and shows its traceback: a
report without one is worth little.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.interrupts import terminable
from dfa_router.cli.streams import guarded_streams
from dfa_router.cli.tables import plain_lines
from dfa_router.cli.terminal import Terminal, stderr_console
from dfa_router.errors import InputError, RouterError
from dfa_router.siblings import ShadowedError

__all__ = ["begin", "common_options", "run_group"]


@dataclass(slots=True)
class _Settings:
    """What the group's options say, for its commands and for :func:`run_group`."""

    debug: bool = False
    terminal: Terminal | None = None
    since: float | None = None
    """When the command's process began, by the monotonic clock; None where it is not a process of its own."""
    terminated: threading.Event = field(default_factory=threading.Event)
    """Set when SIGTERM has come, which interrupts a command as Ctrl-C does."""


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--quiet``, ``--verbose`` and ``--debug`` to a group, which hands them to :func:`begin`."""
    for option in (
        click.option("--debug", is_flag=True, help="Show the traceback of an error."),
        click.option("-v", "--verbose", is_flag=True, help="Show all warnings, and what is going on."),
        click.option("-q", "--quiet", is_flag=True, help="Show the result and errors only."),
    ):
        command = option(command)
    return command


def begin(context: click.Context, *, quiet: bool, verbose: bool, debug: bool) -> None:
    """Prepare for a command of the group: make its terminal, ``context.obj.terminal``, and set up the log."""
    context.ensure_object(_Settings).debug = debug
    context.obj.terminal = Terminal(quiet=quiet, verbose=verbose)
    context.call_on_close(_log_to_stderr(quiet=quiet, verbose=verbose))


def run_group(group: click.Group, arguments: Sequence[str] | None, prog_name: str, since: float | None = None) -> int:
    """Run a command line and return its exit code."""
    settings = _Settings(since=since)
    with terminable(settings.terminated, lasting=since is not None), guarded_streams():
        return _run(group, arguments, prog_name, settings)


def _run(
    group: click.Group,
    arguments: Sequence[str] | None,
    prog_name: str,
    settings: _Settings,
) -> int:
    errors, terminated = stderr_console(soft_wrap=True), settings.terminated
    try:
        code = group.main(args=arguments, prog_name=prog_name, standalone_mode=False, obj=settings)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        errors.print("terminated" if terminated.is_set() else "interrupted", style="bold")
        return ExitCode.TERMINATED if terminated.is_set() else ExitCode.INTERRUPTED
    except (RouterError, ShadowedError) as error:
        if settings.debug:
            errors.print_exception()
        errors.print("error:", style="bold red", end=" ")
        errors.print(plain_lines(str(error)))  # which may have the words of a target, a file or a broker
        return ExitCode.USAGE if isinstance(error, InputError) else ExitCode.ENVIRONMENT
    if (
        code == ExitCode.INTERRUPTED and terminated.is_set()
    ):  # the command ended by itself, with a result of what it did
        return ExitCode.TERMINATED
    return code if isinstance(code, int) else ExitCode.OK  # an int where a command ended by context.exit


class _ToStderr(logging.StreamHandler[Any]):
    """Writes to what stderr is at the moment: while progress is redrawn, rich stands there, and puts a line above it."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


class _PlainFormatter(logging.Formatter):
    """Formats records without characters that a terminal would act on: warnings name what files and brokers have."""

    def format(self, record: logging.LogRecord) -> str:
        return plain_lines(super().format(record))


def _log_to_stderr(*, quiet: bool, verbose: bool) -> Callable[[], None]:
    """Show the library's log on stderr; return what puts the process's logging back as it was."""
    log, queries, root = logging.getLogger("dfa_router"), logging.getLogger("DataFrameQueryContextLogger"), logging.root
    handler, silent = _ToStderr(), logging.NullHandler()
    before = log.level, log.propagate, queries.level
    handler.setFormatter(_PlainFormatter("%(levelname)s: %(message)s"))
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
