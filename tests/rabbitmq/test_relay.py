"""Whole columns through the relay, held to the walk from exchange to exchange with matchers that are no automata."""

from __future__ import annotations

import random
import signal
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.automata import pattern as pattern_module
from compiler.relay import relay
from dfa_router.rabbitmq import Binding, Exchange, Queue, Topology, narrowing, topology_of
from tests.rabbitmq.test_columns import KEYS, topologies

LIMITS = [
    ("MOST_STEPS", 40),
    ("MOST_WAYS", 1),
    ("MOST_CONDITIONS", 2),
    ("MOST_NARROWED", 0),
    ("MOST_NARROWED", 3),
    ("MOST_WAYS", 8),
]


def rows(topology: Topology) -> list[tuple[str, str | None]]:
    """Return every message to every exchange, some of which are not there, and keys that are null."""
    names = [name for (_, name), exchange in topology.exchanges_by_name.items() if not exchange.internal]
    return [(name, key) for name in [*names, "missing"] for key in [*KEYS, None]]


def routed(topology: Topology, messages: list[Any], **options: Any) -> list[list[Any]]:
    columns = topology.compile(**options).route_columns(*map(list, zip(*messages, strict=True)))
    return [column.to_pylist() for column in columns]


@settings(max_examples=150, deadline=None)
@given(topologies(), st.sampled_from(LIMITS), st.sampled_from([0, 2000, 1 << 20]), st.sampled_from([1, 3, 1 << 15]))
def test_the_relay_is_the_walk_from_exchange_to_exchange(
    topology: Topology, limit: tuple[str, int], cache_bytes: int, chunk: int
) -> None:
    """However much is narrowed, however little room there is, and in chunks of any size."""
    messages = rows(topology)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(narrowing, *limit)
        patch.setattr(relay, "CHUNK", chunk)
        found = routed(topology, messages, cache_bytes=cache_bytes)
    assert found == routed(topology, messages, engine="naive")


def through_headers(chance: random.Random) -> Topology:
    """Return exchanges of which some go by headers; bindings lead from each to later ones, past them and through them."""
    names = [f"x{number}" for number in range(6)]
    exchanges = [
        Exchange(
            name=name,
            type=chance.choice(["topic", "topic", "headers"]) if number else "topic",
            arguments={"alternate-exchange": chance.choice(names[number + 1 :])} if number < 5 else {},
        )
        for number, name in enumerate(names)
    ]
    bindings = [
        Binding(
            source=names[source],
            destination=names[chance.randrange(source + 1, 6)] if onward and source < 5 else f"q{source}",
            destination_type="exchange" if onward and source < 5 else "queue",
            routing_key=chance.choice(["#", "a.#", "b.#", "*.b", "a"]),
            arguments=chance.choice([{}, {"x-match": "any"}, {"colour": "red"}]),
        )
        for source in range(6)
        for onward in (True, True, False)
    ]
    return topology_of(exchanges=exchanges, bindings=bindings)


def test_messages_pass_through_headers_exchanges_on_the_way() -> None:
    """Into exchanges that other ways lead to as well, with headers that are known and with such that are not."""
    chance = random.Random(8)
    for _ in range(60):
        topology = through_headers(chance)
        names, keys = map(list, zip(*rows(topology), strict=True))
        fast, slow = topology.compile(), topology.compile(engine="naive")
        red = ['{"colour": "red"}' if chance.random() < 0.5 else None for _ in names]
        asked: list[dict[str, Any]] = [{}, {"headers": red}]
        for headers in asked:
            found, expected = (router.route_columns(names, keys, **headers) for router in (fast, slow))
            assert [one.to_pylist() for one in found] == [one.to_pylist() for one in expected]
            batch = fast.route_batch(names, keys, **headers).columns()
            assert batch.queues.to_pylist() == expected.queues.to_pylist()


