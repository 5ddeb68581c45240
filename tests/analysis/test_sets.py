"""What the analysis says of whole sets: redundant bindings, differences, the most overlapped key, normal forms."""

from __future__ import annotations

import random
import re
import tracemalloc
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.automata.positions import Positions, Side
from dfa_router.analysis import coverage, differences, normalising, overlaps
from dfa_router.analysis.costs import broker_cost
from dfa_router.analysis.coverage import RedundancyKind, UnprovenError, cover, redundant, unreachable
from dfa_router.analysis.differences import difference
from dfa_router.analysis.explaining import why_not
from dfa_router.analysis.intersections import intersection
from dfa_router.analysis.normalising import normalise
from dfa_router.analysis.overlaps import ambiguous, crowd
from dfa_router.errors import CapacityError, OptionError, PatternError
from dfa_router.language.dialects import DIALECTS
from tests.analysis.oracle import keys_of, matched, patterns_of, table_of
from tests.mutants import mutant

SIZES = {"amqp": (3, 6), "mqtt": (2, 4), "nats": (3, 5), "solace": (2, 4)}


def rows(name: str) -> tuple[list[str], dict[str, np.ndarray]]:
    patterns = patterns_of(name, SIZES[name][0])
    return patterns, dict(zip(patterns, table_of(name, *SIZES[name]), strict=True))


def union(patterns: list[str], known: dict[str, np.ndarray]) -> Any:
    return np.logical_or.reduce([known[one] for one in patterns], initial=False, axis=0) | np.zeros_like(
        known[next(iter(known))]
    )


@pytest.mark.parametrize("name", SIZES)
def test_what_is_redundant(name: str) -> None:
    """Removing what is redundant changes no destination; removing any other binding does."""
    patterns, known = rows(name)
    chance = random.Random(name)
    kinds = set()
    for _ in range(150):
        bindings = [(chance.choice(patterns), chance.choice("qr")) for _ in range(chance.randint(0, 9))]
        kinds |= check_redundant(coverage.redundant(bindings, name), bindings, known)
    assert kinds >= {RedundancyKind.EQUAL, RedundancyKind.COVERED}


def check_redundant(
    found: tuple[coverage.Redundancy, ...], bindings: list[tuple[str, str]], known: dict[str, np.ndarray]
) -> set[str]:
    gone = {one.binding for one in found}
    for destination in "qr":
        all_of = [i for i, one in enumerate(bindings) if one[1] == destination]
        kept = [i for i in all_of if i not in gone]
        keys = union([bindings[i][0] for i in all_of], known)
        assert np.array_equal(keys, union([bindings[i][0] for i in kept], known)), bindings
        for one in kept:
            rest = union([bindings[i][0] for i in kept if i != one], known)
            void = not known[bindings[one][0]].any()
            assert void or not np.array_equal(rest, keys), (bindings, one)
    for entry in found:
        assert entry.by
        assert not gone & set(entry.by)
        assert {bindings[i][1] for i in entry.by} == {bindings[entry.binding][1]}
        covered = union([bindings[i][0] for i in entry.by], known)
        own = known[bindings[entry.binding][0]]
        assert not (own & ~covered).any(), (bindings, entry)
        if entry.kind is RedundancyKind.EQUAL:
            assert np.array_equal(own, covered), (bindings, entry)
        assert (len(entry.by) > 1) == (entry.kind is RedundancyKind.UNION), (bindings, entry)
        alone = [i for i in entry.by if not (own & ~known[bindings[i][0]]).any()]
        assert not own.any() or entry.kind is not RedundancyKind.UNION or not alone, (bindings, entry)
    return {one.kind for one in found}


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("if end != own", "if True"),
        ("if one not in self.gone]", "]"),
        ("[0], range(1, len(near) + 1)", "[0], range(len(near) + 1)"),
    ],
)
def test_planted_bugs_are_caught(right: str, planted: str) -> None:
    broken = mutant(coverage, right, planted)
    patterns, known = rows("amqp")
    chance = random.Random(5)

    def check_many() -> None:
        for _ in range(300):
            bindings = [(chance.choice(patterns), chance.choice("qr")) for _ in range(chance.randint(0, 9))]
            check_redundant(broken.redundant(bindings, "amqp"), bindings, known)

    with pytest.raises((AssertionError, KeyError)):
        check_many()


