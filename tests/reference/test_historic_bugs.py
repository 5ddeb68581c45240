"""Faults that brokers have had, tried on every engine: the rows about single matches, and a test for each other kind."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import dfa_router as dr
from dfa_router.engines.protocol import DynamicMatcher, SnapshotMatcher
from dfa_router.engines.registry import engine_spec
from dfa_router.language.dialects import AMQP
from tests.suite.matrix import CONFIGURATIONS, Configuration

each_engine = pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
DYNAMIC = [configuration for configuration in CONFIGURATIONS if configuration.info.dynamic]
each_dynamic_engine = pytest.mark.parametrize("configuration", DYNAMIC, ids=str)

ONE_KEY = ("match", "docs", "duplicate delivery")
"""The kinds of row that say which of some patterns one key matches."""


def engine(configuration: Configuration) -> DynamicMatcher:
    """Build the bare engine, without a router, over the keys of these tests."""
    topics = {"topics": ["x", "x.y.z", "a", "a.b.c"]} if configuration.needs_topics else {}
    built = engine_spec(configuration.engine).build((), AMQP, **configuration.options, **topics)
    assert isinstance(built, DynamicMatcher)
    return built


@each_engine
def test_every_row_about_a_match(shared: Path, configuration: Configuration) -> None:
    lines = (shared / "vectors" / "historic_bugs.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["dialect"] == "amqp"]
    others = [row["kind"] for row in rows if row["kind"] not in ONE_KEY]
    assert sorted(others) == ["isolation", "leak", "remove", "remove+reuse"]
    assert len(rows) == 34
    wrong = []
    for row in rows:
        if row["kind"] in ONE_KEY:
            router = configuration.router([(pattern, name) for name, pattern in row["patterns"].items()], [row["key"]])
            if set(router.match(row["key"])) != set(row["correct"]):
                wrong.append((row["project"], row["patterns"], row["key"], router.match(row["key"])))
    assert not wrong


@each_engine
def test_pgmq_455_one_copy_for_a_queue_with_two_matching_bindings(configuration: Configuration) -> None:
    router = configuration.router([("logs.#", "q"), ("logs.*", "q"), ("#", "audit")], ["logs.error"])
    assert router.match("logs.error") == ("q", "audit")
    assert router.match_batch(["logs.error"]).destinations().to_pylist() == [["q", "audit"]]


@each_engine
def test_rabbitmq_16425_an_empty_binding_key_stays_in_its_exchange(configuration: Configuration) -> None:
    """In 4.3.0 all topic exchanges shared the root of one trie, so a binding of "" was found by every one of them."""
    one = configuration.router([("", "q1"), ("#", "q2")], ["", "a"])
    other = configuration.router([("a", "q3")], ["", "a"])
    assert one.match("") == ("q1", "q2")
    assert other.match("") == ()
    assert not other.any("")


@each_dynamic_engine
def test_rabbitmq_25991_removing_one_of_two_equal_bindings_keeps_the_other(configuration: Configuration) -> None:
    """Two bindings of one queue that differ in their arguments alone: deleting one stopped routing for both."""
    router = configuration.router([("args-test", "q"), ("args-test", "q")], ["args-test"])
    assert router.unsubscribe("args-test", "q") == 0
    assert router.match("args-test") == ("q",)
    assert router.match_bindings("args-test") == (1,)
    assert router.unsubscribe("args-test", "q") == 1
    assert router.match("args-test") == ()
    with pytest.raises(dr.BindingError, match="no live binding"):
        router.unsubscribe("args-test", "q")


@each_dynamic_engine
def test_rabbitmq_15024_removed_bindings_leave_nothing_behind(configuration: Configuration) -> None:
    """Deleting a binding left edges of the trie. Here an engine after 300 changes is, byte for byte, as it began."""
    used = engine(configuration)
    before = pickle.dumps(engine(configuration))
    patterns = [
        b".".join((b"a", first, b"c", last)) for first in (b"b", b"*", b"#", b"") for last in (b"d", b"#", b"*")
    ]
    held = [(position, pattern) for position, pattern in enumerate(patterns * 25)]
    for position, pattern in held:
        used.add(position, pattern)
    for position, pattern in held[::2] + held[1::2]:
        used.remove(position, pattern)
    assert pickle.dumps(used) == before
    if isinstance(used, SnapshotMatcher):
        # What it pickles is its subscriptions: look at the nodes as well.
        root = used._root  # type: ignore[attr-defined]
        assert root.settled(root.read()).branches == {}


@each_dynamic_engine
def test_fast_topic_matching_a_reused_number_inherits_nothing(configuration: Configuration) -> None:
    """Subscribe ``a`` as 0, remove it, subscribe ``x.y.z`` as 0: the source's optimised bitmap finds it for ``x``."""
    used = engine(configuration)
    used.add(0, b"a")
    used.remove(0, b"a")
    used.add(0, b"x.y.z")
    assert used.match(b"x") == ()
    assert not used.any(b"x")
    assert used.match(b"x.y.z") == (0,)


@each_dynamic_engine
def test_positions_are_never_reused(configuration: Configuration) -> None:
    router = configuration.router([("a", "q")], ["a"])
    router.unsubscribe("a", "q")
    assert router.subscribe("a", "q") == 1
    router.unsubscribe("a", "q")
    assert router.subscribe("a", "q") == 2
    assert router.match_bindings("a") == (2,)
