"""What a campaign may be asked with: its target, the dialect of that, and its bounds."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any

import pytest

from dfa_router.errors import OptionError
from dfa_router.fuzz import Plan, Round, assert_agrees, run, work
from dfa_router.fuzz.check import CallableTarget
from dfa_router.fuzz.spread import Share, Task, run_in_waves
from dfa_router.fuzz.targets import open_target
from dfa_router.language.dialects import AMQP, MQTT, NATS, Dialect
from tests.fuzz.planted import right_amqp


@pytest.mark.parametrize("dialect", [MQTT, NATS], ids=lambda dialect: dialect.name)
def test_a_target_is_asked_in_its_own_dialect_unless_another_is_named_that_it_reads(dialect: Dialect) -> None:
    target = open_target("trie", dialect)
    assert run(target, rounds=40).plan.dialect == dialect
    assert run(target, rounds=40).agrees
    assert assert_agrees(target, cases=2000).plan.dialect == dialect
    stricter = replace(dialect, name="stricter", max_words=5)
    assert run(target, stricter, rounds=1).plan.dialect == stricter


def test_a_target_is_not_asked_in_a_dialect_that_it_takes_for_something_else() -> None:
    target = open_target("trie", "mqtt")
    said = "the target trie speaks 'mqtt', not 'amqp': leave the dialect out, or open a target that speaks it"
    for ask in (
        lambda: run(target, "amqp", rounds=1),
        lambda: assert_agrees(target, "amqp", cases=9),
        lambda: work(target, Plan(dialect=AMQP, seed=1), range(1)),
    ):
        with pytest.raises(OptionError, match=said):
            ask()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rounds": "x"}, "rounds is 'x': expected a whole number above 0"),
        ({"rounds": 2.5}, "rounds is 2.5: expected a whole number above 0"),
        ({"cases": "x"}, "cases is 'x': expected a whole number above 0"),
        ({"seconds": "x"}, "seconds is 'x': expected a number above 0"),
        ({"seed": "x"}, "seed is 'x': expected a whole number from 0 up"),
        ({"first": -1}, "first is -1: expected a whole number from 0 up"),
        ({"size": "100x500"}, "size is '100x500': expected a Size"),
        ({"since": "x"}, r"since is 'x': expected a time of the monotonic clock, as time\.monotonic\(\) tells it"),
        ({"since": nan}, "since is nan: expected a time of the monotonic clock"),
        ({"corpus": 5}, "corpus is 5: expected rounds, each with where it comes from"),
        ({"corpus": ["x"]}, r"corpus is \['x'\]: expected rounds, each with where it comes from"),
        ({"progress": 5}, r"progress is 5: expected a callable f\(tally, seconds\)"),
        (
            {"scope": {"shared": False}},
            r"scope is \{'shared': False\}: expected a Scope, such as Scope\(shared=False\)",
        ),
        ({"validity": "no"}, "validity is 'no': expected True, False or None"),
    ],
)
def test_values_that_a_campaign_cannot_use_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        run(CallableTarget(right_amqp, AMQP), **{"rounds": 1, **wrong})


def test_workers_refuse_what_they_cannot_use_before_they_start() -> None:
    def wave(task: Task, ranges: list[range]) -> list[Share]:
        raise AssertionError

    task = Task(spec="trie", plan=Plan(dialect=AMQP, seed=1), timeout=1.0, folder=".")
    for wrong, said in (
        ({"since": "x"}, "since is 'x'"),
        ({"rounds": 2.5}, r"rounds is 2\.5"),
        ({"first": "x"}, "first is 'x'"),
        ({"corpus": 5}, "corpus is 5"),
        ({"progress": 5}, "progress is 5"),
    ):
        given: dict[str, Any] = {"seconds": None, "rounds": 1, **wrong}
        with pytest.raises(OptionError, match=said):
            run_in_waves(wave, 1, task, **given)


def test_a_corpus_may_be_anything_that_yields_rounds() -> None:
    asked = Round(patterns=("a.*",), keys=("a.b",))
    for corpus in ([("here", asked)], iter([["here", asked]]), ()):
        replayed = run(CallableTarget(right_amqp, AMQP), replay_only=True, rounds=1, corpus=corpus).replayed  # type: ignore[arg-type]
        assert replayed == (corpus != ())  # one round, or none


def test_an_interpreter_is_named_by_a_path() -> None:
    for spec in ("trie", "os.path:join"):
        with pytest.raises(OptionError, match="python is 5: expected the path of an interpreter"):
            open_target(spec, python=5)  # type: ignore[arg-type]


def test_what_is_no_target_is_told_what_one_is() -> None:
    with pytest.raises(
        OptionError, match=r"the target is 'trie': expected a Target, such as what open_target\('trie'\)"
    ):
        run("trie", rounds=1)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="the target is 5: expected a Target, such as what open_target returns"):
        run(5, rounds=1)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="the size 5 is no PATTERNSxKEYS"):
        assert_agrees(right_amqp, size=5)  # type: ignore[arg-type]
