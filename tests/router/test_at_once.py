"""Keys that were not asked for before and are answered without any function of Python: what that must not change."""

from __future__ import annotations

import gc
import random
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import pytest

import dfa_router as dr
from compiler.machine import bounded_cache, lost_keys
from compiler.machine.lazy import LazyDfa
from dfa_router.single import _LOCKED, SingleAnswers
from tests.router.test_single import quick

pytestmark = quick

WORDS = ["a", "b", "é", "", "longer-than-8", "x" * 70]


def drawn(seed: int, count: int = 60) -> list[tuple[str, str]]:
    rng = random.Random(seed)
    patterns = (".".join(rng.choices([*WORDS, "*", "#"], k=rng.randint(1, 5))) for _ in range(count))
    return [(pattern, "q" + str(rng.randrange(20))) for pattern in patterns]


def keys(seed: int, count: int) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(count):
        yield ".".join(rng.choices([*WORDS, "other"], k=rng.randint(1, 6)))


def machine_of(router: dr.Router) -> LazyDfa:
    machine = router._matcher
    assert isinstance(machine, LazyDfa)
    return machine


def at_once(machine: LazyDfa) -> int:
    """Return how many keys were answered so."""
    answered = machine._walkers[0]._at_once
    return 0 if answered is None else sum(answered.counts)


def named(router: dr.Router, some: list[str], **options: Any) -> list[tuple[str, ...]]:
    """Return the destinations of each key of a batch."""
    return [tuple(names) for names in router.match_batch(some, **options).destinations().to_pylist()]


def settled(bindings: list[tuple[str, str]], **options: Any) -> dr.Router:
    router = dr.compile(bindings, **options)
    router.match("none.of.these")
    return router


@pytest.fixture(autouse=True)
def soon() -> Iterator[None]:
    from compiler.kernels.single_lost import match_lost

    match_lost.make((), "find")  # which another thread does otherwise
    with patch.object(lost_keys, "SOON", 8):
        yield


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_answers_and_counters_are_those_of_the_method(seed: int, sealed: bool) -> None:
    bindings = drawn(seed)
    router, other = dr.compile(bindings), dr.compile(bindings)
    if sealed:
        router, other = (one.seal(list(keys(9, 50))) for one in (router, other))
    expected = dr.compile(bindings, engine="trie")
    match, asked = other._single.match, set()
    for number, key in enumerate(keys(seed + 100, 3000)):
        form: str | bytes = key.encode() if number % 3 == 0 else key
        assert router.match(form) == expected.match(key), key
        if form not in asked:
            asked.add(form)
            assert match(form) == expected.match(key)
        if len(router._single.recent) < len(asked):
            asked = set(router._single.recent)
    mine, theirs = router.stats(), other.stats()
    assert mine == theirs
    assert at_once(machine_of(router)) > len(asked) / 2
    assert mine.keys > 500
    assert bool(mine.sealed_keys) is sealed


def test_what_is_remembered_is_bounded_as_before() -> None:
    router = settled([(f"w{i}.#", f"q{j}") for i in range(5) for j in range(300)])
    recent, most = router._single.recent, 0
    for i in range(6000):
        assert len(router.match(f"w{i % 7}.{i}")) == (300 if i % 7 < 5 else 0)
        most = max(most, sum(map(len, recent.values())))
        assert len(recent) <= 1024
    assert 10_000 < most <= 1 << 14
    assert at_once(machine_of(router)) > 5000
    long = "w1." + "y" * 300
    assert router.match(long) == router.match(long)
    assert long not in recent


def test_each_destination_is_named_once_in_the_order_of_its_first_binding() -> None:
    """Equal names that are objects of their own, too."""
    names = ["".join(("na", "me", str(i % 3))) for i in range(9)]
    router = settled([(f"a.{'*.' * (i % 2)}#", name) for i, name in enumerate(names)] + [("b", "x")])
    for key in ("a.1", "a.2", "a.1.2", "b"):
        once = router.match(key)
        assert once == tuple(dict.fromkeys(names)) if key[0] == "a" else ("x",)
    assert at_once(machine_of(router)) >= 2


