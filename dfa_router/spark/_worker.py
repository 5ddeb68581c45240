"""What a Python worker does and keeps: compiled topologies with their warm caches, by fingerprint, and batches gathered.

Spark reuses its Python workers, but unpickles a task's function, and all that it holds, for each task; only the globals of
an imported module stay. So routers are kept here, by content, and every batch, task and query that uses the same topology
finds the caches as the one before it left them. Tasks reach this module by name (:mod:`dfa_router.spark.functions`) and
hand over plain values only: how the router is to be unpacked, and what to route by.

Batches are as large as Spark's readers and settings make them, often 4,096 rows, and a call of the router has a cost of its
own. So several are routed at once, and the result is cut into the lengths of the batches that came. Spark allows a function
over iterators to read ahead. What is held is bounded in rows and bytes, and the end of the input ends the waiting: a
micro-batch of a stream has an end as any other query.

Rejected: making the lists of each batch that came by itself, from the numbers of its routes. Taking them out of a table of
routes costs a third more, all in all, than making the lists of all rows in one go and cutting these; making them batch by
batch costs a twentieth more. That is done only where a group's names are more than a column of Arrow holds.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from dfa_router.arrow.checks import is_text
from dfa_router.errors import CapacityError
from dfa_router.rabbitmq.columns import RoutedColumns
from dfa_router.rabbitmq.routing import TopologyRouter

__all__ = ["Plan", "gathered", "route_batches", "route_keys", "route_series", "router_for", "router_of"]

KEPT = 4
"""How many topologies a worker keeps; the least recently used is dropped first."""

MOST_BYTES = 16 << 20
"""Batches are gathered up to so many bytes, with all of their columns that came to Python."""

_FEWEST = 2
_TEXTS = ("exchange", "routing_key", "vhost")
"""What every message is routed by, all of them texts; of the vhost there may be no column."""

_routers: OrderedDict[str, TopologyRouter] = OrderedDict()

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to route: made on the driver, unpickled by each task."""

    fingerprint: str
    packed: tuple[Any, ...]
    """How the router travels, one of the names in ``_UNPACK``, and what its function is called with."""
    keys: tuple[str, ...]
    """What the columns to route by are, in the order in which they come: exchange, routing_key, vhost, attributes."""
    vhost: str
    """The vhost of messages without such a column."""
    batch_rows: int
    """Batches are gathered up to so many rows."""
    columns: tuple[int, ...] = ()
    """Where whole rows come: the positions of the columns to route by, as ``keys``."""
    output: tuple[str, ...] = ()
    """Where whole rows go: the names of all columns."""


def router_for(fingerprint: str, unpack: Callable[[], TopologyRouter]) -> TopologyRouter:
    """Return this worker's router for the topology, unpacking the shipped one at its first use."""
    router = _routers.get(fingerprint)
    if router is None:
        router = _routers[fingerprint] = unpack()
        while len(_routers) > KEPT:
            _routers.popitem(last=False)
    _routers.move_to_end(fingerprint)
    return router


