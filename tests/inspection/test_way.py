"""A message's way told hop by hop is the router's way, and what keeps it from a queue is on it."""

from __future__ import annotations

import random

import pytest

from benchmarks.verification.topologies.drawing import draw, draw_policies
from dfa_router.errors import PublishRefusedError
from dfa_router.inspection.way import Hop, Way, barriers, way
from dfa_router.rabbitmq import Binding, Exchange, Policy, Queue, Topology, topology_of
from dfa_router.rabbitmq.nodes import queues_of
from dfa_router.reference.naive import matches

TYPES = ("topic", "direct", "fanout", "headers")


def retold(found: Way) -> tuple[set[str], list[str]]:
    """Follow the hops alone, as a reader would: the queues, and the exchanges in the order of their visits."""
    hops = {hop.exchange: hop for hop in found.hops}
    queues: set[str] = set()
    visits = [found.hops[0].exchange]
    for name in visits:  # it grows
        hop: Hop = hops[name]
        onward = [one.destination for one in hop.met if one.destination_type == "exchange"]
        if hop.alternate in hops:
            onward.append(str(hop.alternate))
        queues |= {one.destination for one in hop.met if one.destination_type == "queue"}
        visits += [one for one in dict.fromkeys(onward) if one not in visits]
    return queues, visits


def drawn(number: int) -> tuple[Topology, list[tuple[str, str, str, dict[str, object]]]]:
    """A random topology of all simulated types with cycles, alternates by policy and vhosts; and messages to it."""
    policies = draw_policies(random.Random(number), ["/", "v"], "t")
    one = draw(number, 5, vhosts=["/", "v"], policies=policies, types=TYPES, tag="t", broker="4.3")
    return one.topology, [
        (sent.exchange, sent.key, sent.vhost, {"headers": dict(sent.headers)}) for sent in one.messages
    ]


def test_the_hops_are_the_routers_way() -> None:
    """In 40 topologies x 50 messages: who follows the hops gets to the queues that the router finds, by its exchanges."""
    told = 0
    for number in range(40):
        topology, messages = drawn(number)
        for exchange, key, vhost, attributes in messages:
            try:
                route = topology.route(exchange, key, vhost, **attributes)
            except PublishRefusedError:
                continue
            found = way(topology, exchange, key, vhost, **attributes)
            queues, visits = retold(found)
            assert queues == set(route.queues), (number, exchange, key)
            assert sorted(visits) == sorted(route.exchanges), (number, exchange, key)
            told += len(found.hops) > 1
    assert told > 200, "hardly any message went through several exchanges"


def test_barriers_lead_to_the_queue_and_are_not_met() -> None:
    """Each is a binding of an exchange on the way; its nearest key does match, and behind it there is a way to the queue."""
    seen = 0
    for number in range(20):
        topology, messages = drawn(number)
        for exchange, key, vhost, attributes in messages[:20]:
            try:
                found = way(topology, exchange, key, vhost, **attributes)
            except PublishRefusedError:
                continue
            for of, queue in queues_of(topology):
                if of != vhost or queue in found.route.queues:
                    continue
                for one in barriers(topology, found, key, queue, vhost):
                    if one.binding < 0:
                        assert (one.exchange, one.miss and one.miss.nearest) == ("", queue)
                        assert queue in way(topology, "", queue, vhost).route.queues
                        continue
                    binding = topology.bindings[one.binding]
                    assert (binding.source, binding.vhost) == (one.exchange, vhost)
                    assert one.exchange in found.route.exchanges
                    assert queue in reachable(topology, one.destination, one.destination_type, vhost)
                    if one.miss is not None and one.miss.nearest is not None:
                        kind = topology.exchange(one.exchange, vhost).type
                        near, pattern = one.miss.nearest.encode(), binding.routing_key.encode()
                        assert matches(pattern, near) if kind == "topic" else pattern == near
                    seen += 1
    assert seen > 500


def reachable(topology: Topology, destination: str, kind: str, vhost: str) -> set[str]:
    """Return all queues to which any message could get from a destination, alternates included."""
    if kind == "queue":
        return {destination}
    queues: set[str] = set()
    names = [destination]
    for name in names:  # it grows
        alternate = topology.alternate_exchange(topology.exchange(name, vhost))
        known = alternate and (vhost, alternate) in topology.exchanges_by_name
        onward = [str(alternate)] * bool(known)
        for one in topology.bindings:
            if (one.vhost, one.source) == (vhost, name):
                if one.destination_type == "queue":
                    queues.add(one.destination)
                else:
                    onward.append(one.destination)
        names += [other for other in onward if other not in names]
    return queues


