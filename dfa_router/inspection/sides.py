"""One side of a comparison: what a topology does with a message whose key meets certain conditions.

A message that enters at an exchange goes on by the conditions that its key meets there and at every exchange behind it, whatever
the key is otherwise. So where it ends is a function of these conditions (:meth:`Side.outcome`). The search for keys that two
topologies treat differently needs no more than that.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from compiler.automata.pattern import Pattern
from dfa_router.rabbitmq import Topology, TopologyRouter
from dfa_router.rabbitmq.exchange_types import SIMULATED
from dfa_router.rabbitmq.nodes import Node

__all__ = ["NOBODY", "Destination", "Met", "Outcome", "Side"]


class Destination(NamedTuple):
    """Where a message gets to."""

    kind: str
    """``queue``, ``exchange``, or ``nobody``, which has no name: neither a queue gets the message, nor an exchange where something
    besides the key decides."""
    name: str


NOBODY = Destination("nobody", "")

Outcome = frozenset[Destination]
"""Where a message gets to: queues, and exchanges after the first."""

Met = tuple[str, Hashable]
"""An exchange and a condition of its bindings."""


@dataclass(frozen=True)
class Side:
    """A topology, and its exchanges by name."""

    topology: Topology
    router: TopologyRouter = field(init=False)

    def __post_init__(self) -> None:
        """Lay the exchanges out; nothing is compiled."""
        object.__setattr__(self, "router", TopologyRouter(self.topology))

    def node(self, vhost: str, exchange: str) -> Node | None:
        """Return an exchange, or None where there is none."""
        number = self.router.node_numbers.get((vhost, exchange))
        return None if number is None else self.router.nodes[number]

    def patterns(self, node: Node) -> Iterator[tuple[Hashable, Pattern]]:
        """Yield the conditions of an exchange, if they are patterns of the key; those of other exchanges are not looked into."""
        tokens = None if node.type is None else SIMULATED[node.type].tokens
        if tokens is not None:
            for place, condition in enumerate(node.conditions):
                yield condition, tokens(condition, place)

    def is_decided(self, node: Node) -> bool:
        """Tell whether the key alone decides where an exchange sends a message."""
        return node.type is not None and SIMULATED[node.type].tokens is not None

    def behind(self, vhost: str, exchange: str) -> tuple[Node, ...]:
        """Return an exchange and all that a message from it may reach."""
        number = self.router.node_numbers.get((vhost, exchange))
        if number is None:
            return ()
        found = [number]
        seen = {number}
        for one in found:  # a worklist: the loop appends to it
            for other in self._onward[one]:
                if other not in seen:
                    seen.add(other)
                    found.append(other)
        return tuple(self.router.nodes[one] for one in found)

    def leads(self, node: Node) -> dict[Hashable, frozenset[Destination]]:
        """Return where each condition of an exchange leads, exchanges among it."""
        return self._leads[self.router.node_numbers[node.vhost, node.name]]

    def alternate(self, node: Node) -> str | None:
        """Return the name of the alternate exchange, if there is such an exchange."""
        return self.router.nodes[node.alternate].name if node.alternate >= 0 else None

    def outcome(self, vhost: str, exchange: str, met: AbstractSet[Met]) -> Outcome:
        """Return where a message gets to that enters at an exchange and meets these conditions."""
        start = self.router.node_numbers.get((vhost, exchange))
        if start is None:
            return frozenset([NOBODY])
        ends: set[Destination] = set()
        somebody = False
        visits, seen = [start], {start}
        for number in visits:  # a worklist, as above
            node = self.router.nodes[number]
            if not self.is_decided(node):
                somebody = True
                continue
            leads = self._leads[number]
            targets = {target for condition in self._met(node, met) for target in leads[condition]}
            if not targets and node.alternate >= 0:
                targets = {Destination("exchange", self.router.nodes[node.alternate].name)}
            for target in targets:
                if target.kind == "queue":
                    ends.add(target)
                    somebody = True
                elif (onward := self.router.node_numbers[vhost, target.name]) not in seen:
                    seen.add(onward)
                    visits.append(onward)
                    ends.add(target)
        return frozenset(ends if somebody else {*ends, NOBODY})

    def _met(self, node: Node, met: AbstractSet[Met]) -> Iterator[Hashable]:
        leads = self._leads[self.router.node_numbers[node.vhost, node.name]]
        if len(leads) < len(met):
            return (condition for condition in leads if (node.name, condition) in met)
        return (condition for name, condition in met if name == node.name and condition in leads)

    @cached_property
    def _onward(self) -> tuple[tuple[int, ...], ...]:
        queues = len(self.router.queues)
        return tuple(
            tuple(sorted({int(one) - queues for one in node.targets if one >= queues} | ({node.alternate} - {-1})))
            for node in self.router.nodes
        )

    @cached_property
    def _leads(self) -> tuple[dict[Hashable, frozenset[Destination]], ...]:
        queues = self.router.queues

        def destination(target: int) -> Destination:
            if target < len(queues):
                return Destination("queue", queues[target][1])
            return Destination("exchange", self.router.nodes[target - len(queues)].name)

        return tuple(
            {
                condition: frozenset(destination(int(t)) for t in node.targets[node.offsets[c] : node.offsets[c + 1]])
                for c, condition in enumerate(node.conditions)
            }
            for node in self.router.nodes
        )
