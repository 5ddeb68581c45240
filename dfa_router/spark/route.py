"""Routing a DataFrame of messages through a topology.

The compiled topology is sent once per Spark context and topology: its automata as a file that the workers of an executor
map and share, the rest as a broadcast variable. Each Python worker keeps one router, with its caches, for as long as it
lives (:mod:`dfa_router.spark._worker`). There are two ways through Python:

* rows that hold nothing but exchange, routing key and vhost go through ``mapInArrow``, the fastest path there is;
* of rows that carry more, only the key columns go, through an Arrow UDF: the payload never leaves the JVM.

Rejected: one way for both. With 320 bytes of payload ``mapInArrow`` is a fifth slower than the UDF, and without payload
the UDF is a third slower.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    StringType,
    StructField,
    StructType,
)

from dfa_router.build import DEFAULT_CACHE_BYTES
from dfa_router.engines.registry import engine_spec
from dfa_router.errors import EnvironmentLacksError, MessagesError
from dfa_router.rabbitmq.exchange_types import attributes_read
from dfa_router.rabbitmq.routing import TopologyRouter
from dfa_router.rabbitmq.topology import Topology
from dfa_router.spark._worker import RouteBatches, RouteKeys, Shipped, ShippedInFile

__all__ = ["OUTPUT", "free_name", "quoted", "route"]

OUTPUT = StructType(
    [
        StructField("queues", ArrayType(StringType())),
        StructField("routed", BooleanType()),
        StructField("not_simulated", ArrayType(StringType())),
        StructField("problem", StringType()),
    ]
)
"""The columns that :func:`route` adds."""


def route(
    messages: DataFrame,
    topology: Topology,
    *,
    engine: str = "dfa",
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    vhost: str = "/",
) -> DataFrame:
    """Tell who gets each message.

    ``messages`` has the string columns ``exchange``, ``routing_key`` (which may be binary) and perhaps ``vhost``; without
    that column all messages are of ``vhost``. Every other column passes through untouched, and these are added:

    * ``queues array<string>``: the queues that get a copy, sorted; empty where none does
    * ``routed boolean``: whether any queue does
    * ``not_simulated array<string>``: exchanges on the way whose type is not simulated; more queues may lie behind them
    * ``problem string``: what was wrong with this row (no such exchange, a null key, ...), or null

    No row is dropped. Filter by other columns before, not after: Spark moves no filter past the routing. ``engine`` and
    ``cache_bytes`` (per Python worker) are those of :meth:`Topology.compile`. Works on streaming DataFrames too.

    Raises :class:`MessagesError` for a missing column, one of another type, or one whose name is taken by the output,
    and :class:`EnvironmentLacksError` on Spark Connect.
    """
    keys = _key_columns(messages.schema, topology)
    router, shipped = _ship(messages.sparkSession, topology, engine, cache_bytes)
    wide = len(messages.schema) > len(keys)
    routes = (
        _arrow_udf(RouteKeys(shipped=shipped, fingerprint=router.fingerprint, keys=keys, vhost=vhost)) if wide else None
    )
    if routes is None:
        batches = RouteBatches(shipped=shipped, fingerprint=router.fingerprint, keys=keys, vhost=vhost)
        return messages.mapInArrow(batches, StructType([*messages.schema, *OUTPUT]))
    struct = free_name("route", messages.columns)
    routed = messages.select("*", routes(*(sf.col(quoted(name)) for name in keys)).alias(struct))
    return routed.select(
        *(sf.col(quoted(name)) for name in messages.columns), *(sf.col(f"{struct}.{field.name}") for field in OUTPUT)
    )


def _key_columns(schema: StructType, topology: Topology) -> tuple[str, ...]:
    """Return the names of the columns to route by, after checking the schema.

    Besides exchange, routing key and vhost these are the columns named as the attributes that the topology's exchanges read.
    """
    columns = {field.name: field.dataType for field in schema}
    listed = ", ".join(f"{name} {kind.simpleString()}" for name, kind in columns.items()) or "none"
    for name in ("exchange", "routing_key"):
        if name not in columns:
            raise MessagesError(f"the messages have no column {name!r}; they have: {listed}. Rename one to it")
    for field in OUTPUT:
        if field.name.lower() in {name.lower() for name in columns}:
            raise MessagesError(
                f"the messages have a column {field.name!r}, which the result adds; they have: {listed}. "
                "Rename or drop it first"
            )
    if len(columns) < len(schema):
        twice = next(field.name for i, field in enumerate(schema) if field.name in schema.names[:i])
        raise MessagesError(
            f"the messages have two columns {twice!r}; they have: {', '.join(schema.names)}. Rename one"
        )
    other_case = next((name for name in columns if name.lower() == "vhost" != name), None)
    if other_case is not None:
        raise MessagesError(
            f"column {other_case!r} differs from 'vhost' by its case alone; the messages have: {listed}. Rename it to "
            "'vhost', or to something else if it is none"
        )
    keys = ("exchange", "routing_key", "vhost") if "vhost" in columns else ("exchange", "routing_key")
    for name in keys:
        allowed: tuple[type[DataType], ...] = (StringType, BinaryType) if name == "routing_key" else (StringType,)
        if not isinstance(columns[name], allowed):
            raise MessagesError(
                f"column {name!r} is {columns[name].simpleString()}: expected a string; the messages have: {listed}. "
                "Cast it first"
            )
    read = attributes_read(exchange.type for exchange in topology.exchanges)
    return (*keys, *(name for name in read if name in columns))


def _arrow_udf(routed: RouteKeys) -> Any:
    """Return the function as an Arrow UDF of the iterator form, or None before Spark 4.1, which brought it."""
    try:
        from pyspark.sql.pandas.functions import arrow_udf
    except ImportError:
        return None

    def route_keys(columns: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        return routed(columns)

    # The function is deterministic. But Spark copies a UDF that it takes for deterministic into each filter on its result,
    # and runs it once more for each.
    return arrow_udf(route_keys, returnType=OUTPUT).asNondeterministic()  # type: ignore[call-overload]


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return the name, with underscores behind it where it is taken; Spark's column names ignore case."""
    lower = {other.lower() for other in taken}
    while name.lower() in lower:
        name += "_"
    return name


