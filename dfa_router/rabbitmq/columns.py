"""Routing of Arrow columns: who gets each message of a batch, and what was wrong with a row.

No row is lost: a row that cannot be routed (no key, no such exchange) has no queues and a sentence in ``problem``; a row
that is odd but can be routed (a key longer than AMQP carries, bytes that are no UTF-8) has both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dfa_router.arrow import key_array
from dfa_router.capsules import stream_of
from dfa_router.dictionaries import decoded
from dfa_router.errors import MessagesError
from dfa_router.rabbitmq.exchange_types import SIMULATED
from dfa_router.rabbitmq.matching import ROUTING_KEY, MatchedColumns, Matcher
from dfa_router.rabbitmq.names import Names
from dfa_router.rabbitmq.nodes import Node
from dfa_router.rabbitmq.traversal import Ranks, Sets, Stop, compact, expand, walk

__all__ = ["CompiledTopology", "RoutedColumns", "route_columns"]

MAX_KEY_BYTES = 255

_UTF8 = (
    r"^(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    r"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})*$"
)
"""Well-formed UTF-8 (Unicode's table 3-7), for a regular expression engine that reads bytes."""


@dataclass(frozen=True, slots=True)
class RoutedColumns:
    """A row per message, as Arrow arrays of one length.

    Libraries that read Arrow's PyCapsule interface take it as a table of these columns: ``polars.DataFrame(columns)``,
    ``pyarrow.table(columns)``, ``duckdb.from_arrow(columns)``. It is no tuple: polars
    would take the columns for rows.

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

    def __iter__(self) -> Iterator[pa.Array]:
        """Yield the columns in this order."""
        return (getattr(self, name) for name in self._fields)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand over the columns as a table."""
        table = pa.record_batch(list(self), list(self._fields))
        return stream_of(table.schema, [table], requested_schema)


class CompiledTopology(Protocol):
    """What routing asks of a compiled topology; :class:`dfa_router.rabbitmq.routing.TopologyRouter` is one."""

    @property
    def names(self) -> Names:
        """What there is in place of names that are not there."""

    @property
    def queue_names(self) -> Sequence[str]:
        """The names of the queues by number, sorted."""

    @property
    def nodes(self) -> Sequence[Node]:
        """The exchanges by number."""

    @property
    def node_numbers(self) -> Mapping[tuple[str, str], int]:
        """The numbers of the exchanges by (vhost, name)."""

    @property
    def ranks(self) -> Ranks:
        """The order in which a batch visits the exchanges."""

    def matcher(self, number: int) -> Matcher | None:
        """Return an exchange compiled, or None for one that is not simulated."""


class _Problems:
    """What is wrong with rows: a column of sentences per kind of problem, joined where a row has several."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._columns: list[pa.StringArray] = []

    def add(self, where: npt.NDArray[np.bool_], text: str) -> None:
        if where.any():
            self._columns.append(pc.if_else(pa.array(where), text, pa.scalar(None, pa.string())))

    def add_column(self, texts: pa.StringArray) -> None:
        if texts.null_count < len(texts):
            self._columns.append(texts)

    def column(self) -> pa.StringArray:
        joined = pa.nulls(self._rows, pa.string())
        for texts in self._columns:
            # Not null_handling="skip" over all columns: pyarrow 26 leaves out the rows where each of them is null.
            joined = pc.coalesce(pc.binary_join_element_wise(joined, texts, "; "), joined, texts)
        return joined


def route_columns(
    router: CompiledTopology,
    exchanges: Any,
    keys: Any,
    vhosts: Any = None,
    *,
    vhost: str = "/",
    attributes: Mapping[str, Any] | None = None,
) -> RoutedColumns:
    """Route a batch of messages.

    ``exchanges``, ``keys`` and ``vhosts`` are of one length: Arrow columns of text or bytes, columns of polars, pandas or
    another library that has Arrow's PyCapsule interface, or lists; without ``vhosts`` all messages are of vhost ``vhost``. ``attributes`` are Arrow columns (or lists), by name, of what exchange
    types read of a message besides its routing key.

    Raises :class:`MessagesError` for columns of different lengths, and :class:`KeyTypeError` for a column of another type.

    >>> from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
    >>> topology = topology_of(exchanges=[Exchange(name="x", type="topic")], queues=[Queue(name="q")],
    ...                        bindings=[Binding(source="x", destination="q", routing_key="a.#")])
    >>> columns = topology.compile().route_columns(["x", "x", "y"], ["a.b", None, "a"])
    >>> columns.queues.to_pylist()
    [['q'], [], []]
    >>> columns.problem.to_pylist()[1]
    'routing_key is null'
    """
    exchange_column, key_column = _bytes_array(exchanges), _bytes_array(keys)
    vhost_column = None if vhosts is None else _bytes_array(vhosts)
    columns = {name: _plain_array(column) for name, column in (attributes or {}).items()} | {ROUTING_KEY: key_column}
    rows = len(exchange_column)
    if any(len(column) != rows for column in (*columns.values(), *([] if vhost_column is None else [vhost_column]))):
        *most, last = ["exchanges", "keys", "vhosts", *(attributes or {})]
        raise MessagesError(f"{', '.join(most)} and {last} differ in length: expected one of each per message")
    problems = _Problems(rows)
    starts = _starts(router, exchange_column, vhost_column, vhost, problems)
    starts[_check_keys(key_column, problems)] = -1
    queue_count = len(router.queue_names)

    def visit(number: int, at: npt.NDArray[np.int64]) -> Stop:
        node = router.nodes[number]
        matcher = router.matcher(number)
        if (
            matcher is None or node.type is None
        ):  # collected beside the queues: values from queue_count upwards are nodes
            alone = Sets(np.array([0, 1]), np.array([queue_count + number]))
            return Stop(np.zeros(len(at), np.int64), alone, Sets(np.zeros(2, np.int64), np.empty(0, np.int64)))
        read = {name: columns[name] for name in (ROUTING_KEY, *SIMULATED[node.type].reads) if name in columns}
        if len(at) != rows:
            read = {name: column.take(pa.array(at)) for name, column in read.items()}
        return _stop(node, matcher.match_columns(read), queue_count)

    def exchange_name(number: int) -> str:
        return router.nodes[number].name

    walked = walk(starts, router.ranks, visit, queue_count + len(router.nodes))
    sizes = np.diff(walked.sets.offsets)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    is_queue = walked.sets.values < queue_count
    queues = _lists(owners[is_queue], walked.sets.values[is_queue], len(sizes), router.queue_names.__getitem__)
    unknown = _lists(owners[~is_queue], walked.sets.values[~is_queue] - queue_count, len(sizes), exchange_name)
    has_queue = np.bincount(owners[is_queue], minlength=len(sizes)) > 0
    set_ids = pa.array(walked.set_ids)
    return RoutedColumns(
        queues.take(set_ids), pa.array(has_queue[walked.set_ids]), unknown.take(set_ids), problems.column()
    )


def _stop(node: Node, matched: MatchedColumns, queue_count: int) -> Stop:
    """Turn sets of conditions that are met into what they lead to."""
    sets = len(matched.sets.offsets) - 1
    owners, matching = expand(np.arange(sets), matched.sets)
    which, targets = expand(matching, Sets(node.offsets, node.targets))
    owners = owners[which]
    is_queue = targets < queue_count
    onward_owners, onward = owners[~is_queue], targets[~is_queue] - queue_count
    if node.alternate >= 0:
        empty = np.setdiff1d(np.arange(sets), owners)
        onward_owners = np.concatenate([onward_owners, empty])
        onward = np.concatenate([onward, np.full(len(empty), node.alternate)])
    return Stop(
        matched.set_ids, _grouped(owners[is_queue], targets[is_queue], sets), _grouped(onward_owners, onward, sets)
    )


def _grouped(owners: npt.NDArray[np.int64], values: npt.NDArray[np.int64], sets: int) -> Sets:
    """Return the distinct values of each owner."""
    width = int(values.max(initial=0)) + 1
    pairs = np.unique(owners * width + values)
    offsets = np.searchsorted(pairs, np.arange(sets + 1) * width).astype(np.int64)
    return Sets(offsets, pairs % width)


def _lists(
    owners: npt.NDArray[np.int64], values: npt.NDArray[np.integer[Any]], sets: int, name: Callable[[int], str]
) -> pa.ListArray:
    """Return a list of names per set. Only names that occur are made into Arrow text: there may be far more queues."""
    offsets = np.zeros(sets + 1, np.int32)
    np.cumsum(np.bincount(owners, minlength=sets), out=offsets[1:])
    used, places = np.unique(values, return_inverse=True)
    names = pa.array(list(map(name, used.tolist())), pa.string())
    return pa.ListArray.from_arrays(pa.array(offsets), names.take(pa.array(places)))


def _starts(
    router: CompiledTopology,
    exchanges: pa.Array,
    vhosts: pa.Array | None,
    vhost: str,
    problems: _Problems,
) -> npt.NDArray[np.int64]:
    """Return the node that each row is published to, or -1, with the reason among the problems."""
    names, exchange_ids = _coded(exchanges)
    if vhosts is None:
        places, vhost_ids = [vhost.encode()], np.zeros(len(exchanges), np.int64)
    else:
        places, vhost_ids = _coded(vhosts)
        problems.add(vhost_ids < 0, "vhost is null")
    problems.add(exchange_ids < 0, "exchange is null")
    usable = (exchange_ids >= 0) & (vhost_ids >= 0)
    starts = np.full(len(exchanges), -1, np.int64)
    width = max(1, len(names))
    pairs, which = compact((vhost_ids * width + exchange_ids)[usable], len(places) * width)
    found = [_start(router, places[pair // width], names[pair % width]) for pair in pairs.tolist()]
    starts[usable] = np.array([number for number, _ in found], np.int64)[which]
    texts = np.full(len(exchanges), len(found), np.int64)
    texts[usable] = which
    problems.add_column(pa.array([text for _, text in found] + [None], pa.string()).take(pa.array(texts)))
    return starts


def _start(router: CompiledTopology, vhost: bytes, exchange: bytes) -> tuple[int, str | None]:
    place = (vhost.decode(errors="replace"), exchange.decode(errors="replace"))
    number = router.node_numbers.get(place)
    if number is None:
        return -1, router.names.no_exchange(place[1], place[0])
    if router.nodes[number].internal:
        return -1, f"exchange {place[1]!r} is internal: the broker lets no client publish to it"
    return number, None


def _check_keys(keys: pa.Array, problems: _Problems) -> npt.NDArray[np.bool_]:
    """Add to the problems what is wrong with keys; return which are null."""
    null: npt.NDArray[np.bool_] = keys.is_null().to_numpy(zero_copy_only=False)
    problems.add(null, "routing_key is null")
    too_long = pc.greater(pc.binary_length(keys), MAX_KEY_BYTES)
    problems.add(pc.fill_null(too_long, False).to_numpy(zero_copy_only=False), "routing_key is over AMQP's 255 bytes")
    try:
        keys.view(pa.string()).validate(full=True)
    except pa.ArrowInvalid:
        valid = pc.fill_null(pc.match_substring_regex(keys, _UTF8), True)
        problems.add(~valid.to_numpy(zero_copy_only=False), "routing_key is not valid UTF-8")
    return null


def _bytes_array(column: Any) -> pa.BinaryArray:
    """Return a text or binary column as one array of bytes with 32-bit offsets."""
    array = decoded(key_array(column)).combine_chunks()
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


def _coded(column: pa.Array) -> tuple[list[bytes], npt.NDArray[np.int64]]:
    """Return the distinct values and for each row the number of its value, or -1 for null."""
    encoded = column.dictionary_encode()
    return encoded.dictionary.to_pylist(), pc.fill_null(encoded.indices, -1).to_numpy().astype(np.int64)
