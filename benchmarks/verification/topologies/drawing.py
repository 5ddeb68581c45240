"""Random topologies and messages: everything that decides who gets a message, in small worlds where it often meets.

Names, keys and values come from few, so that patterns match, alternates are tried, cycles close and criteria are shared.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import networkx as nx

from dfa_router.rabbitmq import Binding, Exchange, Policy, Queue, Topology, topology_of

__all__ = ["FEATURES", "Drawn", "Published", "draw", "draw_policies", "features_of"]

MESSAGES = 50
KEYS = [
    "",
    "a",
    "b",
    "c",
    "a.b",
    "b.a",
    ".",
    "a.",
    ".b",
    "a..b",
    "a.a.b",
    "c.c.c",
    "ü.x",
    "*",
    "#",
    "a.#",
    "two words",
    "q.0",
    "q 1",
    "q ü",
]
PATTERNS = [
    "",
    "a",
    "b",
    "*",
    "#",
    "a.*",
    "*.b",
    "a.#",
    "#.b",
    "*.*",
    "#.a.#",
    "*.#",
    "#.*",
    "a..b",
    "ü.*",
    "two words",
    "q.0",
]
HEADERS = ["a", "b", "currency", "x-a", "x-match", "ü", "a b", "CC", "BCC"]
VALUES: list[Any] = ["1", "x", "", "USD", 1, 1.0, 2.5, 0, -1, 2**40, True, False, None, b"x", "ü", ["x"], {"a": "x"}]
OFTEN: list[Any] = [1, 1.0, "1", None]
"""Half of the values are of these: so many a message has what a binding asks for, or nearly."""
MATCHES = [None, "all", "any", "all-with-x", "any-with-x"]
NAMED = ["plain{}", "with.dots.{}", "two words {}", "ünï·{}", "{}", "UPPER{}"]
COPIES = ("CC", "BCC")
CHOOSING = {"x-consistent-hash", "x-random", "x-modulus-hash"}


@dataclass(frozen=True, kw_only=True)
class Published:
    """A message."""

    vhost: str
    exchange: str
    key: str
    headers: dict[str, Any] = field(default_factory=dict)
    """Those of CC and BCC, too."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A topology and messages for it."""

    topology: Topology
    messages: tuple[Published, ...]


def draw_policies(chance: random.Random, vhosts: Sequence[str], tag: str) -> list[Policy]:
    """Draw policies that some exchanges of later topologies match; those of a vhost have priorities of their own."""
    alternates = [f"{tag}{NAMED[number % len(NAMED)].format(number)}" for number in range(4)] + ["", f"{tag}missing"]
    found = []
    for vhost in vhosts:
        for rank in range(4):
            definition: dict[str, Any] = {"alternate-exchange": chance.choice(alternates)}
            if chance.random() < 0.2:
                definition = {"message-ttl": 600_000}
            found.append(
                Policy(
                    vhost=vhost,
                    name=f"{tag}p{rank}",
                    pattern=f"^{tag}.*[{rank}{rank + 3}]$",
                    apply_to=chance.choice(["all", "exchanges", "exchanges", "queues"]),
                    priority=rank,
                    definition=definition,
                )
            )
    return found


def draw(
    number: int,
    seed: int,
    *,
    vhosts: Sequence[str],
    policies: Sequence[Policy],
    types: Sequence[str],
    tag: str,
    broker: str,
) -> Drawn:
    """Draw topology ``number``; all of its names begin with ``tag``."""
    chance = random.Random(f"{seed} {number}")
    own_vhosts = chance.sample(list(vhosts), chance.choice([1, 1, 2, len(vhosts)]))
    exchanges: list[Exchange] = []
    queues: list[Queue] = []
    bindings: list[Binding] = []
    for vhost in own_vhosts:
        made, kept, bound = _vhost(chance, vhost, types, tag)
        exchanges += made
        queues += kept
        bindings += bound
    topology = topology_of(
        vhosts=vhosts, exchanges=exchanges, queues=queues, bindings=bindings, policies=policies, broker=broker
    )
    open_ones = [one for one in exchanges if not one.internal]
    messages = []
    for _ in range(MESSAGES):
        target = chance.choice(open_ones) if open_ones and chance.random() < 0.93 else None
        vhost = chance.choice(own_vhosts) if target is None else target.vhost
        names = [queue.name for queue in queues if queue.vhost == vhost]
        by_name = target is None or chance.random() < 0.2
        key = chance.choice([*names, f"{tag}nobody", ""] if by_name else KEYS)
        headers = {name: _value(chance) for name in _some(chance, chance.choice([0, 2, 3, 5])) if name not in COPIES}
        for copies in COPIES:
            if chance.random() < 0.12:
                headers[copies] = [chance.choice([*KEYS, *names]) for _ in range(chance.choice([0, 1, 1, 3]))]
                if chance.random() < 0.2:
                    headers[copies].append(5)
        messages.append(
            Published(vhost=vhost, exchange="" if target is None else target.name, key=key, headers=headers)
        )
    return Drawn(topology=topology, messages=tuple(messages))


