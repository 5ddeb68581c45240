"""The judge: a running RabbitMQ delivers messages through random topologies, and the simulation says the same."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from dfa_router.lint.linting import lint_topology
from dfa_router.rabbitmq import Binding, Exchange, Policy, Queue, Topology, load_definitions, topology_of

pytestmark = pytest.mark.broker

PATTERNS = ["", "a", "b", "*", "#", "a.*", "*.b", "a.#", "#.b", "*.*", "#.a.#", "*.#", "#.*", "a..b", "ü.*", "a*"]
KEYS = ["", "a", "b", "c", "a.b", "b.a", ".", "a.", ".b", "a..b", "a.a.b", "c.c.c", "ü.x", "*", "#", "a*", "a.#"]


def random_topology(seed: int, prefix: str) -> Topology:
    """Return exchanges of all simulated types, with cycles, alternate exchanges and some internal ones."""
    chance = random.Random(seed)
    names = [f"{prefix}.x{number}" for number in range(8)]
    queues = [f"{prefix}.q{number}" for number in range(8)]
    exchanges = []
    for name in names:
        alternate = chance.choice([None, *names, f"{prefix}.missing"])
        exchanges.append(
            Exchange(
                name=name,
                type=chance.choice(["direct", "fanout", "topic", "topic"]),
                internal=chance.random() < 0.2,
                arguments={"alternate-exchange": alternate} if alternate else {},
            )
        )
    bindings = []
    for _ in range(26):
        to_exchange = chance.random() < 0.4
        bindings.append(
            Binding(
                source=chance.choice(names),
                destination=chance.choice(names if to_exchange else queues),
                destination_type="exchange" if to_exchange else "queue",
                routing_key=chance.choice(PATTERNS),
            )
        )
    policies = [
        Policy(
            name=f"{prefix}.p{rank}",
            pattern=rf"^{prefix}\.x[{chance.randrange(8)}{chance.randrange(8)}]$",
            apply_to=chance.choice(["all", "exchanges", "queues"]),
            priority=rank,
            definition=chance.choice([{"alternate-exchange": chance.choice(names)}, {"message-ttl": 600_000}]),
        )
        for rank in range(3)
    ]
    return topology_of(
        exchanges=exchanges, queues=[Queue(name=name) for name in queues], bindings=bindings, policies=policies
    )


def own(topology: Topology, prefix: str) -> list[Exchange]:
    """Return the exchanges that are not predeclared."""
    return [exchange for exchange in topology.exchanges if exchange.name.startswith(prefix)]


def declare(channel: Any, topology: Topology, prefix: str) -> None:
    """Make the topology on the broker."""
    for exchange in own(topology, prefix):
        channel.exchange_declare(
            exchange.name, exchange.type, durable=True, internal=exchange.internal, arguments=dict(exchange.arguments)
        )
    for queue in topology.queues:
        channel.queue_declare(queue.name, durable=True)
    for one in topology.bindings:
        if one.destination_type == "queue":
            channel.queue_bind(one.destination, one.source, one.routing_key)
        else:
            channel.exchange_bind(one.destination, one.source, one.routing_key)


def remove(channel: Any, topology: Topology, prefix: str) -> None:
    """Remove the topology again."""
    for exchange in own(topology, prefix):
        channel.exchange_delete(exchange.name)
    for queue in topology.queues:
        channel.queue_delete(queue.name)


def deliveries(channel: Any, messages: list[tuple[str, str]], queues: list[str]) -> dict[int, list[str]]:
    """Publish the messages and return which queues hold a copy of each; two copies are two entries."""
    for number, (exchange, key) in enumerate(messages):
        channel.basic_publish(exchange, key, str(number).encode())
    got: dict[int, list[str]] = {number: [] for number in range(len(messages))}
    for queue in queues:
        for body in bodies(channel, queue):
            got[int(body)].append(queue)
    return got


def bodies(channel: Any, queue: str) -> Iterator[str]:
    """Yield the messages that a queue holds, and take them."""
    channel.basic_publish("", queue, b"end")  # comes last: a channel's messages keep their order in a queue
    while True:
        _, _, body = channel.basic_get(queue, auto_ack=True)
        if body == b"end":
            return
        if body is not None:
            yield body.decode()


def rabbitmqctl(*arguments: str) -> bytes:
    """Run rabbitmqctl, which talks to the node of this machine, and return what it prints."""
    return subprocess.run(["rabbitmqctl", "-q", *arguments], check=True, capture_output=True, timeout=600).stdout


@pytest.mark.parametrize("seed", range(6))
def test_the_broker_delivers_what_the_simulation_says(channel: Any, seed: int) -> None:
    prefix = f"t{uuid4().hex[:8]}"
    topology = random_topology(seed, prefix)
    topology = topology_of(exchanges=own(topology, prefix), queues=topology.queues, bindings=topology.bindings)
    queues = [queue.name for queue in topology.queues]
    messages = [(exchange.name, key) for exchange in own(topology, prefix) if not exchange.internal for key in KEYS]
    messages += [("", queue) for queue in queues[:2]] + [("", f"{prefix}.nobody")]
    try:
        declare(channel, topology, prefix)
        got = deliveries(channel, messages, queues)
    finally:
        remove(channel, topology, prefix)
    said = {number: list(topology.route(exchange, key).queues) for number, (exchange, key) in enumerate(messages)}
    assert {number: sorted(names) for number, names in got.items()} == said
    assert sum(map(bool, said.values())) / len(said) > 0.2, "too few messages arrive for this to say much"


def test_an_export_of_the_broker_with_policies_routes_as_the_broker_does(channel: Any, tmp_path: Path) -> None:
    if shutil.which("rabbitmqctl") is None:
        pytest.skip("needs rabbitmqctl for policies and exports")
    prefix = f"t{uuid4().hex[:8]}"
    drawn = random_topology(11, prefix)
    plain = [
        Exchange(name=one.name, type=one.type, arguments=one.arguments if n % 3 == 0 else {})
        for n, one in enumerate(own(drawn, prefix))
    ]
    topology = topology_of(exchanges=plain, queues=drawn.queues, bindings=drawn.bindings[:14], policies=drawn.policies)
    queues = [queue.name for queue in topology.queues]
    messages = [(exchange.name, key) for exchange in plain for key in KEYS]
    export = tmp_path / "defs.json"
    try:
        declare(channel, topology, prefix)
        for policy in topology.policies:
            definition = str(dict(policy.definition)).replace("'", '"')
            ranked = ["--priority", str(policy.priority), "--apply-to", policy.apply_to]
            rabbitmqctl("set_policy", *ranked, policy.name, policy.pattern, definition)
        export.write_bytes(rabbitmqctl("export_definitions", "-"))
        got = deliveries(channel, messages, queues)
    finally:
        for policy in topology.policies:
            subprocess.run(["rabbitmqctl", "-q", "clear_policy", policy.name], check=False, capture_output=True)
        remove(channel, topology, prefix)
    exported = load_definitions(export)
    by_policy = [one.name for one in plain if not one.arguments and topology.alternate_exchange(one)]
    assert by_policy, "the seed must give some exchange an alternate by policy"
    for number, (exchange, key) in enumerate(messages):
        assert sorted(got[number]) == list(exported.route(exchange, key).queues), (exchange, key)
        assert sorted(got[number]) == list(topology.route(exchange, key).queues), (exchange, key)


def test_dead_letters_reach_an_internal_exchange(channel: Any) -> None:
    prefix = f"t{uuid4().hex[:8]}"
    dead_letters, work, dead = (f"{prefix}.{name}" for name in ("dlx", "work", "dead"))
    topology = topology_of(
        exchanges=[Exchange(name=dead_letters, type="topic", internal=True)],
        queues=[Queue(name=work, arguments={"x-dead-letter-exchange": dead_letters}), Queue(name=dead)],
        bindings=[Binding(source=dead_letters, destination=dead, routing_key=f"{prefix}.#")],
    )
    try:
        channel.exchange_declare(dead_letters, "topic", internal=True)
        channel.queue_declare(work, arguments={"x-dead-letter-exchange": dead_letters})
        channel.queue_declare(dead)
        channel.queue_bind(dead, dead_letters, f"{prefix}.#")
        channel.basic_publish("", work, b"letter")
        method, _, _ = next(channel.consume(work))
        channel.basic_reject(method.delivery_tag, requeue=False)
        channel.cancel()
        method, _, body = next(channel.consume(dead, auto_ack=True))
        channel.cancel()
    finally:
        remove(channel, topology, prefix)
    assert (method.exchange, method.routing_key, body) == (dead_letters, work, b"letter")
    assert "unreachable-exchange" not in {one.rule.name for one in lint_topology(topology)}


def test_an_export_says_which_headers_a_broker_asks_for(channel: Any, tmp_path: Path) -> None:
    if shutil.which("rabbitmqctl") is None:
        pytest.skip("needs rabbitmqctl for exports")
    name = f"t{uuid4().hex[:8]}"
    asked = {"void": None, "binary": b"\xff" * 80, "number": 5}
    queues = {f"{name}.{kind}": {"urgent": value} for kind, value in asked.items()}
    given: list[Any] = [None, b"\xff" * 80, 5, "5", "undefined"]
    pika = pytest.importorskip("pika")
    try:
        channel.exchange_declare(name, "headers", durable=True)
        for queue, arguments in queues.items():
            channel.queue_declare(queue, durable=True)
            channel.queue_bind(queue, name, "", arguments)
        (tmp_path / "defs.json").write_bytes(rabbitmqctl("export_definitions", "-"))
        for number, value in enumerate(given):
            properties = pika.BasicProperties(headers={"urgent": value})
            channel.basic_publish(name, "", str(number).encode(), properties)
        got: list[list[str]] = [[] for _ in given]
        for queue in sorted(queues):
            for body in bodies(channel, queue):
                got[int(body)].append(queue)
    finally:
        channel.exchange_delete(name)
        for queue in queues:
            channel.queue_delete(queue)
    topology = load_definitions(tmp_path / "defs.json")
    assert [list(topology.route(name, "", headers={"urgent": value}).queues) for value in given] == got


def test_a_binding_to_the_default_exchange_is_refused_or_leads_nowhere(channel: Any) -> None:
    """The broker refuses to bind, and what an import has bound is met, but gets to no queue of that name."""
    if shutil.which("rabbitmqctl") is None:
        pytest.skip("needs rabbitmqctl to import definitions")
    pika = pytest.importorskip("pika")
    prefix = f"t{uuid4().hex[:8]}"
    x, other, q, lost = (f"{prefix}.{name}" for name in ("x", "other", "q", "lost"))
    topology = topology_of(
        exchanges=[
            Exchange(name=x, type="topic", arguments={"alternate-exchange": other}),
            Exchange(name=other, type="fanout"),
        ],
        queues=[Queue(name=q), Queue(name=lost)],
        bindings=[
            Binding(source=other, destination=lost),
            Binding(source=x, destination="", destination_type="exchange", routing_key=q),
        ],
    )
    bound = {
        "vhost": "/",
        "source": x,
        "destination": "",
        "destination_type": "exchange",
        "routing_key": q,
        "arguments": {},
    }
    messages = [(x, q), (x, "else"), ("", q)]
    try:
        declare(channel, replace(topology, bindings=topology.bindings[:1]), prefix)
        for source, destination in ((x, ""), ("", x)):
            with channel.connection.channel() as asking, pytest.raises(pika.exceptions.ChannelClosedByBroker) as told:
                asking.exchange_bind(destination, source, q)
            assert told.value.reply_code == 403
        text = json.dumps({"bindings": [bound]}).encode()
        subprocess.run(
            ["rabbitmqctl", "-q", "import_definitions"], input=text, check=True, capture_output=True, timeout=600
        )
        got = deliveries(channel, messages, [q, lost])
    finally:
        remove(channel, topology, prefix)
    assert list(got.values()) == [list(topology.route(*message).queues) for message in messages] == [[], [lost], [q]]