@pytest.fixture(scope="module")
def orders() -> Topology:
    return topology_of(
        exchanges=[
            Exchange(name="in", type="topic"),
            Exchange(name="by-region", type="headers", internal=True),
            Exchange(name="lost", type="fanout", internal=True),
        ],
        queues=[Queue(name="eu"), Queue(name="rest", arguments={"x-message-ttl": 0})],
        bindings=[
            Binding(source="in", destination="by-region", destination_type="exchange", routing_key="order.#"),
            Binding(source="by-region", destination="eu", arguments={"x-match": "all", "region": "eu"}),
            Binding(source="lost", destination="rest"),
        ],
        policies=[Policy(name="p", pattern="^in$", definition={"alternate-exchange": "lost"})],
    )


def test_hops_by_headers_and_alternates(orders: Topology) -> None:
    found = way(orders, "in", "order.7", headers={"region": "eu"})
    assert [(hop.exchange, [one.destination for one in hop.met]) for hop in found.hops] == [
        ("in", ["by-region"]),
        ("by-region", ["eu"]),
    ]
    assert found.hops[0].met[0].taken == (("order", ("order",)), ("#", ("7",)))
    assert found.hops[1].met[0].demand == "headers all of region='eu'"
    found = way(orders, "in", "invoice.7")
    assert [(hop.exchange, hop.alternate) for hop in found.hops] == [("in", "lost"), ("lost", None)]
    (barrier,) = barriers(orders, found, "invoice.7", "eu")
    assert barrier.miss is not None
    assert (barrier.exchange, barrier.destination, barrier.miss.nearest) == ("in", "by-region", "order.7")
    found = way(orders, "in", "order.7", headers={"region": "us"})
    (barrier,) = barriers(orders, found, "order.7", "eu")
    assert (barrier.exchange, barrier.demand, barrier.miss) == ("by-region", "headers all of region='eu'", None)
    assert "not known" in str(way(orders, "in", "order.7").hops[1].remark)


@pytest.fixture(scope="module")
def wrapped() -> Topology:
    """Exchanges that route as another type than theirs."""
    types = {"topic": "a.*", "direct": "a.b", "fanout": "zz", "headers": "zz"}
    return topology_of(
        exchanges=[
            *(Exchange(name=one, type="x-delayed-message", arguments={"x-delayed-type": one}) for one in types),
            Exchange(name="recent", type="x-recent-history"),
            Exchange(name="hashed", type="x-modulus-hash"),
        ],
        queues=[Queue(name="q"), Queue(name="p")],
        bindings=[
            *(
                Binding(source=one, destination="q", routing_key=key, arguments={"h": None} if one == "headers" else {})
                for one, key in types.items()
            ),
            Binding(source="recent", destination="q", routing_key="zz"),
            *(Binding(source="hashed", destination=queue, routing_key="zz") for queue in "qp"),
        ],
    )


def test_demands_are_those_of_the_type_that_an_exchange_routes_as(wrapped: Topology) -> None:
    said = {}
    for exchange in ("topic", "direct", "fanout", "headers", "recent", "hashed"):
        (hop,) = way(wrapped, exchange, "a.b", headers={"h": 1}).hops
        (met,) = hop.met
        said[exchange] = met.demand, met.taken
    assert said == {
        "topic": ("'a.*'", (("a", ("a",)), ("*", ("b",)))),
        "direct": ("'a.b'", (("a", ("a",)), ("b", ("b",)))),
        "fanout": ("every message", ()),
        "headers": ("headers all of h", ()),
        "recent": ("every message", ()),
        "hashed": ("the hash of the keys", ()),
    }


def test_barriers_are_those_of_the_type_that_an_exchange_routes_as(wrapped: Topology) -> None:
    def barred(exchange: str, key: str, queue: str) -> list[tuple[str, str | None]]:
        found = barriers(wrapped, way(wrapped, exchange, key, headers={}), key, queue)
        return [(one.demand, one.miss.nearest if one.miss else None) for one in found]

    assert barred("topic", "b.b", "q") == [("'a.*'", "a.b")]
    assert barred("headers", "zz", "q") == [("headers all of h", None)]
    (queue,) = {"p", "q"} - {*wrapped.route("hashed", "a").queues}
    assert barred("hashed", "a", queue) == [("the hash of the keys", None)]


@pytest.mark.parametrize("alternate", ["", "nope"])
def test_an_alternate_exchange_that_is_not_there_gets_nothing(alternate: str) -> None:
    topology = topology_of(exchanges=[Exchange(name="x", type="topic", arguments={"alternate-exchange": alternate})])
    (hop,) = way(topology, "x", "a").hops
    assert hop.alternate is None
