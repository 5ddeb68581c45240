"""Routing of Arrow columns: who gets each message of a batch, and what was wrong with a row.

No row is lost: a row that cannot be routed (no key, no such exchange) has no queues and a sentence in ``problem``; a row
that is odd but can be routed (a key longer than AMQP carries, bytes that are no UTF-8) has both.

The messages of a batch take few *routes*. So the answer is a route number for each row and a table of routes
(:class:`RoutedBatch`); lists of names for each row are made of it at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from compiler.once import once
from compiler.prepare import jit_enabled
from compiler.relay.plain_batches import ListsOfNames
from compiler.values import Int32s, SetBatch
from dfa_router.arrow.lists import Texts, empty_lists
from dfa_router.errors import MessagesError
from dfa_router.rabbitmq.byte_columns import bytes_array, plain_array
from dfa_router.rabbitmq.copies import BCC, CC, Copies
from dfa_router.rabbitmq.exchange_types import EVERY_TYPE_READS
from dfa_router.rabbitmq.headers.columns import read_headers
from dfa_router.rabbitmq.matching import FURTHER_KEYS, HEADERS, ROUTING_KEY
from dfa_router.rabbitmq.name_lists import FEW_ROWS, named_lists, written_lists
from dfa_router.rabbitmq.nodes import Node, Numbering
from dfa_router.rabbitmq.places import Places
from dfa_router.rabbitmq.problems import Problems, check_keys
from dfa_router.rabbitmq.routed_columns import CHOICE, RoutedColumns

__all__ = ["CompiledTopology", "RoutedBatch", "RoutedColumns", "route_batch", "route_columns"]


_CHOICES = pa.list_(CHOICE)


class CompiledTopology(Protocol):
    """What routing asks of a compiled topology; :class:`dfa_router.rabbitmq.routing.TopologyRouter` is one."""

    @property
    def places(self) -> Places:
        """Where messages are published."""

    @property
    def queue_names(self) -> Sequence[str]:
        """The names of the queues by number, sorted within a vhost."""

    @property
    def queue_texts(self) -> Texts:
        """The same, as bytes."""

    @property
    def exchange_texts(self) -> Texts:
        """The names of the exchanges by number, as bytes."""

    @property
    def nodes(self) -> Sequence[Node]:
        """The exchanges by number."""

    @property
    def numbering(self) -> Numbering:
        """How queues and remarks on exchanges are numbered."""

    @property
    def chooses(self) -> bool:
        """Whether any exchange takes one of its destinations, and nobody can tell which."""

    @property
    def strict_values(self) -> bool:
        """Whether values of headers are compared as since RabbitMQ 3.13."""

    def send(self, starts: Int32s, columns: Mapping[str, Any]) -> SetBatch:
        """Send each row from an exchange, or nowhere if that is below 0, and return what it gets to.

        That are queues, and remarks on exchanges, as the numbering says; ascending.
        """

    def send_plain(
        self, exchanges: Any, keys: Any, vhosts: Any, vhost: str, attributes: Mapping[str, Any]
    ) -> SetBatch | None:
        """Do the same for columns as :func:`route_batch` has them; None for any that are not plain.

        That are those with nulls or in another form, those with attributes other than maps of headers, and any with a row that has a
        problem or further keys.
        """

    def name_plain(
        self, exchanges: Any, keys: Any, vhosts: Any, vhost: str, attributes: Mapping[str, Any]
    ) -> ListsOfNames | None:
        """Do the same, and name what each message gets to; None also for over 2^31 names."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RoutedBatch:
    """Who gets each message of a batch, in compact form.

    >>> from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
    >>> topology = topology_of(exchanges=[Exchange(name="x", type="topic")],
    ...                        bindings=[Binding(source="x", destination="q", routing_key="a.#")])
    >>> batch = topology.compile().route_batch(["x", "x", "x"], ["a.b", "b", "a"])
    >>> [batch.queues[number].as_py() for number in batch.route_ids]
    [['q'], [], ['q']]
    """

    topology: CompiledTopology
    routes: SetBatch
    """For each message the number of its route, and the routes as sets: of queues and of remarks on exchanges, as the topology's
    numbering says. Equal routes may occur more than once."""
    problem: pa.StringArray
    """What was wrong with each row, or null."""

    @property
    def route_ids(self) -> Int32s:
        """For each message the number of its route."""
        return self.routes.set_ids

    @once
    def queues(self) -> pa.ListArray:
        """list<string>: the queues of each route, sorted."""
        count = len(self.topology.queue_names)
        return self._lists(self.routes.positions < count, self.topology.queue_names.__getitem__)

    @once
    def not_simulated(self) -> pa.ListArray:
        """list<string>: the exchanges of each route that are not simulated."""
        count, numbering = len(self.topology.queue_names), self.topology.numbering
        which = (self.routes.positions >= count) & (self.routes.positions < numbering.choice(0))
        return self._lists(which, lambda number: self.topology.nodes[number - count].name)

    @once
    def one_of(self) -> pa.ListArray:
        """The choices of each route; see :attr:`RoutedColumns.one_of`."""
        first = self.topology.numbering.choice(0)
        ends, used, places = self._some(self.routes.positions >= first)
        nodes = [self.topology.nodes[number - first] for number in used.tolist()]
        choices = [
            {"exchange": node.name, "candidates": [candidate._asdict() for candidate in node.candidates]}
            for node in nodes
        ]
        return pa.ListArray.from_arrays(ends, pa.array(choices, CHOICE).take(places))

    @once
    def routed(self) -> npt.NDArray[np.bool_]:
        """Whether each route leads to any queue, be it one of several."""
        positions, numbering = self.routes.positions, self.topology.numbering
        leads = positions < numbering.queues
        chosen = np.flatnonzero(positions >= numbering.choice(0))
        for place, number in zip(chosen.tolist(), (positions[chosen] - numbering.choice(0)).tolist(), strict=True):
            leads[place] = any(one.destination_type == "queue" for one in self.topology.nodes[number].candidates)
        ends = np.concatenate(([0], np.cumsum(leads, dtype=np.int64)))[self.routes.offsets]
        return np.asarray(np.diff(ends) > 0)

    @once
    def undecided(self) -> pa.ListArray:
        """list<string>: the exchanges of each route behind which one cannot tell who gets the message, be it one of several."""
        count, exchanges = len(self.topology.queue_names), len(self.topology.nodes)
        return self._lists(
            self.routes.positions >= count, lambda one: self.topology.nodes[(one - count) % exchanges].name
        )

    def columns(self) -> RoutedColumns:
        """Return a row per message."""
        topology, ids = self.topology, pa.array(self.route_ids)
        if jit_enabled():
            queues, unknown, routed = named_lists(self.routes, topology.queue_texts, topology.exchange_texts)
        else:
            queues, unknown, routed = self.queues.take(ids), self.not_simulated.take(ids), None
        if routed is None or topology.chooses:
            routed = pa.array(self.routed[self.route_ids])
        chosen = self.one_of.take(ids) if topology.chooses else _no_choices(len(ids))  # most topologies have none
        return RoutedColumns(queues, routed, unknown, self.problem, chosen, topology.chooses)

    @once
    def name_bytes(self) -> npt.NDArray[np.int64]:
        """For each message how many bytes its names have in :meth:`columns`."""
        positions, first = self.routes.positions, self.topology.numbering.choice(0)
        sizes = np.zeros(len(positions), np.int64)
        for texts in (self.topology.queue_texts, self.topology.exchange_texts):
            which = (positions >= texts.first) & (positions < texts.first + len(texts.offsets) - 1)
            names = positions[which] - texts.first
            sizes[which] = texts.offsets[names + 1] - texts.offsets[names]
        for place in np.flatnonzero(positions >= first).tolist():
            node = self.topology.nodes[positions[place] - first]
            names_of = [
                node.name,
                *(text for one in node.candidates for text in (one.destination, one.destination_type)),
            ]
            sizes[place] = sum(len(name.encode()) for name in names_of)
        ends = np.concatenate(([0], np.cumsum(sizes)))[self.routes.offsets]
        return np.asarray(np.diff(ends)[self.route_ids])

    def sliced(self, rows: slice) -> RoutedBatch:
        """Return some messages of the batch: lists of names for all of them may be more than a column of Arrow holds."""
        return replace(self, routes=self.routes._replace(set_ids=self.route_ids[rows]), problem=self.problem[rows])

    def _lists(self, which: npt.NDArray[np.bool_], name: Any) -> pa.ListArray:
        """Return a list of names per route. Only names that occur are made into Arrow text: there may be far more queues."""
        ends, used, places = self._some(which)
        names = pa.array(list(map(name, used.tolist())), pa.string())
        return pa.ListArray.from_arrays(ends, names.take(places))

    def _some(self, which: npt.NDArray[np.bool_]) -> tuple[pa.Array, npt.NDArray[np.int32], pa.Array]:
        """Return some members of all routes: where those of each route end, which they are, and the places of all among these."""
        ends = np.concatenate(([0], np.cumsum(which, dtype=np.int32)))[self.routes.offsets]
        used, places = np.unique(self.routes.positions[which], return_inverse=True)
        return pa.array(ends, pa.int32()), used, pa.array(places)


