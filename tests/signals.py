"""Signals that a test sends to itself at a moment that it waits for, while something runs."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["sent_when"]


@contextmanager
def sent_when(due: Callable[[], bool], number: int = signal.SIGINT, *, every: float = 0.01) -> Iterator[None]:
    """Send the thread that calls this a signal, once, as soon as ``due`` says so, if it does so within the block.

    It is asked ``every`` so many seconds. No garbage is collected within the block: of a handler that runs in a callback of the
    collector, as Hypothesis has one, Python drops the exception.
    """

    def watch() -> None:
        while not due():
            if over.wait(every):
                return
        if not over.is_set():
            signal.pthread_kill(main, number)

    main, over = threading.get_ident(), threading.Event()
    watcher = threading.Thread(target=watch, daemon=True)
    collects = gc.isenabled()
    gc.disable()
    watcher.start()
    try:
        yield
    finally:
        if collects:
            gc.enable()
        over.set()
        watcher.join()
