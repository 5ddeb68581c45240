"""The exchanges of a topology as numbered nodes: what bindings demand of a message, and where they lead to.

Everything here is made from declarations alone. Nothing is compiled yet, and nothing is known of how an exchange type
matches: a node holds the conditions that its type makes of its bindings (:mod:`dfa_router.rabbitmq.matching`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from compiler.values import Int32s
from dfa_router.rabbitmq.declared import Binding, Declarations, Exchange
from dfa_router.rabbitmq.exchange_types import SIMULATED, simulated_type
from dfa_router.rabbitmq.matching import ExchangeType
from dfa_router.rabbitmq.route import Candidate
from dfa_router.rabbitmq.rules import BrokerRules

__all__ = ["Node", "Numbering", "chooses", "make_nodes", "queues_of"]


class Numbering(NamedTuple):
    """The numbers of all that a message can get to: queues, remarks on exchanges, and exchanges, in this order."""

    queues: int
    exchanges: int

    def unsimulated(self, exchange: int) -> int:
        """Return the number that says of an exchange that it was reached and is not simulated."""
        return self.queues + exchange

    def choice(self, exchange: int) -> int:
        """Return the number that says of an exchange that it hands the message to one of its candidates."""
        return self.queues + self.exchanges + exchange

    @property
    def outputs(self) -> int:
        """How many numbers there are for queues and remarks; exchange n has the number ``outputs + n``."""
        return self.queues + 2 * self.exchanges


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
    """Condition c leads to ``targets[offsets[c]:offsets[c + 1]]``. A type that may not know whether its conditions are met has one more
    condition for that case, which leads to the remark that it is not simulated."""
    targets: Int32s
    """As :class:`Numbering` counts."""
    bindings: Int32s
    """For each target the position of a binding that leads there, among all bindings as they were declared; -1 for none."""
    alternate: int
    """The node of the alternate exchange, or -1."""
    candidates: tuple[Candidate, ...] = ()
    """The destinations of which it takes one, for a type of which nobody can tell which."""

    def onward(self, outputs: int) -> list[int]:
        """Return the exchanges that messages may go on to, ascending, the alternate one included; ``outputs`` is the numbering's."""
        found = set((np.unique(self.targets[self.targets >= outputs]) - outputs).tolist())
        return sorted(found | ({self.alternate} if self.alternate >= 0 else set()))

    @property
    def weight(self) -> int:
        """How large its conditions are, as text: the share of the caches' bytes that it gets depends on it."""
        return sum(len(str(condition)) + 1 for condition in self.conditions)


class _Rows:
    """What the conditions of one exchange lead to: targets, and the first binding that leads to each."""

    def __init__(self) -> None:
        self.conditions: dict[Any, dict[int, int]] = {}
        self.candidates: tuple[Candidate, ...] = ()

    def add(self, condition: Hashable, target: int, position: int) -> None:
        self.conditions.setdefault(condition, {}).setdefault(target, position)


def queues_of(declared: Declarations) -> tuple[tuple[str, str], ...]:
    """Return vhost and name of all queues that are declared or bound, sorted."""
    bound = {(one.vhost, one.destination) for one in declared.bindings if one.destination_type == "queue"}
    return tuple(sorted(bound.union((queue.vhost, queue.name) for queue in declared.queues)))


def chooses(declared: Declarations, rules: BrokerRules) -> bool:
    """Tell whether any exchange takes one of its destinations, and nobody can tell which."""
    ends: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for one in declared.bindings:
        if one.source:
            ends.setdefault((one.vhost, one.source), set()).add((one.destination_type, one.destination))
    kinds = (
        (place, simulated_type(declared.exchanges_by_name[place], rules)) for place in ends if len(ends[place]) > 1
    )
    return any(kind is not None and SIMULATED[kind].choose is not None for _, kind in kinds)


