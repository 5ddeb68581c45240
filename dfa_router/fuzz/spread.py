"""A campaign spread over workers: each works on a range of rounds, and findings are gathered by who began it.

A round depends on the seed and its number alone, and the result of a range is a plain value that can be merged with others,
so a campaign finds the same on one core and on a thousand. Ranges are handed out in waves of one task for each worker. A
campaign that ends at its first finding ends at the one of the earliest round, as it would on one core: findings of
later ranges of its wave are dropped.

Who runs a wave is handed in: processes of this machine (:func:`run_on_cores`), or Spark's executors.
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path

from dfa_router.brokers.address import without_password
from dfa_router.errors import JobError, OptionError, RouterError
from dfa_router.fuzz.asked import check_campaign, check_limit, check_number, rounds_of
from dfa_router.fuzz.campaign import bounded, ending, mannered, work
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.fuzz.tally import Campaign, Plan, Tally
from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.workers import Workers
from dfa_router.target import OutOfTimeError, Round

__all__ = ["Share", "Task", "run_in_waves", "run_on_cores"]

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
    next_round: int
    """The number of the first round that was not asked to its end: what follows the range, if all of them were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Works on one range of rounds, in a worker's process."""

    spec: str
    plan: Plan
    timeout: float
    folder: str
    python: str | None = None
    """The interpreter of a Python target, if it is not ours."""
    seconds: float = math.inf
    """How long its wave may take, from its start."""
    ends: float = math.inf
    """When that is, by the monotonic clock of the machine ``host``."""
    host: str = ""

    def __call__(self, numbers: range) -> Share:
        """Ask the rounds of these numbers."""
        with chdir(self.folder if Path(self.folder).is_dir() else "."):
            return self._share(numbers)

    def _share(self, numbers: range) -> Share:
        ends = self._ends()
        tally, manners = Tally(), Manners(patterns=False, keys=False)
        asked: list[int] = []
        target = open_target(self.spec, self.plan.dialect, timeout=self.timeout, python=self.python)
        try:
            bounded(target, ends)
            manners = mannered(target, self.plan)
            work(
                target,
                self.plan,
                numbers,
                manners=manners,
                going_on=lambda _: time.monotonic() < ends,
                asked=asked.append,
                tally=tally,
                ends=ends,
            )
        except OutOfTimeError as late:
            tally.given_up = f"it never answered in the time that there was: {late}"
        finally:
            target.close()
        return Share(target=target.name, manners=manners, tally=tally, next_round=numbers.start + len(asked))

    def _ends(self) -> float:
        """Return when it ends, by the clock of this machine; on another one than the campaign's its seconds count from now.

        A quarter of them is left where the worker's start took the rest.
        """
        now = time.monotonic()
        same = self.host == platform.node() and self.ends <= now + self.seconds
        return max(self.ends, now + self.seconds / 4) if same else now + self.seconds


Wave = Callable[[Task, list[range]], list[Share]]


