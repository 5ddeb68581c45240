"""What can hardly be meant in declarations, whatever messages come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dfa_router.inspection.arrows import arrow
from dfa_router.inspection.imports import import_over
from dfa_router.rabbitmq import Topology

__all__ = ["Finding", "findings_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something to look at."""

    rule: str
    """``wildcard-in-word``, ``queue-not-bound``, ``exchange-leads-nowhere``, ``exchange-not-reached``, ``import-refused``, or the kind
    of a :class:`dfa_router.rabbitmq.TopologyWarning`."""
    severity: str
    """``warning``, or ``note`` for what may well be meant."""
    vhost: str
    name: str
    text: str


def findings_of(topology: Topology) -> list[Finding]:
    """Return what can hardly be meant, warnings first."""
    found = [
        Finding(
            rule=one.kind,
            severity="warning",
            vhost=one.vhost,
            name=one.name,
            text=f"{one.place}{one.others}: {one.name!r} in vhost {one.vhost!r}: {one.advice}",
        )
        for one in topology.warnings
    ]
    found += [*_wildcards(topology), *_refused(topology), *_idle(topology)]
    return sorted(found, key=lambda one: one.severity != "warning")


def _wildcards(topology: Topology) -> Iterator[Finding]:
    for position, binding in enumerate(topology.bindings):
        exchange = topology.exchanges_by_name[binding.vhost, binding.source]
        if exchange.type != "topic":
            continue
        words = [word for word in binding.routing_key.split(".") if len(word) > 1 and ("*" in word or "#" in word)]
        if words:
            yield Finding(
                rule="wildcard-in-word",
                severity="warning",
                vhost=binding.vhost,
                name=binding.routing_key,
                text=f"bindings[{position}]: {arrow(binding)}: {', '.join(map(repr, words))} is no wildcard: * and # are only as whole "
                "words, and so only a key with this very word matches",
            )


def _refused(topology: Topology) -> Iterator[Finding]:
    # The warnings of these kinds say themselves that an import ends there.
    ending = [one for one in topology.warnings if one.kind in {"null-argument", "refused-declaration"}]
    told = {one.place_in(topology.source) for one in ending}
    for failure in import_over(None, topology).failures:
        if failure.since is not None and failure.place not in told:
            yield Finding(
                rule="import-refused",
                severity="warning",
                vhost="",
                name=failure.place,
                text=f"{failure.place}: {failure.reason}; RabbitMQ {failure.since} and later refuse it: {failure.remedy}",
            )


def _idle(topology: Topology) -> Iterator[Finding]:
    # The default exchange knows the queues itself, and no message follows another binding from it or to it.
    bindings = [one for one in topology.bindings if one.source and (one.destination or one.destination_type == "queue")]
    bound = {(one.vhost, one.destination) for one in bindings if one.destination_type == "queue"}
    for queue in topology.queues:
        if (queue.vhost, queue.name) not in bound:
            text = f"nothing is bound to queue {queue.name!r}: it gets only what is sent to the default exchange under its name"
            yield Finding(rule="queue-not-bound", severity="note", vhost=queue.vhost, name=queue.name, text=text)
    leading = {(one.vhost, one.source) for one in bindings}
    entered = {(one.vhost, one.destination) for one in bindings if one.destination_type == "exchange"}
    alternates = {(one.vhost, topology.alternate_exchange(one)) for one in topology.exchanges}
    dead = topology.dead_letter_exchanges
    for exchange in topology.exchanges:
        place = (exchange.vhost, exchange.name)
        if not exchange.name or exchange.name.startswith("amq."):
            continue
        if place not in leading and topology.alternate_exchange(exchange) is None:
            text = (
                f"nothing is bound to exchange {exchange.name!r}, and it has no alternate: nobody gets what it is sent"
            )
            yield Finding(rule="exchange-leads-nowhere", severity="note", vhost=place[0], name=place[1], text=text)
        if exchange.internal and place not in entered and place not in alternates and place not in dead:
            text = f"exchange {exchange.name!r} is internal, and neither an exchange nor dead letters lead to it: nothing can reach it"
            yield Finding(rule="exchange-not-reached", severity="warning", vhost=place[0], name=place[1], text=text)