def make_nodes(declared: Declarations, queues: Sequence[tuple[str, str]], rules: BrokerRules) -> tuple[Node, ...]:
    """Number the exchanges and lay out what each of their conditions leads to; ``queues`` are those of :func:`queues_of`."""
    # By name, so that lists of names come out sorted.
    exchanges = sorted(declared.exchanges_by_name.items(), key=lambda item: (item[0][1], item[0][0]))
    numbering = Numbering(len(queues), len(exchanges))
    queue_numbers = {place: number for number, place in enumerate(queues)}
    places = {place: number for number, (place, _) in enumerate(exchanges)}
    bound: dict[tuple[str, str], list[tuple[int, Binding]]] = {place: [] for place in places}
    for position, binding in enumerate(declared.bindings):
        if binding.source:
            bound[binding.vhost, binding.source].append((position, binding))
    declared_queues: dict[str, list[str]] = {}
    for queue in declared.queues:
        declared_queues.setdefault(queue.vhost, []).append(queue.name)
    nodes = []
    for number, (place, exchange) in enumerate(exchanges):
        kind, rows = simulated_type(exchange, rules), _Rows()
        if not exchange.name:  # the default exchange knows each queue under its own name
            for name in declared_queues.get(place[0], ()):
                rows.add(name, queue_numbers[place[0], name], -1)
        elif kind is not None:
            # What a binding leads to the default exchange gets to no queue, as that knows names only of what is published to it.
            # The binding is met all the same, so that the alternate exchange gets nothing: as if it led back to its source.
            ends = [
                queue_numbers[one.vhost, one.destination]
                if one.destination_type == "queue"
                else numbering.outputs + places[one.vhost, one.destination or one.source]
                for _, one in bound[place]
            ]
            _lay_out(rows, SIMULATED[kind], bound[place], ends, number, numbering)
        nodes.append(_node(rows, kind, exchange, _alternate(declared, exchange, places)))
    return tuple(nodes)


def _lay_out(
    rows: _Rows,
    kind: ExchangeType,
    bound: Sequence[tuple[int, Binding]],
    ends: Sequence[int],
    number: int,
    numbering: Numbering,
) -> None:
    """Enter the conditions of an exchange's bindings; ``ends`` are the targets that these lead to."""
    bindings = [binding for _, binding in bound]
    if kind.choose is not None and len(set(ends)) > 1:  # of one destination one can tell
        rows.candidates = tuple(kind.choose(bindings))
        rows.add(kind.condition(bindings[0]), numbering.choice(number), -1)
        return
    known = {id(binding): (position, end) for (position, binding), end in zip(bound, ends, strict=True)}
    arranged = kind.arrange(bindings) if kind.arrange else [(kind.condition(one), one) for one in bindings]
    for condition, binding in arranged:
        position, end = known[id(binding)]
        rows.add(condition, end, position)
    if kind.strict is not None and any(condition.criteria for condition in rows.conditions):
        rows.add(None, numbering.unsimulated(number), -1)


def _alternate(declared: Declarations, exchange: Exchange, places: dict[tuple[str, str], int]) -> int:
    """Return the node of the alternate exchange, or -1. That of the default exchange has no bindings to go by."""
    alternate = declared.alternate_exchange(exchange) if exchange.name else None
    return -1 if not alternate else places.get((exchange.vhost, alternate), -1)


def _node(rows: _Rows, kind: str | None, exchange: Exchange, alternate: int) -> Node:
    ends = [sorted(targets.items()) for targets in rows.conditions.values()]
    offsets = np.zeros(len(ends) + 1, np.int32)
    np.cumsum([len(targets) for targets in ends], out=offsets[1:])
    return Node(
        vhost=exchange.vhost,
        name=exchange.name,
        internal=exchange.internal,
        type=kind,
        conditions=tuple(condition for condition in rows.conditions if condition is not None),
        offsets=offsets,
        targets=np.array([target for targets in ends for target, _ in targets], np.int32),
        bindings=np.array([position for targets in ends for _, position in targets], np.int32),
        alternate=alternate,
        candidates=rows.candidates,
    )
