"""RabbitMQ topologies: read from a definitions file, asked who gets a message.

>>> from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
>>> topology = topology_of(
...     exchanges=[Exchange(name="market", type="topic")],
...     queues=[Queue(name="equities")],
...     bindings=[Binding(source="market", destination="equities", routing_key="stock.#")],
... )
>>> topology.route("market", "stock.nyse.ibm").queues
('equities',)

A ``Binding`` here is a broker's: from a source to a destination. :class:`dfa_router.Binding` is another value, a pattern
and a destination, from which ``dfa_router.compile`` makes a router.
"""

from __future__ import annotations

from dfa_router.rabbitmq.columns import RoutedBatch, RoutedColumns
from dfa_router.rabbitmq.declared import Binding, Exchange, Policy, Queue, TopologyWarning
from dfa_router.rabbitmq.definitions import load_definitions, topology_of
from dfa_router.rabbitmq.limits import QueueLimits
from dfa_router.rabbitmq.route import Candidate, OneOf, Route
from dfa_router.rabbitmq.routing import TopologyRouter
from dfa_router.rabbitmq.topology import Topology

__all__ = [
    "Binding",
    "Candidate",
    "Exchange",
    "OneOf",
    "Policy",
    "Queue",
    "QueueLimits",
    "Route",
    "RoutedBatch",
    "RoutedColumns",
    "Topology",
    "TopologyRouter",
    "TopologyWarning",
    "load_definitions",
    "topology_of",
]
