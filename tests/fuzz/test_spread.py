"""Campaigns that are spread over workers: what is told of them, and where a run goes on after them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dfa_router.errors import OptionError
from dfa_router.fuzz import Plan, Size, run, work
from dfa_router.fuzz.check import CallableTarget
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.fuzz.spread import SMALLEST, Share, Task, run_in_waves, run_on_cores
from dfa_router.fuzz.tally import Tally
from dfa_router.language.dialects import AMQP
from tests.fuzz.planted import PLANTED

TASK = Task(spec="dfa", plan=Plan(dialect=AMQP, seed=7), timeout=10.0, folder=".")
GREEDY = next(fault.match for fault in PLANTED if fault.name == "hash_stops_at_the_first_occurrence")
NOTHING_MATCHES = """\
#!{python} -IS
import json, sys
for line in sys.stdin:
    print(json.dumps(True if "patterns" in json.loads(line) else []), flush=True)
"""


def share(tally: Tally, next_round: int) -> Share:
    return Share(target="dfa", manners=Manners(patterns=True, keys=True), tally=tally, next_round=next_round)


def test_what_a_worker_did_not_ask_is_asked_by_the_run_that_goes_on() -> None:
    waves: list[list[range]] = []

    def wave(task: Task, ranges: list[range]) -> list[Share]:
        waves.append(ranges)
        stops = [numbers.stop for numbers in ranges]
        if len(waves) == 2:  # the second of three ranges is cut off by the time
            stops[1] = ranges[1].start + 5
        return [share(Tally(rounds=stop - one.start), stop) for one, stop in zip(ranges, stops, strict=True)]

    campaign = run_in_waves(wave, 3, TASK, seconds=None, rounds=9 * SMALLEST)
    assert len(waves) > 1
    assert campaign.next_round == waves[1][1].start + 5
    assert campaign.tally.rounds == 9 * SMALLEST - len(waves[1][1]) + 5


def test_a_run_that_ends_at_its_first_finding_goes_on_after_it_however_many_workers_there_were() -> None:
    target = CallableTarget(GREEDY, AMQP)
    alone = run(target, AMQP, seed=7, rounds=1000)

    def wave(task: Task, ranges: list[range]) -> list[Share]:
        shares = []
        for numbers in ranges:
            asked: list[int] = []
            shares.append(share(work(target, task.plan, numbers, asked=asked.append), numbers.start + len(asked)))
        return shares

    spread = run_in_waves(wave, 2, TASK, seconds=None, rounds=1000)
    assert spread.findings == alone.findings
    assert spread.next_round == alone.next_round == alone.tally.rounds


def test_a_run_that_is_interrupted_in_its_first_wave_tells_no_password() -> None:
    def wave(task: Task, ranges: list[range]) -> list[Share]:
        raise KeyboardInterrupt

    task = replace(TASK, spec="amqp://user:s3cr3t@localhost")
    campaign = run_in_waves(wave, 2, task, seconds=None, rounds=9)
    assert campaign.interrupted
    assert campaign.target == "amqp://localhost"


def test_a_worker_tells_how_far_it_came() -> None:
    assert TASK(range(3, 9)).next_round == 9
    late = replace(TASK, seconds=0.0)(range(3, 900))
    assert late.next_round in (3, 4), "its time was over in the first"


def test_what_was_found_is_kept_when_a_worker_cannot_open_its_target_any_more(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(NOTHING_MATCHES.format(python=sys.executable))
    program.chmod(0o755)
    plan = Plan(dialect=AMQP, seed=7, size=Size(1, 2), keep_going=True)
    task = replace(TASK, spec=f"cmd:{program}", plan=plan)
    campaign = run_on_cores(1, task, rounds=2 * SMALLEST, progress=lambda *_: program.unlink())
    assert campaign.findings
    assert campaign.next_round == SMALLEST
    assert "cannot start the target" in str(campaign.tally.given_up)
    with pytest.raises(OptionError, match="cannot start the target"):
        run_on_cores(1, task, rounds=1)
