"""Generated code: the source is what the automaton says, and the bound on states holds."""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import pytest

import dfa_router as dr
from dfa_router.engines import codegen
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


ANY_OF_12 = [f"#.w{number}.#" for number in range(12)]
KEY, ANSWER = b"w1.w5.x.w7", (1, 5, 7)


def compiling(monkeypatch: pytest.MonkeyPatch, first: Callable[[], object]) -> None:
    """Have ``first`` called instead of compiling the next state that is compiled, and then compile as ever."""
    compiled, calls = codegen._compiled, itertools.count()

    def replaced(source: str) -> CodeType:
        if next(calls) == 0:
            first()
        return compiled(source)

    monkeypatch.setattr(codegen, "_compiled", replaced)


def test_a_state_whose_making_was_interrupted_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    generated = engine(ANY_OF_12, max_states=20)
    compiling(monkeypatch, interrupt)
    with pytest.raises(KeyboardInterrupt):
        generated.match(KEY)
    assert [generated.match(KEY) for _ in range(2)] == [ANSWER] * 2


def test_a_handler_may_ask_while_a_state_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a thread of its own, so that one that waits for itself fails the test."""
    generated = engine(ANY_OF_12, max_states=20)
    found: list[tuple[int, ...]] = []
    compiling(monkeypatch, lambda: found.append(generated.match(KEY)))
    asking = threading.Thread(target=lambda: found.append(generated.match(KEY)), daemon=True)
    asking.start()
    asking.join(10)
    assert found == [ANSWER] * 2


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_may_ask_that_was_forked_while_a_state_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    generated = engine(ANY_OF_12, max_states=20)
    ends: list[int] = []

    def fork() -> None:
        child = os.fork()
        if child == 0:
            threading.Thread(target=lambda: os._exit(generated.match(KEY) != ANSWER), daemon=True).start()
            threading.Event().wait(10)
            os._exit(2)
        ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    compiling(monkeypatch, fork)
    assert generated.match(KEY) == ANSWER
    assert ends == [0]


@pytest.mark.parametrize("reenters", [False, True])
def test_wherever_a_call_is_interrupted_answers_stay_right(*, reenters: bool) -> None:
    """At each line of the engine in turn: by an exception, or by a handler that asks the same engine for other keys."""
    other, its_answer = b"w2.w5.w1", (1, 2, 5)
    for stop in itertools.count(1):
        generated = engine(ANY_OF_12, max_states=20)
        lines = itertools.count(1)

        def trace(
            frame: FrameType, event: str, _: Any, stop: int = stop, lines: Any = lines, asked: Any = generated
        ) -> Any:
            if frame.f_code.co_filename != codegen.__file__:
                return None
            if event == "line" and next(lines) == stop:
                if not reenters:
                    raise KeyboardInterrupt
                assert asked.match(other) == its_answer
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            found = generated.match(KEY)
        except KeyboardInterrupt:
            found = generated.match(KEY)
        finally:
            sys.settrace(before)
        assert found == ANSWER
        assert generated.match(other) == its_answer
        if next(lines) <= stop:
            break
    assert stop > 50


def test_threads_that_make_the_same_states_agree() -> None:
    keys = [
        ".".join(f"w{number}" for number in range(12) if mask >> number & 1).encode() for mask in range(0, 4096, 41)
    ]
    answers = [tuple(number for number in range(12) if mask >> number & 1) for mask in range(0, 4096, 41)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(3):
            generated = engine(ANY_OF_12, max_states=2000)
            found: list[list[tuple[int, ...]]] = []
            threads = [
                threading.Thread(target=lambda: found.append([generated.match(key) for key in keys]))  # noqa: B023
                for _ in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert found == [answers] * 4
    finally:
        sys.setswitchinterval(interval)
