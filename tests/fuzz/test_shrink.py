"""Shrinking: to the simplest case that there is, deterministically, and honestly where that cannot be."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import pytest

from dfa_router.fuzz.check import CallableTarget
from dfa_router.fuzz.findings import Case, Disagreement, Kind, rank
from dfa_router.fuzz.generating.language import language_of
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.fuzz.judging.subject import Subject
from dfa_router.fuzz.shrinking.shrink import Shrunk, shrink
from dfa_router.fuzz.validity import invalid_key, invalid_pattern
from dfa_router.language.dialects import AMQP, MQTT, dialect_named
from dfa_router.target import Answers, TargetFailure
from tests.fuzz.planted import PLANTED, Planted, right_amqp

BY_NAME = {fault.name: fault for fault in PLANTED}


def shrunk(fault: Planted, kind: Kind, patterns: Sequence[str], key: str) -> Shrunk:
    dialect = dialect_named(fault.dialect)
    return shrink(
        CallableTarget(fault.match, dialect), Judge(language_of(dialect)), Disagreement(kind=kind), patterns, [key]
    )


def simplest(fault: Planted, kind: Kind, words: Sequence[str], wild: Sequence[str], most: int) -> Case:
    """Try everything: one or two patterns of words and wildcards, and a key, of up to so many words in all."""
    dialect = dialect_named(fault.dialect)
    judge, separator = Judge(language_of(dialect)), dialect.separator.decode()
    patterns = [separator.join(made) for n in range(most + 1) for made in itertools.product([*words, *wild], repeat=n)]
    keys = [separator.join(made) for n in range(most + 1) for made in itertools.product(words, repeat=n)]
    patterns = [p for p in dict.fromkeys(patterns) if invalid_pattern(p, dialect) is None]
    keys = [k for k in dict.fromkeys(keys) if invalid_key(k, dialect) is None]
    for bindings in (1, 2):
        cases = [
            Case(patterns=chosen, key=key)
            for chosen in itertools.product(patterns, repeat=bindings)
            for key in keys
            if rank(Case(patterns=chosen, key=key), dialect).words <= most
        ]
        for case in sorted(cases, key=lambda case: rank(case, dialect)):
            right = set(judge.right(case.patterns, [case.key])[0])
            told = set(fault.match(list(case.patterns), case.key))
            if (right - told) if kind is Kind.MISSES else (told - right):
                return case
    raise AssertionError("there is none")


@pytest.mark.parametrize(
    ("name", "kind", "patterns", "key", "words"),
    [
        ("hash_stops_at_the_first_occurrence", Kind.MISSES, ["x", "k.#.foo.bar", "#"], "k.1.foo.2.foo.bar", ["a", "b", ""]),
        ("leading_hash_needs_a_word", Kind.MISSES, ["#.stock.*.nyse"], "stock.ibm.nyse", ["a", "b"]),
        ("star_crosses_dots", Kind.MATCHES, ["foo.*.bar"], "foo.1.2.3.bar", ["a", ""]),
        ("a_trailing_star_may_take_nothing", Kind.MATCHES, ["x", "foo.*.bar.*"], "foo.1.bar", ["a", "b"]),
        ("hash_star_is_hash", Kind.MATCHES, ["foo.#.*"], "foo", ["a", "b"]),
        ("a_literal_hides_the_star", Kind.MISSES, ["foo.bar.1", "foo.*.2", "foo.3"], "foo.bar.2", ["a", "b"]),
        ("empty_levels_collapse", Kind.MATCHES, ["foo/+/bar"], "foo/1//bar", ["a", ""]),
        ("dollar_topics_are_like_others", Kind.MATCHES, ["+/foo/#"], "$SYS/foo/1", ["a", "$"]),
        ("a_topic_hides_its_own_hash", Kind.MISSES, ["foo/1/#", "x", "foo/1"], "foo/1", ["a"]),
    ],
)  # fmt: skip
def test_the_result_is_the_simplest_case_that_there_is(
    name: str, kind: Kind, patterns: list[str], key: str, words: list[str]
) -> None:
    """Held against trying everything that can be made of the wildcards and a few words."""
    fault = BY_NAME[name]
    result = shrunk(fault, kind, patterns, key)
    assert result.complete
    assert not result.flaky
    dialect = dialect_named(fault.dialect)
    separator = dialect.separator.decode()
    used = {word for pattern in result.case.patterns for word in pattern.split(separator)}
    wild = [word for word in language_of(dialect).wildcards if word in used]
    found = rank(result.case, dialect)
    best = rank(simplest(fault, kind, words, wild, found.words), dialect)
    assert found == best, result.case


def test_a_word_of_the_pattern_and_the_word_that_it_takes_go_together() -> None:
    """The simplest case is too long for the search of smaller ones: deletion alone has to get there."""

    def five_stars(patterns: list[str], key: str) -> list[int]:
        return [i for i in right_amqp(patterns, key) if patterns[i].count("*") < 5]

    target = CallableTarget(five_stars, AMQP)
    found = Disagreement(kind=Kind.MISSES)
    result = shrink(target, Judge(language_of(AMQP)), found, ["*.*.*.*.foo.*.*.*.*"], ["a.b.c.d.foo.e.f.g.h"])
    assert result.case == Case(patterns=("*.*.*.*.*",), key="a.a.a.a.a")


def test_a_letter_of_the_pattern_and_the_letter_that_it_is_taken_for_go_together() -> None:
    def folding(patterns: list[str], key: str) -> list[int]:
        return right_amqp([pattern.lower() for pattern in patterns], key.lower())

    target = CallableTarget(folding, AMQP)
    result = shrink(target, Judge(language_of(AMQP)), Disagreement(kind=Kind.MATCHES), ["stock.#"], ["sTOcK.nyse"])
    assert rank(result.case, AMQP).characters == 2, result.case


def test_a_large_round_is_shrunk_in_few_questions() -> None:
    fault = BY_NAME["equal_patterns_are_one_binding"]
    asked = 0

    class Counted(CallableTarget):
        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            nonlocal asked
            asked += 1
            return super().answer(patterns, keys)

    patterns = [f"w{number}.x" for number in range(200)] + ["w7.x"]
    target = Counted(fault.match, AMQP)
    result = shrink(
        target, Judge(language_of(AMQP)), Disagreement(kind=Kind.MISSES, pattern=200, key=0), patterns, ["w7.x"]
    )
    assert result.case == Case(patterns=("a", "a"), key="a")
    assert asked < 400


def test_what_matters_is_kept() -> None:
    def cut(patterns: list[str], key: str) -> list[int]:
        return [] if "é" in key else right_amqp(patterns, key)

    target = CallableTarget(cut, AMQP)
    result = shrink(
        target, Judge(language_of(AMQP)), Disagreement(kind=Kind.MISSES), ["stock.caf\u00e9.#"], ["stock.caf\u00e9.x"]
    )
    assert result.case == Case(patterns=("#",), key="é")


class Stateful:
    """Forgets a key's matches when it was asked ``x`` before it in the same call."""

    name, dialect = "stateful", AMQP

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        answers: Answers = []
        for number, key in enumerate(keys):
            answers.append(() if "x" in keys[:number] else tuple(right_amqp(list(patterns), key)))
        return answers

    def close(self) -> None:
        pass