class Text(str):
    """A key of a class of its own."""

    __slots__ = ()


@pytest.mark.parametrize("key", ["a\ud800", Text("a.1"), "a\0b", "a." * 3000, b"\xff\xfe", "", b""])
def test_keys_out_of_the_ordinary_have_the_methods_answer(key: str | bytes) -> None:
    bindings = [("a.*", "x"), ("#", "y"), ("", "z")]
    router, other = settled(bindings), dr.compile(bindings)

    def told(ask: Callable[[Any], object]) -> object:
        try:
            return ask(key)
        except Exception as error:  # noqa: BLE001 - the other must raise it, too
            return type(error), str(error)

    router.match("a.1")
    router._single.recent.clear()
    assert told(router.match) == told(other.match)


def test_a_machine_that_is_lent_is_not_asked() -> None:
    router = settled([("a.*", "x")])
    machine = machine_of(router)
    router.match("a.1")
    router.match("a.2")
    before = at_once(machine)
    machine._loans[0] = {}
    assert router.match("a.3") == ("x",)
    assert at_once(machine) == before
    assert not machine._loans  # as no call holds that, it was taken over
    router.match("a.1")
    assert router.match("a.4") == ("x",)
    assert at_once(machine) > before


def test_a_walker_that_is_lent_for_ever_keeps_no_key_from_the_first_one() -> None:
    """As a forked child has it, if another thread had a batch on several threads."""
    router = settled([("a.*", "x")])
    machine = machine_of(router)
    for key in ("a.1", "a.2"):
        router.match(key)
    machine._loans[1] = {}
    before = at_once(machine)
    assert router.match("a.3") == ("x",)
    assert at_once(machine) == before + 1


@pytest.mark.parametrize("sealed", [False, True])
def test_functions_that_were_not_offered_are_offered_by_the_next_key(sealed: bool) -> None:
    """A signal may come between making them ready and offering them."""
    router = settled([("a.*", "x")])
    if sealed:
        router = router.seal(["a.1", "a.2"])
    machine = machine_of(router)
    for key in ("a.1", "a.2", "a.3"):
        router.match(key)
    answered = machine._walkers[0]._at_once
    assert answered is not None
    answered.finders[:] = [None] * 3
    before = at_once(machine)
    assert [router.match(key) for key in ("a.4", "a.5", "a.6")] == [("x",)] * 3
    assert at_once(machine) == before + 2


class BrokenError(Exception):
    """Ends a call."""


def test_a_machine_that_was_broken_off_is_not_asked_before_it_has_begun_anew() -> None:
    router = settled([("a.*", "x"), ("#.b", "y")])
    machine = machine_of(router)
    walker = machine._walkers[0]
    for key in ("a.1", "a.2"):
        router.match(key)
    assert walker._at_once is not None
    assert walker._at_once.finders[1] is not None
    with patch.object(type(walker), "_match_column", side_effect=BrokenError), pytest.raises(BrokenError):
        router.match_batch(["a.b"] * 5000)
    assert walker._midway
    assert walker._at_once.finders == [None] * 3
    assert [router.match(key) for key in ("a.3", "a.b", "q.b")] == [("x",), ("x", "y"), ("y",)]
    assert not walker._midway
    assert walker._at_once.finders[1] is not None


def test_tables_that_grow_are_asked_where_they_are_then() -> None:
    bindings = [(f"w{i}.*.v{i % 10}.#", f"q{i % 7}") for i in range(400)]
    router, expected = settled(bindings), dr.compile(bindings, engine="trie")
    rng = random.Random(1)
    for turn in range(2000):
        key = f"w{rng.randrange(400)}.{turn % 50}.v{rng.randrange(10)}.{rng.randrange(3)}"
        assert router.match(key) == expected.match(key)
        if turn % 100 == 0:
            some = [f"w{rng.randrange(400)}.x.v{rng.randrange(10)}" for _ in range(30)]
            assert named(router, some) == [expected.match(one) for one in some]
    assert at_once(machine_of(router)) > 1000


