"""Watching a Spark job while the thread that started it waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from dfa_router.reports import Report

__all__ = ["watched"]

_SECONDS = 0.25
"""Between two looks at the tasks."""


@contextmanager
def watched(session: SparkSession, label: str, report: Report | None, rows: int | None = None) -> Iterator[None]:
    """Report the tasks of the jobs that run within, from a thread, a few times a second.

    With ``rows``, messages are reported: as large a part of so many as of the tasks is finished.
    """
    if report is None:
        yield
        return
    report(label, 0, 0)
    done = Event()
    context = session.sparkContext

    def watch() -> None:
        while not done.wait(_SECONDS):
            try:
                tasks = _tasks(context)
            except (Py4JError, ConnectionError):  # Java has ended, which the thread that waits for the job raises
                return
            report(label, *(tasks if rows is None else _share(rows, *tasks)))

    watcher = Thread(target=watch, name="dfa-router progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _share(rows: int, finished: int, tasks: int) -> tuple[int, int]:
    return rows * finished // max(1, tasks), rows


def _tasks(context: SparkContext) -> tuple[int, int]:
    """Return how many tasks of the running jobs are finished, and how many there are."""
    tracker = context.statusTracker()
    jobs = filter(None, map(tracker.getJobInfo, tracker.getActiveJobsIds()))
    stages = [stage for job in jobs for number in job.stageIds if (stage := tracker.getStageInfo(number)) is not None]
    return sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)
