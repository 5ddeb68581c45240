"""The matchers of ``examples/matchers``: what they answer, and that a campaign finds the wrong ones and accuses no right one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dfa_router.fuzz.campaign import run
from dfa_router.fuzz.findings import Kind
from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.targets.process import LINE_LIMIT, STDERR_LIMIT
from dfa_router.language.dialects import AMQP
from dfa_router.target import Target
from tests.fuzz.targets.asking import KEYS, PATTERNS, truth

EXAMPLES = Path(__file__).parents[3] / "examples" / "matchers"

node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node on this machine")
compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler on this machine")


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
    target = open_target(f"cmd:{sys.executable} -IS {program}", AMQP, timeout=1.5 if kind == "hung" else 20.0)
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
        assert f"'{kind}: " in finding.shape
        assert finding.case.key == "b.a" or not finding.complete  # a slow target is shrunk against the clock


@node
def test_the_right_matcher_in_node(opened: list[Target]) -> None:
    opened.append(open_target(f"cmd:node {EXAMPLES / 'right.mjs'}", AMQP))
    assert opened[0].answer(PATTERNS, KEYS) == truth(PATTERNS, KEYS)
    assert opened[0].answer(PATTERNS[::-1], KEYS) == truth(PATTERNS[::-1], KEYS)


@node
def test_the_wrong_matcher_in_node(opened: list[Target]) -> None:
    opened.append(open_target(f"cmd:node {EXAMPLES / 'wrong.mjs'}", AMQP))
    # The dot before a # is not optional, * takes no empty word, and # is a wildcard within a word.
    assert opened[0].answer(("a.#", "*", "a#"), ("a", "", "ab")) == [(1, 2), (), (1, 2)]
    assert truth(("a.#", "*", "a#"), ("a", "", "ab")) == [(0, 1), (), (1,)]


@compiler
@pytest.mark.parametrize("flag", ["-DRIGHT", "-DGREEDY"])
def test_the_matcher_in_c(tmp_path: Path, opened: list[Target], flag: str) -> None:
    source, binary = EXAMPLES / "matcher.c", tmp_path / "matcher"
    subprocess.run(
        ["cc", "-Wall", "-Wextra", "-Werror", "-pedantic", "-std=gnu11", flag, "-o", binary, source], check=True
    )
    opened.append(open_target(f"cmd:{binary}", AMQP))
    wanted = truth(PATTERNS, KEYS)
    if flag == "-DGREEDY":
        wanted = [
            tuple(i for i in row if (PATTERNS[i], key) != ("#.b", "a.b.b"))
            for key, row in zip(KEYS, wanted, strict=True)
        ]
        assert wanted != truth(PATTERNS, KEYS)
    assert opened[0].answer(PATTERNS, KEYS) == wanted


def test_the_page_on_the_protocol_tells_what_happens(tmp_path: Path) -> None:
    page = (EXAMPLES.parents[1] / "docs" / "fuzz-protocol.md").read_text("utf-8")
    assert f"more than {LINE_LIMIT >> 20} MiB" in page
    assert f"last {STDERR_LIMIT >> 10} KiB" in page
    session = page.split("```console\n$ ", 1)[1].split("\n```", 1)[0]
    command, _, output = session.partition("\n")
    if shutil.which("node") is None:
        pytest.skip("there is no node on this machine")
    ran = subprocess.run(command, shell=True, cwd=EXAMPLES.parents[1], capture_output=True, text=True, check=True)
    assert ran.stdout.rstrip("\n") == output
