"""How many messages each binding takes: a topology in which every binding also leads to a mark of its own.

A mark is a queue that nobody else is bound to. So one pass of routing tells the queues of a message and the bindings that it met on
its way, over exchanges, alternates and all; nothing else has to know of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from dfa_router.rabbitmq import Binding, RoutedBatch, Topology, TopologyRouter, topology_of

__all__ = ["Marked"]

MARK = "\x00binding "
"""How the name of a mark begins; no client names a queue so."""

MARKED = {"direct", "fanout", "topic", "headers"}
"""Types of exchanges whose bindings are marked. Where one of several bindings is chosen, a mark would be another one to choose."""

Int64s = npt.NDArray[np.int64]


class Marked:
    """A topology with marks, compiled."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.router: TopologyRouter = topology_of(
            exchanges=topology.exchanges,
            queues=topology.queues,
            bindings=(*topology.bindings, *_marks(topology)),
            policies=topology.policies,
            vhosts=topology.vhosts,
            broker=topology.broker,
        ).compile()
        names = self.router.queues
        bindings = [_position(name) for _, name in names]
        self.binding_of = np.array([-1 if one is None else one for one in bindings], np.int64)
        """For each output of the router its binding, or -1 for a queue."""
        self.queues = [place for place, binding in zip(names, bindings, strict=True) if binding is None]
        """The queues as (vhost, name)."""
        self.is_marked = np.zeros(len(topology.bindings), np.bool_)
        """Which bindings are counted."""
        self.is_marked[self.binding_of[self.binding_of >= 0]] = True
        self._queue_of = np.full(len(names), -1, np.int64)
        self._queue_of[self.binding_of < 0] = np.arange(len(self.queues))

    def counts(self, batch: RoutedBatch, messages: Int64s) -> tuple[Int64s, Int64s]:
        """Return how much each binding and each queue gets, where each route of a batch stands for so many messages, or bytes."""
        outputs, weights = self._outputs(batch, messages)
        bindings, queues = self.binding_of[outputs], self._queue_of[outputs]
        return (
            _sums(bindings, weights, len(self.topology.bindings)),
            _sums(queues, weights, len(self.queues)),
        )

    def copies(self, batch: RoutedBatch) -> Int64s:
        """Return in how many queues each route ends."""
        outputs, routes = self._outputs(batch, np.arange(len(batch.routes.offsets) - 1))
        return np.bincount(routes[self._queue_of[outputs] >= 0], minlength=len(batch.routes.offsets) - 1)

    def undecided(self, batch: RoutedBatch) -> npt.NDArray[np.bool_]:
        """Return which routes reach an exchange that is not simulated, or that chooses by chance."""
        remarks = np.concatenate(([0], np.cumsum(batch.routes.positions >= len(self.binding_of))))[batch.routes.offsets]
        return np.asarray(np.diff(remarks) > 0)

    def _outputs(self, batch: RoutedBatch, values: Int64s) -> tuple[Int64s, Int64s]:
        """Return the outputs of all routes that are queues or marks, each with its route's value."""
        outputs = batch.routes.positions.astype(np.int64)
        spread = np.repeat(values, np.diff(batch.routes.offsets))
        here = outputs < len(self.binding_of)
        return outputs[here], spread[here]


def _sums(places: Int64s, weights: Int64s, length: int) -> Int64s:
    known = places >= 0
    found = np.zeros(length, np.int64)
    np.add.at(found, places[known], weights[known])
    return found


def _marks(topology: Topology) -> Iterator[Binding]:
    for position, binding in enumerate(topology.bindings):
        if topology.exchanges_by_name[binding.vhost, binding.source].type not in MARKED:
            continue
        yield Binding(
            vhost=binding.vhost,
            source=binding.source,
            destination=f"{MARK}{position}",
            routing_key=binding.routing_key,
            arguments=binding.arguments,
        )


def _position(name: str) -> int | None:
    return int(name.removeprefix(MARK)) if name.startswith(MARK) else None
