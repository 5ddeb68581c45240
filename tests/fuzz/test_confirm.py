"""A live broker as the last judge, which may be gone when it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dfa_router.errors import EnvironmentLacksError, RouterError
from dfa_router.fuzz import Case, Finding, Kind, TargetFailure
from dfa_router.fuzz.check import CallableTarget
from dfa_router.fuzz.confirm import verdict_on
from dfa_router.language.dialects import AMQP
from dfa_router.target import Answers
from tests.fuzz.conftest import fuzz
from tests.fuzz.planted import right_amqp

MISSES = Finding(
    accused="m:f",
    kind=Kind.MISSES,
    case=Case(patterns=("a",), key="a"),
    dialect=AMQP,
    expected=(0,),
    answered=(),
    shape="s",
)
ACCEPTS = replace(MISSES, kind=Kind.ACCEPTS, expected=None)


class Broker(CallableTarget):
    """It routes right, and fails if it is to."""

    def __init__(self, error: RouterError | None = None) -> None:
        super().__init__(right_amqp, AMQP)
        self.error = error

    def refusal(self, pattern: str) -> str | None:
        self._fail()
        return "no such pattern"

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        self._fail()
        return super().answer(patterns, keys)

    def _fail(self) -> None:
        if self.error is not None:
            raise self.error


@pytest.mark.parametrize("finding", [MISSES, ACCEPTS], ids=lambda finding: finding.kind)
@pytest.mark.parametrize("error", [TargetFailure("died", "it is gone"), EnvironmentLacksError("it is gone")])
def test_a_broker_that_fails_acquits_nobody(finding: Finding, error: RouterError) -> None:
    assert verdict_on(finding, Broker()) == "confirms"
    word = verdict_on(finding, Broker(error))
    assert word == "cannot be asked: it is gone"
    assert replace(finding, broker=word).counts
    assert not replace(finding, broker="answers []").counts


def test_a_broker_that_is_gone_at_the_end_loses_no_finding(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def connect(url: str) -> Broker:
        asked.append(url)
        if len(asked) > 1:
            raise EnvironmentLacksError("no amqp broker answers: start it")
        return Broker()

    monkeypatch.setattr("dfa_router.fuzz.targets.live.connect", connect)
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--confirm", "amqp://localhost", "--corpus", "found") == 1
    assert len(asked) == 2
    assert "the live broker    cannot be asked: no amqp broker answers: start it" in capsys.readouterr().out
    assert list(Path("found").iterdir())
