"""Families of messages: the demo's, and topologies that are drawn anew for each seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dfa_router.rabbitmq import Binding, Exchange, Topology, load_definitions, topology_of
from examples.demo.make_log import DEFINITIONS, make_log

__all__ = ["FAMILIES", "Messages"]

NAMES = ["currency", "venue", "kind", "region", "desk", "tier"]
"""The headers of a message."""
FEW = 2_000
"""The distinct messages where these recur."""


class Messages(NamedTuple):
    """A topology and a log of it."""

    topology: Topology
    vhosts: pa.StringArray
    exchanges: pa.StringArray
    keys: pa.StringArray
    headers: pa.MapArray | None = None


def demo(count: int, seed: int) -> Messages:
    """Return the demo's log, whose keys hardly recur."""
    log = make_log(json.loads(DEFINITIONS.read_text("utf-8")), count, seed)
    vhosts, exchanges, keys = (log[name].combine_chunks() for name in ("vhost", "exchange", "routing_key"))
    return Messages(load_definitions(DEFINITIONS), vhosts, exchanges, keys)


def demo_recurring(count: int, seed: int) -> Messages:
    """Return a log of few of the demo's messages, the k-th 1/k times as frequent as the first."""
    few = demo(FEW, seed)
    weights = 1 / np.arange(1, FEW + 1)
    drawn = pa.array(np.random.default_rng(seed).choice(FEW, count, p=weights / weights.sum()))
    return Messages(few.topology, few.vhosts.take(drawn), few.exchanges.take(drawn), few.keys.take(drawn))


def tenants(count: int, seed: int) -> Messages:
    """Return messages to one exchange that hands them on to one of 300, each with patterns of its own."""
    chance = random.Random(seed)
    names = [f"tenant{number}" for number in range(300)]
    bindings = [Binding(source="in", destination=n, destination_type="exchange", routing_key=f"{n}.#") for n in names]
    words = [f"word{number}" for number in range(40)]
    for name in names:
        for number in range(chance.randrange(2, 12)):
            key = ".".join(["*", *(chance.choice([*words, "*", "*"]) for _ in range(chance.randrange(1, 4)))])
            queue = f"{name}.queue{number}"
            bindings.append(Binding(source=name, destination=queue, routing_key=key + chance.choice(["", ".#"])))
    topology = topology_of(exchanges=[Exchange(name=name, type="topic") for name in ["in", *names]], bindings=bindings)
    keys = [
        ".".join([chance.choice(names), *(chance.choice(words) for _ in range(3)), str(chance.randrange(10**6))])
        for _ in range(count)
    ]
    return Messages(topology, pa.array(["/"] * count), pa.array(["in"] * count), pa.array(keys))


def layers(count: int, seed: int) -> Messages:
    """Return messages that go through three layers of exchanges, in which ``#`` stands anywhere."""
    chance = random.Random(seed)
    exchanges = [[f"layer{depth}.{number}" for number in range(4)] for depth in range(3)]
    words = [f"w{number}" for number in range(24)]
    bindings = []
    for depth, names in enumerate(exchanges):
        for name in names:
            for number in range(16):
                word, other = chance.sample(words, 2)
                key = chance.choice([f"#.{word}.#", f"{word}.#", f"*.{word}.*", f"#.{word}", f"{word}.*.{other}.#"])
                bindings.append(Binding(source=name, destination=f"{name}.queue{number}", routing_key=key))
            for target in exchanges[depth + 1] if depth < 2 else []:
                key = f"#.{chance.choice(words)}.#"
                bindings.append(Binding(source=name, destination=target, destination_type="exchange", routing_key=key))
    declared = [Exchange(name=name, type="topic") for names in exchanges for name in names]
    keys = [".".join(chance.choice(words) for _ in range(chance.randrange(2, 6))) for _ in range(count)]
    published = [chance.choice(exchanges[0]) for _ in range(count)]
    topology = topology_of(exchanges=declared, bindings=bindings)
    return Messages(topology, pa.array(["/"] * count), pa.array(published), pa.array(keys))


def headers(count: int, seed: int) -> Messages:
    """Return messages with six headers to an exchange with 1,000 bindings of four pairs each."""
    return _pairs(count, seed, "headers")


def as_topic(count: int, seed: int) -> Messages:
    """Return the same messages as keys of six words to a topic exchange with 1,000 bindings that ask the same."""
    return _pairs(count, seed, "topic")


def _pairs(count: int, seed: int, kind: str) -> Messages:
    chance = random.Random(seed)
    values = {name: [f"{name[:3]}{number}" for number in range(10)] for name in NAMES}
    bindings = []
    for number in range(1000):
        asked = {name: chance.choice(values[name]) for name in chance.sample(NAMES, 4)}
        key = ".".join(asked.get(name, "*") for name in NAMES)
        bindings.append(Binding(source="topic", destination=f"queue{number}", routing_key=key))
        bindings.append(Binding(source="headers", destination=f"queue{number}", arguments=asked))
    exchanges = [Exchange(name="headers", type="headers"), Exchange(name="topic", type="topic")]
    rows = [[chance.choice(values[name]) for name in NAMES] for _ in range(count)]
    pairs = [list(zip(NAMES, row, strict=True)) for row in rows]
    return Messages(
        topology_of(exchanges=exchanges, bindings=bindings),
        pa.array(["/"] * count),
        pa.array([kind] * count),
        pa.array([".".join(row) for row in rows]),
        pa.array(pairs, pa.map_(pa.string(), pa.string())) if kind == "headers" else None,
    )


FAMILIES: dict[str, Callable[[int, int], Messages]] = {
    "demo": demo,
    "demo, keys recur": demo_recurring,
    "300 tenants": tenants,
    "three layers": layers,
    "1,000 headers bindings": headers,
    "the same as a topic": as_topic,
}
"""By name: from how many messages, and a seed, to the messages."""
