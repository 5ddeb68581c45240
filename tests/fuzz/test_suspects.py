"""The lines that are suspect: what a case runs and the passing cases beside it do not."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from dfa_router.fuzz import Campaign, run
from dfa_router.fuzz.findings import Case, Disagreement, Kind
from dfa_router.fuzz.generating.language import language_of
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.fuzz.shrinking.probe import Probe
from dfa_router.fuzz.shrinking.suspects import Suspects, suspects
from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.text.outcome import begun
from dfa_router.fuzz.text.report import campaign_json, finding_text
from dfa_router.language.dialects import AMQP

BRANCHES = """
def fits(tokens, words):
    if not tokens:
        return not words
    if tokens[0] == "#":
        if not words:
            return False
        return any(fits(tokens[1:], words[n:]) for n in range(len(words) + 1))
    return bool(words) and tokens[0] in ("*", words[0]) and fits(tokens[1:], words[1:])

def match(patterns, key):
    words = key.split(".") if key else []
    return [i for i, pattern in enumerate(patterns) if fits(pattern.split(".") if pattern else [], words)]

class Matcher:
    def __init__(self, patterns):
        self.patterns = patterns

    def match(self, key):
        return match(self.patterns, key)
"""
DELIVERING = """
import re

def match(patterns, key):
    queues = {}
    for i, pattern in enumerate(patterns):
        expression = pattern.replace(".", "[.]").replace("*", ".*").replace("#", ".*")
        if re.fullmatch(expression, key):
            queue = queues.setdefault(i, [])
            queue.append(key)
    found = []
    for i in queues:
        found.append(i)
    return found
"""
EXPRESSION = """
import re

def match(patterns, key):
    return [i for i, p in enumerate(patterns) if re.fullmatch(p.replace(".", "[.]").replace("#", ".*"), key)]
"""


def suspected(folder: Path, spec: str, case: Case, kind: Kind = Kind.MISSES) -> Suspects | None:
    target = open_target(spec, AMQP)
    try:
        target.answer((), ())
        probe = Probe(target, Judge(language_of(AMQP)), Disagreement(kind=kind), float("inf"), Manners(False, False))
        return suspects(probe, case)
    finally:
        target.close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["match", "Matcher"])
def test_the_branch_that_is_wrong_is_suspect(folder: Path, name: str) -> None:
    (folder / "branches.py").write_text(BRANCHES)
    found = suspected(folder, f"branches:{name}", Case(patterns=("a.#",), key="a"))
    assert found is not None
    assert found.found
    wrong = BRANCHES.splitlines().index("            return False") + 1
    assert found.lines == ((str(folder / "branches.py"), wrong),)


def test_where_the_lines_are_the_same_none_is_suspect(folder: Path) -> None:
    (folder / "expression.py").write_text(EXPRESSION)
    found = suspected(folder, "expression:match", Case(patterns=("a.#",), key="a"))
    assert found is not None
    assert not found.found
    assert {file for file, _ in found.lines} == {str(folder / "expression.py")}


def test_a_program_that_does_not_tell_its_lines_is_not_asked_for_them(folder: Path) -> None:
    (folder / "program.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    question = json.loads(line)\n"
        "    assert 'lines' not in question\n"
        "    print(json.dumps(True if 'patterns' in question else []), flush=True)\n"
    )
    case = Case(patterns=("a",), key="a")
    assert suspected(folder, f"cmd:{sys.executable} program.py", case) is None


def campaign_of(spec: str, **limits: Any) -> Campaign:
    target = open_target(spec, AMQP)
    try:
        return run(target, AMQP, rounds=30, seed=1, **limits)
    finally:
        target.close()


def test_a_campaign_names_the_lines_that_are_suspect(folder: Path) -> None:
    (folder / "branches.py").write_text(BRANCHES)
    campaign = campaign_of("branches:match")
    [finding] = campaign.findings
    wrong = BRANCHES.splitlines().index("            return False") + 1
    assert finding.suspects == ((str(folder / "branches.py"), wrong),)
    assert f"  Suspect: branches.py:{wrong} (" in finding_text(finding)
    told = json.loads(json.dumps(campaign_json(campaign)))
    assert told["findings"][0]["suspects"] == [list(one) for one in finding.suspects]
    [again] = begun(told, AMQP).findings.values()
    assert again.suspects == finding.suspects


def test_what_the_lines_do_not_show_is_not_told(folder: Path) -> None:
    (folder / "expression.py").write_text(EXPRESSION)
    [finding] = campaign_of("expression:match").findings
    assert finding.suspects == ()
    assert "Suspect" not in finding_text(finding)


def test_what_runs_whenever_something_matches_is_not_suspect_where_a_match_is_false(folder: Path) -> None:
    (folder / "delivering.py").write_text(DELIVERING)
    found = suspected(folder, "delivering:match", Case(patterns=("*",), key="a.a"), Kind.MATCHES)
    assert found is not None
    assert found.passing
    assert not found.found, found.lines


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js")
def test_lines_of_a_package_of_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adapters = Path(__file__).parents[2] / "benchmarks" / "verification" / "findings" / "adapters"
    package = tmp_path / "node_modules" / "amqp-match"
    package.mkdir(parents=True)
    (tmp_path / "package.json").write_text("{}")
    (package / "package.json").write_text(json.dumps({"name": "amqp-match", "main": "index.js"}))
    (package / "index.js").write_text(
        "const fits = (t, w) => {\n"
        "  if (!t.length) return !w.length;\n"
        "  if (t[0] === '#') {\n"
        "    if (!w.length)\n"
        "      return false;\n"
        "    return [...w, ''].some((_, n) => fits(t.slice(1), w.slice(n)));\n"
        "  }\n"
        "  return w.length > 0 && (t[0] === '*' || t[0] === w[0]) && fits(t.slice(1), w.slice(1));\n"
        "};\n"
        "const words = (text) => (text ? text.split('.') : []);\n"
        "module.exports = (key, pattern) => fits(words(pattern), words(key));\n"
    )
    monkeypatch.chdir(adapters)
    found = suspected(
        tmp_path, f"cmd:node node/protocol.mjs amqp-match {tmp_path} lines", Case(patterns=("a.#",), key="a")
    )
    assert found is not None
    assert found.found
    assert found.lines == ((str(package / "index.js"), 5),)