def test_keys_that_were_asked_before_are_part_of_the_case() -> None:
    keys = ["a", "b.c", "x", "d", "a.b"]
    result = shrink(
        Stateful(), Judge(language_of(AMQP)), Disagreement(kind=Kind.MISSES, pattern=1, key=4), ["q", "a.#"], keys
    )
    assert not result.flaky
    assert result.case.before == ("x",)
    assert len(result.case.patterns) == 1


def test_a_disagreement_that_does_not_come_back_is_flaky_and_kept_as_it_was() -> None:
    target = CallableTarget(right_amqp, AMQP)
    result = shrink(
        target, Judge(language_of(AMQP)), Disagreement(kind=Kind.MISSES, pattern=0, key=1), ["a.#", "b"], ["x", "a.b"]
    )
    assert result.flaky
    assert result.case == Case(patterns=("a.#", "b"), key="a.b")


def test_a_disagreement_that_comes_back_now_and_then_is_flaky() -> None:
    chance = random.Random(3)

    def sometimes(patterns: list[str], key: str) -> list[int]:
        return [] if chance.random() < 0.5 else right_amqp(patterns, key)

    target = CallableTarget(sometimes, AMQP)
    results = [
        shrink(target, Judge(language_of(AMQP)), Disagreement(kind=Kind.MISSES, pattern=0, key=0), ["a.#"], ["a.b"])
        for _ in range(5)
    ]
    assert sum(result.flaky for result in results) >= 3


