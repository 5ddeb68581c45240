"""Whose positions are in the most different states: the columns say what sets of Python's say of each state and binding."""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from typing import Any

import pytest

from compiler.automata.paths import parents_of, path_to
from compiler.automata.positions import States
from dfa_router.analysis import blame
from dfa_router.analysis.blame import most_parts
from dfa_router.analysis.questions import Question

MOST = 5


def by_sets(question: Question, met: list[States]) -> tuple[tuple[int, int], ...]:
    """Tell the same by a set of parts for each binding."""
    parents = parents_of(question.machine.nfa)
    owners: defaultdict[int, list[int]] = defaultdict(list)
    for number in range(len(question.patterns)):
        for position in path_to(parents, question.machine.end_of(number)):
            owners[position].append(number)
    seen: defaultdict[int, set[frozenset[int]]] = defaultdict(set)
    for states in met:
        parts: defaultdict[int, list[int]] = defaultdict(list)
        for position in states:
            for owner in owners[position][:MOST]:
                parts[owner].append(position)
        for owner, part in parts.items():
            seen[owner].add(frozenset(part))
    return tuple(Counter({owner: len(parts) for owner, parts in seen.items()}).most_common(MOST))


def asked(chance: random.Random) -> tuple[Question, list[States]]:
    """Return patterns, some of over 64 words, and random states; some are empty, and some come twice."""
    patterns = [
        ".".join(chance.choice("ab*#") for _ in range(chance.choice([1, 3, 5, 70, 125])))
        for _ in range(chance.randint(0, 20))
    ]
    question = Question(patterns, "amqp")
    positions = range(len(question.machine.nfa))
    return question, [
        frozenset(chance.sample(positions, chance.randint(0, min(len(positions), 40))))
        for _ in range(chance.randint(0, 60))
    ]


@pytest.mark.parametrize("at_once", [1, 50, 1 << 18])
def test_columns_say_what_sets_say(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blame, "_AT_ONCE", at_once)
    chance = random.Random(at_once)
    for _ in range(60):
        question, met = asked(chance)
        assert most_parts(question, met, MOST) == by_sets(question, met)


def test_a_state_more_is_a_call_more_and_not_one_for_each_of_its_positions() -> None:
    """Each state and binding had a set of its own, which took most of the time of counting states."""

    def calls(count: int) -> int:
        chance, made = random.Random(7), 0
        question = Question([f"#.a{number}.*.#" for number in range(20)], "amqp")
        positions = range(len(question.machine.nfa))
        met = [frozenset(chance.sample(positions, 12)) for _ in range(count)]

        def count_calls(frame: Any, event: str, argument: Any) -> None:
            nonlocal made
            made += event in ("call", "c_call")

        sys.setprofile(count_calls)
        try:
            most_parts(question, met, MOST)
        finally:
            sys.setprofile(None)
        return made

    assert calls(2_000) - calls(500) < 2 * 1_500
