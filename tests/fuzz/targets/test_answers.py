"""What targets answer and refuse, and what a program reads to do so."""

from __future__ import annotations

from typing import Any

import pytest

import dfa_router as dr
from dfa_router.errors import OptionError
from dfa_router.fuzz.targets import open_target
from dfa_router.language.dialects import AMQP, MQTT, NATS
from dfa_router.target import Refused
from tests.fuzz.targets.asking import KEYS, PATTERNS, RIGHT, failure, truth


@pytest.mark.parametrize("engine", dr.engines())
def test_every_engine_is_a_target(engine: str) -> None:
    target = open_target(engine, AMQP)
    assert target.answer(PATTERNS, KEYS) == truth(PATTERNS, KEYS)
    assert target.answer((), KEYS) == [()] * len(KEYS)
    assert target.answer(PATTERNS, ()) == []
    target.close()


def test_an_engine_refuses_what_the_dialect_refuses() -> None:
    with pytest.raises(Refused, match="not the last word") as caught:
        open_target("dfa", MQTT).answer(["a", "#/a"], ["a"])
    assert caught.value.pattern == 1


def test_an_engine_that_does_not_speak_the_dialect_is_no_target() -> None:
    with pytest.raises(OptionError, match="does not speak 'nats'"):
        open_target("inverted", NATS)


def test_order_and_repetition_of_positions_do_not_matter(program) -> None:  # type: ignore[no-untyped-def]
    assert program("say(True if 'patterns' in question else [1, 0, 1])").answer(("a", "b"), ("x",)) == [(0, 1)]


def test_a_round_larger_than_any_pipe(program) -> None:  # type: ignore[no-untyped-def]
    """Both sides write megabytes: whoever reads only after writing would wait for ever."""
    patterns, keys = tuple("a" * 200 for _ in range(3000)), ("a" * 200,) * 500
    assert program(RIGHT).answer(patterns, keys) == [tuple(range(3000))] * 500


def test_what_is_escaped_on_the_wire(program) -> None:  # type: ignore[no-untyped-def]
    """As the page on the protocol says: no more than it must be, and no line is two to those who know other line ends."""
    target = program('say({"refused": line})')
    with pytest.raises(Refused) as caught:
        target.answer(('é#.*"', "a\x85\u2028\u2029\x7f\n\x00", "\ud800"), ())
    assert caught.value.reason == ('{"patterns": ["é#.*\\"", "a\\u0085\\u2028\\u2029\\u007f\\n\\u0000", "\\ud800"]}\n')
    assert len(caught.value.reason.splitlines()) == 1


def test_a_program_is_told_dialect_and_version(program) -> None:  # type: ignore[no-untyped-def]
    told = program('say({"refused": os.environ["DFA_ROUTER_DIALECT"] + " " + os.environ["DFA_ROUTER_FUZZ"]})')
    with pytest.raises(Refused, match=r"^amqp 2$"):
        told.answer((), ())


# --- refusals -------------------------------------------------------------------------------------------------------


def test_a_program_refuses_a_pattern_and_stays_in_step(program) -> None:  # type: ignore[no-untyped-def]
    target: Any = program(
        'if "bad" in question.get("patterns", []):\n    say({"refused": "bad it is", "pattern": 1})\nelse:\n'
        + "\n".join("    " + line for line in RIGHT.splitlines())
    )
    running = target._process._process.pid
    with pytest.raises(Refused, match="bad it is") as caught:
        target.answer(("a", "bad"), ("a", "b"))
    assert (caught.value.pattern, caught.value.key) == (1, None)
    assert target.answer(("a", "b"), ("a", "b")) == [(0,), (1,)]
    assert target._process._process.pid == running  # it was not ended for having been right


def test_a_program_refuses_a_key(program) -> None:  # type: ignore[no-untyped-def]
    target = program('say(True if "patterns" in question else {"refused": "no"} if question["key"] == "b" else [])')
    with pytest.raises(Refused, match="no") as caught:
        target.answer(("a",), ("a", "b", "c"))
    assert (caught.value.pattern, caught.value.key) == (None, 1)
    assert target.answer(("a",), ("a", "c")) == [(), ()]


def test_a_refusal_of_a_pattern_that_is_not_there_is_nonsense(program) -> None:  # type: ignore[no-untyped-def]
    assert failure(program('say({"refused": "no", "pattern": 7})')).kind == "nonsense"
