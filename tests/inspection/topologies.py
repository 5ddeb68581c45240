"""Random topologies, and a routing by the specification alone: the judge of what inspections tell."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

from dfa_router.language.dialects import AMQP
from dfa_router.rabbitmq import Binding, Exchange, Queue, Topology, topology_of
from dfa_router.reference.naive import matches

PATTERNS = ["", "a", "b", "*", "#", "a.*", "*.b", "a.#", "#.b", "*.*", "#.a.#", "a..b", "c.a.#", "*.c", ".a", "."]
WORDS = ["", "a", "b", "c", "x", "*", "#"]
KEYS = sorted({".".join(words) for length in range(4) for words in product(WORDS, repeat=length)})
"""All keys of up to three words; x stands for any word that no pattern has, and to a direct exchange, * and # are words, too."""


def random_topology(chance: random.Random, *, exchanges: int = 5, queues: int = 4, bindings: int = 14) -> Topology:
    names = [f"x{number}" for number in range(exchanges)]
    declared = [
        Exchange(
            name=name,
            type=["topic", "direct", "fanout", "topic"][number % 4],
            arguments={"alternate-exchange": chance.choice(names)} if chance.random() < 0.25 else {},
            internal=chance.random() < 0.1,
        )
        for number, name in enumerate(names)
    ]
    return topology_of(
        exchanges=declared,
        queues=[Queue(name=f"q{number}") for number in range(queues)],
        bindings=[random_binding(chance, names, queues) for _ in range(bindings)],
    )


def random_binding(chance: random.Random, names: list[str], queues: int) -> Binding:
    inner = chance.random() < 0.3
    return Binding(
        source=chance.choice(names),
        destination=chance.choice(names) if inner else f"q{chance.randrange(queues)}",
        destination_type="exchange" if inner else "queue",
        routing_key=chance.choice(PATTERNS),
    )


def altered(chance: random.Random, topology: Topology) -> Topology:
    """Return the topology with a few bindings gone, changed or added, and perhaps an exchange of another kind."""
    bindings = list(topology.bindings)
    names = [exchange.name for exchange in topology.exchanges if exchange.name.startswith("x")]
    for _ in range(chance.randrange(1, 3)):
        bindings.pop(chance.randrange(len(bindings)))
    bindings += [random_binding(chance, names, 4) for _ in range(chance.randrange(3))]
    declared = [exchange for exchange in topology.exchanges if exchange.name.startswith("x")]
    if chance.random() < 0.3:
        one = chance.randrange(len(declared))
        arguments = {} if declared[one].arguments else {"alternate-exchange": chance.choice(names)}
        kind = chance.choice(["topic", "fanout", "direct", declared[one].type])
        declared[one] = Exchange(name=declared[one].name, type=kind, arguments=arguments)
    if chance.random() < 0.3:
        one = chance.randrange(len(declared))
        declared[one] = replace(declared[one], internal=not declared[one].internal)
    return topology_of(exchanges=declared, queues=topology.queues, bindings=bindings)


def reached(topology: Topology, exchange: str, key: str) -> set[tuple[str, str]]:
    """Return (kind, name) of the queues and further exchanges that a message gets to, or ("nobody", "")."""
    found: set[tuple[str, str]] = set()
    if topology.exchange(exchange).internal:
        return {("nobody", "")}
    visits = [exchange]
    for name in visits:
        kind = topology.exchange(name).type
        bindings = [one for one in topology.bindings if one.source == name]
        if kind == "direct":
            met = [one for one in bindings if one.routing_key == key]
        elif kind == "topic":
            met = [one for one in bindings if matches(one.routing_key.encode(), key.encode(), AMQP)]
        else:
            met = bindings
        targets = [(one.destination_type, one.destination) for one in met]
        alternate = topology.alternate_exchange(topology.exchange(name))
        if not targets and alternate is not None:
            targets = [("exchange", alternate)]
        for target in targets:
            if target[0] == "queue" or target[1] not in visits:
                found.add(target)
            if target[0] == "exchange" and target[1] not in visits:
                visits.append(target[1])
    return found if any(kind == "queue" for kind, _ in found) else {*found, ("nobody", "")}
