"""Relations of patterns in every dialect, held to the specification."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler import CapacityError, Token
from compiler.automata import keyspace
from dfa_router.analysis import questions
from dfa_router.analysis.coverage import cover, unreachable
from dfa_router.analysis.differences import difference
from dfa_router.analysis.intersections import intersection
from dfa_router.analysis.questions import Question
from dfa_router.analysis.relations import RelationKind, relation
from dfa_router.errors import ConversionError, OptionError, PatternError
from dfa_router.language.dialects import DIALECTS, Dialect
from tests.analysis.oracle import WORDS, keys_of, matched, patterns_of, table_of, word_count
from tests.mutants import mutant
from tests.strides import strides

SIZES = {"amqp": (3, 6), "amqp-4.3.5": (2, 4), "mqtt": (3, 5), "nats": (3, 5), "solace": (3, 4), "exact": (3, 4)}
"""The most words of patterns and of keys; four words against six are tried in tests/compiler/automata/test_proofs.py."""
LONGEST = 1 << 30


def sizes(name: str, stride: int) -> tuple[int, int]:
    """Return the most words of patterns, and of keys: one less where not all pairs are tried."""
    words, length = SIZES[name]
    return words, length - (stride > 1)


def test_every_dialect_is_tried() -> None:
    assert WORDS.keys() == SIZES.keys() == DIALECTS.keys()


def wrong_answers(name: str, question: Question, stride: int) -> Iterator[str]:
    """Yield the pairs of small patterns, every so many, on which inclusion, overlap or a witness is wrong."""
    words, length = sizes(name, stride)
    dialect, patterns, table = DIALECTS[name], patterns_of(name, words), table_of(name, words, length)
    lengths = np.array([word_count(key, dialect) for key in keys_of(name, length)])
    for pair in range(0, len(patterns) ** 2, stride):
        one, other = divmod(pair, len(patterns))
        ours, theirs = patterns[one], patterns[other]
        for found, keys, meant in (
            (question.escape([one], [other]), table[one] & ~table[other], False),
            (question.meeting([one], [other]), table[one] & table[other], True),
        ):
            expected = int(lengths[keys].min()) if keys.any() else LONGEST
            if found is None:
                right = expected == LONGEST
            else:
                right = matched([ours], found, dialect) and matched([theirs], found, dialect) == meant
                right = right and word_count(found, dialect) == min(
                    expected, max(word_count(found, dialect), length + 1)
                )
            if not right:
                yield f"{ours} and {theirs}: {found!r}, shortest {expected}"


@strides(7)
@pytest.mark.parametrize("name", SIZES)
def test_all_pairs_of_small_patterns(name: str, stride: int) -> None:
    """Inclusion and overlap of all pairs, with shortest witnesses: keys that the dialect can write."""
    question = Question(patterns_of(name, SIZES[name][0]), name, 1 << 40)
    assert list(islice(wrong_answers(name, question, stride), 5)) == []


@pytest.mark.parametrize(
    ("name", "right", "planted"),
    [
        ("amqp", "phase not in (START_RESERVED, LONE_EMPTY)", "phase != START_RESERVED"),
        ("mqtt", "(phase != START or self.empty_text)", "True"),
        ("solace", "return None if word.startswith(self.unseen[behind]) else other", "return other"),
    ],
)
def test_planted_bugs_about_keys_are_caught(name: str, right: str, planted: str) -> None:
    """Bugs in what is a key."""
    question = Question(patterns_of(name, SIZES[name][0]), name, 1 << 40)
    space = question.machine.space
    fields = {field: getattr(space, field) for field in ("empty_text", "empty_words", "dropped", "reserved", "unseen")}
    question.machine.space = mutant(keyspace, right, planted).KeySpace(**fields)
    assert any(wrong_answers(name, question, 2))


@strides(7)
@pytest.mark.parametrize("name", SIZES)
def test_intersections_are_exact(name: str, stride: int) -> None:
    """The patterns of an intersection match what both match, all pairs of small patterns."""
    words, length = sizes(name, stride)
    words = min(words, 2) if name != "amqp" else 3
    dialect, patterns, table = DIALECTS[name], patterns_of(name, words), table_of(name, words, length)
    known = {pattern: table[i] for i, pattern in enumerate(patterns)}
    keys = keys_of(name, length)
    for one, other in islice(product(patterns, repeat=2), 0, None, stride):
        found = intersection(one, other, name)
        for pattern in found:
            if pattern not in known:
                known[pattern] = np.array([matched([pattern], key, dialect) for key in keys])
        rows = [known[pattern] for pattern in found]
        union = np.logical_or.reduce(rows) if rows else np.zeros(len(keys), bool)
        assert np.array_equal(union, known[one] & known[other]), (one, other, found)


def test_no_pattern_of_an_intersection_covers_another() -> None:
    """``.#..`` was told beside ``.*.#.``, which matches all of its keys: the ``#`` of the one stands against the ``*`` of the other."""
    assert intersection(".#.", "#..*.#") == (".", ".*.#.")
    patterns = patterns_of("amqp", 3)
    for one, other in islice(product(patterns, repeat=2), 0, None, 29):
        found = intersection(one, other)
        kinds = [relation(wide, narrow).kind for wide, narrow in permutations(found, 2)]
        assert RelationKind.COVERS not in kinds, (one, other, found)


