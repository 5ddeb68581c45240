"""A fuzz campaign spread over a cluster (:mod:`dfa_router.fuzz.spread`): ranges of rounds are tasks of Spark.

Each task opens the target where it runs: a Python callable must be importable there, a program must be installed there
(the folder that the campaign was started in is the current one where it exists), and a broker must be reached from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from dfa_router.errors import JobError
from dfa_router.fuzz.spread import Share, Task, run_in_waves
from dfa_router.fuzz.tally import Campaign, Plan, Tally
from dfa_router.spark.errors import SPARK_ERRORS, cause
from dfa_router.target import Round

__all__ = ["run_on_spark"]


def run_on_spark(
    session: SparkSession,
    spec: str,
    plan: Plan,
    *,
    seconds: float | None = None,
    rounds: int | None = None,
    first: int = 0,
    since: float | None = None,
    timeout: float = 10.0,
    python: str | None = None,
    corpus: Sequence[tuple[str, Round]] = (),
    progress: Callable[[Tally, float], None] | None = None,
) -> Campaign:
    """Run a campaign on a Spark session, for a number of seconds or of rounds, whichever limit is reached first.

    The seconds count from ``since`` (a time of the monotonic clock) if it is given, so that Spark's start can be a part of
    them; a quarter of them are left for asking in any case. ``corpus`` holds rounds that the driver asks first, each with where it comes from. ``progress`` is called after every
    wave with what there is so far and the seconds that went by. An interrupt (Ctrl-C) cancels the wave that runs and ends
    the campaign with what was found before it; so does a failure of Spark or of a worker after the first wave, which the
    result then names.

    Raises :class:`OptionError` where neither limit is given, and :class:`JobError` where Spark fails or the target cannot
    be opened on a worker.
    """

    def wave(task: Task, ranges: list[range]) -> list[Share]:
        try:
            return session.sparkContext.parallelize(ranges, len(ranges)).map(task).collect()
        except SPARK_ERRORS as error:
            raise JobError(f"the campaign failed on Spark: {cause(error)}") from error

    return run_in_waves(
        wave,
        max(1, session.sparkContext.defaultParallelism),
        Task(spec=spec, plan=plan, timeout=timeout, folder=str(Path.cwd()), python=python),
        seconds=seconds,
        rounds=rounds,
        first=first,
        since=since,
        corpus=corpus,
        progress=progress,
        cancel=session.sparkContext.cancelAllJobs,
    )
