"""The way of one message through a topology, hop by hop, and what keeps it from a queue.

A hop is an exchange that the message visits: which of its bindings are met, how their words took those of the key, and where
they lead; or that none is met, and which alternate exchange gets the message instead. What keeps it from a queue is looked for
at each exchange on the way: the bindings that are not met and behind which there is a way to the queue.

The way itself is the router's (:meth:`~dfa_router.rabbitmq.Topology.route`); here it is only told. What this leaves out:
choices that nobody can foretell, behind which no way is followed, and dead letters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dfa_router.analysis.explaining import Miss, explain, why_not
from dfa_router.inspection.arrows import destination_of
from dfa_router.rabbitmq import Binding, Route, Topology
from dfa_router.rabbitmq.exchange_types import simulated_type
from dfa_router.rabbitmq.headers.matching import asked
from dfa_router.rabbitmq.rules import rules_of

__all__ = ["Barrier", "Hop", "Met", "Way", "barriers", "language_of", "way"]

_LANGUAGES = {"topic": "amqp", "direct": "exact"}
"""What an exchange is routed as -> the dialect of its bindings."""
_DEMANDS = {
    "fanout": "every message",
    "x-modulus-hash": "the hash of the keys",
    "x-random": "chance",
    "x-local-random": "chance",
}
"""What decides where binding keys do not."""
_OWN_NAME = "the queue's own name"
"""What the default exchange goes by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """A binding that is met."""

    binding: int
    """Its position in ``Topology.bindings``; -1 where the default exchange finds a queue by its name."""
    destination: str
    destination_type: str
    demand: str
    """What it asks of a message, in a few words."""
    taken: tuple[tuple[str, tuple[str, ...]], ...]
    """Each word of its pattern with the words of the key that it took; empty where its demand is no pattern of the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """An exchange on the way."""

    exchange: str
    type: str | None
    met: tuple[Met, ...]
    alternate: str | None
    """The alternate exchange that gets the message, as no binding is met; None where there is no such exchange."""
    remark: str | None
    """Why nobody can tell more: the type is not simulated, or takes one destination of several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Where a message goes."""

    route: Route
    hops: tuple[Hop, ...]
    """In the order of the visits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Barrier:
    """A binding on the way that is not met, or of which nobody can tell, behind which there is a way to the queue."""

    exchange: str
    binding: int
    """Its position in ``Topology.bindings``; -1 where the default exchange would find the queue by its name."""
    destination: str
    destination_type: str
    demand: str
    miss: Miss | None
    """How the key misses its pattern; None where its demand is no pattern of the key."""
    undecided: str | None
    """The remark of its exchange, where nobody can tell whether the message takes this way."""


def way(topology: Topology, exchange: str, key: str, vhost: str = "/", **attributes: Any) -> Way:
    """Follow a message; ``attributes`` are those of :meth:`~dfa_router.rabbitmq.Topology.route`, which also says what is raised."""
    route = topology.route(exchange, key, vhost, **attributes)
    chosen = {one.exchange: one for one in route.one_of}
    led: defaultdict[str, list[int]] = defaultdict(list)
    for position in route.bindings:
        led[topology.bindings[position].source].append(position)
    hops = []
    for name in route.exchanges:
        declared = topology.exchange(name, vhost)
        met = tuple(_met(topology, position, key) for position in led[name])
        if not name:  # no binding leads on from the default exchange, so the queues are its own
            met = tuple(
                Met(binding=-1, destination=queue, destination_type="queue", demand=_OWN_NAME, taken=())
                for queue in route.queues
            )
        remark = None
        if name in chosen:
            shares = ", ".join(f"{destination_of(one)} ({one.share:.0%})" for one in chosen[name].candidates)
            remark = f"takes one of {shares}, and nobody can tell which"
        elif name in route.not_simulated:
            remark = f"is of type {declared.type}, which is not simulated, or goes by headers that are not known"
        alternate = topology.alternate_exchange(declared) if name and not met and remark is None else None
        if not alternate or (vhost, alternate) not in topology.exchanges_by_name:
            alternate = None  # the broker drops what would go there
        hops.append(Hop(exchange=name, type=declared.type, met=met, alternate=alternate, remark=remark))
    return Way(route=route, hops=tuple(hops))