def test_a_headers_exchange_leads_where_another_way_does_not() -> None:
    """What is bound to ``c`` is narrowed to ``a.#`` for keys that come from ``s`` at once, and not for those that come through ``h``."""
    bindings = [
        Binding(source="s", destination="c", destination_type="exchange", routing_key="a.#"),
        Binding(source="s", destination="h", destination_type="exchange", routing_key="#"),
        Binding(source="c", destination="q", routing_key="b.#"),
    ]
    to_c = Binding(source="h", destination="c", destination_type="exchange")
    never = Binding(source="h", destination="p", arguments={"x-match": "any"})
    for arguments, last in (({}, to_c), ({"alternate-exchange": "c"}, never)):
        topology = topology_of(
            exchanges=[
                Exchange(name="s", type="topic"),
                Exchange(name="h", type="headers", arguments=arguments),
                Exchange(name="c", type="topic"),
            ],
            bindings=[*bindings, last],
        )
        router = topology.compile()
        assert topology.route("s", "b.x").queues == ("q",)
        assert router.route_columns(["s"], ["b.x"]).queues.to_pylist() == [["q"]]
        assert router.route_batch(["s"], ["b.x"]).columns().queues.to_pylist() == [["q"]]


def deep(seed: int) -> tuple[Topology, list[tuple[str, str]]]:
    """Return exchanges in layers, with a queue for every binding, and messages whose routes hardly recur."""
    chance = random.Random(seed)
    layers = [[f"x{layer}.{number}" for number in range(4)] for layer in range(4)]
    bindings = []
    for upper, lower in zip(layers, [*layers[1:], []], strict=True):
        for number, source in enumerate(upper):
            for word in range(12):
                key = chance.choice([f"#.w{word}.#", f"w{word}.#", f"#.w{word}", f"*.w{word}.#"])
                bindings.append(Binding(source=source, destination=f"q{source}.{word}", routing_key=key))
            for target in lower:
                key = f"#.w{chance.randrange(12)}.#"
                bindings.append(
                    Binding(source=source, destination=target, destination_type="exchange", routing_key=key)
                )
            assert number < 4
    exchanges = [Exchange(name=name, type="topic") for layer in layers for name in layer]
    topology = topology_of(exchanges=exchanges, bindings=bindings)
    messages = [
        (chance.choice(exchanges).name, ".".join(f"w{chance.randrange(14)}" for _ in range(chance.randrange(7))))
        for _ in range(3000)
    ]
    return topology, messages


def test_a_cache_that_is_too_small_is_cleared_and_never_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    topology, messages = deep(1)
    expected = routed(topology, messages, engine="trie")
    monkeypatch.setattr(relay, "LEAST_BYTES", 20_000)
    router = topology.compile(cache_bytes=80_000)
    for _ in range(2):
        columns = router.route_columns(*map(list, zip(*messages, strict=True)))
        assert [column.to_pylist() for column in columns] == expected
        automaton = router._automata[0]
        assert automaton._relay is not None
        assert automaton._relay.clears > 3
        assert automaton._relay.nbytes <= 20_000


def test_a_message_that_alone_outgrows_the_cache_is_routed(monkeypatch: pytest.MonkeyPatch) -> None:
    bindings = [Binding(source="x", destination=f"q{number:05}", routing_key="a.#") for number in range(9000)]
    topology = topology_of(exchanges=[Exchange(name="x", type="topic")], bindings=bindings)
    monkeypatch.setattr(relay, "LEAST_BYTES", 8192)
    router = topology.compile(cache_bytes=1000)
    columns = router.route_columns(["x"] * 3, ["a", "b", "a.b"])
    assert [len(queues) for queues in columns.queues.to_pylist()] == [9000, 0, 9000]


def test_a_tenants_patterns_are_met_by_its_own_keys_alone() -> None:
    """Narrowed, the patterns of 200 tenants make as many accept sets as their own keys need."""
    tenants = range(200)
    bindings = [
        Binding(source="in", destination=f"t{n}", destination_type="exchange", routing_key=f"t{n}.#") for n in tenants
    ]
    bindings += [
        Binding(source=f"t{n}", destination=f"q{n}.{word}", routing_key=f"*.*.{word}")
        for n in tenants
        for word in "abcdef"
    ]
    names = ["in", *(f"t{n}" for n in tenants)]
    router = topology_of(exchanges=[Exchange(name=name, type="topic") for name in names], bindings=bindings).compile()
    keys = [f"t{n}.x.{word}" for n in tenants for word in "abcdef"]
    queues = router.route_columns(["in"] * len(keys), keys).queues.to_pylist()
    assert queues == [[f"q{n}.{word}"] for n in tenants for word in "abcdef"]
    stats = router.stats()
    assert stats.keys == len(keys), "each is read once"
    assert stats.accept_sets <= len(keys) + len(tenants) + 10
    assert stats.states < 5 * len(keys)


