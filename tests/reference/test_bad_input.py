"""Changes that do not fit the bindings, and options that do not exist, are refused."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import dfa_router as dr
from dfa_router.engines.registry import engine_spec
from dfa_router.language.dialects import AMQP
from dfa_router.reference.cstrie.cell import LockedCell, cell_factory
from tests.suite.matrix import CONFIGURATIONS, Configuration

DYNAMIC = [configuration for configuration in CONFIGURATIONS if configuration.info.dynamic]
STATIC = [configuration for configuration in CONFIGURATIONS if not configuration.info.dynamic]
each_dynamic_engine = pytest.mark.parametrize("configuration", DYNAMIC, ids=str)


@each_dynamic_engine
def test_subscribing_twice_is_two_bindings_and_one_copy(configuration: Configuration) -> None:
    router = configuration.router([], ["a.b"])
    assert router.subscribe("a.*", "q") == 0
    assert router.subscribe("a.*", "q") == 1
    assert router.match("a.b") == ("q",)
    assert router.match_bindings("a.b") == (0, 1)
    assert router.topics("q") == ("a.*",)
    assert router.unsubscribe("a.*", "q") == 0
    assert router.match("a.b") == ("q",)


@each_dynamic_engine
def test_unsubscribing_what_is_not_there_is_an_error_and_changes_nothing(configuration: Configuration) -> None:
    router = configuration.router([("a.*", "q"), ("a.b.c", "r")], ["a.b"])
    for pattern, destination in [("a.*", "other"), ("a.b", "q"), ("a", "q"), ("a.b.c.d", "r"), ("", "q"), ("#", "q")]:
        with pytest.raises(dr.BindingError, match="no live binding of"):
            router.unsubscribe(pattern, destination)
    assert router.match("a.b") == ("q",)
    assert len(router.subscriptions()) == 2


@each_dynamic_engine
def test_an_engine_refuses_a_position_twice_and_a_removal_that_does_not_fit(configuration: Configuration) -> None:
    topics = {"topics": ["a.b"]} if configuration.needs_topics else {}
    engine: Any = engine_spec(configuration.engine).build([b"a.*"], AMQP, **configuration.options, **topics)
    with pytest.raises(dr.BindingError, match="position 0 already holds"):
        engine.add(0, b"a.*")
    for position, pattern in [(1, b"a.*"), (0, b"a.b"), (0, b"a"), (0, b"a.*.c"), (0, b"b.#"), (0, b"")]:
        with pytest.raises(dr.BindingError, match=r"no binding .* to remove"):
            engine.remove(position, pattern)
    assert engine.match(b"a.b") == (0,)


@each_dynamic_engine
def test_a_subscription_must_be_a_pair_of_strings_that_fits_the_protocol(configuration: Configuration) -> None:
    router = configuration.router([], ["a"])
    with pytest.raises(dr.BindingError):
        router.subscribe(7, "q")  # type: ignore[arg-type]
    with pytest.raises(dr.PatternError, match=r"binding 0: .* 256 bytes"):
        router.subscribe("x" * 256, "q")
    assert router.subscribe("a", "q") == 0


@pytest.mark.parametrize("configuration", STATIC, ids=str)
def test_an_engine_that_is_not_dynamic_says_so(configuration: Configuration) -> None:
    router = configuration.router([("a", "q")], ["a"])
    for change in (router.subscribe, router.unsubscribe):
        with pytest.raises(dr.OptionError, match="never change"):
            change("a", "q")
    assert dict(router.subscriptions()) == {0: ("a", "q")}
    assert router.topics("q") == ("a",)


@pytest.mark.parametrize("configuration", [c for c in DYNAMIC if c.engine != "cstrie"], ids=str)
def test_an_engine_without_snapshots_names_the_one_with(configuration: Configuration) -> None:
    with pytest.raises(dr.OptionError, match="engine='cstrie'"):
        configuration.router([], [] if not configuration.needs_topics else ["a"]).snapshot()


def test_a_snapshot_cannot_be_changed() -> None:
    snapshot = dr.compile([("a", "q")], engine="cstrie").snapshot()
    with pytest.raises(dr.OptionError, match="snapshot"):
        snapshot.subscribe("b", "q")
    assert not snapshot.engine.dynamic


@pytest.mark.parametrize("engine", ["inverted", "trie"])
def test_a_key_outside_the_topic_space_is_an_error_or_added(engine: str) -> None:
    router = dr.compile([("forex.*", "fx"), ("#", "audit")], engine=engine, topics=["forex.usd"])
    assert router.match("forex.usd") == ("fx", "audit")
    for ask in (router.match, router.any, router.match_bindings):
        with pytest.raises(dr.InputError, match=r"'forex.eur' is outside the topic space.*unknown='add'"):
            ask("forex.eur")
    adding = dr.compile([("forex.*", "fx"), ("#", "audit")], engine=engine, topics=["forex.usd"], unknown="add")
    assert adding.match("forex.eur") == ("fx", "audit")
    adding.subscribe("forex.eur", "late")
    assert adding.match("forex.eur") == ("fx", "audit", "late")
    adding.unsubscribe("#", "audit")
    assert adding.match("forex.eur") == ("fx", "late")


def test_without_a_topic_space_keys_are_added_and_with_an_empty_one_they_are_refused() -> None:
    assert dr.compile([("a.*", "q")], engine="inverted").match("a.b") == ("q",)
    with pytest.raises(dr.InputError, match="outside the topic space"):
        dr.compile([("a.*", "q")], engine="inverted", topics=[]).match("a.b")


def test_the_topic_space_may_be_text_or_bytes() -> None:
    router = dr.compile([("a", "q")], engine="inverted", topics=["a", b"\xff", "a"])
    assert router.match(b"\xff") == ()
    assert router.match("a") == ("q",)


@pytest.mark.parametrize(
    ("engine", "options", "message"),
    [
        ("nothing", {}, "unknown engine 'nothing'"),
        ("inverted", {"topics": "a.b"}, "in a list"),
        ("inverted", {"topics": [7]}, r"topics\[0\] is 7"),
        ("inverted", {"topics": 0}, "in a list"),
        ("inverted", {"topics": ["a", "b\ud800"]}, r"topics\[1\] .* lone surrogate at character 1"),
        ("trie", {"topics": 5}, "in a list"),
        ("trie", {"topics": ["\ud800"]}, r"topics\[0\] .* lone surrogate"),
        ("inverted", {"topics": ["a"], "unknown": "ignore"}, "'error' or 'add'"),
        ("trie", {"unknown": "add"}, "pass topics= as well"),
        ("trie", {"topics": ["a"], "unknown": "no"}, "'error' or 'add'"),
        ("scan", {"split": "never"}, "'once' or 'every'"),
        ("scan", {"topics": ["a"]}, "no option 'topics'"),
        ("cstrie", {"cells": "magic"}, "'auto', 'atomic'"),
        ("word_cache", {"max_words": 0}, "1 or more"),
        ("word_cache", {"max_words": True}, "1 or more"),
    ],
)
def test_an_option_that_does_not_fit_is_refused(engine: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(dr.OptionError, match=message):
        dr.compile([("a", "q")], engine=engine, **options)


def test_atomic_cells_without_the_package_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfa_router.reference.cstrie.cell.find_spec", lambda name: None)
    with pytest.raises(dr.EnvironmentLacksError, match=r"dfa-router\[atomics\]"):
        dr.compile([("a", "q")], engine="cstrie", cells="atomic")
    assert dr.compile([("a", "q")], engine="cstrie").match("a") == ("q",)


def test_without_the_interpreters_lock_cells_have_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cereggii's may return there what was never put into them, or read memory that was freed."""
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert cell_factory() is LockedCell
    with pytest.raises(dr.EnvironmentLacksError, match="use cells='auto'"):
        dr.compile([("a", "q")], engine="cstrie", cells="atomic")


def test_what_the_registry_says_of_each_engine() -> None:
    told = {name: dr.engine_info(name) for name in dr.engines()}
    assert all("amqp" in info.dialects and info.complete_many for info in told.values())
    assert {name for name, info in told.items() if info.needs_topics} == {"inverted"}
    assert {name for name, info in told.items() if info.concurrent} == {"cstrie"}
    dynamic = {"scan", "trie", "inverted", "inverted_opt", "cstrie", "word_cache", "word_index"}
    assert {name for name, info in told.items() if info.dynamic} == dynamic
