"""The set without patterns: a target that does not take it is told of that, and of nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from dfa_router.fuzz import run
from dfa_router.fuzz.findings import Case, Kind
from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.text.report import finding_text, summary_text
from dfa_router.language.dialects import AMQP
from dfa_router.target import Target

PROGRAM = """\
if "patterns" in question:
    patterns = question["patterns"]
    say(True if patterns else {"refused": "at least one pattern is needed", "limit": LIMIT})
else:
    say(match(patterns, question["key"]))
"""
BEFORE = """\
from tests.fuzz.planted import right_amqp as match
"""
MODULE = """\
from tests.fuzz.planted import right_amqp

class Refuses:
    scope = {"empty_words": False}
    def __init__(self, patterns):
        if not patterns:
            raise ERROR("at least one pattern is needed")
        self._patterns = patterns
    def match(self, key):
        assert "" not in key.split(".") and "" not in self._patterns, "outside of what it says that it may be asked"
        return right_amqp(self._patterns, key)
"""


@pytest.fixture
def before() -> str:
    return f"sys.path.insert(0, {str(Path(__file__).parents[3])!r})\n{BEFORE}"


def test_a_program_that_refuses_no_patterns_is_told_of_it(program, before: str) -> None:  # type: ignore[no-untyped-def]
    target = program(PROGRAM.replace("LIMIT", "False"), before=before)
    (found,) = run(target, AMQP, rounds=200, seed=3).findings
    assert (found.kind, found.case) == (Kind.REFUSES, Case(patterns=(), key="a"))
    assert not found.flaky
    text = finding_text(found)
    assert "refuses what the dialect allows (amqp" in text
    assert "  no patterns\n" in text
    assert "[refuses: no patterns on a]" in text


def test_a_limit_on_no_patterns_is_never_held_against_a_program(program, before: str) -> None:  # type: ignore[no-untyped-def]
    campaign = run(program(PROGRAM.replace("LIMIT", "True"), before=before), AMQP, rounds=60, seed=3)
    assert campaign.agrees
    assert campaign.tally.declined == {"a limit that it states: at least one pattern is needed"}


@pytest.mark.parametrize(("error", "kind"), [("ValueError", Kind.REFUSES), ("IndexError", Kind.FAILS)])
def test_a_class_that_takes_no_empty_list_is_imported_and_keeps_its_scope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[Target], error: str, kind: Kind
) -> None:
    (tmp_path / f"its_{error.lower()}.py").write_text(MODULE.replace("ERROR", error))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3]))
    opened.append(open_target(f"its_{error.lower()}:Refuses", AMQP))
    campaign = run(opened[0], AMQP, rounds=200, seed=3)
    assert campaign.manners.scope.empty_words is False
    assert campaign.manners.trouble == ""
    assert [(found.kind, found.case) for found in campaign.findings] == [(kind, Case(patterns=(), key="a"))]


def test_what_fails_at_any_set_is_not_said_to_fail_at_something_invalid(program) -> None:  # type: ignore[no-untyped-def]
    campaign = run(program("os._exit(3)"), AMQP, rounds=5, seed=3)
    assert [found.kind for found in campaign.findings] == [Kind.FAILS]
    assert "something invalid" not in summary_text(campaign)
