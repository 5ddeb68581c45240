"""Programs that fail: each failure with its kind, its last case, and what the program said."""

from __future__ import annotations

import select
import time
from pathlib import Path

import pytest

from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.targets.process import LINE_LIMIT, STDERR_LIMIT
from dfa_router.language.dialects import AMQP
from dfa_router.target import Target, TargetFailure
from tests.fuzz.targets.asking import RIGHT, failure


def test_a_program_that_hangs_at_a_key(program) -> None:  # type: ignore[no-untyped-def]
    target = program('if question.get("key") == "b": time.sleep(60)\n' + RIGHT, timeout=2)
    started = time.monotonic()
    caught = failure(target, ("a", "b"), ("a", "b", "c"))
    assert time.monotonic() - started < 30
    assert (caught.kind, caught.patterns, caught.keys) == ("hung", ("a", "b"), ("b", "c"))
    assert "no answer within 2 s" in caught.reason
    assert "for the key 'b'" in caught.reason
    assert target.answer(("a", "b"), ("a",)) == [(0,)]  # and it runs again


def test_a_program_that_drips_bytes_hangs_too(program) -> None:  # type: ignore[no-untyped-def]
    drip = 'while True:\n    os.write(1, b"[")\n    os.write(2, b"x" * 1000)\n    time.sleep(0.05)'
    caught = failure(program(drip, timeout=2))
    assert caught.kind == "hung"
    assert "no answer within 2 s, after b'[[" in caught.reason
    assert "' without an end of line; " in caught.reason
    assert len(caught.reason) < STDERR_LIMIT + 1000


def test_a_program_that_reads_nothing_hangs(opened: list[Target]) -> None:
    opened.append(open_target("cmd:sleep 60", AMQP, timeout=2))
    assert failure(opened[0], ("a" * 250,) * 10_000, ("a",)).kind == "hung"


def test_a_program_that_keeps_its_answers_to_itself_hangs(program) -> None:  # type: ignore[no-untyped-def]
    caught = failure(program('print("true")', timeout=2))
    assert caught.kind == "hung"
    assert caught.keys == ("a", "b")


def test_a_program_that_exits(program) -> None:  # type: ignore[no-untyped-def]
    dying = 'if question.get("key") == "b":\n    print("out of cheese", file=sys.stderr)\n    sys.exit(3)\n'
    caught = failure(program(dying + RIGHT))
    assert (caught.kind, caught.keys) == ("died", ("b",))
    assert "exited with code 3" in caught.reason
    assert "out of cheese" in caught.reason


def test_a_program_that_is_killed(program) -> None:  # type: ignore[no-untyped-def]
    caught = failure(program('if "key" in question: os.kill(os.getpid(), 11)\n' + RIGHT))
    assert caught.kind == "died"
    assert "SIGSEGV" in caught.reason


def test_a_program_that_stops_after_each_round(program) -> None:  # type: ignore[no-untyped-def]
    """It must not be started again as if nothing had happened."""
    target = program(RIGHT + 'if question.get("key") == "b": break')
    assert target.answer(("a", "b"), ("a", "b")) == [(0,), (1,)]
    caught = failure(target)
    assert caught.kind == "died"
    assert "code 0 (it must go on" in caught.reason


def test_a_program_that_closes_its_output(program) -> None:  # type: ignore[no-untyped-def]
    caught = failure(program("os.close(1)\ntime.sleep(60)"))
    assert caught.kind == "died"
    assert "did not end" in caught.reason


def test_an_unfinished_line_is_no_answer(program) -> None:  # type: ignore[no-untyped-def]
    caught = failure(program('os.write(1, b"true")\nbreak'))
    assert caught.kind == "died"
    assert "after b'true'" in caught.reason


@pytest.mark.parametrize("flood", ['b"["', 'b"true\\n"'])
def test_a_program_that_floods(program, flood: str) -> None:  # type: ignore[no-untyped-def]
    caught = failure(program(f"while True: os.write(1, {flood} * 10_000)"), keys=())
    assert caught.kind == "flooded"
    assert f"{LINE_LIMIT:,} bytes" in caught.reason


