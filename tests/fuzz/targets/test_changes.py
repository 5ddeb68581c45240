"""Programs that fail when their set is changed: the change is part of the case, and few starts are spent on other ones."""

from __future__ import annotations

from pathlib import Path

from dfa_router.fuzz import run
from dfa_router.fuzz.findings import Case, Disagreement, Finding, Kind
from dfa_router.fuzz.generating.language import language_of
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.shrinking.shrink import shrink
from dfa_router.fuzz.text.report import finding_text
from dfa_router.language.dialects import AMQP
from dfa_router.target import Bind, Step

CHANGING = """\
if "patterns" in question:
    patterns = question["patterns"]
    say({"ready": True, "changes": True})
elif "key" in question:
    found = right_amqp([pattern or "" for pattern in patterns], question["key"])
    say([place for place in found if patterns[place] is not None])
elif "unbind" in question:
    patterns[question["unbind"]] = None
    say(True)
elif "#" in question["bind"]:
    os._exit(3)
else:
    patterns.append(question["bind"])
    say(True)
"""


def test_a_failure_at_a_change_is_shrunk_in_few_starts(program, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A program that takes a second to start is left with a case that does not show it if each key is tried alone first."""
    root, starts = Path(__file__).parents[3], tmp_path / "starts"
    before = f"sys.path.insert(0, {str(root)!r})\nfrom tests.fuzz.planted import right_amqp\nopen({str(starts)!r}, 'a').write('.')"
    (found,) = run(program(CHANGING, before=before), AMQP, rounds=60, seed=5).findings
    assert found.case == Case(patterns=(), before=(Bind("#"),), key="a")
    assert not found.flaky
    assert len(starts.read_text()) < 40


def test_a_case_that_there_was_no_time_to_see_again_is_not_said_to_come_and_go(program) -> None:  # type: ignore[no-untyped-def]
    target = program(CHANGING)
    steps: list[Step] = ["a", Bind("#"), "b"]
    met = Disagreement(kind=Kind.FAILS, about="died")
    shrunk = shrink(target, Judge(language_of(AMQP)), met, ["x"], steps, seconds=-1)
    assert (shrunk.flaky, shrunk.complete) == (True, False)
    assert shrunk.case == Case(patterns=("x",), before=(Bind("#"),), key="b"), "the change is part of it"
    told = finding_text(
        Finding(
            accused="it",
            kind=Kind.FAILS,
            case=shrunk.case,
            dialect=AMQP,
            expected=(),
            answered=None,
            shape="",
            flaky=shrunk.flaky,
            complete=shrunk.complete,
        )
    )
    assert "no time" in told
    assert "not every time" not in told
    assert "alike every time" not in told