def test_several_threads_route_at_once() -> None:
    topology, messages = deep(2)
    router = topology.compile(cache_bytes=1 << 18)
    columns = list(map(list, zip(*messages, strict=True)))
    expected = router.route_columns(*columns).queues
    wrong: list[int] = []

    def work(number: int) -> None:
        for turn in range(5):
            first = 100 * (number + turn)
            part = router.route_columns(*(column[first : first + 900] for column in columns))
            if part.queues != expected[first : first + 900]:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_signal_handler_may_route_while_a_batch_is_routed() -> None:
    topology, messages = deep(3)
    router = topology.compile(cache_bytes=1 << 18)
    columns = list(map(list, zip(*messages, strict=True)))
    expected = router.route_columns(*columns).queues
    few = [column[:40] for column in columns]
    within: list[bool] = []
    running = False

    def handler(_signal: int, _frame: Any) -> None:
        within.append(running)
        assert router.route_columns(*few).queues == expected[:40]

    before = signal.signal(signal.SIGALRM, handler)
    chance = random.Random(4)
    try:
        while sum(within) < 8:
            running = True
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0001, 0.01))  # one signal, as a handler may take long
            found = router.route_columns(*columns).queues
            running = False
            assert found == expected
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_names_of_any_length_are_told_apart() -> None:
    names = ["", "a", "b", "ab", "12345678", "123456789", "1234567812345678", "12345678X12345678", "12345678Y12345678"]
    names += ["x" * size for size in (15, 16, 17, 31, 32, 33, 127)] + ["ü" * 9, "x" * 16 + "y", "x\0", "x"]
    vhosts = ["/", "v", "a vhost of a longer name"]
    topology = topology_of(
        vhosts=vhosts,
        exchanges=[Exchange(vhost=vhost, name=name, type="fanout") for vhost in vhosts for name in names if name],
        bindings=[
            Binding(vhost=vhost, source=name, destination=f"{number}")
            for vhost in vhosts
            for number, name in enumerate(names)
            if name
        ],
        queues=[Queue(vhost=vhost, name="default") for vhost in vhosts],
    )
    router = topology.compile()
    published = [(vhost, name) for vhost in vhosts for name in [*names, "xy", "x" * 18, "12345678Z12345678"]]
    columns = router.route_columns(
        [name for _, name in published], ["default"] * len(published), [vhost for vhost, _ in published]
    )
    for (_, name), queues, problem in zip(
        published, columns.queues.to_pylist(), columns.problem.to_pylist(), strict=True
    ):
        known = name in names
        assert queues == ([["default"], [str(names.index(name))]][bool(name)] if known else []), name
        assert (problem is None) == known


def test_narrowing_has_limits_that_crafted_patterns_do_not_exceed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns of over a hundred words, each with many ways to meet each other: counted in pairs of words."""
    steps: list[int] = []
    counted = pattern_module.intersection

    def intersection(one: Any, other: Any, most: int) -> Any:
        steps.append((1 + len(one)) * (1 + len(other)))
        return counted(one, other, most)

    monkeypatch.setattr(narrowing, "intersection", intersection)
    chance = random.Random(5)
    words = ["a", "b", "*", "#"]

    def pattern() -> str:
        return ".".join(chance.choice(words) for _ in range(120))

    names = [f"x{number}" for number in range(6)]
    bindings = [
        Binding(source=source, destination=target, destination_type="exchange", routing_key=pattern())
        for place, source in enumerate(names)
        for target in names[place + 1 :]
        for _ in range(8)
    ]
    bindings += [Binding(source=name, destination=f"q{n}", routing_key=pattern()) for name in names for n in range(60)]
    topology = topology_of(exchanges=[Exchange(name=name, type="topic") for name in names], bindings=bindings)
    messages = [(name, ".".join("ab" * length)) for name in names for length in (1, 30, 60)]
    assert routed(topology, messages) == routed(topology, messages, engine="trie")
    assert 0 < sum(steps) <= narrowing.MOST_STEPS
