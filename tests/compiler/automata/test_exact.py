"""Patterns without wildcards, told from the others, and the automaton of these."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Nfa, Token, Wildcard, build_nfa
from compiler.automata.exact import exact_ends, key_sizes, without
from compiler.automata.nfa import MANY, ONE, OTHER
from compiler.automata.paths import parents_of, path_to
from compiler.automata.twin import Twin
from tests.compiler.machines import KEYS

TOKENS = st.sampled_from([b"a", b"b", b"", b"$", b"$x", b"a.b", b".", b"longer-than-8", Wildcard.ONE, Wildcard.MANY])
PLAIN = st.sampled_from([b"a", b"b", b"", b"$", b"$x", b"a.b", b"longer-than-8"])
PATTERNS = st.lists(st.lists(PLAIN, max_size=4) | st.lists(TOKENS, max_size=4), max_size=14).flatmap(
    lambda some: st.permutations([*some, *some[::3]])  # some come twice
)
RESERVED = st.sampled_from([b"", b"$"])
Patterns = Sequence[Sequence[Token]]


def words_to(nfa: Nfa, position: int) -> tuple[Token, ...]:
    """Return the tokens that lead to a position, which no other one has of the same root."""
    labels = [nfa.label(one) for one in path_to(parents_of(nfa), position)[1:]]
    wildcards: dict[int, Token] = {ONE: Wildcard.ONE, MANY: Wildcard.MANY}
    return tuple(nfa.symbols.word(label) if label > OTHER else wildcards[label] for label in labels)


def is_exact(pattern: Sequence[Token]) -> bool:
    """Tell whether a pattern matches one key, of one byte or more, and no key without its words is spelled so."""
    words = [token for token in pattern if isinstance(token, bytes)]
    return len(words) == len(pattern) and b".".join(words) != b"" and not any(b"." in word for word in words)


@given(PATTERNS, RESERVED)
@settings(max_examples=300, deadline=None)
def test_ends_are_those_of_patterns_that_match_one_key(patterns: Patterns, reserved: bytes) -> None:
    nfa = build_nfa(patterns, reserved=reserved)
    ends = exact_ends(nfa, b".")
    assert ends.dtype == np.int32
    assert sorted(ends.tolist()) == ends.tolist()
    found = [(words_to(nfa, end), nfa.tags_of(end)) for end in ends.tolist()]
    expected: dict[tuple[Token, ...], list[int]] = {}
    for number, pattern in enumerate(patterns):
        if is_exact(pattern):
            expected.setdefault(tuple(pattern), []).append(number)
    assert {words: list(tags) for words, tags in found} == expected
    assert len(found) == len(expected)


@given(PATTERNS, RESERVED)
@settings(max_examples=200, deadline=None)
def test_sizes_are_those_of_the_keys(patterns: Patterns, reserved: bytes) -> None:
    nfa = build_nfa(patterns, reserved=reserved)
    sizes = key_sizes(nfa)
    for position in range(len(nfa)):
        words = [token for token in words_to(nfa, position) if isinstance(token, bytes)]
        if len(words) == len(words_to(nfa, position)):
            assert sizes[position] == len(b".".join(words))


@given(PATTERNS, RESERVED, st.data())
@settings(max_examples=300, deadline=None)
def test_the_rest_is_the_automaton_of_the_other_patterns(
    patterns: Patterns, reserved: bytes, data: st.DataObject
) -> None:
    """With any of the exact patterns taken out: some may have to stay."""
    nfa = build_nfa(patterns, reserved=reserved)
    ends = exact_ends(nfa, b".")
    out = ends[np.array([data.draw(st.booleans()) for _ in ends], np.bool_)]
    rest, kept = without(nfa, out)
    gone = {tag for end in out.tolist() for tag in nfa.tags_of(end)}
    left = [number for number in range(len(patterns)) if number not in gone]
    other = build_nfa([patterns[number] for number in left], reserved=reserved)
    # Symbols have another order there, so the children of a position may have, and those below them.
    assert sorted(map(repr, by_words(rest))) == sorted(map(repr, by_words(other, left)))
    assert kept.dtype == np.int32
    assert [words_to(rest, one) for one in range(len(rest))] == [words_to(nfa, one) for one in kept.tolist()]
    assert [rest.tags_of(one) for one in range(len(rest))] == [
        () if one in out else nfa.tags_of(one) for one in kept.tolist()
    ]
    assert_numbered(rest)
    assert rest.reserved == reserved
    assert set(rest.symbol_of) == {token for number in left for token in patterns[number] if isinstance(token, bytes)}


def by_words(nfa: Nfa, names: Sequence[int] | None = None) -> list[tuple[int, tuple[Token, ...], tuple[int, ...]]]:
    """Return each position by its root and its tokens, with its accept tags by their ``names``."""
    parents = parents_of(nfa)
    return [
        (
            path_to(parents, position)[0],
            words_to(nfa, position),
            tuple(tag if names is None else names[tag] for tag in nfa.tags_of(position)),
        )
        for position in range(len(nfa))
    ]


def assert_numbered(nfa: Nfa) -> None:
    """Check what the rest of the compiler relies on: how positions are numbered, and the types of all arrays."""
    for array in (nfa.labels, nfa.children, nfa.tag_offsets, nfa.tags, nfa.symbols.offsets):
        assert array.dtype == np.int32
    assert nfa.symbols.data.dtype == np.uint8
    assert (nfa.symbols.offsets[0], nfa.symbols.offsets[-1]) == (0, len(nfa.symbols.data))
    assert len(nfa.children) == len(nfa) + 1
    assert (nfa.tag_offsets[0], nfa.tag_offsets[-1]) == (0, len(nfa.tags))
    assert [child for position in range(len(nfa)) for child in nfa.successors(position)] == [
        *range(len(nfa.roots), len(nfa))
    ]
    for position in range(len(nfa)):
        labels = [nfa.label(child) for child in nfa.successors(position)]
        assert all(first < second for first, second in pairwise(labels))
        tags = nfa.tags_of(position)
        assert all(first < second for first, second in pairwise(tags))
        assert tags or len(nfa.successors(position)) or position in nfa.roots  # nothing leads nowhere
    assert [nfa.label(root) for root in nfa.roots] == [OTHER] * (1 + bool(nfa.reserved))


@given(PATTERNS, KEYS, RESERVED)
@settings(max_examples=150, deadline=None)
def test_a_key_is_matched_by_the_rest_or_spelled(patterns: Patterns, words: list[list[bytes]], reserved: bytes) -> None:
    nfa = build_nfa(patterns, reserved=reserved)
    ends = exact_ends(nfa, b".")
    spelled = {b".".join(map(bytes, words_to(nfa, end))): nfa.tags_of(end) for end in ends.tolist()}  # type: ignore[arg-type]
    assert len(spelled) == len(ends)
    whole, rest = Twin(nfa, b".", 1 << 20), Twin(without(nfa, ends)[0], b".", 1 << 20)
    for key in [*map(b".".join, words), *(b"$" + b".".join(one) for one in words), *spelled]:
        assert whole.match(key) == tuple(sorted((*rest.match(key), *spelled.get(key, ()))))


def test_nothing_is_left_of_patterns_that_all_spell_keys() -> None:
    for reserved in (b"", b"$"):
        nfa = build_nfa([[b"a", b"b"], [b"a"], [b"$x"], [b"a"]], reserved=reserved)
        rest, kept = without(nfa, exact_ends(nfa, b"."))
        assert kept.tolist() == [*nfa.roots]
        assert (len(rest), len(rest.symbols), len(rest.tags)) == (len(nfa.roots), 0, 0)


def test_nothing_changes_where_nothing_is_taken_out() -> None:
    nfa = build_nfa([[Wildcard.MANY, b"a"], [], [b""], [b"a.b"], [b"b", Wildcard.ONE]])
    assert exact_ends(nfa, b".").tolist() == []
    rest, kept = without(nfa, exact_ends(nfa, b"."))
    assert kept.tolist() == [*range(len(nfa))]
    assert str(rest) == str(nfa)


@pytest.mark.parametrize("patterns", [[], [[]]])
def test_an_automaton_of_its_root(patterns: list[list[Token]]) -> None:
    nfa = build_nfa(patterns)
    assert exact_ends(nfa, b".").tolist() == []
    assert key_sizes(nfa).tolist() == [0]
    assert str(without(nfa, exact_ends(nfa, b"."))[0]) == str(nfa)


def test_another_separator() -> None:
    nfa = build_nfa([[b"a.b", b"c"], [b"a/b"], [b"/"]])
    assert [words_to(nfa, end) for end in exact_ends(nfa, b"/").tolist()] == [(b"a.b", b"c")]
    assert [words_to(nfa, end) for end in exact_ends(nfa, b".").tolist()] == [(b"a/b",), (b"/",)]
