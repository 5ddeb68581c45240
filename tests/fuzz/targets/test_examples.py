"""The matchers of ``examples/matchers`` under a campaign: wrong ones are found and shrunk, right ones never accused."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dfa_router.dialects import AMQP
from dfa_router.fuzz.campaign import run
from dfa_router.fuzz.findings import Kind
from dfa_router.fuzz.targets import open_target

EXAMPLES = Path(__file__).parents[3] / "examples" / "matchers"


@pytest.fixture(params=["node", "C"])
def matchers(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """The SPECs of the right and the wrong matcher in one language."""
    if request.param == "node":
        if shutil.which("node") is None:
            pytest.skip("there is no node on this machine")
        return {name: f"cmd:node {EXAMPLES / f'{name}.mjs'}" for name in ("right", "wrong")}
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler on this machine")
    flags = {"right": [], "wrong": ["-DGREEDY"]}
    for name, flag in flags.items():
        subprocess.run(["cc", "-O1", *flag, "-o", tmp_path / name, EXAMPLES / "matcher.c"], check=True)
    return {name: f"cmd:{tmp_path / name}" for name in flags}


@pytest.mark.parametrize("seed", range(3))
def test_a_wrong_matcher_is_found_and_shrunk(matchers: dict[str, str], seed: int) -> None:
    target = open_target(matchers["wrong"], AMQP)
    try:
        campaign = run(target, AMQP, seconds=20, seed=seed)
    finally:
        target.close()
    assert campaign.seconds < 20
    assert not campaign.agrees
    assert campaign.tally.given_up is None
    for finding in campaign.findings:
        assert finding.accused == matchers["wrong"]
        assert finding.kind in (Kind.MISSES, Kind.MATCHES)
        assert finding.expected != finding.answered
        assert not finding.flaky
        assert len(finding.case.patterns) == 1
        assert len([*finding.case.patterns[0].split("."), *finding.case.key.split(".")]) <= 4


def test_a_right_matcher_is_never_accused(matchers: dict[str, str]) -> None:
    target = open_target(matchers["right"], AMQP)
    try:
        campaign = run(target, AMQP, rounds=400)
    finally:
        target.close()
    assert campaign.findings == []
    assert campaign.agrees
    assert campaign.tally.cases > 20_000


BEHAVIOURS = {
    "hung": "time.sleep(60)",
    "died": "sys.exit(7)",
    "flooded": "os.write(1, b'[' * 2_000_000)",
    "nonsense": "say([len(patterns)])",
    "raised": "say({'raised': 'no'})",
}


@pytest.mark.parametrize("kind", BEHAVIOURS)
def test_a_target_that_fails_is_reported_as_that(tmp_path: Path, kind: str) -> None:
    """It is right about everything else, so nothing but its failures can be found, with the key that brings them on."""
    program = tmp_path / "program.py"
    program.write_text(f"""
import json, os, sys, time
def say(value): print(json.dumps(value), flush=True)
def words(text): return text.split(".") if text else []
def matches(p, k):
    if p[:1] == ["#"]: return any(matches(p[1:], k[n:]) for n in range(len(k) + 1))
    return p[0] in ("*", k[0]) and matches(p[1:], k[1:]) if p and k else p == k
for line in sys.stdin:
    question = json.loads(line)
    if "patterns" in question:
        patterns = question["patterns"]
        say(True)
    elif question["key"].startswith("b."):
        {BEHAVIOURS[kind]}
    else:
        say([i for i, pattern in enumerate(patterns) if matches(words(pattern), words(question["key"]))])
""")
    target = open_target(f"cmd:{sys.executable} -IS {program}", AMQP, timeout=0.5 if kind == "hung" else 20.0)
    try:
        campaign = run(target, AMQP, seconds=30)
    finally:
        target.close()
    assert not campaign.agrees
    for finding in campaign.findings:
        assert finding.kind is Kind.FAILS
        assert finding.answered is None
        assert finding.case.key.startswith("b.")
        assert "cmd:" in finding.detail
        assert f"| '{kind}' |" in finding.shape
        assert finding.case.key == "b." or not finding.complete  # a slow target is shrunk against the clock
