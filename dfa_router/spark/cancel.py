"""Running Spark jobs so that they can be interrupted, and so that no task writes any more once they have been.

PySpark does neither by itself. Its own handler of Ctrl-C asks Java to cancel over the connection on which the interrupted
thread is waiting; Java reads that request when the job is over. And a cancelled job counts as over at once, while its tasks
still run and write, into folders that they create again if they have been removed.

So a job runs in a thread of its own, which leaves the caller's thread free to be interrupted and to talk to Java. Whatever
ends the job early, it is cancelled, and the caller goes on when no task runs any more. Whether one runs is asked of Spark's
scheduler, through Java: the status that Python's interface offers lags behind.

Rejected: stopping the session. That does not wait for tasks either, and the session belongs to the caller.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Event, Thread
from typing import TypeVar
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark import SparkContext, inheritable_thread_target
from pyspark.sql import SparkSession

from dfa_router.spark.session import end_workers, java_has_ended

__all__ = ["cancellable"]

T = TypeVar("T")

_SECONDS = 0.1
"""How many seconds pass between two looks at what still runs."""

_PATIENCE = 60.0
"""How many seconds tasks are given to end; Spark kills a Python worker that does not stop within two."""

_log = logging.getLogger(__name__)


def cancellable(session: SparkSession, work: Callable[[], T], *, alone: bool = False) -> T:
    """Call ``work`` in a thread of its own and return its result.

    Where it fails or is interrupted, its Spark jobs are cancelled and their tasks have ended before the error is
    raised; in a session that other threads use too, this waits for their tasks as well, a minute at most. With ``alone``, nobody
    else uses the session, nor this program afterwards: then Python workers that run on this machine are ended at once.

    The local properties of the calling thread, such as the scheduler pool, hold for ``work`` too, except the job group.
    """
    context, group, outcome, abandoned = session.sparkContext, f"dfa-router-{uuid4().hex}", Future[T](), Event()

    def grouped() -> T:
        context.setJobGroup(group, "dfa-router", interruptOnCancel=True)
        return work()

    # Before Spark 4.0 it takes the function at once, and knows one session only.
    if int(session.version.split(".")[0]) >= 4:
        inheriting = inheritable_thread_target(session)(grouped)
    else:
        inheriting = inheritable_thread_target(grouped)

    def run() -> None:
        try:
            if abandoned.is_set():
                outcome.cancel()
            else:
                outcome.set_result(inheriting())
        except BaseException as error:  # noqa: BLE001  (raised again in the caller's thread)
            outcome.set_exception(error)

    thread = Thread(target=run, name="dfa-router job", daemon=True)
    try:
        thread.start()
        while not wait(
            [outcome], _SECONDS
        ).done:  # with a timeout, as a wait without one cannot be interrupted on Windows
            pass
        return outcome.result()
    except BaseException:
        abandoned.set()
        if thread.ident is not None:  # a thread that has not begun yet will find itself abandoned, and do nothing
            _end(session, group, outcome, alone=alone)
        raise


def _end(session: SparkSession, group: str, outcome: Future[T], *, alone: bool) -> None:
    """Return when the work has ended and no task runs, or there is no Java any more."""
    context = session.sparkContext
    try:
        # The outcome is waited for and not the thread: Python 3.11 takes a thread for ended if its join was interrupted.
        while not outcome.done():
            if context._jsc is not None:  # noqa: SLF001  (None where the session was stopped meanwhile: then the work fails)
                context.cancelJobGroup(group)  # repeatedly, as the work may be about to start its next job
                if alone:  # Spark looks every two seconds whether a worker is to be ended, and waits for two more
                    end_workers(session)
            wait([outcome], _SECONDS)
        deadline = time.monotonic() + _PATIENCE
        while running := _running_tasks(context):
            if alone:
                end_workers(session)
            if time.monotonic() > deadline:
                _log.warning("%d Spark tasks still run a minute after their job: they may leave files behind", running)
                return
            time.sleep(_SECONDS)
    except (Py4JError, ConnectionError):
        if not java_has_ended(session):
            raise
        _log.info("Java has ended, and its tasks with it")
        wait([outcome])  # the work fails for the same reason


def _running_tasks(context: SparkContext) -> int:
    """Return how many tasks run in the whole application, from the scheduler itself."""
    java = context._jsc  # noqa: SLF001
    if java is None:  # stopped meanwhile
        return 0
    scheduler = java.sc().taskScheduler()
    if scheduler is None:  # Java has stopped by itself, as it does where it runs out of memory
        return 0
    counts = scheduler.runningTasksByExecutors().values().iterator()
    running = 0
    while counts.hasNext():
        running += counts.next()
    return running