def test_unions_of_several() -> None:
    """Patterns that several others cover only together, by the number of words."""

    def told(*patterns: str) -> list[tuple[int, tuple[int, ...], str]]:
        return [(one.binding, one.by, one.kind) for one in redundant([(pattern, "q") for pattern in patterns])]

    assert told("a", "a.*.#", "a.b.#") == [(2, (1,), "covered")]
    assert told("*.b", "a.*.*.#", "a.b.#", "c") == [(2, (0, 1), "union")]
    assert told("a.b.#", "a.b", "a.*.*.#") == [(1, (0,), "covered")]
    assert told("#.a", "*.#") == [(0, (1,), "covered")]
    assert told("a", "a", "b", "b", "#") == [(number, (4,), "covered") for number in range(4)]
    assert told("a.b", "a.b", "a.b.#", "*.b", "a.*.*.#") == [
        (0, (3,), "covered"),
        (1, (3,), "covered"),
        (2, (3, 4), "union"),
    ]


def hard_to_prove(others: int) -> list[tuple[str, str]]:
    """Return bindings of which the first may be covered by the others for all that is known after 2**others steps."""
    return [("#.a.#.a.#.a.#.a.#", "q"), *(("#.a" + ".*" * words, "q") for words in range(others))]


def test_a_larger_budget_proves_more() -> None:
    bindings = [("x.y", "z"), ("x.y", "z"), *hard_to_prove(12)]
    with pytest.raises(UnprovenError, match=r"over 20,000 steps: give a larger budget") as unproven:
        redundant(bindings)
    assert [(one.binding, one.by, one.kind) for one in unproven.value.proven] == [(1, (0,), "equal")]
    assert unproven.value.bindings[0] == 2
    assert [one.binding for one in redundant(bindings, budget=200_000)] == [1]
    with pytest.raises(UnprovenError, match="over 500 steps"):
        cover([pattern for pattern, _ in hard_to_prove(10)], budget=500)


