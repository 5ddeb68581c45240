"""By which bindings a message gets to its queues: the broker's walk from exchange to exchange, one message at a time.

The same walk as that of :mod:`dfa_router.rabbitmq.routing`, which remembers what it came by, and takes several routing keys, as a
message with CC or BCC has them: at each exchange the bindings that any of them matches count, and the alternate exchange is asked
where none matches.

What this leaves out: speed. Columns of messages go through :meth:`TopologyRouter.route_batch`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from dfa_router.rabbitmq import Binding, Topology, TopologyRouter
from dfa_router.rabbitmq.exchange_types import SIMULATED

__all__ = ["Paths", "Walk"]


@dataclass(slots=True)
class Walk:
    """Where a message went."""

    queues: dict[str, list[int]] = field(default_factory=dict)
    """For each queue the positions of the bindings, or none for the default exchange's own, that led there last."""
    entered: dict[str, int | None] = field(default_factory=dict)
    """For each exchange visited the position of the first binding that led there; None for the first one, and for alternates."""
    not_simulated: set[str] = field(default_factory=set)
    """Exchanges on the way whose type is not simulated."""


class Paths:
    """The bindings of a topology by what they demand."""

    def __init__(self, topology: Topology, router: TopologyRouter) -> None:
        """Index the bindings; ``router`` is that of the topology."""
        self.topology, self.router = topology, router
        self._by_condition: dict[tuple[int, Hashable], list[int]] = {}
        for position, binding in enumerate(topology.bindings):
            number = router.node_numbers[binding.vhost, binding.source]
            kind = router.nodes[number].type
            if kind is not None and binding.source:
                condition = SIMULATED[kind].condition(binding)
                self._by_condition.setdefault((number, condition), []).append(position)

    def walk(self, vhost: str, exchange: str, keys: Sequence[str]) -> Walk | None:
        """Return where a message with these routing keys goes, or None where there is no such exchange."""
        start = self.router.node_numbers.get((vhost, exchange))
        if start is None:
            return None
        walk = Walk(entered={exchange: None})
        visits, seen = [start], {start}
        for number in visits:  # a worklist: the loop appends to it
            for target in self._leave(number, keys, walk):
                if target not in seen:
                    seen.add(target)
                    visits.append(target)
        return walk

    def _leave(self, number: int, keys: Sequence[str], walk: Walk) -> list[int]:
        """Note where a message goes from an exchange; return the exchanges among that."""
        matcher, node = self.router.matcher(number), self.router.nodes[number]
        if matcher is None:
            walk.not_simulated.add(node.name)
            return []
        met = sorted({condition for key in keys for condition in matcher.match({"routing_key": key})})
        if not met:
            if node.alternate >= 0:
                walk.entered.setdefault(self.router.nodes[node.alternate].name, None)
                return [node.alternate]
            return []
        if not node.name:
            for condition in met:
                walk.queues.setdefault(str(node.conditions[condition]), [])
            return []
        onward = []
        for position in sorted(one for c in met for one in self._by_condition[number, node.conditions[c]]):
            binding = self.topology.bindings[position]
            if binding.destination_type == "queue":
                walk.queues.setdefault(binding.destination, []).append(position)
            else:
                walk.entered.setdefault(binding.destination, position)
                onward.append(self.router.node_numbers[binding.vhost, binding.destination])
        return onward

    def described(self, position: int) -> str:
        """Return a binding as people write it.

        >>> from dfa_router.rabbitmq import Binding, Exchange, topology_of
        >>> topology = topology_of(exchanges=[Exchange(name="x", type="topic")],
        ...                        bindings=[Binding(source="x", destination="q", routing_key="a.#")])
        >>> Paths(topology, topology.compile()).described(0)
        'bindings[0]: x --a.#--> q'
        """
        return f"bindings[{position}]: {arrow(self.topology.bindings[position])}"


def arrow(binding: Binding) -> str:
    """Return a binding as an arrow."""
    kind = "exchange " if binding.destination_type == "exchange" else ""
    return f"{binding.source} --{binding.routing_key}--> {kind}{binding.destination}"
