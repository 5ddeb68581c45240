"""A topology compiled: one router per exchange, and the walk from exchange to exchange.

A message visits each exchange that it reaches once. The exchange's router tells which binding patterns match; these lead
to queues and to further exchanges; an exchange where nothing at all matches hands the message to its alternate exchange,
if it has one. This is the worklist of RabbitMQ's ``rabbit_exchange:route``, with the same routing key at every hop, a
set of queues as the result (one copy each), and the default exchange set apart: it knows the declared queues by name and
has no alternate.

What this leaves out: CC and BCC headers (one key per message), federation, and exchange types that are not in
:mod:`dfa_router.rabbitmq.exchange_types`.

Rejected: one automaton for the whole topology. Its accept sets would multiply with every hop, while a walk per visited
exchange costs nanoseconds.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dfa_router.build import DEFAULT_CACHE_BYTES, compile, restored
from dfa_router.errors import PublishRefusedError, UnknownNameError
from dfa_router.language.dialects import EXACT, Dialect
from dfa_router.rabbitmq.exchange_types import SIMULATED
from dfa_router.rabbitmq.topology import Topology, no_exchange
from dfa_router.rabbitmq.traversal import Ranks, order
from dfa_router.router import Router
from dfa_router.storage.files import CompiledFile, write_several

if TYPE_CHECKING:
    from dfa_router.rabbitmq.columns import RoutedColumns

__all__ = ["Node", "Route", "TopologyRouter"]

Int32s = npt.NDArray[np.int32]

SMALLEST_SHARE = 256 << 10
"""No exchange's cache is bounded below this (unless the whole bound is): a handful of hot states has to fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Who gets one message."""

    queues: tuple[str, ...]
    """The queues that get a copy, sorted."""
    not_simulated: tuple[str, ...] = ()
    """Exchanges on the way whose type is not simulated, sorted: there may be more queues behind them."""
    exchanges: tuple[str, ...] = ()
    """The exchanges that the message visits, in order."""

    @property
    def routed(self) -> bool:
        """Whether any queue gets the message, as far as it is simulated."""
        return bool(self.queues)


class Node(NamedTuple):
    """An exchange, ready to route; numbered by its place in the router's tuple of nodes."""

    vhost: str
    name: str
    internal: bool
    dialect: Dialect | None
    """How its patterns are read, or None for a type that is not simulated."""
    patterns: tuple[str, ...]
    """The distinct patterns of its bindings."""
    offsets: Int32s
    """Pattern p leads to ``targets[offsets[p]:offsets[p + 1]]``."""
    targets: Int32s
    """A queue's number in the router's sorted queue names, or, from their count upwards, the node of an exchange."""
    alternate: int
    """The node of the alternate exchange, or -1."""


