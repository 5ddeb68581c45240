"""Processes of this machine that work on a campaign, and how signals end them.

Ctrl-C comes to all processes of a terminal at once, also to workers that still import what they need, where Python would
answer with a traceback: so SIGINT waits until a worker has a task, by POSIX' mask of signals, which processes inherit.
SIGTERM may come to the campaign's own process alone, as ``kill`` and ``docker stop`` send it, and workers would go on until
the time of their wave is over: so it is sent on to them, and ends a task as Ctrl-C does, and its target's program with it.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from types import FrameType, TracebackType
from typing import Self, TypeVar

__all__ = ["Workers"]

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


class Workers:
    """A pool of processes whose tasks can be ended while they run; a context manager."""

    def __init__(self, jobs: int) -> None:
        """Make the pool; its processes are started when they have something to do."""
        self._others = set(multiprocessing.active_children())
        self._pool = ProcessPoolExecutor(
            jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_ending_at_once
        )

    def __enter__(self) -> Self:
        """Return the pool."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the end of its processes."""
        self._pool.shutdown()

    def map(self, task: Callable[[_Given], _Made], given: Iterable[_Given]) -> list[_Made]:
        """Return what the task makes of each; raises what the first that fails raises, or ``BrokenProcessPool``."""
        with _interrupts_wait():  # the processes that are started here inherit it
            made = self._pool.map(partial(_terminable, task), given)
        return list(made)

    def cancel(self) -> None:
        """End the tasks that run, and their processes, and begin no other."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - self._others:
            process.terminate()


def _ending_at_once() -> None:
    """Let a worker's process end without a last search for garbage, which takes half a second: the campaign waits for its end."""
    atexit.register(gc.freeze)


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _terminable(task: Callable[[_Given], _Made], given: _Given) -> _Made:
    """Run a task in a worker, which either signal interrupts; after SIGTERM the worker ends as if it had not been handled."""
    terminated = False

    def terminate(_number: int, _frame: FrameType | None) -> None:
        nonlocal terminated
        terminated = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return task(given)
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        signal.signal(signal.SIGTERM, before)
        if terminated:
            signal.raise_signal(signal.SIGTERM)
