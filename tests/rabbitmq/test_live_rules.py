"""Single rules on the live broker: what the random topologies do not ask, or only by chance."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any
from uuid import uuid4

import pytest

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of

pytestmark = pytest.mark.broker


def test_an_alternate_exchange_without_a_name_is_none(channel: Any) -> None:
    """Neither the default exchange nor anything else gets the message; and so a queue of the key's name gets no copy."""
    import pika

    name = f"t{uuid4().hex[:8]}"
    channel.exchange_declare(f"{name}.x", "direct", arguments={"alternate-exchange": ""}, auto_delete=False)
    channel.queue_declare(f"{name}.q", exclusive=True)
    try:
        with pytest.raises(pika.exceptions.UnroutableError):
            channel.basic_publish(f"{name}.x", f"{name}.q", b"", mandatory=True)
    finally:
        channel.exchange_delete(f"{name}.x")
    topology = topology_of(
        exchanges=[Exchange(name="x", type="direct", arguments={"alternate-exchange": ""})], queues=[Queue(name="q")]
    )
    assert topology.route("x", "q").queues == ()
    assert topology.route("x", "q").exchanges == ("x",)
    for engine in ("dfa", "naive"):
        assert topology.compile(engine=engine).route_columns(["x"], ["q"]).queues.to_pylist() == [[]]


@pytest.mark.parametrize("copies", ["text", 5])
def test_a_copy_header_that_is_no_array_is_refused(channel: Any, copies: Any) -> None:
    import pika

    with pytest.raises(pika.exceptions.ChannelClosedByBroker, match="unacceptable_type_in_header"):
        channel.basic_publish("amq.direct", "a", b"", pika.BasicProperties(headers={"CC": copies}))
    with pytest.raises(dr.PublishRefusedError, match="header CC"):
        topology_of().route("amq.direct", "a", headers={"CC": copies})


def test_headers_that_hold_nothing_are_equal(channel: Any) -> None:
    """An empty array is an empty table, on the outside of a value alone."""
    import pika

    name = f"t{uuid4().hex[:8]}"
    values: list[Any] = [[], {}, [[]], [{}], "", None]
    channel.exchange_declare(name, "headers", auto_delete=True)
    for number, value in enumerate(values):
        channel.queue_declare(f"{name}.q{number}", exclusive=True)
        channel.queue_bind(f"{name}.q{number}", name, arguments={"e": value})
    bindings = [
        Binding(source=name, destination=f"{name}.q{number}", arguments={"e": value})
        for number, value in enumerate(values)
    ]
    topology = topology_of(exchanges=[Exchange(name=name, type="headers")], bindings=bindings)
    for value in values:
        channel.basic_publish(name, "", b"", pika.BasicProperties(headers={"e": value}))
        got = [b.destination for b in bindings if channel.basic_get(b.destination, auto_ack=True)[0]]
        assert topology.route(name, "", headers={"e": value}).queues == tuple(got), value


def test_the_shares_of_a_consistent_hash_are_those_of_its_weights(channel: Any) -> None:
    """Within five standard deviations of what chance allows, for keys that all differ."""
    import pika

    name, messages = f"t{uuid4().hex[:8]}", 2000
    weights = {f"{name}.q{weight}": weight for weight in (1, 2, 5)}
    try:
        channel.exchange_declare(name, "x-consistent-hash", auto_delete=True)
    except pika.exceptions.AMQPError:
        pytest.skip("the broker has no plugin rabbitmq_consistent_hash_exchange")
    for queue, weight in weights.items():
        channel.queue_declare(queue, exclusive=True)
        channel.queue_bind(queue, name, str(weight))
    for number in range(messages):
        channel.basic_publish(name, f"key.{number}.{number * 7919}", b"")
    got = Counter({queue: channel.queue_declare(queue, passive=True).method.message_count for queue in weights})
    bindings = [Binding(source="h", destination=queue, routing_key=str(weight)) for queue, weight in weights.items()]
    route = topology_of(exchanges=[Exchange(name="h", type="x-consistent-hash")], bindings=bindings).route("h", "a")
    assert sum(got.values()) == messages, "each message is in one of them"
    for one in route.one_of[0].candidates:
        spread = math.sqrt(messages * one.share * (1 - one.share))
        assert abs(got[one.destination] - messages * one.share) < 5 * spread, (one, got)