def route_columns(
    topology: CompiledTopology, exchanges: Any, keys: Any, vhosts: Any, *, vhost: str, attributes: Mapping[str, Any]
) -> RoutedColumns:
    """Route a batch as :func:`route_batch` does, and return a row per message: with less ado where messages are plain."""
    named = not topology.chooses
    found = topology.name_plain(exchanges, keys, vhosts, vhost, attributes) if named else None
    if found is None:  # messages that are not plain are not tried once more
        batch = route_batch(topology, exchanges, keys, vhosts, vhost=vhost, attributes=attributes, plainly=not named)
        return batch.columns()
    lists, unknown, routed = written_lists(found)
    rows = found.rows
    return RoutedColumns(lists, routed, unknown, _no_problems(rows), _no_choices(rows), False)


def route_batch(
    topology: CompiledTopology,
    exchanges: Any,
    keys: Any,
    vhosts: Any = None,
    *,
    vhost: str = "/",
    attributes: Mapping[str, Any] | None = None,
    plainly: bool = True,
) -> RoutedBatch:
    """Route a batch of messages.

    ``exchanges``, ``keys`` and ``vhosts`` are of one length: Arrow columns of text or bytes, columns of polars, pandas or
    another library that has Arrow's PyCapsule interface, or lists; without ``vhosts`` all messages are of vhost ``vhost``.
    ``attributes`` are such columns, by name, of what else is known of the messages: ``headers``
    (:mod:`dfa_router.rabbitmq.headers.columns`), and lists of text in ``cc`` and ``bcc``. ``plainly`` says whether they may be plain.

    Raises :class:`MessagesError` for columns of different lengths, :class:`KeyTypeError` for a column of another type, and
    :class:`CapacityError` for one of over 2 GiB.
    """
    attributes = attributes or {}
    found = topology.send_plain(exchanges, keys, vhosts, vhost, attributes) if plainly else None
    if found is not None:
        return RoutedBatch(topology=topology, routes=found, problem=_no_problems(len(found.set_ids)))
    exchange_column, key_column = bytes_array(exchanges, "exchanges"), bytes_array(keys, "keys")
    vhost_column = None if vhosts is None else bytes_array(vhosts, "vhosts")
    given = {name: one if isinstance(one, list | tuple) else plain_array(one) for name, one in attributes.items()}
    rows = len(exchange_column)
    lengths = {"exchanges": rows, "keys": len(key_column)}
    if vhost_column is not None:
        lengths["vhosts"] = len(vhost_column)
    lengths |= {name: len(one) for name, one in given.items()}
    if len({*lengths.values()}) > 1:
        told = ", ".join(f"{count:,} {name}" for name, count in lengths.items())
        raise MessagesError(f"columns differ in length ({told}): expected one of each per message")
    problems = Problems(rows)
    starts = topology.places.find(exchange_column, vhost_column, vhost, problems)
    null = check_keys(key_column, problems)
    if null is not None:
        starts[null] = -1
    columns = _attributes(given, topology, starts, problems) | {ROUTING_KEY: key_column}
    return RoutedBatch(topology=topology, routes=topology.send(starts, columns), problem=problems.column())