def test_shared_keys_that_a_dialect_has_no_pattern_for_are_not_left_out() -> None:
    """``#.a`` and ``>.>`` meet in ``*.a`` and in longer keys; without a ``*`` only the latter were told, as if they were all."""
    team = Dialect(name="team", many=b"#", some=b">")
    assert all(matched([one], key, team) for one in ("#.a", ">.>") for key in ("x.a", "x.y.a"))
    with pytest.raises(ConversionError, match="no wildcard for one word"):
        intersection("#.a", ">.>", team)
    lost = difference([("#.a", "q")], [(">.>", "q")], team)["q"].lost
    assert lost is not None
    assert lost.patterns is None, "it takes patterns that there are not"
    assert lost.shortest[0] == "a"
    assert intersection("a.b", "a.>", team) == ("a.b",)


def test_vectors_of_other_projects(shared: Path) -> None:
    """154 rows: equivalent, subset, overlap, intersection, cover."""
    rows = [json.loads(line) for line in (shared / "vectors" / "relations.jsonl").read_text().splitlines()]
    assert len(rows) == 154
    for row in rows:
        one, other, expected, dialect = row["a"], row["b"], row["expected"], row["dialect"]
        match row["relation"]:
            case "intersection":
                found = intersection(one, other, dialect)
                assert found == (() if expected is None else (expected,)), row
            case "cover":
                assert set(cover(one, dialect)) == set(expected), row
            case kind:
                if expected is False and _refused(one, other, dialect):
                    continue
                answer = relation(one, other, dialect)
                told = {
                    "equivalent": answer.kind is RelationKind.EQUAL,
                    "subset": answer.only_first is None,
                    "overlap": answer.both is not None,
                }[kind]
                assert told == expected, (row, answer)


def _refused(one: str, other: str, dialect: str) -> bool:
    try:
        Question([one, other], dialect)
    except PatternError:
        return True
    return False


def test_long_patterns_take_milliseconds() -> None:
    """Two patterns of 60 words with ten ``#`` each, nested as badly as they can be; steps are counted, not timed."""
    one = ".".join(["#", "a", "*", "b", "*", "*"] * 10)
    other = ".".join(["#", "a", "*", "*", "*", "b"] * 10)
    for left, right in ((one, other), (one, one), (other, one + ".c")):
        relation(left, right, budget=20_000)


def test_bad_input() -> None:
    with pytest.raises(PatternError, match="'a/#/b' is no pattern of mqtt: '#' is not the last word"):
        relation("a/#/b", "a", "mqtt")
    with pytest.raises(PatternError, match="pattern 1 is 3"):
        relation(["a", 3], "a")  # type: ignore[list-item]
    with pytest.raises(OptionError, match="unknown dialect 'amq'"):
        relation("a", "b", "amq")
    with pytest.raises(OptionError, match="budget is -1"):
        relation("a", "b", budget=-1)
    with pytest.raises(CapacityError, match="over 0 steps"):
        relation("a", "b", budget=0)
    with pytest.raises(CapacityError, match="in over 2 ways"):
        intersection("#.a.#.b.#", "#.c.#.d.#", most=2)


def test_empty_sets() -> None:
    assert relation([], []).kind is RelationKind.EQUAL
    assert relation([], "a").kind is RelationKind.COVERED
    assert relation("a", []).kind is RelationKind.COVERS
    assert cover([]) == ()


@pytest.mark.parametrize("patterns", ["a.b", b"a.b", 5, None])
def test_one_pattern_is_not_taken_for_a_list_of_its_characters(patterns: Any) -> None:
    for ask in (cover, unreachable):
        with pytest.raises(PatternError, match=r"patterns is .*: expected patterns as text in a list"):
            ask(patterns)
    if not isinstance(patterns, str):
        with pytest.raises(PatternError, match=r"patterns is .*: expected patterns as text in a list"):
            relation(patterns, "a")


def test_words_for_witnesses_are_looked_for_once_at_each_place() -> None:
    """Each witness looked at every pattern anew: a hundred thousand pairs of 3,000 bindings took half a minute for it."""

    class Counted(list[list[Token]]):
        reads = 0

        def __iter__(self) -> Iterator[list[Token]]:
            self.reads += 1
            return super().__iter__()

    question = Question(["a.*", "*.*", "b.c"], "amqp")
    question.tokens = counted = Counted(question.tokens)
    assert [question.meeting([0], [1]) for _ in range(3)] == ["a.c"] * 3
    assert counted.reads <= 2  # at the second place, and for all literals


def test_patterns_that_no_key_matches_are_found_without_an_automaton(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was built for all patterns, and not asked."""

    def build(*_: object) -> None:
        raise AssertionError("an automaton")

    monkeypatch.setattr(questions, "positions_of", build)
    assert unreachable(["#P2P/a", "a/b"], "solace") == (0,)
    with pytest.raises(PatternError, match=r"'a\.\.b' is no pattern of nats"):
        unreachable(["a.b", "a..b"], "nats")
