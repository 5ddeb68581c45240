"""Routing of Arrow columns: who gets each message of a batch, and what was wrong with a row.

No row is lost: a row that cannot be routed (no key, no such exchange) has no queues and a sentence in ``problem``; a row
that is odd but can be routed (a key longer than AMQP carries, bytes that are no UTF-8) has both.

The messages of a batch take few *routes*. So the answer is a route number for each row and a table of routes
(:class:`RoutedBatch`); lists of names for each row are made of it at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from compiler.kernels.relay_tables import SLACK
from compiler.kernels.tables import frozen
from compiler.prepare import jit_enabled
from compiler.values import Int32s, SetBatch
from dfa_router.arrow import key_array
from dfa_router.capsules import stream_of
from dfa_router.dictionaries import decoded
from dfa_router.errors import CapacityError, MessagesError
from dfa_router.rabbitmq.matching import ROUTING_KEY
from dfa_router.rabbitmq.nodes import Node
from dfa_router.rabbitmq.places import Places
from dfa_router.rabbitmq.problems import Problems, check_keys

__all__ = ["CompiledTopology", "RoutedBatch", "RoutedColumns", "Texts", "route_batch", "texts_of"]

MOST = 2**31 - 1
"""The most names, and bytes of names, of a column of lists."""


@dataclass(frozen=True, slots=True)
class RoutedColumns:
    """A row per message, as Arrow arrays of one length.

    Libraries that read Arrow's PyCapsule interface take it as a table of these columns: ``polars.DataFrame(columns)``,
    ``pyarrow.table(columns)``, ``duckdb.from_arrow(columns)``. It is no tuple: polars would take the columns for rows.

    >>> from dfa_router.rabbitmq import Exchange, Queue, topology_of
    >>> router = topology_of(queues=[Queue(name="q")]).compile()
    >>> pa.table(router.route_columns(["", ""], ["q", "r"])).select(["queues", "routed"]).to_pylist()
    [{'queues': ['q'], 'routed': True}, {'queues': [], 'routed': False}]
    """

    _fields: ClassVar = ("queues", "routed", "not_simulated", "problem")
    """The names of the columns."""

    queues: pa.ListArray
    """list<string>: the queues that get a copy, sorted; empty, never null, where none does."""
    routed: pa.BooleanArray
    """Whether any queue gets the message."""
    not_simulated: pa.ListArray
    """list<string>: exchanges on the way whose type is not simulated."""
    problem: pa.StringArray
    """What was wrong with the row, or null."""

    def __getitem__(self, place: int) -> pa.Array:
        """Return a column by its place."""
        return tuple(self)[place]

    def __iter__(self) -> Iterator[pa.Array]:
        """Yield the columns in this order."""
        return (getattr(self, name) for name in self._fields)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand over the columns as a table."""
        table = pa.record_batch(list(self), list(self._fields))
        return stream_of(table.schema, [table], requested_schema)


class Texts(NamedTuple):
    """Names as kernels read them: name n is ``data[offsets[n]:offsets[n + 1]]``."""

    offsets: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]
    """With SLACK bytes more."""


