"""Faults that show only after something has happened are found, shrunk to a history, and show it in a fresh process."""

from __future__ import annotations

import pytest

from dfa_router.fuzz import DisagreementError, Scope, assert_agrees, run
from dfa_router.fuzz.findings import Case, Finding, Kind
from dfa_router.fuzz.generating.language import language_of
from dfa_router.fuzz.judging.growth import growth_of
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.subject import played
from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.text.report import campaign_json, finding_text
from dfa_router.language.dialects import AMQP
from dfa_router.target import OutOfTimeError, TargetFailure
from tests.fuzz.planted_histories import HISTORIES, MISSED, RemovalTakesThePrefix, Right

MODULE = "tests.fuzz.planted_histories"


def found(name: str, seed: int) -> Finding:
    target = open_target(f"{MODULE}:{name}", AMQP)
    try:
        campaign = run(target, AMQP, seconds=60, seed=seed, scope=Scope(growth=True))
    finally:
        target.close()
    assert campaign.findings, f"not found with seed {seed}: {campaign.tally.rounds} rounds"
    return campaign.findings[0]


def reproduced(finding: Finding, name: str) -> tuple[int, ...] | None:
    """Ask the case in a process that was never asked anything else."""
    target = open_target(f"{MODULE}:{name}", AMQP)
    case = finding.case
    try:
        for chapter in case.earlier:
            played(target, chapter.patterns, chapter.steps)
        return played(target, case.patterns, [*case.before, case.key])[-1]
    except TargetFailure:
        return None
    finally:
        target.close()


def holds(name: str, seed: int) -> Finding:
    finding = found(name, seed)
    assert finding.complete
    assert finding.fresh
    assert not finding.flaky
    if finding.kind is Kind.SLOW:
        return finding
    assert reproduced(finding, name) == finding.answered
    if finding.kind is not Kind.FAILS:
        assert finding.answered != finding.expected
    return finding


def test_a_report_tells_which_pattern_an_unbind_should_have_left() -> None:
    text = finding_text(found("RemovalTakesAllEquals", 1))
    assert "  Position 1 is still in the set; taken out before: 0.\n" in text
    assert "is still in the set" not in finding_text(found("CacheOutlivesBind", 1))


SLOW = ("a_full_cache_gives_the_last_entry", "time_is_exponential")
"""These take ten seconds and more, and are asked with ``-m long``."""


@pytest.mark.parametrize("name", [name for name in HISTORIES if name not in SLOW])
def test_a_planted_history_is_found_and_shrunk(name: str) -> None:
    finding = holds(name, 1)
    case = finding.case
    assert case.stateful
    if name != "breaks_at_the_fiftieth_call":
        told = len(case.before) + sum(len(one.steps) for one in case.earlier)
        assert told <= 6, case
        assert all(len(one.patterns) <= 5 for one in case.earlier), case


@pytest.mark.parametrize("name", [name for name in MISSED if name not in SLOW])
def test_a_class_that_was_missed_is_found(name: str) -> None:
    case = holds(name, 1).case
    assert not case.stateful


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", [*HISTORIES, *MISSED])
def test_whatever_the_seed(name: str, seed: int) -> None:
    holds(name, seed)


def test_there_are_twenty_histories() -> None:
    assert len(set(HISTORIES)) == len(HISTORIES) >= 20


def test_time_that_grows_exponentially_is_told_with_its_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit of a twentieth of a second, so that the pattern is a small one."""
    monkeypatch.setattr("dfa_router.fuzz.judging.growth.LIMIT", 0.05)
    target = open_target(f"{MODULE}:time_is_exponential", AMQP)
    try:
        growth = growth_of(target, language_of(AMQP), Scope())
    finally:
        target.close()
    assert growth is not None
    count, seconds = growth.seconds[-1]
    assert seconds > 0.05
    assert growth.pattern == ".".join(["#.a"] * count)
    assert "seconds by the number of wildcards: 1: " in growth.text


def test_a_matcher_whose_time_does_not_grow_is_not_accused() -> None:
    target = open_target("trie", AMQP)
    assert growth_of(target, language_of(AMQP), Scope(max_wildcards=6)) is None


def test_two_threads_that_share_something_are_found() -> None:
    target = open_target(f"{MODULE}:two_threads_share_a_key", AMQP)
    try:
        campaign = run(target, AMQP, seconds=60, seed=1, scope=Scope(threads=2))
        assert run(target, AMQP, rounds=60, seed=1).agrees
    finally:
        target.close()
    [finding] = campaign.findings
    assert len(finding.case.together) == 1
    assert "when threads ask at once" in finding_text(finding)


@pytest.mark.parametrize(
    ("name", "said"),
    [("another_thread_gets_nothing", "None"), ("another_thread_gets_a_stale_position", "expected [] or [0]")],
)
def test_what_is_no_answer_is_told_of_threads_as_of_one(name: str, said: str) -> None:
    target = open_target(f"{MODULE}:{name}", AMQP)
    try:
        campaign = run(target, AMQP, rounds=60, seed=1, scope=Scope(threads=2))
    finally:
        target.close()
    [finding] = campaign.findings
    assert finding.kind is Kind.FAILS
    assert said in finding_text(finding)
    assert campaign_json(campaign)["findings"][0]["together"]


def test_a_finding_of_threads_that_is_interrupted_while_it_is_described_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(judge: Judge, case: Case) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Judge, "verdicts", interrupted)
    target = open_target(f"{MODULE}:another_thread_gets_nothing", AMQP)
    try:
        campaign = run(target, AMQP, rounds=60, seed=1, scope=Scope(threads=2), keep_going=True)
    finally:
        target.close()
    assert campaign.interrupted
    assert len(campaign.findings) == 1


def test_threads_that_are_asked_when_the_time_is_over_are_no_failure() -> None:
    target = open_target(f"{MODULE}:two_threads_share_a_key", AMQP)
    try:
        target.answer(["a"], ["a"])
        target.deadline = 0.0  # type: ignore[attr-defined]
        with pytest.raises(OutOfTimeError):
            target.together(["a"], ["a", "b"])  # type: ignore[attr-defined]
    finally:
        target.close()


def test_right_matchers_are_not_accused_by_threads_or_changes() -> None:
    for name, scope in (("Right", Scope()), ("Right", Scope(threads=3))):
        target = open_target(f"{MODULE}:{name}", AMQP)
        try:
            campaign = run(target, AMQP, rounds=100, seed=2, scope=scope)
        finally:
            target.close()
        assert campaign.agrees, finding_text(campaign.findings[0])
        assert campaign.manners.changing
        assert campaign.tally.classes["changing-sets"] > 5


def test_a_class_in_this_process_changes_too() -> None:
    assert assert_agrees(Right, cases=20_000).manners.changing
    with pytest.raises(DisagreementError, match=r"after what happened before") as caught:
        assert_agrees(RemovalTakesThePrefix, cases=20_000)
    assert "unbind  0" in str(caught.value)
