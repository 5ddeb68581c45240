"""Ctrl-C and SIGTERM: the first one interrupts a command, which then cleans up; a further one must not interrupt that.

By default SIGTERM, which service managers and schedulers send, ends a Python process at once and without cleaning up.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["interrupted_once", "signal_handlers", "terminable"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def terminable(terminated: threading.Event, *, lasting: bool = False) -> Iterator[None]:
    """Let SIGTERM interrupt as Ctrl-C does, and set the event when it has come.

    At the end the handlers are as before; but with ``lasting``, signals that :func:`interrupted_once` has come to ignore stay
    ignored, as a process that only has to end needs no further one.
    """

    def terminate(_number: int, _frame: FrameType | None) -> None:
        terminated.set()
        raise KeyboardInterrupt

    before = signal_handlers()
    if before[signal.SIGTERM] == signal.SIG_DFL:
        _set({signal.SIGTERM: terminate})
    try:
        yield
    finally:
        if not (lasting and signal.getsignal(signal.SIGTERM) == signal.SIG_IGN):
            _set(before)


def signal_handlers() -> Mapping[int, Any]:
    """Return what handles the two signals now."""
    return {number: signal.getsignal(number) for number in _SIGNALS}


@contextmanager
def interrupted_once(handlers: Mapping[int, Any], *, again: Callable[[], None]) -> Iterator[None]:
    """Let ``handlers`` handle the first signal within, and call ``again``, which must raise nothing, at all others.

    A signal that is ignored, as Ctrl-C is in a shell's background jobs, stays so. At the end ``handlers`` are in place, or further
    signals are ignored if one has come: it is on its way through the command, and a second one would end in a traceback.
    """
    interrupted = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted:
            again()
            return
        interrupted = True
        handlers[number](number, frame)

    _set({number: handle if callable(handler) else handler for number, handler in handlers.items()})
    try:
        yield
    finally:
        _set(dict.fromkeys(handlers, signal.SIG_IGN) if interrupted else handlers)


def _set(handlers: Mapping[int, Any]) -> None:
    """Set handlers; only the main thread may, and only it is interrupted."""
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():
            if handler is not None:  # None stands for a handler that was not set from Python
                signal.signal(number, handler)