def texts_of(names: Iterable[str]) -> Texts:
    """Encode names."""
    encoded = [name.encode() for name in names]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(name) for name in encoded], out=offsets[1:])
    return Texts(frozen(offsets), frozen(np.frombuffer(b"".join(encoded) + bytes(SLACK), np.uint8)))


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

    def send(self, starts: Int32s, columns: Mapping[str, Any]) -> SetBatch:
        """Send each row from an exchange, or nowhere if that is below 0, and return what it gets to.

        That are queues and, from their count upwards, exchanges that are not simulated; ascending.
        """


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
    """For each message the number of its route, and the routes as sets: of queues and, from their count upwards, of exchanges that
    are not simulated. Equal routes may occur more than once."""
    problem: pa.StringArray
    """What was wrong with each row, or null."""

    @property
    def route_ids(self) -> Int32s:
        """For each message the number of its route."""
        return self.routes.set_ids

    @cached_property
    def queues(self) -> pa.ListArray:
        """list<string>: the queues of each route, sorted."""
        count = len(self.topology.queue_names)
        return self._lists(self.routes.positions < count, self.topology.queue_names.__getitem__)

    @cached_property
    def not_simulated(self) -> pa.ListArray:
        """list<string>: the exchanges of each route whose type is not simulated."""
        count = len(self.topology.queue_names)
        return self._lists(self.routes.positions >= count, lambda number: self.topology.nodes[number - count].name)

    @cached_property
    def routed(self) -> npt.NDArray[np.bool_]:
        """Whether each route leads to any queue."""
        return np.asarray(np.diff(self.queues.offsets.to_numpy()) > 0)

    def columns(self) -> RoutedColumns:
        """Return a row per message."""
        count = len(self.topology.queue_names)
        if jit_enabled():
            queues = self._named(0, self.topology.queue_texts)
            unknown = self._named(count, self.topology.exchange_texts)
        else:
            ids = pa.array(self.route_ids)
            queues, unknown = self.queues.take(ids), self.not_simulated.take(ids)
        return RoutedColumns(queues, pa.array(np.diff(queues.offsets.to_numpy()) > 0), unknown, self.problem)

    def _named(self, first: int, names: Texts) -> pa.ListArray:
        """Return a list of names per message, made in one go by kernels: output ``first + n`` of a route has name n."""
        from compiler.kernels.calling import direct
        from compiler.kernels.leading import copy_names, measure_names

        ids, offsets, outputs = self.routes
        sizes, totals = np.empty(3 * len(offsets), np.int64), np.empty(2, np.int64)
        direct(measure_names, ids, offsets, outputs, first, names.offsets, sizes, totals)
        count, length = totals.tolist()
        if max(count, length) > MOST:
            raise CapacityError(
                f"these {len(ids):,} messages have {count:,} names of {length:,} bytes in all, and Arrow's columns of text "
                "have offsets of 32 bits: route fewer messages at a time, or take route_batch, which names each route once"
            )
        ends, starts, texts = (
            np.zeros(len(ids) + 1, np.int32),
            np.zeros(count + 1, np.int32),
            np.empty(length + SLACK, np.uint8),
        )
        if count:
            direct(copy_names, ids, outputs, first, sizes, *names, ends, starts, texts)
        values = pa.StringArray.from_buffers(count, pa.py_buffer(starts), pa.py_buffer(texts))
        return pa.ListArray.from_buffers(pa.list_(pa.string()), len(ids), [None, pa.py_buffer(ends)], children=[values])

    def _lists(self, which: npt.NDArray[np.bool_], name: Any) -> pa.ListArray:
        """Return a list of names per route. Only names that occur are made into Arrow text: there may be far more queues."""
        ends = np.concatenate(([0], np.cumsum(which, dtype=np.int32)))[self.routes.offsets]
        used, places = np.unique(self.routes.positions[which], return_inverse=True)
        names = pa.array(list(map(name, used.tolist())), pa.string())
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), names.take(pa.array(places)))


def route_batch(
    topology: CompiledTopology,
    exchanges: Any,
    keys: Any,
    vhosts: Any = None,
    *,
    vhost: str = "/",
    attributes: Mapping[str, Any] | None = None,
) -> RoutedBatch:
    """Route a batch of messages.

    ``exchanges``, ``keys`` and ``vhosts`` are of one length: Arrow columns of text or bytes, columns of polars, pandas or
    another library that has Arrow's PyCapsule interface, or lists; without ``vhosts`` all messages are of vhost ``vhost``.
    ``attributes`` are such columns, by name, of what exchange types read of a message besides its routing key.

    Raises :class:`MessagesError` for columns of different lengths, :class:`KeyTypeError` for a column of another type, and
    :class:`CapacityError` for one of over 2 GiB.
    """
    exchange_column, key_column = _bytes_array(exchanges, "exchanges"), _bytes_array(keys, "keys")
    vhost_column = None if vhosts is None else _bytes_array(vhosts, "vhosts")
    columns = {name: _plain_array(column) for name, column in (attributes or {}).items()} | {ROUTING_KEY: key_column}
    rows = len(exchange_column)
    if any(len(column) != rows for column in (*columns.values(), *([] if vhost_column is None else [vhost_column]))):
        *most, last = ["exchanges", "keys", "vhosts", *(attributes or {})]
        raise MessagesError(f"{', '.join(most)} and {last} differ in length: expected one of each per message")
    problems = Problems(rows)
    starts = topology.places.find(exchange_column, vhost_column, vhost, problems)
    null = check_keys(key_column, problems)
    if null is not None:
        starts[null] = -1
    return RoutedBatch(topology=topology, routes=topology.send(starts, columns), problem=problems.column())


def _bytes_array(column: Any, name: str) -> pa.BinaryArray:
    """Return a text or binary column as one array of bytes with 32-bit offsets; ``name`` is what messages call it."""
    chunks = decoded(key_array(column, name))
    size = sum(chunk.nbytes for chunk in chunks.chunks if len(chunk))
    if size > MOST:
        raise CapacityError(
            f"{name} has {size / 2**30:.1f} GiB, and is routed as one array with offsets of 32 bits: route "
            "fewer messages at a time"
        )
    array = chunks.combine_chunks()
    if pa.types.is_string(array.type):
        return array.view(pa.binary())
    if pa.types.is_large_string(array.type):
        array = array.view(pa.large_binary())
    return array if pa.types.is_binary(array.type) else array.cast(pa.binary())


def _plain_array(column: Any) -> pa.Array:
    """Return a column of any type as one array."""
    if hasattr(column, "__arrow_c_stream__"):  # a chunked column, whosever it is
        return pa.chunked_array(column).combine_chunks()
    return column if isinstance(column, pa.Array) else pa.array(column)
