"""A topology compiled: one matcher per exchange, and the walk from exchange to exchange.

A message visits each exchange that it reaches once. The exchange's matcher tells which of its bindings' conditions the
message meets; these lead to queues and to further exchanges; an exchange where none is met hands the message to its
alternate exchange, if it has one. This is the worklist of RabbitMQ's ``rabbit_exchange:route``, with the same routing key
at every hop, a set of queues as the result (one copy each), and the default exchange as a special case: it knows the
declared queues by name and has no alternate.

What this leaves out: CC and BCC headers (one key per message), federation, and exchange types that are not in
:mod:`dfa_router.rabbitmq.exchange_types`.

Rejected: one automaton for the whole topology. Its accept sets would multiply with every hop, while a walk per visited
exchange costs nanoseconds.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from dfa_router.build import DEFAULT_CACHE_BYTES, compile
from dfa_router.errors import PublishRefusedError, UnknownNameError
from dfa_router.rabbitmq.columns import RoutedColumns, route_columns
from dfa_router.rabbitmq.declared import Declarations
from dfa_router.rabbitmq.exchange_types import SIMULATED, attributes_read
from dfa_router.rabbitmq.matching import ROUTING_KEY, Matcher
from dfa_router.rabbitmq.names import Names, no_exchange
from dfa_router.rabbitmq.nodes import Node, make_nodes, queue_names_of
from dfa_router.rabbitmq.traversal import Ranks, order
from dfa_router.storage.files import CompiledFile, write_several

__all__ = ["Detached", "Route", "TopologyRouter"]

SMALLEST_SHARE = 256 << 10
"""The smallest bound on an exchange's cache, in bytes, unless the whole bound is smaller: a handful of states that most
keys visit has to fit."""


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


class TopologyRouter:
    """A compiled topology, for one message or for columns of them; made by :meth:`Topology.compile`.

    ``engine`` is any of :func:`dfa_router.engines`; ``cache_bytes`` bounds the caches of all exchanges together (each
    gets a share by the size of its patterns, but at least 256 KiB). Exchanges are compiled when a message first
    reaches them; pickling compiles all, and leaves out what caches hold. Safe to use from several threads.
    """

    def __init__(self, declared: Declarations, *, engine: str = "dfa", cache_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        """Lay the topology out; raises :class:`OptionError` for options that are wrong."""
        compile((), engine=engine, cache_bytes=cache_bytes)  # refuse wrong options now, not at the first message
        self.engine = engine
        self.cache_bytes = cache_bytes
        self.fingerprint = _fingerprint(declared, engine, cache_bytes)
        self.queue_names = queue_names_of(declared)
        self.nodes = make_nodes(declared, self.queue_names)
        self.node_numbers = {(node.vhost, node.name): number for number, node in enumerate(self.nodes)}
        self.vhosts = declared.vhosts
        self.source = declared.source
        self._matchers: list[Matcher | None] = [None] * len(self.nodes)
        self._weight = sum(node.weight for node in self.nodes)
        self._file: CompiledFile | None = None
        self._in_file: tuple[int, ...] = ()
        self._lock = Lock()

    def __repr__(self) -> str:
        compiled = sum(matcher is not None for matcher in self._matchers)
        return (
            f"<TopologyRouter {self.fingerprint[:12]}: {len(self.nodes)} exchanges, {compiled} compiled, {self.engine}>"
        )

    def __getstate__(self) -> dict[str, Any]:
        for number in range(len(self.nodes)):
            self.matcher(number)
        return {**self.__dict__, "_lock": None, "_file": None, "_in_file": ()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()

    def detach(self, path: str | os.PathLike[str]) -> Detached:
        """Compile every exchange, write the automata to a file, and return the rest: little, and quickly pickled.

        Raises :class:`OptionError` for an engine without a compiled form, and ``OSError`` if the path cannot be written.
        """
        stored = {}
        for number, node in enumerate(self.nodes):
            store = SIMULATED[node.type].store if node.type is not None else None
            if store is not None:
                stored[number] = store(self.matcher(number))
        write_several(path, stored)
        nodes = tuple(
            node._replace(conditions=()) if number in stored else node for number, node in enumerate(self.nodes)
        )
        matchers = [None if number in stored else self.matcher(number) for number in range(len(nodes))]
        rest = {"nodes": nodes, "_matchers": matchers, "_in_file": tuple(stored), "_lock": None, "_file": None}
        return Detached({**self.__dict__, **rest})

    def matcher(self, number: int) -> Matcher | None:
        """Return the matcher of a node, or None for an exchange that is not simulated."""
        matcher = self._matchers[number]
        node = self.nodes[number]
        if matcher is not None or node.type is None:
            return matcher
        kind = SIMULATED[node.type]
        with self._lock:
            if self._matchers[number] is None:
                if number in self._in_file and self._file is not None and kind.restore is not None:
                    self._matchers[number] = kind.restore(self._file.compiled(number))
                else:
                    self._matchers[number] = kind.compile(node.conditions, self.engine, self._share(node))
            return self._matchers[number]

    @cached_property
    def names(self) -> Names:
        """What there is in place of names that are not there."""
        return Names(self.vhosts, self.node_numbers)

    @cached_property
    def ranks(self) -> Ranks:
        """The order in which a batch visits the exchanges."""
        onward = []
        for node in self.nodes:
            targets = np.unique(node.targets[node.targets >= len(self.queue_names)]) - len(self.queue_names)
            onward.append([*targets.tolist(), *([node.alternate] if node.alternate >= 0 else [])])
        return order(onward)

    def route(self, exchange: str, routing_key: str | bytes, vhost: str = "/", **attributes: Any) -> Route:
        """Tell who gets a message; see :meth:`Topology.route`."""
        _check_attributes(attributes)
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
        message = {**attributes, ROUTING_KEY: routing_key}
        for number in visits:  # a worklist: the loop appends to it
            matcher = self.matcher(number)
            if matcher is None:
                unknown.add(self.nodes[number].name)
                continue
            for target in self._targets(number, matcher.match(message)):
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

    def route_columns(
        self, exchanges: Any, keys: Any, vhosts: Any = None, *, vhost: str = "/", **attributes: Any
    ) -> RoutedColumns:
        """Tell who gets each message of a batch; see :func:`dfa_router.rabbitmq.columns.route_columns`.

        Raises ``TypeError`` for an attribute that no exchange type reads.
        """
        _check_attributes(attributes)
        return route_columns(self, exchanges, keys, vhosts, vhost=vhost, attributes=attributes)

    def _targets(self, number: int, matching: Iterable[int]) -> Iterable[int]:
        """Return where a message goes from a node: where met conditions lead to, or else the alternate exchange."""
        node = self.nodes[number]
        targets = [int(one) for c in matching for one in node.targets[node.offsets[c] : node.offsets[c + 1]]]
        if not targets and node.alternate >= 0:
            return [len(self.queue_names) + node.alternate]
        return targets

    def _share(self, node: Node) -> int:
        return max(min(SMALLEST_SHARE, self.cache_bytes), self.cache_bytes * node.weight // max(1, self._weight))


@dataclass(frozen=True, slots=True)
class Detached:
    """A compiled topology without its automata, which lie in a file; made by :meth:`TopologyRouter.detach`."""

    state: dict[str, Any]

    def attach(self, path: str | os.PathLike[str]) -> TopologyRouter:
        """Return the router again, in whatever process; raises :class:`FileFormatError`.

        The file is mapped: it must stay, and nobody may write into it. What an exchange needs of it is checked when a message first reaches it.
        """
        router = TopologyRouter.__new__(TopologyRouter)
        router.__setstate__({**self.state, "_file": CompiledFile(path, self.state["_in_file"])})
        return router


def _check_attributes(given: Iterable[str]) -> None:
    """Raise ``TypeError``, as for any unknown argument, where no exchange type reads an attribute that was given."""
    read = attributes_read(SIMULATED)
    for name in given:
        if name not in read:
            raise TypeError(
                f"unexpected argument {name!r}: besides the routing key, the simulated exchange types read "
                f"{', '.join(read) or 'nothing'} of a message"
            )


def _fingerprint(declared: Declarations, engine: str, cache_bytes: int) -> str:
    """Return a SHA-256 over everything that decides an answer; it does not depend on the order of declarations."""
    exchanges = sorted(
        (
            exchange.vhost,
            exchange.name,
            exchange.type or "",
            exchange.internal,
            declared.alternate_exchange(exchange) or "",
        )
        for exchange in declared.exchanges_by_name.values()
    )
    queues = sorted((queue.vhost, queue.name) for queue in declared.queues)
    bindings = sorted(
        (one.vhost, one.source, one.destination_type, one.destination, one.routing_key, _canonical(one.arguments))
        for one in declared.bindings
    )
    canonical = json.dumps([engine, cache_bytes, sorted(declared.vhosts), exchanges, queues, bindings])
    return hashlib.sha256(canonical.encode()).hexdigest()


def _canonical(arguments: Mapping[str, Any]) -> str:
    return json.dumps(dict(arguments), sort_keys=True, default=str) if arguments else ""
