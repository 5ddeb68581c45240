"""Relations of patterns, held to all short keys by the recursive definition."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.automata.pattern import Pattern, Token, Wildcard, covers, intersection

ONE, MANY = Wildcard.ONE, Wildcard.MANY
KEYS = [key for length in range(7) for key in itertools.product([b"a", b"b", b"z"], repeat=length)]
PATTERNS = st.lists(st.sampled_from([b"a", b"b", ONE, MANY, MANY]), max_size=5)


def matches(pattern: Pattern, key: tuple[bytes, ...]) -> bool:
    """Tell whether a key matches, by the definition."""
    if not pattern:
        return not key
    if pattern[0] is MANY:
        return matches(pattern[1:], key) or (bool(key) and matches(pattern, key[1:]))
    return bool(key) and pattern[0] in (ONE, key[0]) and matches(pattern[1:], key[1:])


@given(PATTERNS, PATTERNS)
def test_an_intersection_matches_what_both_patterns_match(one: list[Token], other: list[Token]) -> None:
    found = intersection(one, other, 1000)
    assert found is not None
    for key in KEYS:
        both = matches(one, key) and matches(other, key)
        assert any(matches(pattern, key) for pattern in found) == both, (key, found)


@given(PATTERNS, PATTERNS)
def test_what_a_pattern_covers_it_matches(one: list[Token], other: list[Token]) -> None:
    if covers(one, other):
        assert all(matches(one, key) for key in KEYS if matches(other, key))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([b"a", MANY], [ONE, b"b", MANY], [(b"a", b"b", MANY)]),
        ([MANY], [b"a", MANY, b"b"], [(b"a", MANY, b"b")]),
        ([b"a"], [MANY, b"a", MANY], [(b"a",)]),
        ([MANY, b"a", MANY], [MANY, b"a", MANY], [(MANY, b"a", MANY)]),
        ([b"*"], [ONE], [(b"*",)]),
        ([], [MANY], [()]),
    ],
)
def test_an_intersection_says_nothing_twice(one: Pattern, other: Pattern, expected: list[tuple[Token, ...]]) -> None:
    assert intersection(one, other, 4) == intersection(other, one, 4) == tuple(expected)


def test_an_intersection_has_a_limit() -> None:
    one: Pattern = [MANY, b"a", MANY, b"b", MANY]
    other: Pattern = [MANY, b"c", MANY, b"d", MANY]
    assert len(intersection(one, other, 6) or ()) == 6, "the ways to interleave two words with two others"
    assert intersection(one, other, 5) is None


def test_an_intersection_may_have_more_tokens_than_python_recurses() -> None:
    starred: list[Token] = [ONE, b"b"]
    worded: list[Token] = [b"a", ONE]
    one: Pattern = [*starred * 1200, MANY]
    other: Pattern = [*worded * 1200, b"c"]
    assert intersection(one, other, 1) == ((b"a", b"b") * 1200 + (b"c",),)