def test_threads_get_the_right_answers_beside_batches() -> None:
    bindings = drawn(5, 200)
    router, expected = settled(bindings), dr.compile(bindings, engine="trie")
    wrong: list[object] = []
    stop = threading.Event()

    def ask(seed: int) -> None:
        wrong.extend(key for key in keys(seed, 3000) if router.match(key) != expected.match(key))

    def ask_many() -> None:
        seed = 1000
        while not stop.is_set():
            seed += 1
            some = list(keys(seed, 2000))
            found = named(router, some, threads=2)
            wrong.extend(key for key, names in zip(some, found, strict=True) if names != expected.match(key))

    many = threading.Thread(target=ask_many)
    many.start()
    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    many.join()
    assert not wrong
    assert at_once(machine_of(router)) > 1000


def test_no_garbage_is_collected_meanwhile() -> None:
    """What that runs could ask the same router, and the tables would grow under the kernel that reads them."""
    router = settled([("a.*", "x")])
    for key in ("a.1", "a.2"):
        router.match(key)
    answered = machine_of(router)._walkers[0]._at_once
    assert answered is not None
    seen: list[bool] = []

    def look(key: str | bytes) -> tuple[int, ...]:
        seen.append(gc.isenabled())
        return (len(key) - 3,)

    answered.finders[1] = look
    assert router.match("a.3") == ("x",)
    assert gc.isenabled()
    gc.disable()
    try:
        assert router.match("a.4") == ("x",)
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert seen == [False, False]


def test_a_dialect_that_routes_no_such_key_is_asked_first() -> None:
    router = dr.compile([("#", "x"), ("+/a", "y")], dialect="mqtt")
    for key in ("a/b", "$SYS/a", "a/a", "$SYS/b", "b/a"):
        assert router.match(key) == dr.compile([("#", "x"), ("+/a", "y")], dialect="mqtt", engine="trie").match(key)


def test_bindings_that_are_not_decoded_are_not_asked() -> None:
    router = dr.compile([("a.*", "x")])
    answers = SingleAnswers(list(router.bindings), router._matcher, remembers=True)
    function = answers.function(dr.Router.match)
    assert _LOCKED
    assert function is not None
    assert function("a.1") == ("x",)
    assert at_once(machine_of(router)) == 0


def test_threads_that_ask_first_at_the_same_time_get_what_is_told_of_new_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of them stands still where it makes the finders' list; what the other one gets was a list that nobody changed any more."""
    router = dr.compile([("a.*", "x"), ("#.b", "y")])
    stands, goes, array = threading.Event(), threading.Event(), vars(bounded_cache)["array"]

    def slow(*arguments: Any) -> Any:
        if threading.current_thread() is first:
            stands.set()
            goes.wait()
        return array(*arguments)

    monkeypatch.setattr(bounded_cache, "array", slow)
    first = threading.Thread(target=router.match, args=("a.1",))
    first.start()
    stands.wait()
    router.match("a.2")
    function: Any = router.match
    goes.set()
    first.join()
    answered = machine_of(router)._walkers[0]._at_once
    assert answered is not None
    assert any(one is answered.finders for one in function.__self__)


@pytest.mark.parametrize(("character", "most"), [("a", 540_000), ("é", 1_090_000), ("😀", 2_390_000)])
def test_remembered_answers_take_no_more_memory_than_is_promised(character: str, most: int) -> None:
    bindings = [("#", f"q{number}") for number in range(16)]
    dr.compile(bindings).match("loaded")
    router = dr.compile(bindings)
    router.match_batch(["loaded"])  # which makes the room for small batches
    tracemalloc.start()
    try:
        for number in range(1024):
            router.match(f"{number:05}".ljust(255, character))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(router._single.recent) == 1024
    assert most / 2 < taken < most
