"""JSON in which no key may stand twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dfa_router.strict_json import RepeatedKeyError, loads


@pytest.mark.parametrize(("text", "key"), [('{"a": 1, "b": 2, "a": 1}', "a"), ('[{"x": {"b": 1, "b": 2}}]', "b")])
def test_a_key_that_stands_twice_is_named(text: str, key: str) -> None:
    with pytest.raises(RepeatedKeyError, match=f"the key '{key}' stands twice in the object that begins with"):
        loads(text)


def test_one_repeated_key_among_very_many_is_named() -> None:
    """Comparing each with all before it would take minutes."""
    entries = ", ".join(f'"{number}": 0' for number in range(200_000))
    with pytest.raises(RepeatedKeyError, match="the key '199999' stands twice"):
        loads(f'{{{entries}, "199999": 1}}')


def test_many_texts_are_read_by_one_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(*_: Any, **__: Any) -> None:
        raise AssertionError("a decoder for one text")

    monkeypatch.setattr(json.JSONDecoder, "__init__", made)
    assert [loads('{"a": [1.5]}'), loads(b'{"a": {"b": null}}')] == [{"a": [1.5]}, {"a": {"b": None}}]


@pytest.mark.parametrize("text", ["\ufeff{}", "{", "", "{} x", b"\xff", '"\x01"', "[" * 100_000, 5])
def test_what_is_no_json_is_refused_as_json_refuses_it(text: Any) -> None:
    with pytest.raises((ValueError, RecursionError, TypeError)) as expected:
        json.loads(text, object_pairs_hook=dict)
    with pytest.raises(type(expected.value)) as found:
        loads(text)
    assert str(found.value) == str(expected.value)