def test_bindings_of_other_destinations_are_not_searched_for_a_union(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether ``x.#.y`` is covered by others of its queue is asked of these alone, however many bindings others have."""
    asked = []
    step = Positions.step

    def counted(self: Positions, position: int, symbol: int, side: Side) -> Iterable[int]:
        asked.append(position)
        return step(self, position, symbol, side)

    monkeypatch.setattr(Positions, "step", counted)
    own = [("x.y", "q"), ("x.*.#.y", "q"), ("x.#.y", "q"), ("#.y.#", "other"), ("z.#.y", "q"), ("z.*.y.#", "q")]
    foreign = [(f"x.{number}.y.{number}", f"r{number}") for number in range(300)]
    alone = redundant(own)
    few = len(asked)
    asked.clear()
    assert redundant([*own, *foreign]) == alone
    assert [(one.binding, one.by, one.kind) for one in alone] == [
        (0, (2,), RedundancyKind.COVERED),
        (1, (2,), RedundancyKind.COVERED),
    ]
    assert 0 < len(asked) < 2 * few


def test_equal_bindings_by_the_thousand() -> None:
    found = redundant([("a.#", "q")] * 10_000)
    assert len(found) == 9_999
    assert {one.by for one in found} == {(0,)}
    assert cover(["a.#"] * 10_000) == ("a.#",)


def test_a_small_change_of_a_large_set_takes_little_memory() -> None:
    old = [(f"site.{number}.*", "q") for number in range(4000)]
    tracemalloc.start()
    try:
        changed = difference(old, [*old, ("dock.x.#", "q")])
        assert tracemalloc.get_traced_memory()[1] < 8 << 20  # 37 MB where sides count with all positions, and stay
    finally:
        tracemalloc.stop()
    assert changed["q"].gained is not None
    assert changed["q"].gained.shortest[0] == "dock.x"


@pytest.mark.parametrize("name", SIZES)
def test_differences(name: str) -> None:
    """Gained and lost keys of random changes: patterns are exact, witnesses are right, shortest and different."""
    patterns, known = rows(name)
    keys = keys_of(name, SIZES[name][1])
    dialect = DIALECTS[name]
    chance = random.Random(name)

    def row_of(pattern: str) -> Any:
        if pattern not in known:
            known[pattern] = np.array([matched([pattern], key, dialect) for key in keys])
        return known[pattern]

    def any_of(several: tuple[str, ...]) -> Any:
        return np.logical_or.reduce([row_of(one) for one in several]) if several else np.zeros(len(keys), bool)

    for _ in range(80):
        old, new = ([(chance.choice(patterns), chance.choice("qr")) for _ in range(chance.randint(0, 5))] for _ in "on")
        found = difference(old, new, name)
        for destination in "qr":
            before, after = ([one for one, to in side if to == destination] for side in (old, new))
            had, has = union(before, known), union(after, known)
            change = found.get(destination)
            gained, lost = (change.gained, change.lost) if change else (None, None)
            for told, expected, ours, theirs in (
                (gained, has & ~had, after, before),
                (lost, had & ~has, before, after),
            ):
                assert (told is None) == (not expected.any()), (old, new)
                if told is None:
                    continue
                assert told.patterns is not None
                inside = [row_of(one.pattern) & ~any_of(one.without) for one in told.patterns]
                assert np.array_equal(np.logical_or.reduce(inside), expected), (old, new)
                assert len(set(told.shortest)) == len(told.shortest) > 0
                assert all(matched(ours, key, dialect) and not matched(theirs, key, dialect) for key in told.shortest)
                lengths = [key.count(dialect.separator.decode()) + bool(key) for key in told.shortest]
                assert lengths == sorted(lengths)
                first = keys[int(np.flatnonzero(expected)[0])]
                assert lengths[0] == first.count(dialect.separator.decode()) + bool(first)


def test_a_set_that_is_lost_needs_no_proof_that_its_patterns_cover_each_other() -> None:
    bindings = [*hard_to_prove(31), ("#.a.#", "q")]
    lost = difference(bindings, [], budget=1_000)["q"].lost
    assert lost is not None
    assert lost.patterns == (differences.Remainder(pattern="#.a.#"),)
    assert lost.shortest[0] == "a"
    lost = difference(bindings[:-1], [], budget=1_000)["q"].lost
    assert lost is not None
    assert lost.patterns is not None
    assert [one.pattern for one in lost.patterns] == [pattern for pattern, _ in bindings[:-1]]
    assert lost.shortest[0] == "a"


def test_a_difference_names_the_destination_that_is_too_costly() -> None:
    with pytest.raises(CapacityError, match="what changes for 'q': the question takes over 1 steps"):
        difference([("a.#.b", "q")], [("a.#.c", "q")], budget=1)
    assert differences.difference([], []) == {}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(patterns_of("amqp", 3)), st.sampled_from("qrs")), max_size=7))
def test_the_most_overlapped_key(bindings: list[tuple[str, str]]) -> None:
    """As many as the best of all small keys, and as the best key says; keys of up to six words are enough for these."""
    _, known = rows("amqp")
    found = crowd(bindings)
    counts = np.sum([known[one] for one, _ in bindings], axis=0, initial=0)
    assert found.most
    assert len(found.bindings) >= int(np.max(counts))
    if found.key is not None:
        matching = [i for i, (one, _) in enumerate(bindings) if matched([one], found.key, DIALECTS["amqp"])]
        assert list(found.bindings) == matching
    pairs = {(one.first, one.second) for one in ambiguous(bindings)}
    expected = {
        (i, j)
        for (j, (two, right)), (i, (one, left)) in product(enumerate(bindings), repeat=2)
        if i < j and left != right and (known[one] & known[two]).any()
    }
    assert pairs >= expected


def test_a_crowd_within_a_budget() -> None:
    bindings = [(f"#.{letter}.#", letter) for letter in "abcdefghijklmnop"]
    assert crowd(bindings).key is not None
    short = overlaps.crowd(bindings, budget=40)
    assert not short.most
    assert len(ambiguous(bindings, most=7)) == 7


