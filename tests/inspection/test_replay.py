"""Traces that a live broker's tracing plugin wrote, replayed: no difference but the one that is none; and altered definitions."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import dfa_router as dr
from dfa_router.inspection.replay import Replay, replay
from dfa_router.logs.scanning import plan_log
from dfa_router.rabbitmq import Binding, Exchange, Queue, TopologyRouter, topology_of
from dfa_router.strict_json import loads
from tests.rabbitmq_node import Node

DATA = Path(__file__).parents[1] / "data" / "traces"
KEYS = ["", "a", "b", "c", "a.b", "b.a", ".", "a.", "a..b", "a.a.b", "c.c.c", "ü.x", "*", "#", "q1", "q2", "absent"]
PATTERNS = ["", "a", "*", "#", "a.*", "*.b", "a.#", "#.b", "#.a.#", "a..b", "ü.*", "c.#"]


def replayed(topology: dr.Topology, path: Path) -> Replay:
    return replay(topology, plan_log(str(path), "trace"))


def declare(channel: Any, seed: int) -> None:
    """Declare exchanges of three types, with bindings between them and alternates."""
    chance = random.Random(seed)
    names = [f"x{number}" for number in range(6)]
    queues = [f"q{number}" for number in range(5)]
    for number, name in enumerate(names):
        arguments = {"alternate-exchange": chance.choice(names)} if number % 2 else {}
        channel.exchange_declare(name, ["topic", "direct", "fanout"][number % 3], arguments=arguments)
    for queue in queues:
        channel.queue_declare(queue)
    channel.exchange_declare("h", "headers")
    for number, match in enumerate(["all", "any", "all-with-x"]):
        channel.queue_bind(f"q{number}", "h", "", {"x-match": match, "n": number, "s": "text"})
    channel.exchange_bind("x2", "h", "", {"x-match": "any", "n": 1})
    for _ in range(20):
        source, key = chance.choice(names), chance.choice(PATTERNS)
        if chance.random() < 0.3:
            channel.exchange_bind(chance.choice(names), source, key)
        else:
            channel.queue_bind(chance.choice(queues), source, key)


def publish(channel: Any, seed: int, count: int) -> None:
    import pika

    chance = random.Random(seed)
    for _ in range(count):
        headers: dict[str, Any] = {"n": chance.randrange(3)}
        if chance.random() < 0.5:
            headers["s"] = chance.choice(["text", "other", "1"])
        if chance.random() < 0.3:
            headers["CC"] = chance.sample(KEYS, 2)
        if chance.random() < 0.2:
            headers["BCC"] = chance.sample(KEYS, 1)
        exchange = chance.choice(["", "h", *(f"x{number}" for number in range(6))])
        body = chance.choice([b"", b"{}", b"\n" + b"=" * 80 + b"\n"])
        channel.basic_publish(exchange, chance.choice(KEYS), body, pika.BasicProperties(headers=headers))


@pytest.mark.broker
def test_traces_of_a_live_broker_and_definitions_with_one_binding_altered(
    node: Node, channel: Any, tmp_path: Path
) -> None:
    declare(channel, 7)
    channel.exchange_declare("only", "topic")
    channel.queue_bind("q4", "only", "only.*")
    with node.traced("all") as files:
        publish(channel, 8, 300)
        for key in ("only.one", "only.two", "only.one.more"):
            channel.basic_publish("only", key, b"")
        channel.basic_get("q4", auto_ack=True)
        node.published(files, 303)
    definitions = tmp_path / "definitions.json"
    exported = node.ask("GET", "definitions")
    definitions.write_text(json.dumps(exported))
    topology = dr.load_definitions(definitions)
    for path in files.values():
        found = replayed(topology, path)
        assert (found.messages, found.differing, found.undecided, found.unreadable) == (303, 0, 0, 0)
        assert found.agreeing + found.expected == 303
        assert found.expected > 10
        assert {(one.cause, one.exchange) for one in found.differences} == {("absent-queue", "")}

    altered = next(one for one in exported["bindings"] if one["routing_key"] == "only.*")
    altered["routing_key"] = "only.*.*"
    definitions.write_text(json.dumps(exported))
    topology = dr.load_definitions(definitions)
    for path in files.values():
        found = replayed(topology, path)
        differing = [one for one in found.differences if one.cause != "absent-queue"]
        position = exported["bindings"].index(altered)
        assert sum(one.messages for one in differing) == found.differing == 3
        lost, extra = sorted(differing, key=lambda one: one.cause, reverse=True)
        assert (lost.cause, lost.queue, lost.messages) == ("missing-binding", "q4", 2)
        assert lost.example["routing_keys"][0] in {"only.one", "only.two"}
        assert (extra.cause, extra.queue, extra.messages) == ("binding-not-on-broker", "q4", 1)
        assert extra.binding == f"bindings[{position}]: only --only.*.*--> q4"
        assert extra.example["routing_keys"] == ["only.one.more"]


@pytest.mark.broker
def test_what_exports_leave_out_comes_from_the_management_api(node: Node, channel: Any) -> None:
    channel.exchange_declare("inner", "fanout", internal=True)
    channel.exchange_declare("outer", "topic")
    channel.queue_declare("mine", exclusive=True)
    channel.exchange_bind("inner", "outer", "a.#")
    channel.queue_bind("mine", "inner")
    with node.traced("inner") as files:
        for key in ("a.b", "b"):
            channel.basic_publish("outer", key, b"")
        node.published(files, 2)
        topology = dr.load_definitions(node.api)
        assert topology.exchange("inner").internal
        assert "mine" in {queue.name for queue in topology.queues}
        assert topology.route("outer", "a.b").queues == ("mine",)
        for path in files.values():
            assert replayed(topology, path).agreeing == 2
        with pytest.raises(dr.RouterError, match="DFA_ROUTER_PASSWORD"):
            dr.load_definitions(node.api.replace("127.0.0.1", "guest:guest@127.0.0.1"))


def definitions(**changes: Any) -> dr.Topology:
    """Return what the traced broker of the stored logs had, changed."""
    whole: dict[str, Any] = {
        "exchanges": [Exchange(name="x", type="topic")],
        "queues": [Queue(name="q1"), Queue(name="q.ü")],
        "bindings": [
            Binding(source="x", destination="q1", routing_key="a.#"),
            Binding(source="x", destination="q.ü", routing_key="*.b"),
        ],
    }
    return topology_of(**{**whole, **changes})


@pytest.mark.parametrize("form", ["json", "text"])
class TestCauses:
    """Each cause, by the stored logs of a broker with one topic exchange."""

    def differences(self, topology: dr.Topology, form: str) -> dict[tuple[str, str | None], int]:
        found = replayed(topology, DATA / f"rabbitmq-3.10-{form}.log")
        assert found.messages == 14 == found.agreeing + found.expected + found.differing + found.undecided
        return {(one.cause, one.queue): one.messages for one in found.differences}

    def test_none(self, form: str) -> None:
        assert self.differences(definitions(), form) == {("absent-queue", "nope"): 1, ("absent-queue", "nope2"): 1}

    def test_an_exchange_that_is_not_there(self, form: str) -> None:
        found = self.differences(topology_of(queues=[Queue(name="q1"), Queue(name="q.ü")]), form)
        assert found[("unknown-exchange", None)] == 12

    def test_a_queue_that_is_not_there(self, form: str) -> None:
        bindings = [Binding(source="x", destination="q1", routing_key="a.#")]
        found = self.differences(definitions(queues=[Queue(name="q1")], bindings=bindings), form)
        assert found[("unknown-queue", "q.ü")] == 7

    def test_a_queue_that_the_broker_did_not_have(self, form: str) -> None:
        queues = [Queue(name="q1"), Queue(name="q.ü"), Queue(name="nope")]
        bindings = [
            Binding(source="x", destination="q1", routing_key="#"),
            Binding(source="x", destination="q.ü", routing_key="*.b"),
        ]
        found = self.differences(definitions(queues=queues, bindings=bindings), form)
        assert found[("binding-not-on-broker", "q1")] == 5
        assert ("absent-queue", "nope") not in found

    def test_types_that_are_not_simulated_contradict_nothing(self, form: str) -> None:
        topology = definitions(exchanges=[Exchange(name="x", type="x-unheard-of")])
        found = replayed(topology, DATA / f"rabbitmq-3.10-{form}.log")
        assert (found.undecided, found.differing, found.not_simulated) == (12, 0, {"x": 12})


def lines(tmp_path: Path, *changes: dict[str, Any]) -> Path:
    """Write a trace whose records are the first one of the stored log, changed."""
    first = json.loads((DATA / "rabbitmq-3.10-json.log").read_text("utf-8").splitlines()[0])
    log = tmp_path / "made.log"
    log.write_text("".join(json.dumps(first | change) + "\n" for change in changes))
    return log


def test_a_message_interceptor_is_named(tmp_path: Path) -> None:
    headers = {"properties": {"headers": {"timestamp_in_ms": 1, "x-routed-by": "rabbit@host"}}}
    found = replayed(definitions(), lines(tmp_path, headers | {"routed_queues": ["q1"]}, headers, {}))
    assert (found.messages, found.agreeing, found.differing) == (3, 2, 1)
    assert [(one.cause, one.queue) for one in found.differences] == [("interceptor", "q.ü")]


def test_messages_that_differ_in_headers_alone_are_told_apart_by_where_they_go(tmp_path: Path) -> None:
    demands = [{"region": region} for region in ("eu", "us", "ap")]
    topology = topology_of(
        exchanges=[Exchange(name="h", type="headers"), Exchange(name="u", type="x-unheard-of")],
        queues=[Queue(name="q1"), Queue(name="q2")],
        bindings=[
            Binding(source="h", destination="q1", arguments=demands[0]),
            Binding(source="h", destination="q2", arguments=demands[1]),
            Binding(source="h", destination="u", destination_type="exchange", arguments=demands[2]),
        ],
    )
    records = [
        {"exchange": "h", "routed_queues": [], "properties": {"headers": {"region": region, "id": number}}}
        for number, region in enumerate(["ap", "eu", "us", "ap", "us", "elsewhere"])
    ]
    found = replayed(topology, lines(tmp_path, *records))
    assert (found.messages, found.undecided, found.agreeing, found.differing) == (6, 2, 1, 3)
    assert {(one.queue, one.binding, one.messages) for one in found.differences} == {
        ("q1", "bindings[0]: h ----> q1", 1),
        ("q2", "bindings[1]: h ----> q2", 2),
    }


def test_an_exchange_that_is_internal_by_now(tmp_path: Path) -> None:
    topology = definitions(exchanges=[Exchange(name="x", type="topic", internal=True)])
    found = replayed(topology, lines(tmp_path, {}))
    assert [one.cause for one in found.differences] == ["internal-exchange"]


def test_records_that_say_nothing_of_queues_and_such_that_are_none(tmp_path: Path) -> None:
    log = lines(tmp_path, {"routed_queues": None}, {"exchange": 5}, {})
    found = replayed(definitions(), log)
    assert (found.messages, found.without_queues, found.unreadable, found.agreeing) == (3, 1, 1, 1)
    assert found.problems == {"this is no record of a trace log": 1}


def test_of_many_that_differ_some_are_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfa_router.inspection.replay.EXPLAINED", 3)
    changes = [{"routing_keys": [f"a.{number}"], "routed_queues": []} for number in range(10)]
    found = replayed(definitions(), lines(tmp_path, *changes))
    causes = {one.cause: one.messages for one in found.differences}
    assert causes == {"binding-not-on-broker": 3, "not-explained": 7}
    assert found.differing == 10


def test_what_is_not_explained_is_not_kept_message_by_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfa_router.inspection.replay.EXPLAINED", 3)
    routed = []
    route = TopologyRouter.route

    def counting(self: TopologyRouter, *message: Any, **attributes: Any) -> Any:
        routed.append(message)
        return route(self, *message, **attributes)

    monkeypatch.setattr(TopologyRouter, "route", counting)
    changes = [{"routing_keys": [f"a.{number}"], "routed_queues": []} for number in range(100)]
    strangers = [{"exchange": "y", "routing_keys": [f"a.{number}"]} for number in range(100)]
    found = replayed(definitions(), lines(tmp_path, *changes, *strangers, changes[1], changes[50]))
    causes = {one.cause: (one.messages, one.example["routing_keys"]) for one in found.differences}
    assert causes == {
        "unknown-exchange": (100, ["a.0"]),
        "not-explained": (98, ["a.3"]),
        "binding-not-on-broker": (4, ["a.0"]),
    }
    assert len(routed) == 3 + 1 + 1


@pytest.mark.parametrize("kind", ["topic", "headers"])
def test_headers_are_read_where_they_can_change_a_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    read = []

    def counting(text: bytes) -> Any:
        read.append(text)
        return loads(text)

    monkeypatch.setattr("dfa_router.rabbitmq.headers.columns.loads", counting)
    plain = [{"properties": {"headers": {"id": number}}} for number in range(5)]
    copying = {"properties": {"headers": {"CC": ["c.b"]}}, "routing_keys": ["a", "c.b"]}
    topology = definitions(
        exchanges=[Exchange(name="x", type="topic"), Exchange(name="h", type=kind)],
        bindings=[*definitions().bindings, Binding(source="h", destination="q1", arguments={"id": 1})],
    )
    found = replayed(topology, lines(tmp_path, *plain, copying))
    assert (found.messages, found.agreeing) == (6, 6)
    assert len(read) == {"topic": 1, "headers": 6}[kind]