@lru_cache(maxsize=8)  # plain batches have few rows, and often as many as those before
def _no_problems(rows: int) -> pa.StringArray:
    return pa.nulls(rows, pa.string())


def _no_choices(rows: int) -> pa.ListArray:
    return _no_few_choices(rows) if rows <= FEW_ROWS else empty_lists(_CHOICES, rows)


@lru_cache(maxsize=8)
def _no_few_choices(rows: int) -> pa.ListArray:
    return empty_lists(_CHOICES, rows)


def _attributes(
    given: Mapping[str, Any], topology: CompiledTopology, starts: Int32s, problems: Problems
) -> dict[str, Any]:
    """Return what matchers read; rows that the broker refuses begin nowhere."""
    if not given:
        return {}
    found = {name: plain_array(one) for name, one in given.items() if name not in EVERY_TYPE_READS}
    copies = Copies(len(starts))
    if HEADERS in given:
        headers = read_headers(given[HEADERS], copies, strict=topology.strict_values)
        if headers.unknown:
            problems.add_column(headers.problems())
        found[HEADERS] = headers
    copies.add_columns(*(plain_array(given[name]) if name in given else None for name in (CC, BCC)))
    if copies.refused:
        starts[list(copies.refused)] = -1
        problems.add_column(copies.problems())
    further = copies.column()
    return found if further is None else {**found, FURTHER_KEYS: further}