def test_patterns_that_share_no_words_are_not_searched_for_a_common_key() -> None:
    """Each pair took a step of the budget, and 1,500 patterns took it up whatever they were."""
    plain = [(f"a.{number}.b", f"q{number}") for number in range(300)]
    assert ambiguous(plain, budget=0) == ()
    met = ambiguous([*plain, ("a.*.b", "all"), ("#.7.#", "seven")], budget=20_000)
    assert [(one.first, one.second) for one in met] == [*((number, 300) for number in range(300)), (7, 301), (300, 301)]
    assert [one.key for one in met[:3]] == ["a.0.b", "a.1.b", "a.2.b"]


def test_patterns_without_many_are_looked_up_among_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk of each through the trie of those before it looked at all literals below each ``*``."""

    def walk(*_: object) -> None:
        raise AssertionError("a walk through the trie")

    monkeypatch.setattr(overlaps, "overlapping", walk)
    given = [("a.*.c", "q"), ("*.b", "r"), ("*.b.*", "s"), ("a.b.c", "q"), ("a.*.c", "r"), ("$a.b.c", "q")]
    amqp = [(one.first, one.second, one.key) for one in ambiguous(given)]
    assert amqp == [
        (0, 2, "a.b.c"),
        (2, 3, "a.b.c"),
        (0, 4, "a.b.c"),
        (2, 4, "a.b.c"),
        (3, 4, "a.b.c"),
        (2, 5, "$a.b.c"),
    ]
    homes = [("+/b", "q"), ("$a/b", "r"), ("$a/+", "s")]
    assert [(one.first, one.second, one.key) for one in ambiguous(homes, "mqtt")] == [(1, 2, "$a/b")]


@pytest.mark.parametrize("name", SIZES)
def test_pairs_that_share_keys_are_those_of_all_keys(name: str) -> None:
    patterns, known = rows(name)
    chance = random.Random(8)
    for _ in range(40):
        bindings = [(chance.choice(patterns), chance.choice("qrs")) for _ in range(chance.randint(0, 12))]
        pairs = [
            (first, second)
            for second, (two, its) in enumerate(bindings)
            for first, (one, whose) in enumerate(bindings[:second])
            if whose != its and (known[one] & known[two]).any()
        ]
        assert [(one.first, one.second) for one in ambiguous(bindings, name)] == pairs


def test_a_cover_has_no_pattern_that_no_key_matches() -> None:
    """They stayed where nothing is wider, and could have been left out."""
    assert cover(["#P2P/a", "a/b", "#P2P/b"], "solace") == ("a/b",)
    assert cover(["#P2P/a", "#P2P/>"], "solace") == ()


def test_what_no_key_reaches() -> None:
    assert unreachable(["#P2P/a", "*/b", "#P2Px"], "solace") == (0, 2)
    for name in SIZES:
        patterns, known = rows(name)
        assert [patterns[i] for i in unreachable(patterns, name)] == [one for one in patterns if not known[one].any()]


@pytest.mark.parametrize("name", SIZES)
def test_normal_forms(name: str) -> None:
    """Of all small patterns: equal to what is given, no shorter one is, and the proofs hold."""
    patterns, known = rows(name)
    separator = DIALECTS[name].separator.decode()
    shortest: dict[bytes, int] = {}
    for pattern in patterns:
        words = len(pattern.split(separator)) if pattern else 0
        keys = known[pattern].tobytes()
        shortest[keys] = min(words, shortest.get(keys, words))
    for pattern in patterns:
        if not known[pattern].any():
            with pytest.raises(PatternError):
                normalise(pattern, name)
            continue
        found = normalise(pattern, name, most=0)
        assert np.array_equal(known[found.pattern], known[pattern])
        assert (len(found.pattern.split(separator)) if found.pattern else 0) == shortest[known[pattern].tobytes()], (
            pattern
        )
        assert found.accepted == (found.many == 0)


def test_proofs_that_no_pattern_with_fewer_wildcards_is_equal() -> None:
    """All patterns of up to six tokens with fewer ``#`` that match both keys match one that the pattern does not."""
    candidates = [".".join(one) for n in range(7) for one in product("ab*#", repeat=n)]
    for pattern in ("#.a.#", "#.a.#.b.#", "a.#.b.#.a", "#.a.*.#", "#.*.a.#.a.b.#"):
        found = normalise(pattern, most=0)
        proof = found.proof
        assert proof is not None
        dialect = DIALECTS["amqp"]
        assert all(matched([pattern], key, dialect) for key in proof.matched)
        assert not any(matched([pattern], key, dialect) for key in proof.unmatched)
        for one in candidates:
            if one.split(".").count("#") < found.many and all(matched([one], key, dialect) for key in proof.matched):
                assert any(matched([one], key, dialect) for key in proof.unmatched), (pattern, one)
    assert normalise("a.#.#.#").accepted
    assert normalising.normalise("#.#.*.#.#").pattern == "*.#"