def test_a_program_that_floods_stderr_is_read_as_any_other(program) -> None:  # type: ignore[no-untyped-def]
    target = program('os.write(2, b"x" * 1_000_000)\n' + RIGHT)
    assert target.answer(("a", "b"), ("a",) * 20) == [(0,)] * 20


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ("'[0'", "no JSON"),
        ("'hello'", "no JSON"),
        ("'[' * 100_000", "no JSON"),
        ("b'\\xff'", "no JSON"),
        ("''", "answered with an empty line, which is no JSON"),
        ("'0'", "expected the positions"),
        ("'{}'", "expected the positions"),
        ("'[[0]]'", "expected the positions"),
        ("'[true]'", "expected the positions"),
        ("'[0.0]'", "expected the positions"),
        ("'[\"a\"]'", "expected the positions"),
        ("'null'", "expected the positions"),
        ("'[2]'", "expected positions from 0 to 1"),
        ("'[-1]'", "expected positions from 0 to 1"),
        ("'[0]\\n[0]'", "one line for each question"),
    ],
)
def test_nonsense(program, answer: str, complaint: str) -> None:  # type: ignore[no-untyped-def]
    write = f"answer = {answer}\nos.write(1, (answer if isinstance(answer, bytes) else answer.encode()) + b'\\n')"
    target = program(
        f'if question.get("key") == "b":\n    {write.replace(chr(10), chr(10) + "    ")}\n    continue\n' + RIGHT
    )
    caught = failure(target, ("a", "b"), ("a", "b"))
    assert (
        (caught.kind, caught.keys) == ("nonsense", ("b",)) if "one line" not in complaint else ("nonsense", ("a", "b"))
    )
    assert complaint in caught.reason
    assert len(caught.reason) < 1500
    assert target.answer(("a", "b"), ("a",)) == [(0,)]


def test_too_few_answers_are_a_hang_and_a_shift_is_noticed(program) -> None:  # type: ignore[no-untyped-def]
    assert (
        failure(
            program(
                'if question.get("key") != "a":\n' + "\n".join("    " + line for line in RIGHT.splitlines()),
                timeout=2,
            )
        ).kind
        == "hung"
    )
    late = 'if "key" in question and question["key"] == "b":\n    say([1]); time.sleep(0.2)\n' + RIGHT
    target = program(late)
    assert target.answer(("a", "b"), ("a", "b")) == [(0,), (1,)]
    assert select.select([target._process._process.stdout], [], [], 60)[
        0
    ]  # the second answer to the last question is there now
    assert failure(target).kind == "nonsense"


def test_a_program_that_is_gone_when_it_is_needed_again(tmp_path: Path, opened: list[Target]) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexit 4\n")
    program.chmod(0o755)
    opened.append(open_target(f"cmd:{program}", AMQP))
    assert "code 4" in failure(opened[0]).reason
    program.unlink()
    caught = failure(opened[0])
    assert caught.kind == "died"
    assert "cannot be started again" in caught.reason
    with pytest.raises(TargetFailure, match="cannot be started again"):
        opened[0].lines(["a"], "a")  # type: ignore[attr-defined]


def test_answering_the_patterns_with_positions_is_nonsense(program) -> None:  # type: ignore[no-untyped-def]
    caught = failure(program("say([0])"))
    assert caught.kind == "nonsense"
    assert "to the patterns, expected true" in caught.reason


def test_a_program_can_say_that_it_failed(program) -> None:  # type: ignore[no-untyped-def]
    target = program('say(True if "patterns" in question else {"raised": "oh dear"} if question["key"] == "b" else [])')
    caught = failure(target, ("a",), ("a", "b", "c"))
    assert (caught.kind, caught.keys) == ("raised", ("b",))
    assert "oh dear" in caught.reason