def barriers(
    topology: Topology, found: Way, key: str, queue: str, vhost: str = "/", *, most: int = 3
) -> tuple[Barrier, ...]:
    """Return the bindings that keep a message from a queue, hop by hop: of each exchange the ``most`` nearest, these first."""
    leading = _leading(topology, queue, vhost)
    met = set(found.route.bindings)
    barred = []
    for hop in found.hops:
        if not hop.exchange:
            barred += _unnamed(topology, queue, key, vhost)
            continue
        unmet = [
            position
            for position, one in enumerate(topology.bindings)
            if (one.vhost, one.source) == (vhost, hop.exchange)
            and position not in met
            and _ends_at(one, queue, leading)
        ]
        barred += _missed(topology, hop, _kind(topology, hop.exchange, vhost), unmet, key)[:most]
    return tuple(barred)


def _unnamed(topology: Topology, queue: str, key: str, vhost: str) -> list[Barrier]:
    """Return what keeps a message from a queue on the default exchange, which follows no binding and knows what is declared."""
    if all((one.vhost, one.name) != (vhost, queue) for one in topology.queues):
        return []
    return [
        Barrier(
            exchange="",
            binding=-1,
            destination=queue,
            destination_type="queue",
            demand=_OWN_NAME,
            miss=miss,
            undecided=None,
        )
        for miss in why_not([(queue, queue)], key, "exact")
    ]


def _kind(topology: Topology, exchange: str, vhost: str) -> str:
    """Return the type that an exchange is routed as; delayed ones, for instance, as the type that they name."""
    kind = simulated_type(topology.exchange(exchange, vhost), rules_of(topology.broker))
    return (kind or "").split(" up to ")[0]


def language_of(topology: Topology, exchange: str, vhost: str) -> str | None:
    """Return the dialect of an exchange's bindings, or None where they are no patterns of the routing key."""
    return _LANGUAGES.get(_kind(topology, exchange, vhost))


def _met(topology: Topology, position: int, key: str) -> Met:
    binding = topology.bindings[position]
    kind = _kind(topology, binding.source, binding.vhost)
    language = _LANGUAGES.get(kind)
    taken: tuple[tuple[str, tuple[str, ...]], ...] = ()
    if language is not None:
        matches = explain([(binding.routing_key, "")], key, language).matches
        taken = matches[0].taken if matches else ()  # it may have matched a key of CC or BCC
    return Met(
        binding=position,
        destination=binding.destination,
        destination_type=binding.destination_type,
        demand=_demand(binding, kind),
        taken=taken,
    )


def _missed(topology: Topology, hop: Hop, kind: str, unmet: Sequence[int], key: str) -> list[Barrier]:
    """Return barriers, the nearest first; a binding that demands something else of a message comes last."""
    language = _LANGUAGES.get(kind)
    listed = [topology.bindings[position] for position in unmet]
    misses: dict[int, Miss] = {}
    if language is not None and listed:
        patterns = [(one.routing_key, one.destination) for one in listed]
        misses = {miss.binding: miss for miss in why_not(patterns, key, language, most=len(patterns))}
    order = [*misses, *(number for number in range(len(listed)) if number not in misses)]
    return [
        Barrier(
            exchange=hop.exchange,
            binding=unmet[number],
            destination=listed[number].destination,
            destination_type=listed[number].destination_type,
            demand=_demand(listed[number], kind),
            miss=misses.get(number),
            undecided=hop.remark,
        )
        for number in order
    ]


def _demand(binding: Binding, kind: str) -> str:
    if kind == "headers":
        wanted = {name: binding.arguments[name] for name in asked(binding)}
        listed = (
            ", ".join(name if value is None else f"{name}={value!r}" for name, value in wanted.items()) or "nothing"
        )
        return f"headers {binding.arguments.get('x-match', 'all')} of {listed}"
    if kind == "x-consistent-hash":
        return f"weight {binding.routing_key!r}"
    if kind in _DEMANDS:
        return _DEMANDS[kind]
    return repr(binding.routing_key)


def _ends_at(binding: Binding, queue: str, leading: set[str]) -> bool:
    if binding.destination_type == "queue":
        return binding.destination == queue
    return binding.destination in leading


def _leading(topology: Topology, queue: str, vhost: str) -> set[str]:
    """Return the exchanges from which a way leads to a queue, if every binding on it were met, or none before an alternate."""
    before: defaultdict[str, set[str]] = defaultdict(set)
    leading: set[str] = set()
    for one in topology.bindings:
        if one.vhost == vhost and one.source:  # no message follows a binding of the default exchange
            if one.destination_type == "exchange":
                before[one.destination].add(one.source)
            elif one.destination == queue:
                leading.add(one.source)
    for exchange in topology.exchanges:
        alternate = topology.alternate_exchange(exchange) if exchange.vhost == vhost else None
        if alternate:
            before[alternate].add(exchange.name)
    agenda = list(leading)
    for name in agenda:  # it grows
        fresh = before[name] - leading
        leading |= fresh
        agenda += sorted(fresh)
    return leading
