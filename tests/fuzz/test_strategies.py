"""The Hypothesis strategies: valid, aimed, and they shrink to something small."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

import dfa_router as dr
from dfa_router import Binding
from dfa_router.errors import BindingError, OptionError
from dfa_router.fuzz import Round, binding_sets, keys_for, patterns, rounds
from dfa_router.language.dialects import DIALECTS, dialect_named
from dfa_router.language.validity import pattern_problem
from dfa_router.reference.naive import matches
from tests.fuzz.planted import PLANTED

FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
MANY = settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck), database=None)


@pytest.mark.parametrize("name", DIALECTS)
def test_what_they_draw_is_valid_and_compiles(name: str) -> None:
    dialect = dialect_named(name)

    @FEW
    @given(patterns(name))
    def pattern_is_valid(pattern: str) -> None:
        assert pattern_problem(pattern, dialect) is None

    @FEW
    @given(st.data())
    def keys_agree(data: st.DataObject) -> None:
        bindings = data.draw(binding_sets(dialect, max_size=4))
        key = data.draw(keys_for(bindings, dialect))
        assert 1 <= len(bindings) <= 4
        right = tuple(i for i, (p, _) in enumerate(bindings) if matches(p.encode(), key.encode(), dialect))
        assert dr.compile(bindings, dialect=dialect, engine="scan").match_bindings(key) == right

    pattern_is_valid()
    keys_agree()


def test_sizes_of_binding_sets() -> None:
    assert find(binding_sets(min_size=0), lambda bindings: not bindings, settings=MANY) == []
    assert len(find(binding_sets(min_size=3, max_size=3), lambda bindings: True, settings=MANY)) == 3
    with pytest.raises(OptionError, match="min_size"):
        binding_sets(min_size=3, max_size=2)


def test_keys_for_patterns_without_destinations_and_for_none() -> None:
    assert find(keys_for(["x.#"]), lambda key: key.count(".") == 2 and key.startswith("x."), settings=MANY)
    assert find(keys_for([]), lambda key: True, settings=MANY) is not None


def test_wrong_arguments_are_refused_when_a_strategy_is_made() -> None:
    """Not by the first draw, in the middle of what Hypothesis tells of a test."""
    sets: Any = binding_sets
    for sizes, said in (
        ({"max_size": "6"}, "max_size is '6': expected a number of bindings from 0 up"),
        ({"min_size": 1.5}, "min_size is 1.5: expected a number of bindings from 0 up"),
        ({"min_size": True}, "min_size is True: expected a number of bindings from 0 up"),
        ({"min_size": -1}, "min_size is -1: expected a number of bindings from 0 up"),
    ):
        with pytest.raises(OptionError, match=f"^{re.escape(said)}$"):
            sets(**sizes)
    several: Any = rounds
    for numbers, said in (
        ({"patterns": 0}, "patterns is 0: expected a number of patterns from 1 up"),
        ({"keys": "8"}, "keys is '8': expected a number of keys from 1 up"),
        ({"keys": None}, "keys is None: expected a number of keys from 1 up"),
    ):
        with pytest.raises(OptionError, match=f"^{re.escape(said)}$"):
            several(**numbers)


def test_keys_are_for_patterns_in_a_list() -> None:
    """Of one pattern, its characters were patterns."""
    keys: Any = keys_for
    for bindings in ("a.*", b"a.*", None, 5, {"a.*": "q"}):
        with pytest.raises(BindingError, match=r"^bindings is .*: expected patterns, or bindings, in a list"):
            keys(bindings)
    for entry in (b"a.*", 5, (), (5, "q"), None):
        with pytest.raises(
            BindingError, match=rf"^binding 1 is {re.escape(repr(entry))}: expected a pattern, or a pair"
        ):
            keys(["a.*", entry])
    from_pairs = keys(iter([["x.#", "q"], Binding("x.#", "q"), ("x.#", "q", 5)]))
    assert find(from_pairs, lambda key: key.startswith("x.") and key.count(".") == 2, settings=MANY)


SHRINK = [
    "hash_is_one_or_more",
    "star_crosses_dots",
    pytest.param("a_literal_hides_the_star", marks=pytest.mark.slow),
    "dollar_topics_are_like_others",
]


@pytest.mark.parametrize("name", SHRINK)
def test_a_fault_that_hypothesis_finds_is_shrunk(name: str) -> None:
    fault = next(fault for fault in PLANTED if fault.name == name)
    dialect = dialect_named(fault.dialect)

    def shows(made: Round) -> bool:
        return any(
            fault.match(list(made.patterns), key)
            != [i for i, p in enumerate(made.patterns) if matches(p.encode(), key.encode(), dialect)]
            for key in made.keys
        )

    def is_small(made: Round) -> bool:
        words = [pattern.split(dialect.separator.decode()) for pattern in made.patterns]
        return len(words) <= 2 and max(map(len, words)) <= 4

    # One search in twenty ends with a pattern that is long, and that nothing shorter is tried for.
    try:
        assert any(
            is_small(find(rounds(dialect, patterns=3, keys=3), shows, settings=MANY, random=random.Random(seed)))
            for seed in range(3)
        )
    except NoSuchExample:
        pytest.fail("Hypothesis does not find it")
