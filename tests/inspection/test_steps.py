"""The steps of a comparison are those of subset construction."""

from __future__ import annotations

from random import Random

from compiler import Token, Wildcard, build_nfa
from compiler.automata.nfa import OTHER
from compiler.automata.powerset import default_successor, literal_successors, start
from dfa_router.inspection.steps import Steps


def test_successors_are_those_of_the_powerset() -> None:
    random = Random(4)
    tokens: list[Token] = [b"a", b"b", b"c", b"", Wildcard.ONE, Wildcard.MANY]
    for _ in range(200):
        patterns = [random.choices(tokens, k=random.randint(0, 4)) for _ in range(random.randint(0, 8))]
        nfa = build_nfa(patterns)
        steps, agenda = Steps(nfa), [start(nfa)]
        for state in agenda:  # it grows
            expected = [(OTHER, default_successor(nfa, state)), *literal_successors(nfa, state).items()]
            assert list(steps.successors(state)) == expected
            agenda += [successor for _, successor in expected if successor not in agenda]
