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
def terminable(terminated: threading.Event) -> Iterator[None]:
    """Let SIGTERM interrupt as Ctrl-C does, and set the event when it has come."""

    def terminate(_number: int, _frame: FrameType | None) -> None:
        terminated.set()
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGTERM)
    _set({signal.SIGTERM: terminate if before == signal.SIG_DFL else before})
    try:
        yield
    finally:
        _set({signal.SIGTERM: before})


def signal_handlers() -> Mapping[int, Any]:
    """Return what handles the two signals now."""
    return {number: signal.getsignal(number) for number in _SIGNALS}


@contextmanager
def interrupted_once(handlers: Mapping[int, Any], *, again: Callable[[], None]) -> Iterator[None]:
    """Let ``handlers`` handle the first signal within, and call ``again``, which must raise nothing, at all others.

    A signal that is ignored, as Ctrl-C is in a shell's background jobs, stays so. At the end ``handlers`` are in place.
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
        _set(handlers)


def _set(handlers: Mapping[int, Any]) -> None:
    """Set handlers; only the main thread may, and only it is interrupted."""
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():
            if handler is not None:  # None stands for a handler that was not set from Python
                signal.signal(number, handler)
