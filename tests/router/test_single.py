"""Single keys: the function of machine code that stands for ``Router.match``, and whatever a method can do that it must do, too."""

from __future__ import annotations

import contextlib
import copy
import gc
import inspect
import os
import pickle
import resource
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dfa_router as dr
from compiler.prepare import jit_enabled
from dfa_router.single import _LOCKED, SingleAnswers

BINDINGS = [("a.*", "x"), ("a.1", "y"), ("#.é", "z"), ("b.#", "w"), ("b.*", "w")]
BUILTIN: object = type(len)
NOT_INTERNED = "".join(reversed("yek"))
"""The name of the argument, but not the text that stands for each ``key`` in a program."""

quick = pytest.mark.skipif(
    not jit_enabled() or not _LOCKED or bool(sys.flags.bytes_warning),
    reason="match stays a method where nothing is compiled, where threads run at once, and under python -b",
)


def settled(bindings: list[tuple[str, str]] = BINDINGS, **options: Any) -> dr.Router:
    """Return a router that was asked for a key."""
    router = dr.compile(bindings, **options)
    router.match("")
    return router


def method(router: dr.Router) -> Callable[..., tuple[str, ...]]:
    """Return the method that the function stands for."""
    bound: Callable[..., tuple[str, ...]] = dr.Router.match.__get__(router)
    return bound


def told(ask: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Return what a call returns, or the type and text of what it raises."""
    try:
        return ask(*arguments, **named)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other must raise it, too
        return type(error), str(error)


@quick
def test_the_function_comes_with_the_first_key_and_only_where_answers_are_remembered() -> None:
    router = dr.compile(BINDINGS)
    assert type(router.match) is not BUILTIN
    router.match("a.1")
    assert type(router.match) is BUILTIN
    for engine in ("nfa", "trie", "naive"):
        assert type(settled(engine=engine).match) is not BUILTIN
    assert type(router.seal(["a.1"]).match) is not BUILTIN


def test_a_key_has_the_same_answer_at_first_and_later_as_text_and_as_bytes() -> None:
    keys = ["a.1", "a.2", "", "b", "b.c", "a.é", "é", "a." + "ß" * 200, "b." + "c" * 5000, "\0", "a.\0", "."]
    keys += [f"a.{i}" for i in range(1500)]
    oracle = dr.compile(BINDINGS, engine="naive")
    router = dr.compile(BINDINGS)
    for asked in (router, router.seal(["a.1", "b.c"])) if jit_enabled() else (router,):
        for _ in range(3):
            for key in keys:
                assert asked.match(key) == asked.match(key) == asked.match(key.encode()) == oracle.match(key), key
                assert asked.match_bindings(key) == oracle.match_bindings(key)


def test_it_says_the_same_as_the_method_to_whatever_it_is_called_with() -> None:
    class Strange:
        def __init__(self, error: type[BaseException]) -> None:
            self.error = error

        def __hash__(self) -> int:
            raise self.error("no hash")

        def __repr__(self) -> str:
            return "strange"

    router = settled()
    one: Any
    for one in (1, None, ["a"], {}, bytearray(b"a"), "\ud800", 1.5, dr, Strange(TypeError), Strange(KeyError)):
        assert told(router.match, one) == told(method(router), one), one
        assert told(router.match, one)[0] is dr.KeyTypeError
        assert told(router.match, key=one) == told(method(router), key=one), one
    assert (
        told(router.match, Strange(ValueError)) == told(method(router), Strange(ValueError)) == (ValueError, "no hash")
    )
    for arguments, named in (
        ((), {}),
        (("a", "b"), {}),
        (("a",), {"key": "b"}),
        ((), {"keys": "a"}),
        ((), {"key": "a", "other": "b"}),
        (("a",), {"other": "b"}),
    ):
        assert told(router.match, *arguments, **named) == told(method(router), *arguments, **named), (arguments, named)
        assert told(router.match, *arguments, **named)[0] is TypeError


def test_the_key_may_be_named() -> None:
    router = settled()
    for _ in range(3):
        assert router.match(key="a.1") == ("x", "y")
        assert router.match(**{NOT_INTERNED: "a.2"}) == ("x",)
    router._single.recent["c"] = ("remembered",)
    assert router.match(key="c") == ("remembered",)


def test_errors_of_a_comparison_come_through() -> None:
    """A signal's handler may raise in it as in any code of Python."""

    class Interrupted(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            raise KeyboardInterrupt

    router = settled()
    router.match("a.1")
    for ask in (router.match, method(router)):
        with pytest.raises(KeyboardInterrupt):
            ask(Interrupted("a.1"))
    assert router.match("a.1") == ("x", "y")


def test_text_and_bytes_of_other_classes_are_keys() -> None:
    class Text(str):
        __slots__ = ()

    class Bytes(bytes):
        pass

    router = settled()
    assert router.match(Text("a.1")) == router.match(Bytes(b"a.1")) == router.match(Bytes(b"a.1")) == ("x", "y")


def test_help_and_signature_are_those_of_the_method() -> None:
    router = settled()
    assert list(inspect.signature(router.match).parameters) == ["key"]
    assert inspect.getdoc(router.match) == inspect.getdoc(dr.Router.match)
    assert router.match.__name__ == "match"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda router: pickle.loads(pickle.dumps(router))])
