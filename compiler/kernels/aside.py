"""Calls that no signal can end: they are made in another thread, while this one waits or goes on.

Python handles signals in the main thread alone, where an exception of a handler may end a call between any two steps. Most of
this package is made for that; numba is not. An import of it that was broken off cannot be made again, and its only lock stays
taken if the exception comes at the wrong moment.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import ParamSpec, TypeVar

__all__ = ["aside", "in_background"]

P = ParamSpec("P")
T = TypeVar("T")


def aside(function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Call a function and return its result; an exception of a signal's handler ends the wait for it, and not the call.

    >>> aside(sum, [1, 2])
    3
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments, **named)
    return in_background(function, *arguments, **named).result()


def in_background(function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> Future[T]:
    """Call a function in a thread for which a process that ends does not wait, as it would for that of an executor.

    >>> in_background(sum, [1, 2]).result()
    3
    """
    done: Future[T] = Future()

    def work() -> None:
        try:
            done.set_result(function(*arguments, **named))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            done.set_exception(error)

    # Not by way of threading, whose list of threads is left wrong by an exception while one is started.
    _thread.start_new_thread(work, ())
    return done