def route_batches(plan: Plan, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For ``mapInArrow``: each batch of messages with the columns of its routes appended."""
    router = router_of(plan.fingerprint, plan.packed)
    for group in gathered(batches, plan.batch_rows, _of_batch):
        keys = [pa.chunked_array([batch.column(place) for batch in group]) for place in plan.columns]
        for batch, added in zip(group, _routed(router, plan, keys, list(map(len, group))), strict=True):
            yield pa.RecordBatch.from_arrays([*batch.columns, *added.columns], names=plan.output)


def route_keys(plan: Plan, columns: Iterable[Sequence[pa.Array]]) -> Iterator[pa.Array]:
    """For an Arrow UDF of the iterator form: the columns to route by, to a column of structs."""
    router = router_of(plan.fingerprint, plan.packed)
    for group in gathered((_checked(plan, several) for several in columns), plan.batch_rows, _of_columns):
        keys = [pa.chunked_array(list(arrays)) for arrays in zip(*group, strict=True)]
        for routed in _routed(router, plan, keys, [len(arrays[0]) for arrays in group]):
            yield routed.to_struct_array()


def route_series(plan: Plan, columns: Iterable[Sequence[Any]]) -> Iterator[Any]:
    """For a pandas UDF of the iterator form: columns as pandas' Series, to data frames."""
    for struct in route_keys(plan, (_texts(series) for series in columns)):
        yield pa.Table.from_batches([pa.RecordBatch.from_struct_array(struct)]).to_pandas()


def gathered(
    items: Iterable[Item], most_rows: int, size: Callable[[Item], tuple[int, int]], most_bytes: int = MOST_BYTES
) -> Iterator[list[Item]]:
    """Yield the items in groups that reach a number of rows or of bytes, by the (rows, bytes) of each; the last may be smaller."""
    group: list[Item] = []
    rows = held = 0
    for item in items:
        more_rows, more_bytes = size(item)
        group.append(item)
        rows, held = rows + more_rows, held + more_bytes
        if rows >= most_rows or held >= most_bytes:
            yield group
            group, rows, held = [], 0, 0
    if group:
        yield group


def router_of(fingerprint: str, packed: tuple[Any, ...]) -> TopologyRouter:
    """Return this worker's router for a topology, given how it travels."""
    how, *what = packed
    return router_for(fingerprint, lambda: _UNPACK[how](*what))


def _routed(
    router: TopologyRouter, plan: Plan, columns: Sequence[pa.ChunkedArray], lengths: Sequence[int]
) -> Iterator[pa.RecordBatch]:
    """Route a group of batches that have so many rows each, and yield the columns of each."""
    attributes = dict(zip(plan.keys, columns, strict=False))  # in SQL the columns are as many as were written
    exchanges, keys, vhosts = (attributes.pop(name, None) for name in ("exchange", "routing_key", "vhost"))
    routed = router.route_batch(exchanges, keys, vhosts, vhost=plan.vhost, **attributes)
    try:
        whole = _table(routed.columns())
    except CapacityError:  # a column of Arrow holds no more than the names of one batch, or of a few
        whole = None
    for place, length in zip(_places(lengths), lengths, strict=True):
        rows = slice(place, place + length)
        yield _table(routed.sliced(rows).columns()) if whole is None else whole[rows]


def _table(columns: RoutedColumns) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(list(columns), names=list(columns.names))


def _checked(plan: Plan, columns: Any) -> Any:
    """Return the columns of a call: in SQL they are what was written, and Spark hands a single one over as it is."""
    count = len(columns) if isinstance(columns, tuple) else 1
    if not _FEWEST <= count <= len(plan.keys):
        given = "one column" if count == 1 else f"{count} columns"
        raise TypeError(f"{given} to route by: expected exchange, routing_key and perhaps vhost")
    for key, column in zip(plan.keys, columns, strict=False):
        if key in _TEXTS and not (is_text(column.type) or pa.types.is_null(column.type)):
            raise TypeError(
                f"{key} is {_in_spark(column.type)}: expected a string; CAST(... AS STRING) makes one of it"
            )
    return columns


def _in_spark(kind: pa.DataType) -> str:
    from pyspark.sql.pandas.types import from_arrow_type

    return from_arrow_type(kind).simpleString()


def _places(lengths: Iterable[int]) -> list[int]:
    places = [0]
    for length in lengths:
        places.append(places[-1] + length)
    return places[:-1]


def _of_batch(batch: pa.RecordBatch) -> tuple[int, int]:
    return batch.num_rows, batch.nbytes


def _of_columns(arrays: Sequence[pa.Array]) -> tuple[int, int]:
    return len(arrays[0]), sum(array.nbytes for array in arrays)


def _texts(several: Any) -> Any:
    return tuple(map(_text, several)) if isinstance(several, tuple) else several


def _text(series: Any) -> pa.Array:
    array = pa.Array.from_pandas(series)
    return array.cast(pa.string()) if pa.types.is_null(array.type) else array


def _spark_file(name: str) -> str:
    from pyspark import SparkFiles  # the client of Spark Connect alone has none, and needs none

    return str(SparkFiles.get(name))


def _unpacked(path: str) -> Any:
    return pickle.loads(Path(path).read_bytes())  # noqa: S301  (written by the driver, as the function that reads it was)


_UNPACK: dict[str, Callable[..., TopologyRouter]] = {
    "broadcast": lambda router: router.value,
    "mapped": lambda rest, file: rest.value.attach(_spark_file(file)),
    "closure": pickle.loads,
    "artifacts": lambda rest, file: _unpacked(_spark_file(rest)).attach(_spark_file(file)),
}
"""By the name of a way from the driver: the function that makes the router of what came.

A broadcast variable with the router; one with all but its automata, which are in a file that Spark copies to each executor
once, so that its workers share the mapped pages; the bytes of the router; a file for each of the two parts.
"""
