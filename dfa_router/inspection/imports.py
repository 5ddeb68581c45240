"""What importing definitions does: to a new broker, and to one that has others already.

An import adds. It takes nothing away, and it leaves what exists as it is: bindings that the new file lacks stay on the broker, an
exchange keeps its type, and stays internal or open to clients; nothing says so. A binding whose exchange or queue is not there, or that is
refused for what it says, is left out without a word by RabbitMQ 3.10; newer ones end the import there, as they do, from 4.3.5 on, at a
binding of a topic exchange with more than two ``#``; what comes before is done by then. All versions end it at a vhost that is not there,
at null in arguments, at a queue or policy with limits that cannot be, and at a policy whose pattern is no regular expression. What an
import leaves as it is, it does not look at.

Sources: a live RabbitMQ 3.10, and for newer ones ``rabbit_definitions`` and ``rabbit_exchange_type_topic``, which were read. What
this leaves out: users, permissions, parameters and the limits of vhosts; types of exchanges and queues and keys of policies, which plugins
may add; and arguments that other parts of a broker read, such as ``x-max-priority``.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dfa_router.analysis import normalise
from dfa_router.inspection.arrows import arrow
from dfa_router.rabbitmq import Binding, Topology
from dfa_router.rabbitmq.exchange_types import refusal_of
from dfa_router.rabbitmq.policy_patterns import PolicyPattern, PolicyPatternError

__all__ = ["Declared", "Failure", "Import", "declared_differences", "import_over"]

ASKED = "3.10"
"""The oldest version that was asked; there an import ends already at what it does not take, but for bindings."""
MOST_MANY = 2
"""Words ``#`` that a binding key of a topic exchange may have from RabbitMQ 4.3.5 on."""
REFUSING = "4.3.5"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An entry that an import does not take."""

    place: str
    """Such as ``bindings[17]``."""
    since: str | None
    """The version of RabbitMQ from which on it does; None where versions before that leave the entry out, and say nothing."""
    reason: str
    remedy: str


@dataclass(slots=True, kw_only=True)
class Import:
    """What an import does."""

    failures: list[Failure] = field(default_factory=list)
    """Entries that it does not take, in the order in which it comes to them; where it ends at one, the first one counts."""
    staying: list[str] = field(default_factory=list)
    """Bindings, as arrows, that only the old definitions have: on a broker that has them they stay."""
    keeping: list[str] = field(default_factory=list)
    """Exchanges and queues, as sentences, that stay as they are on a broker that has the old definitions."""


@dataclass(slots=True, kw_only=True)
class Declared:
    """What only one of two topologies declares, as (vhost, name); bindings as arrows."""

    vhosts: list[str] = field(default_factory=list)
    exchanges: list[tuple[str, str]] = field(default_factory=list)
    queues: list[tuple[str, str]] = field(default_factory=list)
    bindings: list[tuple[str, str]] = field(default_factory=list)


def declared_differences(old: Topology, new: Topology) -> tuple[Declared, Declared]:
    """Return what only the new topology declares, and what only the old one does."""
    return _only(new, old), _only(old, new)


def _only(one: Topology, other: Topology) -> Declared:
    return Declared(
        vhosts=[name for name in one.vhosts if name not in other.vhosts],
        exchanges=_missing(((x.vhost, x.name) for x in one.exchanges), {(x.vhost, x.name) for x in other.exchanges}),
        queues=_missing(((q.vhost, q.name) for q in one.queues), {(q.vhost, q.name) for q in other.queues}),
        bindings=[(binding.vhost, arrow(binding)) for binding in _missing_bindings(one, other)],
    )


def _missing(some: Iterable[tuple[str, str]], others: set[tuple[str, str]]) -> list[tuple[str, str]]:
    return [place for place in some if place not in others]


def _missing_bindings(one: Topology, other: Topology) -> Iterator[Binding]:
    known = {_identity(binding) for binding in other.bindings}
    return (binding for binding in one.bindings if _identity(binding) not in known)


def _identity(binding: Binding) -> Hashable:
    arguments = json.dumps(binding.arguments, sort_keys=True, default=str) if binding.arguments else ""
    ends = (binding.vhost, binding.source, binding.destination_type, binding.destination)
    return (*ends, binding.routing_key, arguments)


def import_over(old: Topology | None, new: Topology) -> Import:
    """Tell what importing a topology does, to a broker that has the old one, or to a new one.

    >>> from dfa_router.rabbitmq import Exchange, Queue, topology_of
    >>> binding = Binding(source="x", destination="q", routing_key="#.a.#.b.#")
    >>> new = topology_of(exchanges=[Exchange(name="x", type="topic")], queues=[Queue(name="q")], bindings=[binding])
    >>> [(failure.place, failure.since) for failure in import_over(None, new).failures]
    [('bindings[0]', '4.3.5')]
    """
    found = Import()
    known = {} if old is None else {(one.vhost, one.name): one for one in old.exchanges}
    queues = {(queue.vhost, queue.name) for topology in (old, new) if topology is not None for queue in topology.queues}
    exchanges = {*known, *((one.vhost, one.name) for one in new.exchanges)}
    types = {(one.vhost, one.name): one.type for one in new.exchanges} | {
        place: one.type for place, one in known.items()
    }
    found.failures += _entries(old, new)
    for position, binding in enumerate(new.bindings):
        found.failures += _failures(f"bindings[{position}]", binding, queues, exchanges, types)
    if old is not None:
        found.staying = [arrow(binding) for binding in _missing_bindings(old, new)]
        found.keeping = list(_keeping(old, new))
    return found


def _entries(old: Topology | None, new: Topology) -> Iterator[Failure]:
    """Yield entries, one of each kind for a name, at which every import ends."""
    has = {"/", *(() if old is None else old.vhosts)}  # a new broker has one vhost
    there = {("exchanges", one.vhost, one.name) for one in (() if old is None else old.exchanges)}
    there |= {("queues", one.vhost, one.name) for one in (() if old is None else old.queues)}
    for warning in new.warnings:
        place = warning.place_in(new.source)
        if warning.kind == "undeclared-vhost" and warning.name not in has:
            yield Failure(place=place, since=ASKED, reason=f"no vhost {warning.name!r}", remedy="declare it")
        elif (place.partition("[")[0], warning.vhost, warning.name) in there:
            continue
        elif warning.kind == "null-argument":
            yield Failure(place=place, since=ASKED, reason="null in arguments", remedy="take it out")
        elif warning.kind == "refused-declaration":
            yield Failure(place=place, since=ASKED, reason=f"{warning.name}: {warning.detail}", remedy="correct it")
    for position, policy in enumerate(new.policies):
        try:
            PolicyPattern(policy.pattern)
        except PolicyPatternError as error:
            if error.at_broker:
                reason = f"{policy.pattern!r} is no regular expression ({error})"
                yield Failure(
                    place=f"policies[{position}].pattern", since=ASKED, reason=reason, remedy="correct the pattern"
                )


def _failures(
    place: str,
    binding: Binding,
    queues: set[tuple[str, str]],
    exchanges: set[tuple[str, str]],
    types: Mapping[tuple[str, str], str | None],
) -> Iterator[Failure]:
    declare = "declare it, or take the binding out"
    if (binding.vhost, binding.source) not in exchanges:
        yield Failure(
            place=place, since=None, reason=f"{arrow(binding)}: no exchange {binding.source!r}", remedy=declare
        )
    known = queues if binding.destination_type == "queue" else exchanges
    if (binding.vhost, binding.destination) not in known:
        reason = f"{arrow(binding)}: no {binding.destination_type} {binding.destination!r}"
        yield Failure(place=place, since=None, reason=reason, remedy=declare)
    kind = types.get((binding.vhost, binding.source))
    refusal = refusal_of(binding, kind)
    if refusal is not None:
        yield Failure(place=place, since=None, reason=f"{arrow(binding)}: {refusal}", remedy="correct it")
    many = binding.routing_key.split(".").count("#")
    if many > MOST_MANY and kind == "topic":
        reason = f"{arrow(binding)}: {many} words '#', and at most {MOST_MANY} are taken"
        equal = normalise(binding.routing_key, most=MOST_MANY)
        if equal.accepted:
            remedy = f"write {equal.pattern!r}, which matches the same keys"
        else:
            remedy = (
                "no pattern with fewer means the same: bind by a wider one to an exchange, and from there by the rest"
            )
        yield Failure(place=place, since=REFUSING, reason=reason, remedy=remedy)


def _keeping(old: Topology, new: Topology) -> Iterator[str]:
    for what, before, after in (("exchange", old.exchanges, new.exchanges), ("queue", old.queues, new.queues)):
        known: dict[tuple[str, str], Any] = {(one.vhost, one.name): one for one in before}
        for one in after:
            was = known.get((one.vhost, one.name))
            if was is None:
                continue
            different = [
                f"{name} {shown[0]!r}, not {shown[1]!r}"
                for name, shown in (
                    (name, (getattr(was, name), getattr(one, name)))
                    for name in ("type", "internal", "arguments")
                    if hasattr(one, name)
                )
                if shown[0] != shown[1] and None not in shown  # a file need not say of which type a queue is
            ]
            if different:
                yield f"{what} {one.name!r} of vhost {one.vhost!r} keeps its {'; '.join(different)}"
