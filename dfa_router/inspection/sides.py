"""One side of a comparison: what a topology does with a message whose key meets certain conditions.

A message that is published to an exchange goes on by the conditions that its key meets there and at every exchange behind it, whatever
the key is otherwise; to an internal exchange, or to one that is not there, none can be. So where it ends is a function of these conditions (:meth:`Side.outcome`). The search for keys that two
topologies treat differently needs no more than that.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NamedTuple

from compiler.automata.pattern import Pattern
from dfa_router.rabbitmq import Binding, Topology
from dfa_router.rabbitmq.declared import ALTERNATE
from dfa_router.rabbitmq.exchange_types import SIMULATED, simulated_type
from dfa_router.rabbitmq.matching import ExchangeType
from dfa_router.rabbitmq.rules import rules_of

__all__ = ["NOBODY", "Destination", "Met", "Outcome", "Place", "Side"]


class Destination(NamedTuple):
    """Where a message gets to."""

    kind: str
    """``queue``, ``exchange``, or ``nobody``, which has no name: neither a queue gets the message, nor an exchange where something
    besides the key decides."""
    name: str


NOBODY = Destination("nobody", "")


class Outcome(NamedTuple):
    """What becomes of a message."""

    ends: frozenset[Destination]
    """Where it gets to: queues, and exchanges after the first."""
    undeclared: frozenset[str]
    """Exchanges among these that are not declared: nobody knows what they do with it."""


Condition = tuple[str, Hashable]
"""A pattern and the kind of exchange that reads it or, where the key alone does not decide, all that a binding says."""

Met = tuple[str, Condition]
"""An exchange and a condition of its bindings."""


@dataclass(frozen=True, slots=True)
class Place:
    """An exchange of a side."""

    name: str
    type: ExchangeType | None
    """What it is compiled as, or None where its type is not simulated."""
    declared: tuple[str | None, str]
    """Its type and its arguments, but the alternate exchange; they count where the key alone does not decide."""
    internal: bool
    """Whether clients may not publish to it."""
    alternate: str | None
    """The name of its alternate exchange, if there is such an exchange."""
    leads: dict[Condition, frozenset[Destination]]
    """Where each condition of its bindings leads."""
    onward: tuple[str, ...]
    """The exchanges that get messages from it, ascending."""

    @property
    def is_declared(self) -> bool:
        """Whether it is more than a name that bindings use."""
        return self.declared[0] is not None

    @property
    def is_decided(self) -> bool:
        """Whether the key alone decides where it sends a message; where nothing is bound, there is nothing to decide."""
        if self.type is None:
            return False
        return not self.leads or (self.type.tokens is not None and self.type.choose is None)

    @property
    def patterns(self) -> Iterator[tuple[Condition, Pattern]]:
        """The conditions, if they are patterns of the key; those of other exchanges are not looked into."""
        if self.is_decided and self.type is not None and self.type.tokens is not None:
            for number, (kind, pattern) in enumerate(self.leads):
                yield (kind, pattern), self.type.tokens(pattern, number)

    def differences(self, other: Place) -> list[str]:
        """Return in words what messages may be sent on by otherwise: nothing where both do the same with each."""
        pairs = {
            "type": (self.declared[0], other.declared[0]),
            "arguments": (self.declared[1], other.declared[1]),
            "bindings": (self.leads, other.leads),
            "alternate exchange": (self.alternate, other.alternate),
        }
        if self.is_decided and other.is_decided:
            del pairs["type"], pairs["arguments"]  # conditions tell the kind, and all else does not matter
        return [what for what, (one, another) in pairs.items() if one != another]


class Side:
    """A topology, and its exchanges by vhost and name; nothing is compiled."""

    def __init__(self, topology: Topology) -> None:
        """Lay the exchanges out."""
        rules = rules_of(topology.broker)
        bindings: dict[tuple[str, str], list[Binding]] = defaultdict(list)
        for binding in topology.bindings:
            bindings[binding.vhost, binding.source].append(binding)
        self.places: dict[tuple[str, str], Place] = {}
        self._beyond: dict[tuple[str, str], frozenset[Destination]] = {}
        for place, exchange in topology.exchanges_by_name.items():
            kind = simulated_type(exchange, rules)
            type_ = None if kind is None else SIMULATED[kind]
            alternate = topology.alternate_exchange(exchange)
            known = alternate if alternate and (place[0], alternate) in topology.exchanges_by_name else None
            arguments = {name: value for name, value in exchange.arguments.items() if name != ALTERNATE}
            leads = _leads(kind, bindings.get(place, []))
            onward = {end.name for ends in leads.values() for end in ends if end.kind == "exchange"}
            self.places[place] = Place(
                name=place[1],
                type=type_,
                declared=(exchange.type, _text(arguments)),
                internal=exchange.internal,
                alternate=known,
                leads=leads,
                onward=tuple(sorted(onward if known is None else {*onward, known})),
            )

    def behind(self, vhost: str, exchange: str) -> list[str]:
        """Return an exchange and all that a message from it may reach, or nothing where there is no such exchange."""
        if (vhost, exchange) not in self.places:
            return []
        found = [exchange]
        seen = {exchange}
        for name in found:  # a worklist: the loop appends to it
            for other in self.places[vhost, name].onward:
                if other not in seen:
                    seen.add(other)
                    found.append(other)
        return found

    def size(self, vhost: str, exchange: str) -> int:
        """Return how many conditions there are at an exchange and behind it."""
        return sum(len(self.places[vhost, name].leads) for name in self.behind(vhost, exchange))

    def outcome(self, vhost: str, exchange: str, met: AbstractSet[Met]) -> Outcome:
        """Return where a message gets to that is published to an exchange and meets these conditions."""
        if (vhost, exchange) not in self.places or self.places[vhost, exchange].internal:
            return Outcome(frozenset([NOBODY]), frozenset())
        ends: set[Destination] = set()
        undeclared: set[str] = set()
        somebody = False
        visits, seen = [exchange], {exchange}
        for name in visits:  # a worklist, as above
            place = self.places[vhost, name]
            if not place.is_decided:
                somebody = True
                if not place.is_declared:
                    undeclared.add(name)
                continue
            targets = {target for condition in _met(place, met) for target in place.leads[condition]}
            if not targets and place.alternate is not None:
                targets = {Destination("exchange", place.alternate)}
            for target in targets:
                if target.kind == "queue":
                    ends.add(target)
                    somebody = True
                elif target.name not in seen:
                    seen.add(target.name)
                    visits.append(target.name)
                    ends.add(target)
        return Outcome(frozenset(ends if somebody else {*ends, NOBODY}), frozenset(undeclared))

    def beyond(self, vhost: str, exchange: str) -> frozenset[Destination]:
        """Return all that a message at an exchange can get to, whatever it is, and nobody."""
        known = self._beyond.get((vhost, exchange))
        if known is None:
            names = self.behind(vhost, exchange)
            ends = (end for name in names for some in self.places[vhost, name].leads.values() for end in some)
            others = (Destination("exchange", name) for name in names[1:])
            known = self._beyond[vhost, exchange] = frozenset((NOBODY, *ends, *others))
        return known


def _leads(kind: str | None, bindings: Iterable[Binding]) -> dict[Condition, frozenset[Destination]]:
    type_ = None if kind is None else SIMULATED[kind]
    leads: dict[Condition, set[Destination]] = defaultdict(set)
    for binding in bindings:
        if kind is not None and type_ is not None and type_.tokens is not None and type_.choose is None:
            condition: Condition = (kind, type_.condition(binding))
        else:
            condition = (binding.routing_key, _text(binding.arguments))
        leads[condition].add(Destination(binding.destination_type, binding.destination))
    return {condition: frozenset(ends) for condition, ends in leads.items()}


def _text(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True, default=str)


def _met(place: Place, met: AbstractSet[Met]) -> Iterator[Condition]:
    if len(place.leads) < len(met):
        return (condition for condition in place.leads if (place.name, condition) in met)
    return (condition for name, condition in met if name == place.name and condition in place.leads)
