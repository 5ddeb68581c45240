"""How long a target is waited for, and when: a call that never comes back is told, and nobody is accused of being slow."""

from __future__ import annotations

import math
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dfa_router.fuzz import bench, patience, run
from dfa_router.fuzz.check import CallableTarget
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.fuzz.patience import AT_LEAST, GRACE, after_a_hang, briefly, last_begin, within
from dfa_router.fuzz.spread import Share, Task, run_in_waves
from dfa_router.fuzz.tally import Plan, Tally
from dfa_router.fuzz.targets.command import CommandTarget
from dfa_router.fuzz.text.outcome import junit
from dfa_router.fuzz.text.report import summary_text
from dfa_router.language.dialects import AMQP
from dfa_router.target import Answers, OutOfTimeError
from tests.fuzz.planted import right_amqp

PROGRAM = """
import json, sys, time
for line in sys.stdin:
    question = json.loads(line)
    if question.get("key") == "hang": time.sleep(600)
    print(json.dumps(True if "patterns" in question else []), flush=True)
"""
TASK = Task(spec="dfa", plan=Plan(dialect=AMQP, seed=0, keep_going=True), timeout=10.0, folder=".")


@pytest.fixture
def program(tmp_path: Path) -> Iterator[CommandTarget]:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    target = CommandTarget("program", [sys.executable, "-IS", str(file)], AMQP, timeout=600.0)
    yield target
    target.close()


# --- a call that never came back ----------------------------------------------------------------------------------------


class Overdue(CallableTarget):
    """It answers some calls, and its time is over at the next one."""

    def __init__(self, calls: int, *, overdue: bool) -> None:
        super().__init__(right_amqp, AMQP)
        self.left, self.overdue = calls, overdue

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        self.left -= 1
        if self.left < 0:
            raise OutOfTimeError("it had not answered", overdue=self.overdue)
        return super().answer(patterns, keys)


def test_a_call_that_never_came_back_is_told_with_the_round_that_asked_it() -> None:
    campaign = run(Overdue(60, overdue=True), AMQP, rounds=500, seed=7)
    assert campaign.tally.rounds > 0
    assert not campaign.agrees
    assert not campaign.findings, "it is not known to reproduce"
    told = summary_text(campaign)
    assert "no disagreement until it was given up" in told
    assert f"--seed 7 --round {campaign.next_round} " in told
    assert 'errors="1"' in junit(campaign)


def test_an_end_in_the_middle_of_an_answer_is_no_fault() -> None:
    assert run(Overdue(60, overdue=False), AMQP, rounds=500).agrees


def test_silence_is_overdue_if_it_lasts_longer_than_any_answer_before(
    program: CommandTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "AT_LEAST", 0.0)
    assert program.answer(["a"], ["b"]) == [()]
    for longest, overdue in ((0.0, True), (600.0, False)):
        program.answer(["a"], ["b"])
        program._silence, program._set, program.deadline = longest, longest or 0.001, time.monotonic() + 0.4
        with pytest.raises(OutOfTimeError) as late:
            program.answer(["a"], ["hang"])
        assert late.value.overdue is overdue
        program.deadline = math.inf


def test_a_slow_target_is_given_its_last_set_while_a_hang_could_still_be_told(program: CommandTarget) -> None:
    assert last_begin(CallableTarget(right_amqp, AMQP), 0.0, 8.0) == 8.0, "it says nothing of its time"
    program._starts = False
    for slowest, silence, begin in ((0.01, 0.01, 8.0), (0.5, 0.1, 8 + GRACE - 1.5), (0.5, 0.5, 8 + GRACE - 2.0)):
        program._set, program._silence = slowest, silence
        assert last_begin(program, 0.0, 8.0) == pytest.approx(begin)
    program._starts, program._start, program.slowest = True, 0.2, 0.4
    assert last_begin(program, 0.0, 8.0) == pytest.approx(8 + GRACE - 1.8), "it has to be started first"
    program.slowest = 600.0
    assert last_begin(program, 0.0, 8.0) == 6.0, "a quarter of the time is the most"


def test_what_could_not_be_told_from_a_slow_answer_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "last_begin", lambda *_: -math.inf)
    campaign = run(CallableTarget(right_amqp, AMQP), AMQP, rounds=50)
    assert campaign.agrees
    assert campaign.tally.rounds == 1, "the first set is given in any case"


