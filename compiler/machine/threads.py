"""Calls in threads of their own, by a thread that a signal may interrupt at any moment.

:mod:`threading` and :mod:`concurrent.futures` tell by conditions what has begun and ended, and these are written in Python. What a signal handler raises
between two of their steps leaves one locked, and whoever needs it next waits for ever: in one of some ten thousand interrupted batches a pool's thread
did, and the pool for it. What is below has no state that is wrong between two steps.
"""

from __future__ import annotations

import _thread
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import TypeVar

__all__ = ["together"]

T = TypeVar("T")
LOOK = 0.001
"""Seconds between two looks whether calls that are to halt have ended."""


def together(calls: Sequence[Callable[[], T]], halt: list[bool]) -> list[T]:
    """Make each call in a thread of its own, a single one in this thread, and return the results in order.

    What the first call raises that raises something, or a signal handler in this thread, is raised when all calls that have begun have ended; until then ``halt``
    is not empty, by which they may tell that nobody waits for what they return.

    >>> together([lambda: 1, lambda: 2], [])
    [1, 2]
    """
    if len(calls) == 1:
        return [calls[0]()]
    begun: list[int] = []
    ended: list[int] = []
    results: dict[int, T] = {}
    failures: list[BaseException] = []
    wake: SimpleQueue[None] = SimpleQueue()

    def make(number: int) -> None:
        begun.append(number)
        try:
            # A thread of which its maker does not know yet that it has begun does nothing once the others are to halt.
            if not halt:
                results[number] = calls[number]()
        except BaseException as error:  # noqa: BLE001 - raised by the thread that waits
            failures.append(error)
            halt.append(True)
        finally:
            ended.append(number)
            wake.put(None)

    try:
        for number in range(len(calls)):
            _thread.start_new_thread(make, (number,))
        while len(ended) < len(calls):
            wake.get()
    except BaseException:
        halt.append(True)
        while len(ended) < len(begun):
            time.sleep(LOOK)
        raise
    if failures:
        raise failures[0]
    return [results[number] for number in range(len(calls))]
