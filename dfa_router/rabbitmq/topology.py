"""A RabbitMQ topology as users hold it: what was declared, with routing and a picture.

This module is the top of the package. What a topology holds and what can be looked up in it is in
:mod:`dfa_router.rabbitmq.declared`; how it routes is in :mod:`dfa_router.rabbitmq.routing`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compiler.notebook import mimebundle
from compiler.once import once
from dfa_router.build import DEFAULT_CACHE_BYTES
from dfa_router.counted import counted
from dfa_router.errors import OptionError
from dfa_router.rabbitmq.declared import Declarations
from dfa_router.rabbitmq.nodes import chooses
from dfa_router.rabbitmq.route import Route
from dfa_router.rabbitmq.routing import TopologyRouter
from dfa_router.rabbitmq.rules import rules_of

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Topology", "check_topology"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Topology(Declarations):
    """Everything that decides who gets a message; made by :func:`dfa_router.load_definitions`.

    Two topologies compare by identity; :attr:`TopologyRouter.fingerprint` compares content.
    """

    def __repr__(self) -> str:
        types = Counter(
            exchange.type for exchange in self.exchanges if not exchange.name.startswith("amq.") and exchange.name
        )
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(types.items(), key=str))
        return (
            f"<Topology{' ' + self.source if self.source else ''}: {counted(len(self.vhosts), 'vhost')}, "
            f"{counted(sum(types.values()), 'exchange')}{f' ({kinds})' if kinds else ''}, {counted(len(self.queues), 'queue')}, "
            f"{counted(len(self.bindings), 'binding')}, {counted(len(self.warnings), 'warning')}>"
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return mimebundle(self.graph(), repr(self))

    def compile(
        self, *, engine: str = "dfa", cache_bytes: int = DEFAULT_CACHE_BYTES, broker: str | None = None
    ) -> TopologyRouter:
        """Return a router for this topology; ``cache_bytes`` is shared among its exchanges.

        ``broker`` is the version of RabbitMQ whose rules are to hold where versions differ, such as ``"3.10"``; without it, that
        of :attr:`broker`.

        Raises :class:`OptionError` for an unknown engine, a bound that is no number of bytes, or what is no version.
        """
        return TopologyRouter(self, engine=engine, cache_bytes=cache_bytes, broker=broker)

    def route(self, exchange: str, routing_key: str | bytes, vhost: str = "/", **attributes: Any) -> Route:
        """Tell who gets a message, as the broker would decide it.

        ``attributes`` are what else is known of the message: its ``headers`` (a mapping of names to values; also those of CC and BCC
        count), and ``cc`` and ``bcc``, further routing keys, where they are known apart. Without ``headers``, exchanges that go by
        them are named as not simulated. For many messages see :meth:`compile` and ``dfa_router.spark.route``.

        Raises :class:`UnknownNameError` for an exchange or vhost that is not there, :class:`PublishRefusedError` for a message that the
        broker refuses (to an internal exchange, or with a CC that is no array), and ``TypeError`` for an attribute that no
        type reads.
        """
        return self._router.route(exchange, routing_key, vhost, **attributes)

    @once
    def chooses(self) -> bool:
        """Whether an exchange takes one of its destinations, and nobody can tell which: then results have a column ``one_of``."""
        return chooses(self, rules_of(self.broker))

    @once
    def _router(self) -> TopologyRouter:
        return self.compile()

    def graph(self) -> nx.MultiDiGraph:
        """Return the topology as a networkx graph; see :func:`dfa_router.rabbitmq.graph.topology_graph`."""
        from dfa_router.rabbitmq.graph import topology_graph  # it imports networkx, which only pictures need

        return topology_graph(self)

    to_networkx = graph


def check_topology(topology: object) -> None:
    """Raise :class:`OptionError` for what is no topology, such as its file or a router."""
    if not isinstance(topology, Topology):
        raise OptionError(
            f"topology is {type(topology).__name__}: expected a Topology, as dfa_router.load_definitions(path) returns it"
        )
