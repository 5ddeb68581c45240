"""A fuzz campaign spread over a cluster: each task works on a range of rounds, and findings are gathered on the driver.

A round depends on the seed and its number alone, and the result of a range is a plain value that can be merged with others,
so a campaign finds the same on one core and on a thousand. Ranges are handed out in waves of one task for each core. A
campaign that ends at its first finding ends at the one of the earliest round, as it would on one core: findings of
later ranges of its wave are dropped.

Each task opens the target where it runs: a Python callable must be importable there, a program must be installed there
(the folder that the campaign was started in is the current one where it exists), and a broker must be reached from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from dfa_router.errors import JobError, OptionError
from dfa_router.fuzz.campaign import mannered, work
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.fuzz.tally import Campaign, Plan, Tally
from dfa_router.fuzz.targets import open_target
from dfa_router.spark.errors import SPARK_ERRORS, cause
from dfa_router.target import Round

__all__ = ["run_on_spark"]

FIRST_CASES = 100_000
"""At most about how many cases a task of the first wave has: an interrupt loses the wave that runs, so the first is short."""
SMALLEST = 64
"""Rounds of a task in the first wave."""
LARGEST = 1 << 14
"""The most rounds of a task in any wave."""
WAVE_SECONDS = 4.0
"""A wave that takes less than this is followed by one whose tasks have twice as many rounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The result of a task's rounds."""

    target: str
    manners: Manners
    tally: Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Works on one range of rounds, in a Python worker."""

    spec: str
    plan: Plan
    timeout: float
    seconds: float | None
    """How long it may take, from its start."""
    folder: str

    def __call__(self, numbers: range) -> Share:
        """Ask the rounds of these numbers."""
        with chdir(self.folder if Path(self.folder).is_dir() else "."):
            return self._share(numbers)

    def _share(self, numbers: range) -> Share:
        ends = None if self.seconds is None else time.monotonic() + self.seconds
        target = open_target(self.spec, self.plan.dialect, timeout=self.timeout)
        try:
            manners = mannered(target, self.plan)
            tally = work(
                target,
                self.plan,
                numbers,
                manners=manners,
                going_on=lambda _: ends is None or time.monotonic() < ends,
            )
            return Share(target=target.name, manners=manners, tally=tally)
        finally:
            target.close()


def run_on_spark(
    session: SparkSession,
    spec: str,
    plan: Plan,
    *,
    seconds: float | None = None,
    rounds: int | None = None,
    timeout: float = 10.0,
    corpus: Sequence[tuple[str, Round]] = (),
    progress: Callable[[Tally, float], None] | None = None,
) -> Campaign:
    """Run a campaign on a Spark session, for a number of seconds or of rounds, whichever limit is reached first.

    ``corpus`` holds rounds that the driver asks first, each with where it comes from. ``progress`` is called after every
    wave with what there is so far and the seconds that went by. An interrupt (Ctrl-C) cancels the wave that runs and ends
    the campaign with what was found before it; so does a failure of Spark or of a worker after the first wave, which the
    result then names.

    Raises :class:`OptionError` where neither limit is given, and :class:`JobError` where Spark fails or the target cannot
    be opened on a worker.
    """
    if seconds is None and rounds is None:
        raise OptionError("a campaign on Spark needs an end: give seconds or rounds")
    started = time.monotonic()
    total, name, manners, interrupted = Tally(), spec, Manners(patterns=False, keys=False), False

    def in_time(_: Tally) -> bool:
        return seconds is None or time.monotonic() - started < seconds

    def over() -> bool:
        return bool(total.findings and not plan.keep_going) or total.given_up is not None

    try:
        if corpus:
            target = open_target(spec, plan.dialect, timeout=timeout)
            try:
                name, manners = target.name, mannered(target, plan)
                work(target, plan, (), manners=manners, corpus=corpus, going_on=in_time, tally=total)
            finally:
                target.close()
        for wave in () if over() else _waves(session, spec, plan, seconds, rounds, timeout, started):
            for share in wave:
                name, manners = share.target, share.manners
                total.merge(share.tally)
                if over():
                    break
            if progress is not None:
                progress(total, time.monotonic() - started)
            if over():
                break
    except KeyboardInterrupt:
        session.sparkContext.cancelAllJobs()
        interrupted = True
    except JobError as error:  # what was found is kept
        if not total.rounds:
            raise
        total.given_up = str(error)
    return Campaign(
        target=name,
        plan=plan,
        tally=total,
        manners=manners,
        seconds=time.monotonic() - started,
        interrupted=interrupted,
    )


def _waves(
    session: SparkSession,
    spec: str,
    plan: Plan,
    seconds: float | None,
    rounds: int | None,
    timeout: float,
    started: float,
) -> Iterator[list[Share]]:
    """Yield the results of each wave, in the order of its ranges."""
    cores = max(1, session.sparkContext.defaultParallelism)
    first, size = 0, SMALLEST
    if plan.size is not None:
        size = max(1, min(size, FIRST_CASES // (plan.size.patterns * plan.size.keys)))
    while rounds is None or first < rounds:
        left = None if seconds is None else seconds - (time.monotonic() - started)
        if left is not None and left <= 0:
            return
        stop = first + cores * size
        if rounds is not None:
            stop = min(stop, rounds)
            size = max(1, min(size, -(-(stop - first) // cores)))
        ranges = [range(begin, min(begin + size, stop)) for begin in range(first, stop, size)]
        began = time.monotonic()
        yield _wave(session, Task(spec=spec, plan=plan, timeout=timeout, seconds=left, folder=str(Path.cwd())), ranges)
        first = stop
        if time.monotonic() - began < WAVE_SECONDS:
            size = min(2 * size, LARGEST)


def _wave(session: SparkSession, task: Task, ranges: list[range]) -> list[Share]:
    """Run a task for each range; raises :class:`JobError` with what a worker said."""
    try:
        return session.sparkContext.parallelize(ranges, len(ranges)).map(task).collect()
    except SPARK_ERRORS as error:
        raise JobError(f"the campaign failed on Spark: {cause(error)}") from error