def _vhost(
    chance: random.Random, vhost: str, types: Sequence[str], tag: str
) -> tuple[list[Exchange], list[Queue], list[Binding]]:
    names = [f"{tag}{NAMED[number % len(NAMED)].format(number)}" for number in range(chance.randrange(3, 9))]
    own = [f"{tag}{name}" for name in ["q.0", "q 1", "q ü", "q3", "q4", "q.5.x", "q6"][: chance.randrange(3, 8)]]
    exchanges = []
    for name in names:
        alternate = chance.choice([None, None, *names, f"{tag}missing", ""])
        kind = chance.choice(types)
        exchanges.append(
            Exchange(
                vhost=vhost,
                name=name,
                type=kind,
                internal=chance.random() < 0.15,
                arguments={} if alternate is None else {"alternate-exchange": alternate},
            )
        )
    queues = [
        Queue(vhost=vhost, name=name, arguments={"x-message-ttl": 0} if chance.random() < 0.06 else {}) for name in own
    ]
    bindings: dict[str, Binding] = {}
    for _ in range(chance.randrange(6, 30)):
        source = chance.choice(exchanges)
        to_exchange = chance.random() < 0.35 and source.type not in CHOOSING
        key, arguments = chance.choice(PATTERNS), {}
        if source.type == "x-consistent-hash":
            key = str(chance.choice([1, 1, 2, 5]))
        if source.type == "headers":
            key, arguments = chance.choice(["", "a"]), _demand(chance)
        one = Binding(
            vhost=vhost,
            source=source.name,
            destination=chance.choice(names if to_exchange else own),
            destination_type="exchange" if to_exchange else "queue",
            routing_key=key,
            arguments=arguments,
        )
        bindings.setdefault(repr(one), one)  # a broker has each once
    return exchanges, queues, list(bindings.values())


def _some(chance: random.Random, count: int) -> list[str]:
    """Return up to so many names of headers, half of them the first two."""
    return sorted({chance.choice(HEADERS if chance.random() < 0.5 else HEADERS[:2]) for _ in range(count)})


def _value(chance: random.Random) -> Any:
    return chance.choice(VALUES if chance.random() < 0.5 else OFTEN)


def _demand(chance: random.Random) -> dict[str, Any]:
    names = _some(chance, chance.choice([0, 1, 1, 2, 3]))
    arguments = {name: _value(chance) for name in names if name != "x-match"}
    match = chance.choice(MATCHES)
    return arguments if match is None else {**arguments, "x-match": match}


def _has(text: str) -> Any:
    return lambda drawn: any(text in name for name in _names(drawn))


def _names(drawn: Drawn) -> list[str]:
    return [one.name for one in drawn.topology.queues] + [one.name for one in _own(drawn)]


def _own(drawn: Drawn) -> list[Exchange]:
    return [one for one in drawn.topology.exchanges if one.name and not one.name.startswith("amq.")]


def _typed(kind: str) -> Any:
    return lambda drawn: any(one.type == kind for one in _own(drawn))


def _demands(drawn: Drawn) -> list[dict[str, Any]]:
    headers = {(one.vhost, one.name) for one in _own(drawn) if one.type == "headers"}
    return [dict(one.arguments) for one in drawn.topology.bindings if (one.vhost, one.source) in headers]


def _matching(kind: str | None) -> Any:
    return lambda drawn: any(one.get("x-match") == kind for one in _demands(drawn))


def _by_policy(drawn: Drawn) -> bool:
    topology = drawn.topology
    return any(
        "alternate-exchange" not in one.arguments and topology.alternate_exchange(one) is not None
        for one in _own(drawn)
    )


def _cyclic(drawn: Drawn) -> bool:
    graph = drawn.topology.graph()
    return not nx.is_directed_acyclic_graph(nx.DiGraph(graph))


FEATURES: dict[str, Any] = {
    **{kind: _typed(kind) for kind in ("direct", "fanout", "topic", "headers")},
    "x-match all": _matching("all"),
    "x-match any": _matching("any"),
    "x-match all-with-x": _matching("all-with-x"),
    "x-match any-with-x": _matching("any-with-x"),
    "no x-match": _matching(None),
    "presence": lambda drawn: any(None in one.values() for one in _demands(drawn)),
    "no criteria": lambda drawn: any(not set(one) - {"x-match"} for one in _demands(drawn)),
    "values that are no text": lambda drawn: any(
        not isinstance(value, str | None) for one in _demands(drawn) for value in one.values()
    ),
    "alternate by argument": lambda drawn: any("alternate-exchange" in one.arguments for one in _own(drawn)),
    "alternate by policy": _by_policy,
    'alternate ""': lambda drawn: any(drawn.topology.alternate_exchange(one) == "" for one in _own(drawn)),
    "alternate that is missing": lambda drawn: any(
        (drawn.topology.alternate_exchange(one) or "").endswith("missing") for one in _own(drawn)
    ),
    "exchange to exchange": lambda drawn: any(one.destination_type == "exchange" for one in drawn.topology.bindings),
    "cycle": _cyclic,
    "internal exchange": lambda drawn: any(one.internal for one in _own(drawn)),
    "CC": lambda drawn: any("CC" in one.headers for one in drawn.messages),
    "BCC": lambda drawn: any("BCC" in one.headers for one in drawn.messages),
    "default exchange": lambda drawn: any(not one.exchange for one in drawn.messages),
    "several vhosts": lambda drawn: len({one.vhost for one in _own(drawn)}) > 1,
    "names with dots": _has("."),
    "names with blanks": _has(" "),
    "names beyond ASCII": lambda drawn: any(not name.isascii() for name in _names(drawn)),
    "x-message-ttl 0": lambda drawn: any(one.arguments for one in drawn.topology.queues),
}
"""What a topology may have, and how to tell."""


def features_of(drawn: Drawn, types: Sequence[str]) -> set[str]:
    """Return what a topology has; ``types`` are the exchange types that were drawn from."""
    told = {**FEATURES, **{kind: _typed(kind) for kind in types}}
    return {name for name, has in told.items() if has(drawn)}
