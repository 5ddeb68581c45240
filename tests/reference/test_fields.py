"""Field matching: criteria of presence and value, ANY and ALL."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfa_router as dr
from dfa_router.reference.fields import FieldMatcher, parse_fields

FIELDS = st.dictionaries(st.sampled_from("abc"), st.sampled_from([None, "x", "5", 5, 5.0, True, b"x"]), max_size=3)


def holds(criterion: tuple[str, object], message: dict[str, object]) -> bool:
    name, value = criterion
    return name in message and (value is None or (type(message[name]) is type(value) and message[name] == value))


@settings(deadline=None, derandomize=True)
@given(st.lists(st.tuples(FIELDS, st.sampled_from(["all", "any"]), st.booleans()), max_size=8), FIELDS)
def test_it_agrees_with_testing_every_subscription(
    subscriptions: list[tuple[dict[str, object], str, bool]], message: dict[str, object]
) -> None:
    matcher = FieldMatcher()
    for number, (criteria, on, _) in enumerate(subscriptions):
        assert matcher.subscribe(criteria, on=on) == number
    for number, (_, _, removed) in enumerate(subscriptions):
        if removed:
            matcher.unsubscribe(number)
    live = [(number, criteria, on) for number, (criteria, on, removed) in enumerate(subscriptions) if not removed]
    hits = {number: sum(holds(c, message) for c in criteria.items()) for number, criteria, _ in live}
    expected = tuple(number for number, criteria, on in live if hits[number] >= (1 if on == "any" else len(criteria)))
    assert matcher.hits(message) == {number: count for number, count in hits.items() if count}
    assert matcher.match(message) == expected
    assert matcher.any(message) is bool(expected)
    assert len(matcher) == len(live)


def test_values_of_different_types_are_different() -> None:
    matcher = FieldMatcher()
    for value in (5, 5.0, "5", True):
        matcher.subscribe({"n": value})
    assert [matcher.match({"n": value}) for value in (5, 5.0, "5", True, 1)] == [(0,), (1,), (2,), (3,), ()]


def test_no_criteria_match_every_message_on_all_and_none_on_any() -> None:
    matcher = FieldMatcher()
    assert matcher.subscribe({}) == 0
    assert matcher.subscribe({}, on="any") == 1
    assert matcher.match({}) == (0,)
    assert matcher.match({"a": 1}) == (0,)
    assert matcher.any({})


def test_a_value_that_cannot_be_looked_up_is_present_all_the_same() -> None:
    matcher = FieldMatcher()
    matcher.subscribe({"list": None})
    assert matcher.match({"list": [1, 2]}) == (0,)
    assert matcher.match({"list": ([1], 2)}) == (0,)


def test_removing_leaves_nothing_behind() -> None:
    matcher = FieldMatcher()
    for criteria in ({"a": 1, "b": None}, {"a": 1}, {}):
        matcher.subscribe(criteria)
    for number in range(3):
        matcher.unsubscribe(number)
    assert matcher._rows == {}
    assert matcher.match({"a": 1, "b": 2}) == ()
    assert matcher.subscribe({"a": 1}) == 3


def test_bad_input_is_refused_and_changes_nothing() -> None:
    matcher = FieldMatcher()
    with pytest.raises(dr.BindingError, match=r"'a' has the value \[1\]"):
        matcher.subscribe({"b": 1, "a": [1]})
    with pytest.raises(dr.OptionError, match="expected 'all' or 'any'"):
        matcher.subscribe({"a": 1}, on="both")
    with pytest.raises(dr.BindingError, match="no subscription 0"):
        matcher.unsubscribe(0)
    assert len(matcher) == 0
    assert matcher.match({"b": 1}) == ()


def test_fields_as_text() -> None:
    assert parse_fields("currency=JPY, market=forex, slow") == {"currency": "JPY", "market": "forex", "slow": None}
    assert parse_fields("") == {}
    assert parse_fields("currency=USD, currency=GBP, slow, slow=1") == {"currency": ("USD", "GBP"), "slow": (None, "1")}
    assert parse_fields("a=b=c, ,d=") == {"a": "b=c", "d": ""}