def test_copies_answer_by_themselves(copied: Callable[[dr.Router], dr.Router]) -> None:
    router = settled()
    assert router.match("a.1") == ("x", "y")
    other = copied(router)
    assert "match" not in vars(other)
    assert other.match("a.1") == other.match("a.1") == ("x", "y")
    assert other.bindings == router.bindings
    del router
    gc.collect()
    assert other.match("a.7") == ("x",)
    assert [*map(other.match, ["a.1", "b"])] == [("x", "y"), ("w",)]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_the_function_itself_is_pickled_as_a_method_is(protocol: int) -> None:
    """As for the workers of a pool; with what answers needs, and nothing that was remembered."""
    router = settled()
    for i in range(1000):
        router.match(f"a.{i}" + "b" * 100)
    for ask in (router.match, dr.compile(BINDINGS).match):
        data = pickle.dumps(ask, protocol)
        assert len(data) < 50_000
        assert [*map(pickle.loads(data), ["a.1", "b", "a.1"])] == [("x", "y"), ("w",), ("x", "y")]


@quick
def test_a_router_that_is_dropped_is_gone_at_once() -> None:
    """Without the garbage collector, which comes late, and takes long where there are a million bindings."""
    gc.collect()
    gc.disable()
    try:
        router = settled()
        for i in range(3000):
            router.match(f"a.{i}")
        parts = [weakref.ref(part) for part in (router, router._single, router._matcher)]
        ask = router.match
        del router
        assert parts[0]() is None
        assert ask("a.1") == ("x", "y")  # what answers is kept by who asks
        del ask
        assert [part() for part in parts] == [None] * 3
    finally:
        gc.enable()


def test_references_are_taken_and_given_back() -> None:
    from compiler.kernels.single_lost import match_lost

    match_lost.make((), "find")  # else another thread would load it meanwhile, and refer to None
    router = settled()
    known, unknown, wrong, long = "a.1" + "", "a." + "c" * 300, ["a.1"], b"a." + b"d" * 5000
    for key in (known, unknown, long):
        router.match(key)
    answer = router.match(known)
    items = known, unknown, wrong, long, answer, router._single, router._single.recent, None, str, "key"
    router.match_bindings(long)

    def references() -> list[int]:
        return [sys.getrefcount(item) for item in items]

    def ask() -> None:
        router.match(known)
        router.match(key=known)
        router.match(unknown)
        router.match(long)
        for bad in (wrong, None):
            with pytest.raises(dr.KeyTypeError):
                router.match(bad)  # type: ignore[arg-type]
        told(router.match)

    ask()
    gc.collect()  # what other tests have left may refer to None and str by the hundred, and would go in the middle
    before = references()
    for _ in range(3000):
        ask()
    for _ in range(100_000):
        router.match(known)
        router.match(unknown)
    after = references()
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 50, (before, after)


@quick
@pytest.mark.slow
def test_a_million_wrong_and_missing_keys_leave_no_memory_behind() -> None:
    router = settled()
    tags = [("#", f"q{i}") for i in range(5)]  # of over 256, which are numbers of their own; and so few are not kept
    many = settled([(f"n{i}", "q") for i in range(300)] + tags)

    wrongs: list[Any] = [[], "\ud800"]

    def ask(count: int) -> int:
        for i in range(count):
            for wrong in wrongs:
                with contextlib.suppress(dr.KeyTypeError):
                    router.match(wrong)
            router.match(f"a.{i}.é")
            many.match(f"n.{i}")
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = ask(50_000)
    assert ask(500_000) - before < 4096  # KiB; a leak of one reference's object each would be 25,000


