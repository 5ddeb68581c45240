"""Relations of unions, drawn and shrunk by Hypothesis: every answer about two sets is right for all small keys."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dfa_router.analysis import cover, relation
from dfa_router.analysis import relations as relations_module
from dfa_router.analysis.relations import RelationKind
from dfa_router.language.dialects import DIALECTS
from tests.analysis.oracle import keys_of, matched, patterns_of, word_count
from tests.mutants import mutant

LENGTHS = {"amqp": (3, 5), "mqtt": (3, 4), "nats": (3, 4), "solace": (3, 4), "exact": (2, 3)}
"""Words of patterns and of keys."""


def sets_of(name: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(patterns_of(name, LENGTHS[name][0])), max_size=5)


def check(name: str, first: list[str], second: list[str], found: object) -> None:
    """Hold an answer to the specification: witnesses are right and shortest, and where there is none no small key is one."""
    assert isinstance(found, relations_module.Relation)
    dialect, keys = DIALECTS[name], keys_of(name, LENGTHS[name][1])
    in_first = {key for key in keys if matched(first, key, dialect)}
    in_second = {key for key in keys if matched(second, key, dialect)}
    for witness, small, of, not_of in (
        (found.only_first, in_first - in_second, [first], [second]),
        (found.only_second, in_second - in_first, [second], [first]),
        (found.both, in_first & in_second, [first, second], []),
    ):
        if witness is None:
            assert not small, (name, first, second, sorted(small)[:3])
            continue
        assert all(matched(one, witness, dialect) for one in of), (name, witness)
        assert not any(matched(one, witness, dialect) for one in not_of), (name, witness)
        assert all(word_count(witness, dialect) <= word_count(key, dialect) for key in small), (name, witness)
    expected = {
        (True, True): RelationKind.EQUAL,
        (False, True): RelationKind.COVERS,
        (True, False): RelationKind.COVERED,
        (False, False): RelationKind.DISJOINT if found.both is None else RelationKind.OVERLAPS,
    }
    assert found.kind is expected[found.only_first is None, found.only_second is None]


@pytest.mark.parametrize("name", LENGTHS)
def test_relations_of_unions(name: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(sets_of(name), sets_of(name))
    def every(first: list[str], second: list[str]) -> None:
        check(name, first, second, relation(first, second, name))

    every()


@pytest.mark.parametrize("name", LENGTHS)
def test_a_cover_is_equal_to_its_set_and_no_pattern_of_it_can_go(name: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=40)
    @given(sets_of(name))
    def every(patterns: list[str]) -> None:
        kept = list(cover(patterns, name))
        assert relation(kept, patterns, name).kind is RelationKind.EQUAL
        for number, pattern in enumerate(kept):
            others = kept[:number] + kept[number + 1 :]
            alone = relation([pattern], others, name)
            void = relation([pattern], [], name).kind is RelationKind.EQUAL  # no key of the dialect matches it
            assert void or alone.only_first is not None, (kept, pattern)

    every()


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("question.escape(theirs, ours)", "question.escape(theirs, [*ours][:1])"),
        ("question.meeting(ours, theirs)", "question.meeting([*ours][:1], theirs)"),
        ("RelationKind.DISJOINT if both is None", "RelationKind.DISJOINT if both is not None"),
    ],
)
def test_bugs_planted_in_unions_are_caught(right: str, planted: str) -> None:
    broken = mutant(relations_module, right, planted)

    @settings(deadline=None, derandomize=True, max_examples=200, phases=[Phase.generate])
    @given(sets_of("amqp"), sets_of("amqp"))
    def every(first: list[str], second: list[str]) -> None:
        found = broken.relation(first, second, "amqp")
        fields = {name: getattr(found, name) for name in ("only_first", "only_second", "both")}
        check("amqp", first, second, relations_module.Relation(kind=RelationKind(found.kind.value), **fields))

    with pytest.raises(AssertionError):
        every()
