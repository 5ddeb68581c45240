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
from dfa_router.fuzz.places import Why
from dfa_router.fuzz.shrinking.probe import Probe
from dfa_router.fuzz.shrinking.suspects import Suspects, suspects
from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.targets.command import CommandTarget
from dfa_router.fuzz.text.report import campaign_json, finding_text
from dfa_router.fuzz.text.resuming import begun
from dfa_router.language.dialects import AMQP
from dfa_router.target import Ran, TargetFailure

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


ADAPTERS = Path(__file__).parents[2] / "benchmarks" / "verification" / "findings" / "adapters"


def package_of_node(folder: Path, source: str) -> Path:
    """Install a package of this source, which goes by the name of one that has an adapter; return its file."""
    package = folder / "node_modules" / "amqp-match"
    package.mkdir(parents=True)
    (folder / "package.json").write_text("{}")
    (package / "package.json").write_text(json.dumps({"name": "amqp-match", "main": "index.js"}))
    (package / "index.js").write_text(source)
    return package / "index.js"


def suspected(folder: Path, spec: str, case: Case, kind: Kind = Kind.MISSES, about: str = "") -> Suspects | None:
    target = open_target(spec, AMQP)
    try:
        target.answer((), ())
        met = Disagreement(kind=kind, about=about)
        probe = Probe(target, Judge(language_of(AMQP)), met, float("inf"), Manners(False, False))
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
    [again] = begun(told, AMQP).tally.findings.values()
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
    source = package_of_node(
        tmp_path,
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
        "module.exports = (key, pattern) => fits(words(pattern), words(key));\n",
    )
    monkeypatch.chdir(ADAPTERS)
    found = suspected(
        tmp_path, f"cmd:node node/protocol.mjs amqp-match {tmp_path} lines", Case(patterns=("a.#",), key="a")
    )
    assert found is not None
    assert found.found
    assert found.lines == ((str(source), 5),)


# --- where no line stands out ---------------------------------------------------------------------------------------------

TRANSLATED = """
import re

class Table:
    def __init__(self):
        self.compiled = {}

    def text_of(self, pattern):
        words = pattern.split(".")
        return "^" + "[.]".join({"#": ".*", "*": "[^.]*"}.get(word, word) for word in words) + "$"

    def fits(self, pattern, key):
        text = self.text_of(pattern)
        if text not in self.compiled:
            self.compiled[text] = re.compile(text)
        return self.compiled[text].match(key)

table = Table()

def match(patterns, key):
    re.match("^fixed$", key)
    return [i for i, pattern in enumerate(patterns) if table.fits(pattern, key)]
"""
ONE_LINERS = """
def split(text):
    return text.split(".") if text else []

def fits(p, w):
    return (fits(p[1:], w) or bool(w) and fits(p, w[1:])) if p[:1] == ["#"] else p == w == [] or wrong(p, w)

def wrong(p, w):
    return bool(p and w) and p[0] in ("*", w[0]) and p[0] != "c" and fits(p[1:], w[1:])

def match(patterns, key):
    found = []
    for i, pattern in enumerate(patterns):
        if fits(split(pattern), split(key)):
            found.append(i)
    return found
"""
HANGING = ONE_LINERS.replace('p[0] != "c"', '(p[0] != "c" or [0 for _ in iter(int, 1)])')
RAISING = ONE_LINERS.replace('p[0] != "c"', '(p[0] != "c" or {}[p[0]])')
STALE = ONE_LINERS.replace('p[0] != "c"', "True") + (
    "kept = {}\n\ndef stale(patterns, key):\n    return kept.setdefault((len(patterns), key), match(patterns, key))\n"
)


def line_of(source: str, text: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)


def test_where_a_pattern_becomes_an_expression_the_lines_that_build_and_run_it_are_named(folder: Path) -> None:
    (folder / "translated.py").write_text(TRANSLATED)
    campaign = campaign_of("translated:match")
    [finding] = campaign.findings
    assert not finding.suspects
    text, compiled, run_, fixed = (
        line_of(TRANSLATED, text) for text in ('return "^"', "re.compile", ".match(key)", "^fixed$")
    )
    named = {place.name: place.lines for place in finding.decided}
    assert named == {"Table.text_of": (text,), "Table.fits": (compiled, run_)}
    assert fixed not in [line for lines in named.values() for line in lines], "an expression that nothing depends on"
    told = "  No single line is suspect; what builds or runs the regular expression: in `Table.text_of`, translated.py:"
    assert f"{told}{text}; in `Table.fits`, " in finding_text(finding)
    [again] = begun(json.loads(json.dumps(campaign_json(campaign))), AMQP).tally.findings.values()
    assert again.decided == finding.decided