def test_threads_that_ask_while_the_answers_are_forgotten_get_the_right_ones() -> None:
    """Each key is forgotten as soon as another thread has filled the dictionary; answers are objects that nobody else keeps."""
    router = settled([("a.*", "x"), *((f"a.{i}", f"q{i}") for i in range(3000))])
    wrong: list[object] = []

    def ask(first: int) -> None:
        match = router.match
        for turn in range(15):
            for i in range(3000):
                number = (first + 7 * i + turn) % 3000
                found = match(f"a.{number}")
                if found != ("x", f"q{number}"):
                    wrong.append((number, found))

    threads = [threading.Thread(target=ask, args=(700 * n,)) for n in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong
    assert len(router._single.recent) <= 1024 + len(threads)


def test_a_key_that_empties_the_answers_while_it_is_compared_is_answered() -> None:
    router = settled()

    class Emptying(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            router._single.recent.clear()
            gc.collect()
            return str.__eq__(self, other)

    for _ in range(5):
        router.match("a.1")
        assert router.match(Emptying("a.1")) == ("x", "y")


def test_a_class_of_its_own_keeps_its_method() -> None:
    class Counting(dr.Router):
        asked = 0

        def match(self, key: str | bytes) -> tuple[str, ...]:
            self.asked += 1
            return super().match(key)

    made = dr.compile(BINDINGS)
    router = Counting(made.bindings, made._matcher, made.engine, made.dialect)
    for _ in range(5):
        assert router.match("a.1") == ("x", "y")
    assert router.asked == 5


def test_a_method_that_was_put_in_its_place_is_called_for_each_key(monkeypatch: pytest.MonkeyPatch) -> None:
    original, asked = dr.Router.match, []

    def match(self: dr.Router, key: str | bytes) -> tuple[str, ...]:
        asked.append(key)
        return original(self, key)

    monkeypatch.setattr(dr.Router, "match", match)
    router = dr.compile(BINDINGS)
    assert [router.match("a.1") for _ in range(3)] == [("x", "y")] * 3
    assert len(asked) == 3


def test_bindings_that_were_decoded_answer_single_keys() -> None:
    router = pickle.loads(pickle.dumps(settled()))
    assert router.bindings == dr.compile(BINDINGS).bindings
    assert type(router._single.bindings) is tuple
    assert router.match("a.1") == ("x", "y")


@pytest.mark.parametrize("most", [0, 1 << 16], ids=["decoded one by one", "decoded"])
def test_a_loaded_router_answers_single_keys_as_the_one_that_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Whether it has few destinations, which are decoded at the first key, or many; for keys of few queues and of many, some of them twice."""
    monkeypatch.setattr("dfa_router.single._NAMES", most)
    many = [(pattern, f"queue-é-{number}") for number in range(30) for pattern in ("many.#", f"one.{number}", "#.many")]
    router = dr.compile([*many, ("*", "any"), ("", "empty")])
    router.save(tmp_path / "router")
    loaded = dr.load(tmp_path / "router")
    for key in ("many.many", "one.7", "one.77", "many", "", b"one.9"):
        assert loaded.match(key) == router.match(key)
    assert len(loaded.match("many")) == 31
    assert loaded.bindings == router.bindings
    again = pickle.loads(pickle.dumps(loaded))
    assert again.match("one.7") == ("queue-é-7",)


@pytest.mark.skipif(not jit_enabled() or not _LOCKED, reason="no function is made")
def test_the_function_of_a_loaded_router_knows_its_bindings(tmp_path: Path) -> None:
    """Else a method of Python would put each answer together, of destinations that are decoded anew."""
    dr.compile(BINDINGS).save(tmp_path / "router")
    loaded = dr.load(tmp_path / "router")
    loaded.match("b")
    assert len(loaded.match.__self__) == len(settled().match.__self__)  # type: ignore[attr-defined]


def test_the_plain_way_is_there_without_compiled_kernels() -> None:
    ask = """
import dfa_router as dr
router = dr.compile([("a.*", "x"), ("a.1", "y")])
assert [router.match("a.1") for _ in range(3)] == [("x", "y")] * 3
assert "match" not in vars(router)
try:
    router.match(["a"])
except dr.KeyTypeError:
    print("told")
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "told\n"


@quick
def test_no_function_is_made_where_threads_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfa_router.single._LOCKED", False)
    router = settled()
    assert "match" not in vars(router)
    assert router.match("a.1") == router.match("a.1") == ("x", "y")


def test_what_answers_is_known_by_the_name_of_the_method() -> None:
    """Python says that name to a wrong number of arguments."""
    assert SingleAnswers.match.__qualname__ == dr.Router.match.__qualname__