def test_threads_that_wait_for_each_other_are_overdue_like_any_answer(
    program: CommandTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "AT_LEAST", 0.0)
    program.answer(["a"], ["b"])
    for longest, overdue in ((0.0, True), (600.0, False)):
        program.answer(["a"], ["b"])
        program._silence, program._set, program.deadline = longest, longest or 0.001, time.monotonic() + 0.4
        with pytest.raises(OutOfTimeError) as late:
            program._told(b'{"key": "hang"}\n', 1, ["a"], ["hang"], times=240)
        assert late.value.overdue is overdue
        program.deadline = math.inf


# --- how long an answer may take ----------------------------------------------------------------------------------------


def test_a_campaign_of_little_time_shortens_the_timeout(program: CommandTarget) -> None:
    within(program, 8.0)
    assert program.timeout == 2.0
    within(program, 1000.0)
    assert program.timeout == 2.0, "it is never given more"
    with briefly(program):
        assert program.timeout == AT_LEAST / 2
    assert program.timeout == 2.0
    after_a_hang(program)
    assert program.timeout == AT_LEAST


def test_what_has_never_answered_has_all_the_time_that_it_was_given(program: CommandTarget) -> None:
    within(program, 8.0)
    assert program._patience(starts=True) == (600.0, 600.0)
    program.answer(["a"], [])
    assert program._patience(starts=False) == (600.0, 600.0), "a set without a key is no answer"
    program.answer(["a"], ["b"])
    assert program._patience(starts=False)[0] == 2.0


def test_a_first_set_that_took_long_may_have_been_slow_and_not_the_start(program: CommandTarget) -> None:
    within(program, 8.0)
    program.slowest, program._start = 0.001, 5.0
    assert program._patience(starts=False) == (15.0, 15.0)
    program._set = 0.001
    assert program._patience(starts=False) == (2.0, 2.0)


def test_what_was_seen_to_be_slow_has_three_times_as_long(program: CommandTarget) -> None:
    within(program, 8.0)
    program.slowest, program._start, program._set = 5.0, 7.0, 5.0
    assert program._patience(starts=False) == (15.0, 15.0)
    assert program._patience(starts=True) == (15.0, 21.0)
    program.slowest = 500.0
    assert program._patience(starts=False) == (600.0, 600.0)


# --- seconds count from the process's start, wherever rounds are asked --------------------------------------------------


def wave_of(seen: list[Task]) -> object:
    def wave(task: Task, ranges: list[range]) -> list[Share]:
        seen.append(task)
        manners = Manners(patterns=True, keys=True)
        tallies = [Tally(rounds=len(numbers), given_up="enough") for numbers in ranges]
        return [
            Share(target="dfa", manners=manners, tally=tally, next_round=numbers.stop)
            for numbers, tally in zip(ranges, tallies, strict=True)
        ]

    return wave


@pytest.mark.parametrize(("passed", "left"), [(0, 100), (20, 80), (500, 25)])
def test_workers_have_the_time_that_their_campaign_has_left(passed: float, left: float) -> None:
    seen: list[Task] = []
    now = time.monotonic()
    run_in_waves(wave_of(seen), 2, TASK, seconds=100.0, rounds=None, since=now - passed)  # type: ignore[arg-type]
    assert seen[0].ends == pytest.approx(now + left, abs=20)
    assert seen[0].seconds == pytest.approx(left, abs=20)
    assert seen[0].host == platform.node()


def test_a_worker_ends_with_the_campaign_and_has_a_quarter_of_it_in_any_case() -> None:
    now = time.monotonic()
    here = replace(TASK, seconds=100.0, host=platform.node())
    assert replace(here, ends=now + 60)._ends() == now + 60
    assert replace(here, ends=now - 60)._ends() == pytest.approx(now + 25, abs=20), "its start took all of it"
    elsewhere = replace(here, host="elsewhere", ends=now + 60)
    assert elsewhere._ends() == pytest.approx(now + 100, abs=20), "the clock of another machine says nothing"
    assert TASK._ends() == math.inf


def test_a_campaign_that_asked_nothing_does_not_agree() -> None:
    def nothing(task: Task, ranges: list[range]) -> list[Share]:
        manners = Manners(patterns=True, keys=True)
        return [Share(target="dfa", manners=manners, tally=Tally(), next_round=ranges[0].start)]

    campaign = run_in_waves(nothing, 1, TASK, seconds=None, rounds=1)
    assert not campaign.agrees
    assert "before the first round was answered" in summary_text(campaign)