def quoted(name: str) -> str:
    """Return a column name as an expression may hold it."""
    return "`" + name.replace("`", "``") + "`"


_shipped: WeakKeyDictionary[Topology, dict[tuple[str, str, int], tuple[TopologyRouter, Shipped]]] = WeakKeyDictionary()
"""The compiled topology and its broadcast, for each topology that is still in use and (application, engine, cache_bytes).

An entry is dropped when its topology is, or when another Spark application has taken the place of its own.
"""


def _ship(session: SparkSession, topology: Topology, engine: str, cache_bytes: int) -> tuple[TopologyRouter, Shipped]:
    """Return the compiled topology, and the handle by which workers get it."""
    if "connect" in type(session).__module__:
        raise EnvironmentLacksError(
            "Spark Connect has no broadcast variables, by which workers get the topology: use a classic session, "
            "such as dfa_router.spark.local_session()"
        )
    context = session.sparkContext
    application = str(context.applicationId)
    known = _shipped.setdefault(topology, {})
    for stale in [key for key in known if key[0] != application]:
        del known[stale]
    key = (application, engine, cache_bytes)
    if key not in known:
        router = topology.compile(engine=engine, cache_bytes=cache_bytes)
        known[key] = (router, _sent(context, router))
    return known[key]


_folders: dict[str, TemporaryDirectory[str]] = {}
"""For each Spark application, the folder with the files that executors may still ask the driver for."""


def _sent(context: SparkContext, router: TopologyRouter) -> Shipped:
    """Send the automata as a file, mapped by all workers of an executor, and the rest as a broadcast variable."""
    if engine_spec(router.engine).restore is None:
        return context.broadcast(router)
    application = str(context.applicationId)
    for ended in [other for other in _folders if other != application]:
        _folders.pop(ended).cleanup()
    if application not in _folders:
        _folders[application] = TemporaryDirectory(prefix="dfa-router-", ignore_cleanup_errors=True)
    # Spark refuses a second file of the same name, and two topologies of one fingerprint may list bindings in other orders.
    name = f"{router.fingerprint[:16]}-{secrets.token_hex(4)}.dfar"
    path = Path(_folders[application].name, name)
    rest = router.detach(path)
    context.addFile(str(path))
    return ShippedInFile(rest=context.broadcast(rest), file=name)