def test_a_slow_target_is_shrunk_as_far_as_the_time_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on with each answer, so that a busy machine changes nothing."""
    now = 0.0

    def slow(patterns: list[str], key: str) -> list[int]:
        nonlocal now
        now += 0.02
        return [] if "c" in key else right_amqp(patterns, key)

    for module in ("shrink", "probe"):
        monkeypatch.setattr(f"dfa_router.fuzz.shrinking.{module}.time", SimpleNamespace(monotonic=lambda: now))
    target, judge = CallableTarget(slow, AMQP), Judge(language_of(AMQP))
    found = Disagreement(kind=Kind.MISSES, pattern=0, key=0)
    result = shrink(target, judge, found, ["a.#.b.*.#"] * 30, ["a.1.2.3.b.c.d.e.f"], seconds=1)
    assert 1 < now < 2
    assert not result.complete
    assert len(result.case.patterns) < 30


def test_ctrl_c_keeps_what_there_is() -> None:
    asked = 0

    def interrupted(patterns: list[str], key: str) -> list[int]:
        nonlocal asked
        asked += 1
        if asked > 5:
            raise KeyboardInterrupt
        return []

    target = CallableTarget(interrupted, AMQP)
    result = shrink(
        target, Judge(language_of(AMQP)), Disagreement(kind=Kind.MISSES, pattern=0, key=0), ["a.#.b", "x"], ["a.c.b"]
    )
    assert result.interrupted
    assert not result.complete
    assert result.case.patterns[0]


@pytest.mark.parametrize(
    ("kind", "about", "raises", "expected"),
    [
        (Kind.FAILS, "raised", RuntimeError, Case(patterns=("a",), key="aaa")),
        (Kind.REFUSES, "case", ValueError, Case(patterns=("a",), key="aaa")),
    ],
)
def test_failures_and_refusals_are_shrunk(
    kind: Kind, about: str, raises: Callable[[str], Exception], expected: Case
) -> None:
    def fails(patterns: list[str], key: str) -> list[int]:
        if len(key) > 2:
            raise raises("too long")
        return right_amqp(patterns, key)

    target = CallableTarget(fails, AMQP)
    result = shrink(
        target, Judge(language_of(AMQP)), Disagreement(kind=kind, about=about), ["a.#", "b"], ["x", "stock.nyse", "y"]
    )
    assert result.case == expected


def test_a_failure_of_another_kind_is_not_taken_for_it() -> None:
    class Fails(CallableTarget):
        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            raise TargetFailure("hung" if "*" in patterns else "died", "it")

    found = Disagreement(kind=Kind.FAILS, about="hung")
    result = shrink(Fails(right_amqp, AMQP), Judge(language_of(AMQP)), found, ["a.b", "*", "x"], ["a", "b"])
    assert result.case == Case(patterns=("*",), key="a")


def test_an_accepted_pattern_keeps_the_reason_for_which_it_should_be_refused() -> None:
    judge = Judge(language_of(MQTT))
    found = judge.examine(
        Subject(CallableTarget(lambda patterns, key: [], MQTT), Manners(patterns=True, keys=True)),
        ["stock/#/nyse"],
        ["a"],
    ).found[0]
    assert found.kind is Kind.ACCEPTS
    result = shrink(CallableTarget(lambda patterns, key: [], MQTT), judge, found, ["stock/#/nyse"], ["a"])
    assert result.case.patterns == ("#/a",)
