"""Generated code: the source is what the automaton says, and the bound on states holds."""

from __future__ import annotations

import pytest

import dfa_router as dr
from dfa_router.engines.codegen import GeneratedCode


def engine(patterns: list[str], max_states: int = 1000) -> GeneratedCode:
    router = dr.compile([(pattern, "q") for pattern in patterns], engine="codegen", max_states=max_states)
    matcher = router._matcher
    assert isinstance(matcher, GeneratedCode)
    return matcher


def test_the_source_of_the_articles_example() -> None:
    generated = engine(["a.b.c", "a.*.b.c", "a.#.c", "b.b.c"])
    assert generated.complete
    assert generated.source.startswith(
        "def state_0(word):\n"
        "    if word == b'a':\n"
        "        return 2\n"
        "    if word == b'b':\n"
        "        return 3\n"
        "    return 1\n"
    )
    assert generated.source.count("def ") == 14


def test_many_literals_are_looked_up_in_a_dictionary() -> None:
    generated = engine([f"w{number}" for number in range(5)])
    assert "_next={b'w0': 2, b'w1': 3" in generated.source
    assert generated.match(b"w4") == (4,)


def test_words_that_look_like_code_are_only_words() -> None:
    nasty = "'+__import__('os')+'"
    generated = engine([nasty, "\\", '"""', "\n", "\x00"])
    assert [generated.match(word.encode()) for word in (nasty, "\\", '"""', "\n", "\x00", "x")] == [
        (0,),
        (1,),
        (2,),
        (3,),
        (4,),
        (),
    ]


def test_a_set_with_too_many_states_is_made_as_keys_need_it_and_dropped_when_full() -> None:
    """Twelve bindings ``#.w.#`` have 4,096 states; 20 may be held."""
    generated = engine([f"#.w{number}.#" for number in range(12)], max_states=20)
    assert not generated.complete
    for mask in range(0, 4096, 37):
        held = [number for number in range(12) if mask >> number & 1]
        assert generated.match(".".join(f"w{number}" for number in held).encode()) == tuple(held)
        assert len(generated._functions.sources) <= 20 + 12  # a key may go past the bound, no further than its words


def test_a_bound_that_is_none_is_refused() -> None:
    for bad in (0, True, "many"):
        with pytest.raises(dr.OptionError, match="max_states"):
            dr.compile([], engine="codegen", max_states=bad)
