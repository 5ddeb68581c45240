"""The exchanges of a topology as numbered nodes: what bindings demand of a message, and where they lead to.

Everything here is made from declarations alone. Nothing is compiled yet, and nothing is known of how an exchange type
matches: a node holds the conditions that its type makes of its bindings (:mod:`dfa_router.rabbitmq.matching`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from compiler.values import Int32s
from dfa_router.rabbitmq.declared import Declarations
from dfa_router.rabbitmq.exchange_types import SIMULATED

__all__ = ["Node", "make_nodes", "queues_of"]


class Node(NamedTuple):
    """An exchange, ready to be compiled; numbered by its place in the router's tuple of nodes."""

    vhost: str
    name: str
    internal: bool
    type: str | None
    """Its type, as :data:`SIMULATED` lists it, or None for one that is not simulated."""
    conditions: tuple[Hashable, ...]
    """The distinct conditions of its bindings."""
    offsets: Int32s
    """Condition c leads to ``targets[offsets[c]:offsets[c + 1]]``."""
    targets: Int32s
    """A queue's number in the router's sorted queues, or, from their count upwards, the node of an exchange."""
    alternate: int
    """The node of the alternate exchange, or -1."""

    def onward(self, queues: int) -> list[int]:
        """Return the exchanges that messages may go on to, ascending, the alternate one included; there are so many ``queues``."""
        found = set((np.unique(self.targets[self.targets >= queues]) - queues).tolist())
        return sorted(found | ({self.alternate} if self.alternate >= 0 else set()))

    @property
    def weight(self) -> int:
        """How large its conditions are, as text: the share of the caches' bytes that it gets depends on it."""
        return sum(len(str(condition)) + 1 for condition in self.conditions)


def queues_of(declared: Declarations) -> tuple[tuple[str, str], ...]:
    """Return vhost and name of all queues that are declared or bound, sorted."""
    bound = {(one.vhost, one.destination) for one in declared.bindings if one.destination_type == "queue"}
    return tuple(sorted(bound.union((queue.vhost, queue.name) for queue in declared.queues)))


def make_nodes(declared: Declarations, queues: Sequence[tuple[str, str]]) -> tuple[Node, ...]:
    """Number the exchanges and lay out what each of their conditions leads to; ``queues`` are those of :func:`queues_of`."""
    queue_numbers = {place: number for number, place in enumerate(queues)}
    # By name, so that lists of names come out sorted.
    exchanges = sorted(declared.exchanges_by_name.items(), key=lambda item: (item[0][1], item[0][0]))
    places = {place: number for number, (place, _) in enumerate(exchanges)}
    types = {place: _simulated_type(place[1], exchange.type) for place, exchange in exchanges}
    rows: dict[tuple[str, str], dict[Hashable, set[int]]] = {place: {} for place in places}
    for queue in declared.queues:  # the default exchange knows each queue under its own name
        rows[queue.vhost, ""][queue.name] = {queue_numbers[queue.vhost, queue.name]}
    for binding in declared.bindings:
        place = (binding.vhost, binding.source)
        kind = types[place]
        if kind is None or not binding.source:
            continue
        target = (
            queue_numbers[binding.vhost, binding.destination]
            if binding.destination_type == "queue"
            else len(queues) + places[binding.vhost, binding.destination]
        )
        rows[place].setdefault(SIMULATED[kind].condition(binding), set()).add(target)
    nodes = []
    for place, exchange in exchanges:
        offsets = np.zeros(len(rows[place]) + 1, np.int32)
        np.cumsum([len(targets) for targets in rows[place].values()], out=offsets[1:])
        alternate = declared.alternate_exchange(exchange) if exchange.name else None
        nodes.append(
            Node(
                vhost=exchange.vhost,
                name=exchange.name,
                internal=exchange.internal,
                type=types[place],
                conditions=tuple(rows[place]),
                offsets=offsets,
                targets=np.fromiter((one for targets in rows[place].values() for one in sorted(targets)), np.int32),
                alternate=-1 if alternate is None else places.get((exchange.vhost, alternate), -1),
            )
        )
    return tuple(nodes)


def _simulated_type(name: str, declared_type: str | None) -> str | None:
    """Return the type that an exchange is compiled as; the default exchange is direct, whatever a file may call it."""
    if declared_type not in SIMULATED:
        return None
    return declared_type if name else "direct"