def run_in_waves(
    wave: Wave,
    workers: int,
    task: Task,
    *,
    seconds: float | None,
    rounds: int | None,
    first: int = 0,
    since: float | None = None,
    corpus: Sequence[tuple[str, Round]] = (),
    progress: Callable[[Tally, float], None] | None = None,
    cancel: Callable[[], None] = lambda: None,
) -> Campaign:
    """Run a campaign, for a number of seconds or of rounds, whichever limit is reached first.

    Args:
        wave: runs a task for each of some ranges, and returns their shares in that order.
        workers: how many ranges a wave has.
        task: what is to be done; when it ends is set for each wave.
        seconds: how long to ask.
        rounds: how many rounds to ask.
        first: the number of the first round.
        since: the time, of the monotonic clock, from which the seconds count, as :func:`dfa_router.fuzz.run` counts them.
        corpus: rounds that are asked first, here, each with where it comes from.
        progress: called after every wave with what there is so far and the seconds that went by.
        cancel: ends the wave that runs, when the campaign is interrupted.

    An interrupt (Ctrl-C) ends the campaign with what was found before the wave that runs; so does a failure of a worker after
    the first wave, which the result then names.

    Raises :class:`OptionError` where neither limit is given, or one that cannot be used, and in the first wave what opening the target raises in a worker,
    or :class:`JobError` where a worker ends.
    """
    if seconds is None and rounds is None:
        raise OptionError("a campaign on workers needs an end: give seconds or rounds")
    check_campaign(seconds=seconds, since=since, progress=progress)
    rounds, first, corpus = check_limit("rounds", rounds), check_number("first", first, 0), rounds_of(corpus)
    started, plan = time.monotonic(), task.plan
    ends = ending(seconds, since, started)
    total, name, manners, interrupted = Tally(), without_password(task.spec), Manners(patterns=False, keys=False), False
    next_round = first

    def in_time(_: Tally) -> bool:
        return time.monotonic() < ends

    def over() -> bool:
        return bool(total.findings and not plan.keep_going) or total.given_up is not None

    try:
        if corpus:
            target = open_target(task.spec, plan.dialect, timeout=task.timeout, python=task.python)
            try:
                bounded(target, ends)
                name, manners = target.name, mannered(target, plan)
                work(target, plan, (), manners=manners, corpus=corpus, going_on=in_time, tally=total, ends=ends)
            finally:
                target.close()
        for ranges, shares in () if over() else _waves(wave, workers, task, rounds, first, ends):
            for numbers, share in zip(ranges, shares, strict=True):
                if share.tally.rounds or not total.rounds:
                    name, manners = share.target, share.manners
                total.merge(share.tally)
                if next_round == numbers.start:  # else a range before this one was not asked to its end
                    next_round = share.next_round
                if total.findings and not plan.keep_going:
                    break
            if progress is not None:
                progress(total, time.monotonic() - started)
            if over():
                break
    except KeyboardInterrupt:
        cancel()
        interrupted = True
    except OutOfTimeError as late:
        total.given_up = f"it never answered in the time that there was: {late}"
    except RouterError as error:  # a worker ended, or its target is gone: what was found is kept
        if not total.rounds:
            raise
        total.given_up = str(error)
    if not (total.rounds or total.replayed or total.findings or interrupted or total.given_up):
        total.given_up = "the time was over before the first round was answered"
    total.close()
    return Campaign(
        target=name,
        plan=plan,
        tally=total,
        manners=manners,
        seconds=time.monotonic() - started,
        interrupted=interrupted,
        next_round=next_round,
    )


def _waves(
    wave: Wave,
    workers: int,
    task: Task,
    rounds: int | None,
    first: int,
    ends: float,
) -> Iterator[tuple[list[range], list[Share]]]:
    """Yield the ranges of each wave, in order, with the result of each."""
    size, begin, plan = SMALLEST, first, task.plan
    if plan.size is not None:
        size = max(1, min(size, FIRST_CASES // (plan.size.patterns * plan.size.keys)))
    while rounds is None or begin < first + rounds:
        left = ends - time.monotonic()
        if left <= 0:
            return
        stop = begin + workers * size
        if rounds is not None:
            stop = min(stop, first + rounds)
            size = max(1, min(size, -(-(stop - begin) // workers)))
        ranges = [range(at, min(at + size, stop)) for at in range(begin, stop, size)]
        began = time.monotonic()
        yield ranges, wave(replace(task, seconds=left, ends=ends, host=platform.node()), ranges)
        begin = stop
        if time.monotonic() - began < WAVE_SECONDS:
            size = min(2 * size, LARGEST)


def run_on_cores(
    jobs: int,
    task: Task,
    *,
    seconds: float | None = None,
    rounds: int | None = None,
    first: int = 0,
    since: float | None = None,
    corpus: Sequence[tuple[str, Round]] = (),
    progress: Callable[[Tally, float], None] | None = None,
) -> Campaign:
    """Run a campaign by ``jobs`` processes of this machine; see :func:`run_in_waves`."""
    with Workers(jobs) as workers:

        def wave(task: Task, ranges: list[range]) -> list[Share]:
            try:
                return workers.map(task, ranges)
            except BrokenProcessPool as error:
                raise JobError(f"a process of the campaign ended: {error}") from error

        return run_in_waves(
            wave,
            jobs,
            task,
            seconds=seconds,
            rounds=rounds,
            first=first,
            since=since,
            corpus=corpus,
            progress=progress,
            cancel=workers.cancel,
        )
