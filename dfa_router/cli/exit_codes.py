"""What the exit code of every command means."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["ExitCode"]


class ExitCode(IntEnum):
    """The exit codes, for scripts and CI."""

    OK = 0
    """Done."""
    FOUND = 1
    """Done, and what was asked for with an option such as ``--fail-on`` was found."""
    USAGE = 2
    """The command line, or a file that it names, is wrong."""
    ENVIRONMENT = 3
    """The machine lacks something, or a job failed on it, or could not put its result where it should be."""
    INTERRUPTED = 130
    """Stopped with Ctrl-C; no half result is left behind."""
    TERMINATED = 143
    """Stopped with SIGTERM; no half result is left behind."""
