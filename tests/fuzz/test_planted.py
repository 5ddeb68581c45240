"""Planted faults are found and shrunk, and right matchers are never accused."""

from __future__ import annotations

import pytest

from dfa_router.fuzz import DisagreementError, Scope, assert_agrees, run
from dfa_router.fuzz.check import CallableTarget
from dfa_router.language.dialects import dialect_named
from tests.fuzz.planted import PLANTED, RIGHT, Planted, strict_mqtt

SEEDS = range(5)


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: f"{fault.dialect}-{fault.name}")
def test_every_planted_fault_is_found_and_shrunk(fault: Planted) -> None:
    dialect = dialect_named(fault.dialect)
    separator = dialect.separator.decode()
    for seed in SEEDS:
        scope = Scope(shared=True if dialect.shared else None)  # those that know $share not are not asked it otherwise
        campaign = run(CallableTarget(fault.match, dialect), dialect, seconds=20, seed=seed, scope=scope)
        assert len(campaign.findings) == 1, f"not found with seed {seed}"
        assert campaign.seconds < 20
        finding = campaign.findings[0]
        assert fault.kind in (str(finding.kind), "either"), (seed, finding.case)
        assert finding.complete
        assert not finding.flaky
        assert len(finding.case.patterns) <= 2, (seed, finding.case)
        texts = (*finding.case.patterns, finding.case.key)
        assert all(text.count(separator) < 4 for text in texts), (seed, finding.case)
        # It is a real one: the right matcher answers as expected, this one as reported.
        right = RIGHT[fault.dialect](list(finding.case.patterns), finding.case.key)
        assert tuple(right) == finding.expected
        assert tuple(fault.match(list(finding.case.patterns), finding.case.key)) == finding.answered


def test_there_is_a_planted_fault_for_every_class_of_every_dialect_with_a_history() -> None:
    assert len({fault.name for fault in PLANTED}) == len(PLANTED)
    assert {fault.dialect for fault in PLANTED} == {"amqp", "mqtt", "nats"}
    assert len(PLANTED) >= 40


@pytest.mark.parametrize("dialect", RIGHT)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_right_matcher_is_never_accused(dialect: str, seed: int) -> None:
    campaign = assert_agrees(RIGHT[dialect], dialect, cases=40_000, seed=seed)
    assert campaign.tally.cases >= 40_000
    assert not campaign.manners.patterns


@pytest.mark.parametrize("seed", SEEDS)
def test_a_right_matcher_that_refuses_is_never_accused(seed: int) -> None:
    campaign = assert_agrees(strict_mqtt, "mqtt", cases=40_000, seed=seed)
    assert campaign.manners.patterns
    assert campaign.tally.classes["validity"] > 3


def test_a_matcher_that_refuses_too_little_is_told_so() -> None:
    def lenient(patterns: list[str], key: str) -> list[int]:
        if any("#" in pattern.split("/")[:-1] for pattern in patterns):
            raise ValueError("# is not at the end")
        return RIGHT["mqtt"](patterns, key)

    with pytest.raises(DisagreementError, match="takes a pattern that the dialect refuses") as caught:
        assert_agrees(lenient, "mqtt")
    assert "--no-validity (validity=False) asks it none that are refused." in str(caught.value)
    assert assert_agrees(lenient, "mqtt", validity=False).agrees
    finding = caught.value.campaign.findings[0]
    assert finding.expected is None


def test_a_matcher_that_refuses_too_much_is_told_so() -> None:
    def strict(patterns: list[str], key: str) -> list[int]:
        if any("" in pattern.split(".") for pattern in patterns):
            raise ValueError("an empty word")
        return RIGHT["amqp"](patterns, key)

    with pytest.raises(DisagreementError, match="refuses what the dialect allows") as caught:
        assert_agrees(strict, "amqp")
    assert caught.value.campaign.findings[0].case.patterns == ("",)
