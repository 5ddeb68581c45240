"""The routing job of files: Spark hands parts of files to its workers, which read, match and write them with Arrow.

No row crosses into Java. Spark schedules the tasks, tries again where one fails, and begins a second attempt where one is slow,
as it does with any; what its workers send back is the name of a file and counts. Only files of attempts that came back are
published (:mod:`dfa_router.logs.publishing`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import NullType, StructField, StructType

from dfa_router.errors import MessagesError
from dfa_router.logs.parts import Part
from dfa_router.logs.planning import OtherWayError, Plan, planned
from dfa_router.logs.routing import RoutePart, Written, work_of
from dfa_router.logs.stores import STORE_ERRORS, Place, is_pattern, is_remote, place_of
from dfa_router.logs.table_planning import WidenedError, planned_table
from dfa_router.logs.text_planning import text_parts, text_plan
from dfa_router.logs.text_reading import SeeText
from dfa_router.logs.writing import writable
from dfa_router.rabbitmq.byte_columns import without_views
from dfa_router.rabbitmq.exchange_types import attributes_read
from dfa_router.rabbitmq.topology import Topology
from dfa_router.spark._worker import router_of
from dfa_router.spark.shapes import key_columns, output
from dfa_router.spark.shipping import ship
from dfa_router.spark.table_logs import found_table
from dfa_router.tables import read_table

__all__ = ["plan_of", "route_parts"]


@dataclass(frozen=True, kw_only=True)
class _Attempt:
    """What a worker calls for a part."""

    fingerprint: str
    packed: tuple[Any, ...]
    """How the router travels."""
    work: RoutePart

    def __call__(self, part: Part[Any]) -> Written:
        return self.work(router_of(self.fingerprint, self.packed), part)


def plan_of(session: SparkSession, messages: str, kind: str, out_kind: str) -> Plan:
    """Plan a log of a format, or a table, for a result of a format; raises :class:`OtherWayError` for one that Spark has to read
    or write, and :class:`MessagesError` for a table that is refused.

    What text holds is seen by Spark's workers, in a job of its own.
    """
    try:
        place = place_of(messages)
    except STORE_ERRORS as error:
        raise OtherWayError(str(error)) from error
    if place is None:
        raise OtherWayError(f"{messages.partition('://')[0]}:// is a store that Spark reaches, and Arrow does not")
    pattern, cores = is_pattern(messages), session.sparkContext.defaultParallelism
    if kind == "parquet":
        return _parquet_plan(session, place, messages, cores)
    parts = text_parts(place, kind, pattern=pattern, cores=cores)
    seen = session.sparkContext.parallelize(parts, len(parts)).map(SeeText(place.store, kind)).collect()
    plan = text_plan(place, kind, parts, seen)
    if not writable(plan.schema, out_kind):
        raise OtherWayError(f"it has columns that are not written as {out_kind} there")
    return plan


def _parquet_plan(session: SparkSession, place: Place, messages: str, cores: int) -> Plan:
    table = found_table(session, messages)
    if table is None:
        return planned(place, pattern=is_pattern(messages), cores=cores)
    if is_remote(messages) and place.store.type_name != "local":
        raise OtherWayError("it is a table in a store: its log says which files it has")
    try:
        return planned_table(read_table(table), cores=cores)
    except WidenedError as error:
        if int(session.version.split(".")[0]) >= 4:
            raise
        raise MessagesError(
            f"{messages}: {error}, which Spark {session.version} cannot read: route it with Spark 4.0 or newer, or "
            "have the table's older files rewritten first"
        ) from None


def route_parts(
    session: SparkSession,
    plan: Plan,
    topology: Topology,
    *,
    engine: str,
    cache_bytes: int,
    vhost: str,
    kind: str,
) -> Callable[[Place], list[Written]]:
    """Return what routes all parts into a folder of attempts, as files of a format, and gives what they have written, in the log's order.

    Raises :class:`MessagesError` for columns that are missing or of the wrong type, before anything is written.
    """
    read = attributes_read(exchange.type for exchange in topology.exchanges)
    found = key_columns(_spark_schema(plan.schema), read, added=output(topology.chooses).names)
    for name in found.names:  # which Spark calls binary as well
        if pa.types.is_fixed_size_binary(type_ := plan.schema.field(name).type):
            raise MessagesError(f"column {name!r} is {type_}: expected a string, or bytes of any length. Cast it first")
    fingerprint, packed = ship(session, topology, engine, cache_bytes)
    keys = dict(zip(found.keys, found.names, strict=True))

    def run(attempts: Place) -> list[Written]:
        work = work_of(plan, attempts, keys=keys, vhost=vhost, kind=kind, chooses=topology.chooses)
        attempt = _Attempt(fingerprint=fingerprint, packed=packed, work=work)
        return session.sparkContext.parallelize(plan.parts, len(plan.parts)).map(attempt).collect()

    return run


def _spark_schema(schema: pa.Schema) -> StructType:
    """Return the columns as Spark would name their types; one that Spark has no type for is void.

    Views are a layout of Arrow's, in which other writers keep text: Spark reads it as text, and so do we.
    """

    def field(one: pa.Field) -> StructField:
        try:
            return StructField(one.name, from_arrow_type(without_views(one.type)))
        except PySparkTypeError:
            return StructField(one.name, NullType())

    return StructType([field(one) for one in schema])
