"""JSON in which no key may stand twice."""

from __future__ import annotations

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
