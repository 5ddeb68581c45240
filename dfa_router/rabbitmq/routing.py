"""A topology compiled: who gets a message, or each message of a column.

A message visits each exchange that it reaches once. The exchange's matcher tells which of its bindings' conditions the
message meets; these lead to queues and to further exchanges; an exchange where none is met hands the message to its
alternate exchange, if it has one. The default exchange is a special case: it knows the declared queues by name, has no
alternate, and is none.

What this leaves out: federation, shovels, what becomes of a message in a queue, and exchange types that are not in
:mod:`dfa_router.rabbitmq.exchange_types`.

A single message goes from exchange to exchange step by step (:mod:`dfa_router.rabbitmq.one_message`). Columns go through the relay of
:mod:`dfa_router.rabbitmq.shared_automaton` where an engine is an automaton and kernels are compiled, and else through
:mod:`dfa_router.rabbitmq.hops`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from compiler.criteria.vocabulary import Vocabulary
from compiler.kernels.relay_tables import Directory
from compiler.once import once
from compiler.prepare import jit_enabled
from compiler.relay.plain_batches import ListsOfNames
from compiler.values import CacheStats, Int32s, SetBatch
from dfa_router.arrow.lists import Texts, texts_of
from dfa_router.build import DEFAULT_CACHE_BYTES, compile
from dfa_router.counted import counted
from dfa_router.engines.automaton import bytes_of
from dfa_router.engines.registry import engine_spec, restorer
from dfa_router.errors import OptionError, PublishRefusedError, UnknownNameError
from dfa_router.rabbitmq.columns import RoutedBatch, RoutedColumns, route_batch, route_columns
from dfa_router.rabbitmq.declared import Declarations
from dfa_router.rabbitmq.exchange_types import SIMULATED, check_attributes
from dfa_router.rabbitmq.fingerprint import fingerprint_of
from dfa_router.rabbitmq.headers.columns import HeaderRows, met_criteria, read_plainly
from dfa_router.rabbitmq.headers.matching import HeadersMatcher
from dfa_router.rabbitmq.hops import route_by_hops
from dfa_router.rabbitmq.matching import HEADERS, Columns, Matcher
from dfa_router.rabbitmq.name_lists import new_block
from dfa_router.rabbitmq.names import Names, no_exchange
from dfa_router.rabbitmq.nodes import Node, Numbering, make_nodes, queues_of
from dfa_router.rabbitmq.one_message import message_of, way_of
from dfa_router.rabbitmq.places import Places
from dfa_router.rabbitmq.plain_columns import PlainColumns, plain_columns
from dfa_router.rabbitmq.route import OneOf, Route
from dfa_router.rabbitmq.rules import rules_of
from dfa_router.rabbitmq.shared_automaton import SharedAutomaton, compile_shared
from dfa_router.rabbitmq.stations import Stations
from dfa_router.rabbitmq.traversal import Ranks, order

__all__ = ["Detached", "TopologyRouter"]

SMALLEST_SHARE = 256 << 10
"""The smallest bound on an exchange's cache, in bytes, unless the whole bound is smaller: a handful of states that most
keys visit has to fit."""


class TopologyRouter:
    """A compiled topology, for one message or for columns of them; made by :meth:`Topology.compile`.

    ``engine`` is any of :func:`dfa_router.engines`; ``cache_bytes`` bounds all caches together, but for 256 KiB that a large batch
    may always have. With the engines that are automata, all exchanges share one. Exchanges are compiled when the first message
    comes; pickling compiles all, and leaves out what caches hold. Safe to use from several threads.
    """

    def __init__(
        self,
        declared: Declarations,
        *,
        engine: str = "dfa",
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        broker: str | None = None,
    ) -> None:
        """Lay the topology out; raises :class:`OptionError` for options that are wrong."""
        capacity = bytes_of(cache_bytes)
        if capacity is None:  # as exchanges have shares of it
            raise OptionError("cache_bytes is None: expected a number of bytes from 0 up; leave it out for the default")
        compile((), engine=engine, cache_bytes=capacity)  # refuse wrong options now, not at the first message
        self.engine = engine
        self.cache_bytes = capacity
        self.broker = declared.broker if broker is None else broker
        rules = rules_of(self.broker)
        self.queues = queues_of(declared)
        self.nodes = make_nodes(declared, self.queues, rules)
        self.fingerprint = fingerprint_of(declared, self.nodes, engine, capacity, rules)
        self.numbering = Numbering(len(self.queues), len(self.nodes))
        self.strict_values = rules.strict_values
        self.chooses = any(node.candidates for node in self.nodes)
        self.unheld = declared.unheld
        """Queues that hold no message: what is not consumed at once is gone."""
        self.node_numbers = {(node.vhost, node.name): number for number, node in enumerate(self.nodes)}
        self.vhosts = declared.vhosts
        self.source = declared.source
        self._matchers: dict[int, Matcher] = {}
        self._weight = sum(node.weight for node in self.nodes)
        self._automata: dict[int, SharedAutomaton] = {}
        """The one that all exchanges share, once it is made, under 0."""

    def __repr__(self) -> str:
        state = "compiled" if self._automata or self._matchers else "not compiled yet"
        return (
            f"<TopologyRouter {self.fingerprint[:12]}: {counted(len(self.nodes), 'exchange')}, {state}, {self.engine}>"
        )

    def __getstate__(self) -> dict[str, Any]:
        for number in range(len(self.nodes)):
            self.matcher(number)
        own = {number: matcher for number, matcher in self._matchers.items() if not self._is_shared(number)}
        # These are made again when they are needed.
        made = {"places", "queue_names", "queue_texts", "exchange_texts", "names", "ranks"}
        state = {name: value for name, value in self.__dict__.items() if name not in made}
        return {**state, "_matchers": own}

    def detach(self, path: str | os.PathLike[str]) -> Detached:
        """Compile every exchange, write the automaton to a file, and return the rest: little, and quickly pickled.

        Raises :class:`OptionError` for an engine without a compiled form, and ``OSError`` if the path cannot be written.
        """
        restorer(self.engine)
        state = self.__getstate__()
        shared = self._shared()
        shared.write(path)
        nodes = tuple(
            node._replace(conditions=()) if self._is_shared(number) else node for number, node in enumerate(self.nodes)
        )
        return Detached({**state, "nodes": nodes, "_automata": {}}, shared.stations)

    def matcher(self, number: int) -> Matcher | None:
        """Return the matcher of a node, or None for an exchange that is not simulated."""
        matcher = self._matchers.get(number)
        node = self.nodes[number]
        if matcher is not None or node.type is None:
            return matcher
        if self._is_shared(number):
            made: Matcher = self._shared().matcher(number)
        elif SIMULATED[node.type].strict is not None:
            made = HeadersMatcher(self.vocabulary, cast("Any", node.conditions), strict=self.strict_values)
        else:
            made = SIMULATED[node.type].compile(node.conditions, self.engine, self._share(node))
        # No lock: several threads may make one, and all use the first.
        return self._matchers.setdefault(number, made)

    def _is_shared(self, number: int) -> bool:
        """Tell whether an exchange asks the automaton of all exchanges."""
        kind = self.nodes[number].type
        return kind is not None and SIMULATED[kind].tokens is not None and self._is_automaton

    @once
    def _is_automaton(self) -> bool:
        return engine_spec(self.engine).restore is not None

    def _shared(self) -> SharedAutomaton:
        """Return the automaton of all exchanges, compiling it first if need be."""
        if not self._automata:
            made = compile_shared(self.nodes, len(self.queues), self.engine, self.cache_bytes)
            self._automata.setdefault(0, made)  # no lock, as above
        return self._automata[0]

    @once
    def vocabulary(self) -> Vocabulary:
        """The criteria of all headers exchanges."""
        kinds = [(node, SIMULATED[node.type]) for node in self.nodes if node.type is not None]
        demands = [cast("Any", one) for node, kind in kinds if kind.strict is not None for one in node.conditions]
        return Vocabulary(demands)

    @once
    def queue_names(self) -> tuple[str, ...]:
        """The names of the queues by number, sorted within a vhost."""
        return tuple(name for _, name in self.queues)

    @once
    def queue_texts(self) -> Texts:
        """The same, as bytes for kernels."""
        return texts_of(self.queue_names, 0)

    @once
    def exchange_texts(self) -> Texts:
        """The names of the exchanges by number, as bytes for kernels."""
        return texts_of((node.name for node in self.nodes), len(self.queues))

    @once
    def places(self) -> Places:
        """The exchanges that clients may publish to."""
        return Places(self.nodes, self.node_numbers, self.names, jit=jit_enabled())

    @once
    def names(self) -> Names:
        """What there is in place of names that are not there."""
        return Names(self.vhosts, self.node_numbers)

    @once
    def ranks(self) -> Ranks:
        """The order in which a batch visits the exchanges."""
        return order([node.onward(self.numbering.outputs) for node in self.nodes])

    def route(self, exchange: str, routing_key: str | bytes, vhost: str = "/", **attributes: Any) -> Route:
        """Tell who gets a message; see :meth:`Topology.route`."""
        check_attributes(attributes)
        try:  # which costs nothing, where a look at the types would
            start = self.node_numbers.get((vhost, exchange))
        except TypeError:  # a list, for instance, has no hash, and is no name
            start = None
        if start is None:
            raise UnknownNameError(no_exchange(exchange, vhost, self.vhosts, self.node_numbers, self.source))
        if self.nodes[start].internal:
            raise PublishRefusedError(
                f"exchange {exchange!r} of vhost {vhost!r} is internal: the broker lets no client publish to it; "
                "publish to an exchange that is bound to it"
            )
        way = way_of(message_of(routing_key, attributes), start, self.nodes, self.numbering, self.matcher)
        found, number_of = way.found, self.numbering
        remarks = range(number_of.unsimulated(0), number_of.choice(0)), range(number_of.choice(0), number_of.outputs)
        unsimulated, chosen = ([self.nodes[one - rest.start] for one in found if one in rest] for rest in remarks)
        queues = [self.queue_names[one] for one in found if one < number_of.queues]
        chances = [one for node in chosen for one in node.candidates if one.destination_type == "queue"]
        reached = {*queues, *(one.destination for one in chances)}
        return Route(
            queues=tuple(queues),
            not_simulated=tuple(node.name for node in unsimulated),
            exchanges=tuple(self.nodes[number].name for number in way.visits),
            bindings=way.bindings,
            one_of=tuple(OneOf(exchange=node.name, candidates=node.candidates) for node in chosen),
            unheld=tuple(name for name in sorted(reached) if (vhost, name) in self.unheld),
        )

    def route_columns(
        self, exchanges: Any, keys: Any, vhosts: Any = None, *, vhost: str = "/", **attributes: Any
    ) -> RoutedColumns:
        """Tell who gets each message of a batch, as a row of Arrow columns for each.

        The same as :meth:`route_batch` and :meth:`RoutedBatch.columns`.

        >>> from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
        >>> topology = topology_of(exchanges=[Exchange(name="x", type="topic")], queues=[Queue(name="q")],
        ...                        bindings=[Binding(source="x", destination="q", routing_key="a.#")])
        >>> columns = topology.compile().route_columns(["x", "x", "y"], ["a.b", None, "a"])
        >>> columns.queues.to_pylist()
        [['q'], [], []]
        >>> columns.problem.to_pylist()[1]
        'routing_key is null'
        """
        _check_batch(vhost, attributes)
        return route_columns(self, exchanges, keys, vhosts, vhost=vhost, attributes=attributes)

    def route_batch(
        self, exchanges: Any, keys: Any, vhosts: Any = None, *, vhost: str = "/", **attributes: Any
    ) -> RoutedBatch:
        """Tell who gets each message of a batch, in compact form: a route number per message, and each route once.

        ``exchanges``, ``keys`` and ``vhosts`` are of one length: Arrow columns of text or bytes, columns of polars, pandas or
        another library that has Arrow's PyCapsule interface, or lists; without ``vhosts`` all messages are of vhost
        ``vhost``. ``attributes`` are such columns, by name, of what exchange types read of a message besides its routing key.

        Raises :class:`MessagesError` for columns of different lengths, :class:`KeyTypeError` for a column of another type,
        :class:`UnknownNameError` for a ``vhost`` that is no text, and ``TypeError`` for an attribute that no exchange type reads.
        """
        _check_batch(vhost, attributes)
        return route_batch(self, exchanges, keys, vhosts, vhost=vhost, attributes=attributes)

    def send(self, starts: Int32s, columns: Columns) -> SetBatch:
        """Send each message from an exchange; see :class:`dfa_router.rabbitmq.columns.CompiledTopology`."""
        headers = columns.get(HEADERS)
        if isinstance(headers, HeaderRows):
            columns = {**columns, HEADERS: met_criteria(headers, self.vocabulary)}
        found = None
        if self._is_automaton:
            found = self._shared().send(starts, columns, self._asked)
        if found is None:
            found = route_by_hops(self.nodes, self.numbering, self.ranks, self.matcher, starts, columns)
        return found

    def send_plain(
        self, exchanges: Any, keys: Any, vhosts: Any, vhost: str, attributes: Mapping[str, Any]
    ) -> SetBatch | None:
        """Send messages with nothing out of the ordinary; see :class:`dfa_router.rabbitmq.columns.CompiledTopology`."""
        found = self._plain(exchanges, keys, vhosts, vhost, attributes)
        return None if found is None else self._shared().send_plain(*found, self._asked)

    def name_plain(
        self, exchanges: Any, keys: Any, vhosts: Any, vhost: str, attributes: Mapping[str, Any]
    ) -> ListsOfNames | None:
        """Name who gets such messages; see :class:`dfa_router.rabbitmq.columns.CompiledTopology`."""
        found = self._plain(exchanges, keys, vhosts, vhost, attributes)
        if found is None:
            return None
        return self._shared().name_plain(*found, (self.queue_texts, self.exchange_texts), new_block, self._asked)

    def _plain(
        self, exchanges: Any, keys: Any, vhosts: Any, vhost: str, attributes: Mapping[str, Any]
    ) -> tuple[PlainColumns, Columns, Directory] | None:
        """Return where columns lie, what else is known of them, and where exchanges are found; None if these are not plain."""
        directory = self.places.directory if self._is_automaton else None
        if directory is None or (attributes and attributes.keys() - {HEADERS}):
            return None
        found = plain_columns(exchanges, keys, vhosts, self.places.column_of(vhost))
        if found is None:
            return None
        if HEADERS not in attributes:
            return found, {}, directory
        headers = read_plainly(attributes[HEADERS], found.rows, strict=self.strict_values)
        if headers is None:
            return None
        return found, {HEADERS: met_criteria(headers, self.vocabulary)}, directory

    def _asked(self, number: int) -> Matcher:
        matcher = self.matcher(number)
        assert matcher is not None
        return matcher

    def stats(self) -> CacheStats:
        """Describe the caches of all exchanges, together."""
        own = [matcher.stats() for number, matcher in self._matchers.items() if not self._is_shared(number)]
        return sum((automaton.stats() for automaton in self._automata.values()), sum(own, CacheStats()))

    def _share(self, node: Node) -> int:
        return max(min(SMALLEST_SHARE, self.cache_bytes), self.cache_bytes * node.weight // max(1, self._weight))


@dataclass(frozen=True, slots=True)
class Detached:
    """A compiled topology without its automaton, which lies in a file; made by :meth:`TopologyRouter.detach`."""

    state: dict[str, Any]
    stations: Stations

    def attach(self, path: str | os.PathLike[str]) -> TopologyRouter:
        """Return the router again, in whatever process; raises :class:`FileFormatError`.

        The file is checked and mapped: it must stay, and nobody may write into it.
        """
        router = TopologyRouter.__new__(TopologyRouter)
        shared = SharedAutomaton.read(path, self.stations, self.state["engine"], self.state["cache_bytes"])
        router.__dict__.update({**self.state, "_automata": {0: shared}})
        return router


def _check_batch(vhost: object, attributes: Mapping[str, Any]) -> None:
    if not isinstance(vhost, str):
        raise UnknownNameError(f"the vhost is {vhost!r} ({type(vhost).__name__}): expected str")
    check_attributes(attributes)
