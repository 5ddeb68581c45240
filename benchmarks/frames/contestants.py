"""What takes turns: routing, and functions of the same form that return the same types and route nothing.

What a constant function returns has as many names in its lists, in the mean, as the routes have, and names of their lengths.
Lists of different lengths stand in turns, so that no reader can take them for one value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dfa_router.rabbitmq import Topology
from dfa_router.spark import route
from dfa_router.spark.shapes import OUTPUT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["CONTESTANTS", "constants_of"]

KEYS = ("exchange", "routing_key", "vhost")

Contestant = Callable[["DataFrame", Topology, pa.StructArray], "DataFrame"]


def constants_of(routed: pa.StructArray) -> pa.StructArray:
    """Return routes of some messages in place of those of all: what a constant function hands out, again and again."""
    rows = len(routed)
    return routed.take(pa.array([n * 7919 % rows for n in range(4 * rows)]))


def route_wide(messages: DataFrame, topology: Topology, _: pa.StructArray) -> DataFrame:
    """Route rows that carry other columns."""
    return route(messages, topology)


def route_by_batch(messages: DataFrame, topology: Topology, _: pa.StructArray) -> DataFrame:
    """Route the same without gathering batches."""
    return route(messages, topology, batch_rows=1)


def route_narrow(messages: DataFrame, topology: Topology, _: pa.StructArray) -> DataFrame:
    """Route rows of keys alone."""
    return route(messages.select(*KEYS), topology)


def constant_wide(messages: DataFrame, _: Topology, constants: pa.StructArray) -> DataFrame:
    """Call an Arrow UDF of the iterator form on the key columns, and take its struct apart."""
    from pyspark.sql.pandas.functions import arrow_udf

    def constant(columns: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        place = 0
        for arrays in columns:
            rows = len(arrays[0])
            place = place if place + rows <= len(constants) else 0
            yield constants.slice(place, rows)
            place += rows

    made = arrow_udf(constant, returnType=OUTPUT).asNondeterministic()  # type: ignore[call-overload]
    with_struct = messages.select("*", made(*KEYS).alias("route"))
    return with_struct.select(*messages.columns, *(f"route.{field.name}" for field in OUTPUT))


def constant_narrow(messages: DataFrame, _: Topology, constants: pa.StructArray) -> DataFrame:
    """Append constant columns to rows of keys alone, with ``mapInArrow``."""
    names: list[Any] = [*KEYS, *OUTPUT.names]

    def constant(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        columns, place = constants.flatten(), 0
        for batch in batches:
            place = place if place + len(batch) <= len(constants) else 0
            added = [column.slice(place, len(batch)) for column in columns]
            yield pa.RecordBatch.from_arrays([*batch.columns, *added], names=names)
            place += len(batch)

    narrow = messages.select(*KEYS)
    types = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in [*narrow.schema, *OUTPUT])
    return narrow.mapInArrow(constant, types)


CONTESTANTS: dict[str, Contestant] = {
    "constant Arrow UDF": constant_wide,
    "route": route_wide,
    "route, batch by batch": route_by_batch,
    "constant mapInArrow": constant_narrow,
    "route, keys alone": route_narrow,
}
"""By name. The first is what routing of wide rows is compared with, the fourth what that of narrow rows is."""