@pytest.mark.parametrize("name", SIZES)
def test_keys_of_a_proof_are_keys(name: str) -> None:
    """Of all small patterns: also where the pattern without its ``#`` has no word, or an empty one alone, which is no key."""
    dialect = DIALECTS[name]
    patterns, known = rows(name)
    for pattern in (one for one in patterns if known[one].any()):
        proof = normalise(pattern, name, most=0).proof
        if proof is not None:
            assert all(matched([pattern], key, dialect) for key in proof.matched), pattern
            assert not any(matched([pattern], key, dialect) for key in proof.unmatched), pattern


def test_a_proof_minds_a_reserved_byte_behind_a_wildcard() -> None:
    """``#.$a`` does not match the key ``$a``, as no wildcard takes part in a key that begins with the reserved byte."""
    reserving = replace(DIALECTS["amqp"], name="reserving", reserved=b"$")
    proof = normalise("#.$a", reserving, most=0).proof
    assert proof is not None
    assert all(matched(["#.$a"], key, reserving) for key in proof.matched)


NUMBERS: list[tuple[str, Any]] = [
    ("most", lambda most: ambiguous([("a", "q"), ("#", "r")], most=most)),
    ("most", lambda most: difference([("a", "q")], [("b", "q")], most=most)),
    ("most", lambda most: intersection("a.*", "*.b", most=most)),
    ("most", lambda most: normalise("#.a.#", most=most)),
    ("most", lambda most: why_not([("a", "q")], "b", most=most)),
    ("most_bytes", lambda most: broker_cost([("#.a.#.b", "q")], most_bytes=most)),
    ("budget", lambda budget: difference([("a", "q")], [("a", "q")], budget=budget)),
]


@pytest.mark.parametrize("value", [-1, None, 1.5, "3", True, [1]], ids=repr)
@pytest.mark.parametrize(("name", "ask"), NUMBERS)
def test_arguments_that_are_no_numbers_are_named(name: str, ask: Any, value: object) -> None:
    with pytest.raises(OptionError, match=re.escape(f"{name} is {value!r}: expected a number of ")):
        ask(value)


@pytest.mark.parametrize(("name", "ask"), NUMBERS)
def test_numbers_may_be_those_of_numpy(name: str, ask: Any) -> None:
    value = 100_000 if name == "budget" else 3
    assert ask(np.int64(value)) == ask(value)


def test_none_at_all_are_as_many_as_were_asked_for() -> None:
    assert ambiguous([("a", "q"), ("#", "r")], most=0) == ()
    assert why_not([("a", "q")], "b", most=0) == ()
    change = difference([("a", "q")], [("b", "q")], most=0)["q"]
    assert change.lost is not None
    assert change.lost.shortest == ()


@pytest.mark.parametrize(
    ("dialect", "pattern", "other"),
    [("amqp-4.3.5", "#.a.#", "#.b.#"), ("amqp", "#." + "a" * 150, "b" * 150 + ".#")],
)
def test_a_difference_may_take_patterns_that_no_broker_would(dialect: str, pattern: str, other: str) -> None:
    """What both match together takes more bytes or wildcards than a binding may have."""
    change = difference([(pattern, "q")], [(other, "q")], dialect)["q"]
    for keys, having, lacking in ((change.lost, pattern, other), (change.gained, other, pattern)):
        if keys is not None:
            assert keys.patterns == (
                differences.Remainder(pattern=having, without=intersection(having, lacking, dialect)),
            )
