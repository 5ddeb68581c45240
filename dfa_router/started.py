"""When this package began to be imported, for a command that promises to end in time: most of its start is imports.

And what Ctrl-C does while a command's process imports: it ends it in a word, where numpy and numba would show forty lines of where
they were. That holds until :func:`start_is_over`, and in processes that are a command alone: importing a library changes no handlers.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

__all__ = ["STARTED", "start_is_over"]

STARTED = time.monotonic()
"""Seconds of the monotonic clock."""


def start_is_over() -> None:
    """Let Ctrl-C raise ``KeyboardInterrupt`` again, where it did not."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(128 + signal.SIGINT)


def _is_command() -> bool:
    """Tell whether this process is ``dfa-router`` or ``python -m dfa_router``, whose main thread imports this."""
    called = sys.argv[0] if sys.argv else ""
    if called not in sys.orig_argv:  # workers of multiprocessing take over the arguments of who started them
        return False
    return Path(called).name in {"dfa-router", "dfa-router.exe"} or (called == "-m" and "dfa_router" in sys.orig_argv)


# A signal that is ignored, as Ctrl-C is in a shell's background jobs, stays so.
if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end)