class TopologyRouter:
    """A compiled topology, for one message or for columns of them; made by :meth:`Topology.compile`.

    ``engine`` is any of :func:`dfa_router.engines`; ``cache_bytes`` bounds the caches of all exchanges together (each
    gets a share by the size of its patterns, but at least 256 KiB). Exchanges are compiled when a message first
    reaches them; pickling compiles all, and leaves out what caches hold. Safe to use from several threads.
    """

    def __init__(self, topology: Topology, *, engine: str = "dfa", cache_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        compile((), engine=engine, cache_bytes=cache_bytes)  # refuse wrong options now, not at the first message
        self.engine = engine
        self.cache_bytes = cache_bytes
        self.fingerprint = _fingerprint(topology, engine, cache_bytes)
        self.queue_names = _queue_names(topology)
        self.nodes = _nodes(topology, self.queue_names)
        self.node_numbers = {(node.vhost, node.name): number for number, node in enumerate(self.nodes)}
        self.vhosts = topology.vhosts
        self.source = topology.source
        self._routers: list[Router | None] = [None] * len(self.nodes)
        self._weight = sum(len(pattern) + 1 for node in self.nodes for pattern in node.patterns)
        self._file: CompiledFile | None = None
        self._lock = Lock()

    def __repr__(self) -> str:
        compiled = sum(router is not None for router in self._routers)
        return (
            f"<TopologyRouter {self.fingerprint[:12]}: {len(self.nodes)} exchanges, {compiled} compiled, {self.engine}>"
        )

    def __getstate__(self) -> dict[str, Any]:
        for number in range(len(self.nodes)):
            self.exchange_router(number)
        return {**self.__dict__, "_lock": None, "_file": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()

    def detach(self, path: str | os.PathLike[str]) -> Detached:
        """Compile every exchange, write the automata to a file, and return the rest: little, and quickly pickled.

        Raises :class:`OptionError` for an engine without a compiled form, and ``OSError`` if the path cannot be written.
        """
        routers = {number: self.exchange_router(number) for number in _simulated(self.nodes)}
        write_several(path, {number: router.compiled() for number, router in routers.items() if router is not None})
        nodes = tuple(node._replace(patterns=()) for node in self.nodes)
        return Detached(
            {**self.__dict__, "nodes": nodes, "_routers": [None] * len(nodes), "_lock": None, "_file": None}
        )

    def exchange_router(self, number: int) -> Router | None:
        """Return the router of a node's patterns, or None for an exchange that is not simulated."""
        router = self._routers[number]
        node = self.nodes[number]
        if router is not None or node.dialect is None:
            return router
        with self._lock:
            if self._routers[number] is None and self._file is not None:
                self._routers[number] = restored(self._file.compiled(number))
            elif self._routers[number] is None:
                self._routers[number] = compile(
                    [(pattern, "") for pattern in node.patterns],
                    dialect=node.dialect,
                    engine=self.engine,
                    cache_bytes=self._share(node),
                )
            return self._routers[number]

    @cached_property
    def ranks(self) -> Ranks:
        """The order in which a batch visits the exchanges."""
        onward = []
        for node in self.nodes:
            targets = np.unique(node.targets[node.targets >= len(self.queue_names)]) - len(self.queue_names)
            onward.append([*targets.tolist(), *([node.alternate] if node.alternate >= 0 else [])])
        return order(onward)

    def route(self, exchange: str, routing_key: str | bytes, vhost: str = "/") -> Route:
        """Tell who gets a message; see :meth:`Topology.route`."""
        start = self.node_numbers.get((vhost, exchange))
        if start is None:
            raise UnknownNameError(no_exchange(exchange, vhost, self.vhosts, self.node_numbers, self.source))
        if self.nodes[start].internal:
            raise PublishRefusedError(
                f"exchange {exchange!r} of vhost {vhost!r} is internal: the broker lets no client publish to it; "
                "publish to an exchange that is bound to it"
            )
        queues: set[str] = set()
        unknown: set[str] = set()
        visits = [start]
        seen = {start}
        for number in visits:  # grows while it runs: a worklist
            router = self.exchange_router(number)
            if router is None:
                unknown.add(self.nodes[number].name)
                continue
            for target in self._targets(number, router.match_bindings(routing_key)):
                if target < len(self.queue_names):
                    queues.add(self.queue_names[target])
                elif target - len(self.queue_names) not in seen:
                    seen.add(target - len(self.queue_names))
                    visits.append(target - len(self.queue_names))
        return Route(
            queues=tuple(sorted(queues)),
            not_simulated=tuple(sorted(unknown)),
            exchanges=tuple(self.nodes[number].name for number in visits),
        )

    def route_columns(self, exchanges: Any, keys: Any, vhosts: Any = None, *, vhost: str = "/") -> RoutedColumns:
        """Tell who gets each message of a batch; see :func:`dfa_router.rabbitmq.columns.route_columns`."""
        from dfa_router.rabbitmq.columns import route_columns

        return route_columns(self, exchanges, keys, vhosts, vhost=vhost)

    def _targets(self, number: int, matching: Iterable[int]) -> Iterable[int]:
        """Return where a message goes from a node: what its patterns lead to, or else the alternate exchange."""
        node = self.nodes[number]
        targets = [int(one) for p in matching for one in node.targets[node.offsets[p] : node.offsets[p + 1]]]
        if not targets and node.alternate >= 0:
            return [len(self.queue_names) + node.alternate]
        return targets

    def _share(self, node: Node) -> int:
        weight = sum(len(pattern) + 1 for pattern in node.patterns)
        return max(min(SMALLEST_SHARE, self.cache_bytes), self.cache_bytes * weight // max(1, self._weight))


@dataclass(frozen=True, slots=True)
class Detached:
    """A compiled topology without its automata, which lie in a file; made by :meth:`TopologyRouter.detach`."""

    state: dict[str, Any]

    def attach(self, path: str | os.PathLike[str]) -> TopologyRouter:
        """Return the router again, in whatever process; raises :class:`FileFormatError`.

        The file is mapped and must stay. What an exchange needs of it is checked when a message first reaches it.
        """
        router = TopologyRouter.__new__(TopologyRouter)
        router.__setstate__({**self.state, "_file": CompiledFile(path, _simulated(self.state["nodes"]))})
        return router


def _simulated(nodes: Sequence[Node]) -> list[int]:
    return [number for number, node in enumerate(nodes) if node.dialect is not None]


def _queue_names(topology: Topology) -> tuple[str, ...]:
    bound = {binding.destination for binding in topology.bindings if binding.destination_type == "queue"}
    return tuple(sorted(bound.union(queue.name for queue in topology.queues)))


def _nodes(topology: Topology, queue_names: tuple[str, ...]) -> tuple[Node, ...]:
    """Number the exchanges and lay out what each of their patterns leads to."""
    queue_numbers = {name: number for number, name in enumerate(queue_names)}
    # By name, so that lists of names come out sorted.
    exchanges = sorted(topology.exchanges_by_name.items(), key=lambda item: (item[0][1], item[0][0]))
    places = {place: number for number, (place, _) in enumerate(exchanges)}
    rows: dict[tuple[str, str], dict[str, set[int]]] = {place: {} for place in places}
    for queue in topology.queues:
        rows[queue.vhost, ""][queue.name] = {queue_numbers[queue.name]}
    types = {place: exchange.type for place, exchange in exchanges}
    for binding in topology.bindings:
        place = (binding.vhost, binding.source)
        compiled_as = SIMULATED.get(types[place] or "")
        if compiled_as is None or not binding.source:
            continue
        target = (
            queue_numbers[binding.destination]
            if binding.destination_type == "queue"
            else len(queue_names) + places[binding.vhost, binding.destination]
        )
        rows[place].setdefault(compiled_as.pattern(binding), set()).add(target)
    nodes = []
    for place, exchange in exchanges:
        kind = SIMULATED.get(exchange.type or "")
        offsets = np.zeros(len(rows[place]) + 1, np.int32)
        np.cumsum([len(targets) for targets in rows[place].values()], out=offsets[1:])
        alternate = topology.alternate_exchange(exchange) if exchange.name else None
        nodes.append(
            Node(
                vhost=exchange.vhost,
                name=exchange.name,
                internal=exchange.internal,
                dialect=(kind.dialect if exchange.name else EXACT) if kind else None,
                patterns=tuple(rows[place]),
                offsets=offsets,
                targets=np.fromiter((one for targets in rows[place].values() for one in sorted(targets)), np.int32),
                alternate=-1 if alternate is None else places.get((exchange.vhost, alternate), -1),
            )
        )
    return tuple(nodes)


def _fingerprint(topology: Topology, engine: str, cache_bytes: int) -> str:
    """Return a SHA-256 over everything that decides an answer, in an order of its own."""
    exchanges = sorted(
        (
            exchange.vhost,
            exchange.name,
            exchange.type or "",
            exchange.internal,
            topology.alternate_exchange(exchange) or "",
        )
        for exchange in topology.exchanges_by_name.values()
    )
    queues = sorted((queue.vhost, queue.name) for queue in topology.queues)
    bindings = sorted(
        (one.vhost, one.source, one.destination_type, one.destination, one.routing_key, _canonical(one.arguments))
        for one in topology.bindings
    )
    canonical = json.dumps([engine, cache_bytes, sorted(topology.vhosts), exchanges, queues, bindings])
    return hashlib.sha256(canonical.encode()).hexdigest()


def _canonical(arguments: Mapping[str, Any]) -> str:
    return json.dumps(dict(arguments), sort_keys=True, default=str) if arguments else ""
