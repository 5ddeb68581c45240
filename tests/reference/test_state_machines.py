"""Every dynamic engine under random operations, compared with a model: a dict of the live bindings, and the specification."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import dfa_router as dr
from dfa_router.engines.protocol import SnapshotMatcher
from dfa_router.engines.registry import engine_spec
from dfa_router.language.dialects import AMQP
from dfa_router.reference.naive import matches
from tests.suite.matrix import CONFIGURATIONS, Configuration

WORDS = ("a", "b", "c", "", "*", "#", "a*", "é")
KEYS = st.lists(st.sampled_from(WORDS), max_size=5).map(".".join)
# Patterns with many wildcards, that end alike and begin alike, so that they meet in the structures.
PATTERNS = st.lists(st.sampled_from((*WORDS, "*", "#", "#")), max_size=6).map(".".join)
ALWAYS_ASKED = ("", "a", "a.b", "b.a.c", "c.c.c.c")
# A topic space has to be given beforehand; what it lacks is added.
TOPICS = {"topics": ["", "a", "a.b", "b", "a.b.c", ".", "a..b"], "unknown": "add"}


def model_answer(live: dict[int, tuple[str, str]], key: str) -> tuple[int, ...]:
    return tuple(position for position, (pattern, _) in live.items() if matches(pattern.encode(), key.encode()))


class Changes(RuleBasedStateMachine):
    """A router under subscribe, unsubscribe, match, any and snapshot."""

    configuration: Configuration
    bound = Bundle("bound")

    def __init__(self) -> None:
        super().__init__()
        options: dict[str, Any] = dict(self.configuration.options)
        if self.configuration.needs_topics:
            options |= TOPICS
        self.router = dr.compile([("a.#", "start"), ("a.#", "start")], engine=self.configuration.engine, **options)
        self.live = {0: ("a.#", "start"), 1: ("a.#", "start")}
        self.next_position = 2
        self.snapshots: list[tuple[dr.Router, dict[int, tuple[str, str]]]] = []

    @rule(target=bound, pattern=PATTERNS, destination=st.sampled_from("xyz"))
    def subscribe(self, pattern: str, destination: str) -> tuple[str, str]:
        assert self.router.subscribe(pattern, destination) == self.next_position
        self.live[self.next_position] = (pattern, destination)
        self.next_position += 1
        return pattern, destination

    @rule(binding=bound)
    def subscribe_again(self, binding: tuple[str, str]) -> None:
        self.subscribe(*binding)

    @rule(data=st.data())
    @precondition(lambda self: bool(self.live))
    def unsubscribe_a_live_one(self, data: st.DataObject) -> None:
        self.unsubscribe(self.live[data.draw(st.sampled_from(sorted(self.live)))])

    @rule(binding=bound)
    def unsubscribe(self, binding: tuple[str, str]) -> None:
        oldest = min((position for position, held in self.live.items() if held == binding), default=None)
        if oldest is None:
            with pytest.raises(dr.BindingError):
                self.router.unsubscribe(*binding)
        else:
            assert self.router.unsubscribe(*binding) == oldest
            del self.live[oldest]

    @rule(key=KEYS)
    def match(self, key: str) -> None:
        answer = model_answer(self.live, key)
        assert self.router.match_bindings(key) == answer
        assert self.router.any(key) is bool(answer)
        assert self.router.match(key) == tuple(dict.fromkeys(self.live[position][1] for position in answer))

    @rule(keys=st.lists(KEYS, max_size=4))
    def match_batch(self, keys: list[str]) -> None:
        rows = self.router.match_batch(keys).bindings().to_pylist()
        assert rows == [list(model_answer(self.live, key)) for key in keys]

    @precondition(lambda self: len(self.snapshots) < 4 and has_snapshots(self.configuration))
    @rule()
    def snapshot(self) -> None:
        self.snapshots.append((self.router.snapshot(), dict(self.live)))

    @precondition(lambda self: bool(self.snapshots))
    @rule(key=KEYS)
    def match_in_snapshots(self, key: str) -> None:
        for snapshot, live in self.snapshots:
            answer = model_answer(live, key)
            assert snapshot.match_bindings(key) == answer
            assert snapshot.any(key) is bool(answer)

    @invariant()
    def a_few_keys_are_answered_right_after_every_step(self) -> None:
        """Shows what an earlier look-up has left in a cache and should not have."""
        for key in ALWAYS_ASKED:
            answer = model_answer(self.live, key)
            assert self.router.match_bindings(key) == answer
            assert self.router.any(key) is bool(answer)

    @invariant()
    def subscriptions_are_the_live_bindings(self) -> None:
        assert dict(self.router.subscriptions()) == self.live
        for snapshot, live in self.snapshots:
            assert dict(snapshot.subscriptions()) == live


def has_snapshots(configuration: Configuration) -> bool:
    return configuration.engine == "cstrie"


@pytest.mark.parametrize("configuration", [c for c in CONFIGURATIONS if c.info.dynamic], ids=str)
def test_every_dynamic_engine_agrees_with_the_model(configuration: Configuration) -> None:
    machine = type("Changes", (Changes,), {"configuration": configuration})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=30,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
            derandomize=True,
        ),
    )


def test_cstrie_is_the_engine_with_snapshots() -> None:
    """So that the machine above takes snapshots of every engine that has them."""
    with_snapshots = []
    for name in dr.engines():
        if dr.engine_info(name).dynamic:
            options = {"unknown": "add"} if dr.engine_info(name).needs_topics else {}
            built = engine_spec(name).build((), AMQP, **options)
            with_snapshots += [name] * isinstance(built, SnapshotMatcher)
    assert with_snapshots == ["cstrie"]