@pytest.mark.parametrize(
    ("source", "why", "case", "kind", "about"),
    [
        (ONE_LINERS, Why.DECIDES, Case(patterns=("c",), key="c"), Kind.MISSES, ""),
        (HANGING, Why.PLAIN, Case(patterns=("c",), key="c"), Kind.FAILS, "hung"),
    ],
)
def test_else_the_function_is_named_in_which_matches_part_from_others(
    folder: Path, source: str, why: Why, case: Case, kind: Kind, about: str
) -> None:
    (folder / "liners.py").write_text(source)
    found = suspected(folder, "liners:match", case, kind, about)
    assert found is not None
    assert not found.told
    [place] = found.places
    assert (place.name, place.why) == ("match", why)
    first = line_of(source, "def match")
    assert place.lines == tuple(range(first, first + 6))
    assert place.text("liners.py") == f"in `match`, liners.py:{first}-{first + 5}"


def test_the_line_of_an_error_is_named(folder: Path) -> None:
    (folder / "raising.py").write_text(RAISING)
    [finding] = [one for one in campaign_of("raising:match").findings if one.kind is Kind.FAILS]
    named = finding.suspects or [(place.file, *place.lines) for place in finding.decided]
    assert (str(folder / "raising.py"), line_of(RAISING, "{}[p[0]]")) in [one[:2] for one in named]


def test_a_finding_that_needs_a_history_has_a_place_as_well(folder: Path) -> None:
    (folder / "stale.py").write_text(STALE)
    campaign = campaign_of("stale:stale")
    [finding] = campaign.findings
    assert finding.case.stateful
    assert not finding.suspects
    assert {place.file for place in finding.decided} == {str(folder / "stale.py")}
    told = "  No single line is suspect; what decides plain cases, as this one was not followed: in `"
    assert told in finding_text(finding), "the fault is in none of the functions that are named"
    [again] = begun(json.loads(json.dumps(campaign_json(campaign))), AMQP).tally.findings.values()
    assert again.decided == finding.decided


def test_a_program_may_tell_its_lines_alone_or_with_functions_and_expressions(folder: Path) -> None:
    program = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    question = json.loads(line)\n"
        "    said = {'ready': True, 'lines': True} if 'patterns' in question else []\n"
        "    print(json.dumps(TOLD if 'lines' in question else said), flush=True)\n"
    )
    full = {"ran": [["x.c", 3]], "functions": [["x.c", 1, 9, "f"]], "expressions": [["x.c", 4]], "later": 1}
    for number, (told, expected) in enumerate(
        [
            ([["x.c", 3]], Ran(frozenset({("x.c", 3)}))),
            (full, Ran(frozenset({("x.c", 3)}), (("x.c", 1, 9, "f"),), frozenset({("x.c", 4)}))),
            ({"functions": []}, None),
        ]
    ):
        (folder / f"program{number}.py").write_text(program.replace("TOLD", repr(told)))
        target = open_target(f"cmd:{sys.executable} -IS program{number}.py", AMQP)
        assert isinstance(target, CommandTarget)
        try:
            target.answer((), ())
            if expected is None:
                with pytest.raises(TargetFailure, match="expected a list"):
                    target.lines(["a"], "a")
            else:
                assert target.lines(["a"], "a") == expected
        finally:
            target.close()


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js")
def test_expressions_of_a_package_of_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = package_of_node(
        tmp_path,
        "const textOf = (pattern) =>\n"
        "  pattern\n"
        "    .replace('.', '[.]')\n"
        "    .replace('#', '.*');\n"
        "function fits(key, pattern) {\n"
        "  if (!/^/.test(key)) return false;\n"
        "  const expression = new RegExp(`^${textOf(pattern)}$`);\n"
        "  return expression.test(key);\n"
        "}\n"
        "module.exports = fits;\n",
    )
    monkeypatch.chdir(ADAPTERS)
    target = open_target(f"cmd:node node/protocol.mjs amqp-match {tmp_path} lines", AMQP)
    assert isinstance(target, CommandTarget)
    try:
        target.answer((), ())
        ran = target.lines(["a.#"], "a")
    finally:
        target.close()
    file = str(source)
    assert {(file, line) for line in (3, 4, 7, 8)} <= ran.expressions
    assert {(file, 5, 9, "fits"), (file, 1, 4, "textOf")} <= set(ran.functions)
