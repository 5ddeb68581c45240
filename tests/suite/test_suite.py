"""The cases of ``tests/data``, over every engine, every configuration and every way of asking."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

import dfa_router as dr
from dfa_router.engines import automaton
from dfa_router.language.dialects import dialect_named
from dfa_router.reference import words
from dfa_router.reference.naive import matches
from tests.suite.cases import Case, load_cases, parse_cases
from tests.suite.matrix import CONFIGURATIONS, WAYS, Configuration

CASES = load_cases()


def prepared(case: Case, configuration: Configuration) -> tuple[dr.Router, list[int]]:
    """Return a router for a case, and the case's position of each of its bindings.

    What the case removes is unsubscribed where the engine can; another engine is built without it.
    """
    bindings = case.bindings
    if configuration.info.dynamic:
        router = configuration.router(bindings, case.keys, case.dialect)
        for position in case.removed:
            # Equal bindings: the oldest goes, so a case must remove that one.
            assert router.unsubscribe(*bindings[position]) == position
        return router, list(range(len(bindings)))
    left = [position for position in range(len(bindings)) if position not in case.removed]
    return configuration.router([bindings[position] for position in left], case.keys, case.dialect), left


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_every_case_is_answered_right(configuration: Configuration, way: str) -> None:
    ask: Callable[[dr.Router, Sequence[str]], list[list[int]]] = WAYS[way]
    wrong = []
    for case in CASES:
        if not configuration.speaks(case.dialect):
            continue
        router, positions = prepared(case, configuration)
        for key, answer in zip(case.keys, ask(router, case.keys), strict=True):
            answered = [positions[position] for position in answer]
            if answered != case.expected[key]:
                wrong.append(f"{case.place} {case.title}: {key!r} gave {answered}, not {case.expected[key]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("configuration", [c for c in CONFIGURATIONS if c.engine in ("dfa", "nfa")], ids=str)
def test_every_case_is_answered_right_without_compiled_kernels(
    configuration: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The automata's twins in plain Python, which stand in where numba's compiler is switched off."""
    # Not by its dotted name: the attribute ``dfa_router.engines`` is the function, not the package.
    monkeypatch.setattr(automaton, "jit_enabled", lambda: False)
    test_every_case_is_answered_right(configuration, "one by one")
    test_every_case_is_answered_right(configuration, "chunked")


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_any_and_destinations_agree_with_the_positions(configuration: Configuration) -> None:
    wrong = []
    for case in CASES:
        if not configuration.speaks(case.dialect):
            continue
        router, _ = prepared(case, configuration)
        rows = router.match_batch(case.keys).destinations().to_pylist()
        for key, row in zip(case.keys, rows, strict=True):
            expected = case.destinations(key)
            if not (router.any(key) is bool(expected) and list(router.match(key)) == expected == row):
                wrong.append(f"{case.place} {case.title}: {key!r}: any {router.any(key)}, {router.match(key)}, {row}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_the_specification_says_what_the_case_says(case: Case) -> None:
    dialect = dialect_named(case.dialect)
    for key in case.keys:
        live = [position for position in range(len(case.bindings)) if position not in case.removed]
        right = [p for p in live if matches(case.bindings[p][0].encode(), key.encode(), dialect)]
        assert right == case.expected[key], key


def test_a_case_that_cannot_be_read_is_refused_with_its_line() -> None:
    for text, message in [
        ("bind a", "title in brackets"),
        ("[t]\nbind", "x.txt:2"),
        ("[t]\nbind a\nmatch a 1", "not bound"),
        ("[t]\nbind a\nmatch a 0\nmatch a 0", "twice"),
        ("[t]\nbind a", "no match line"),
        ("[t]\nbind a\nmatch a 0\n[t]", "title of its own"),
    ]:
        with pytest.raises(ValueError, match=message):
            parse_cases(text, "x.txt")


def test_the_suite_finds_a_planted_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine whose ``#`` wants a word fails the suite."""

    def hungry(tokens: Sequence[words.Token], key: Sequence[bytes]) -> bool:
        return words.fits(tokens, key) and (words.MANY not in tokens or len(key) >= len(tokens))

    monkeypatch.setattr("dfa_router.reference.scan.fits", hungry)
    with pytest.raises(AssertionError, match="a trailing hash takes zero words: 'a' gave"):
        test_every_case_is_answered_right(Configuration("scan", {}), "one by one")


@pytest.mark.parametrize("case", [case for case in CASES if case.refused], ids=lambda case: case.title)
def test_what_a_case_refuses_is_refused(case: Case) -> None:
    for pattern in case.refused:
        assert dr.pattern_problem(pattern, dialect_named(case.dialect)) is not None
        with pytest.raises(dr.PatternError, match="binding 0"):
            dr.compile([(pattern, "q")], dialect=case.dialect)
