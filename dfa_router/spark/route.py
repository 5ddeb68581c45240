"""Routing a DataFrame of messages through a topology.

The compiled topology is sent once per session and topology (:mod:`dfa_router.spark.shipping`), and each Python worker keeps
one router, with its caches, for as long as it lives (:mod:`dfa_router.spark._worker`). There are two ways through Python:

* rows that hold nothing but exchange, routing key and vhost go through ``mapInArrow``, the fastest path there is;
* of rows that carry more, only the key columns go, through an Arrow UDF: the payload never leaves the JVM. Before Spark 4.1,
  which brought Arrow UDFs, and where a column has a collation, whole rows go through ``mapInArrow``.

A row per copy, and the word for a message's fate, are made by Spark from these columns: no other rows cross to Python.

Rejected: one way for both. With 320 bytes of payload ``mapInArrow`` is a fifth slower than the UDF, and without payload
the UDF is a third slower. And sending route numbers to the JVM, to be looked up there: routes are found while workers
run, so there is no table of them when Spark plans the query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StructField, StructType

from dfa_router.build import DEFAULT_CACHE_BYTES
from dfa_router.logs.marks import free_name
from dfa_router.rabbitmq.exchange_types import attributes_read
from dfa_router.rabbitmq.topology import Topology, check_topology
from dfa_router.spark._worker import Plan
from dfa_router.spark.functions import arrow_udf, over_batches
from dfa_router.spark.shapes import FATE, ONE_OF, OUTPUT, QUEUE, check_flags, check_texts, key_columns, output, quoted
from dfa_router.spark.shipping import check_running, is_connect, ship
from dfa_router.whole_numbers import whole_number

__all__ = ["BATCH_ROWS", "OUTPUT", "quoted", "route"]

BATCH_ROWS = 100_000
"""How many rows are routed at once, unless another number is asked for."""


def route(
    messages: DataFrame,
    topology: Topology,
    *,
    engine: str = "dfa",
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    vhost: str = "/",
    columns: Mapping[str, str] | None = None,
    prefix: str = "",
    explode: bool = False,
    fate: bool = False,
    batch_rows: int = BATCH_ROWS,
) -> DataFrame:
    """Tell who gets each message.

    ``messages`` has the string columns ``exchange``, ``routing_key`` (which may be binary) and perhaps ``vhost``; without
    that column all messages are of ``vhost``. Where they are called otherwise, ``columns`` says how: ``{"routing_key":
    "topic"}``. Names are found as Spark finds them, regardless of case unless ``spark.sql.caseSensitive`` is set. Every
    other column passes through untouched, and these are added, their names after ``prefix``:

    * ``queues array<string>``: the queues that get a copy, sorted; empty where none does
    * ``routed boolean``: whether any queue does
    * ``not_simulated array<string>``: exchanges on the way whose type is not simulated; more queues may lie behind them
    * ``problem string``: what was wrong with this row (no such exchange, a null key, ...), or null
    * ``one_of array<struct<exchange, candidates>>``: only where :attr:`Topology.chooses`: exchanges on the way that hand the message
      to one of their destinations, and nobody can tell which; ``candidates`` has destination, destination_type and share of each

    With ``explode`` there is a row per copy, with a column ``queue string`` in place of ``queues``. A message that no queue
    gets keeps one row, with null there. With ``fate`` a column of that name is added: ``routed`` where a queue gets the
    message, else ``undecided`` where it reaches an exchange that is not simulated or that chooses, else ``problem`` where the row has one,
    else ``unroutable``.

    A null exchange or routing key is a problem, and ``spark.read.csv`` makes nulls of empty fields: where these are messages of the
    default exchange, or with an empty key, call ``messages.fillna("", ["exchange", "routing_key"])`` before.

    No row is dropped. Filter by other columns before, not after: Spark moves no filter past the routing. ``engine`` and
    ``cache_bytes`` (per Python worker) are those of :meth:`Topology.compile`. ``batch_rows`` is how many rows a Python worker
    gathers, at 16 MiB at most, before it routes them; with 1 each of Spark's batches is routed when it comes. Works on
    streaming DataFrames and on Spark Connect too. Executors need this package, of the driver's version:
    :func:`dfa_router.spark.check_executors` tries.

    Raises :class:`MessagesError` for a missing column, one of another type, or one whose name is taken by the output,
    :class:`OptionError` for options that are wrong or a session that was stopped, and ``TypeError`` for messages that are no DataFrame of Spark.

    >>> from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
    >>> from dfa_router.spark import local_session, route
    >>> topology = topology_of(exchanges=[Exchange(name="x", type="topic")], queues=[Queue(name="q")],
    ...                        bindings=[Binding(source="x", destination="q", routing_key="a.#")])
    >>> messages = local_session("local[2]").createDataFrame(
    ...     [("x", "a.b"), ("x", "b")], "exchange string, routing_key string")
    >>> [row.queues for row in route(messages, topology).collect()]
    [['q'], []]
    """
    if not hasattr(messages, "sparkSession"):
        raise TypeError(
            f"messages is {type(messages).__name__}: expected a DataFrame of Spark, as spark.createDataFrame(...) returns it"
        )
    batch_rows = whole_number("batch_rows", batch_rows, 1, "a number of rows from 1 up")
    check_texts(vhost=vhost, prefix=prefix)
    check_flags(explode=explode, fate=fate)
    check_topology(topology)
    session = messages.sparkSession
    check_running(session)
    fields = output(topology.chooses)
    names = [prefix + field.name for field in fields]
    last = [prefix + QUEUE] * explode + [prefix + FATE] * fate
    found = key_columns(
        messages.schema,
        attributes_read(exchange.type for exchange in topology.exchanges),
        added=(*names[explode:], *last),
        given=columns,
        case_sensitive=str(session.conf.get("spark.sql.caseSensitive")).lower() == "true",
    )
    fingerprint, packed = ship(session, topology, engine, cache_bytes)
    plan = Plan(fingerprint=fingerprint, packed=packed, keys=found.keys, vhost=vhost, batch_rows=batch_rows)
    routed = _with_routes(messages, plan, found.names, names, fields)
    if not (explode or fate):
        return routed
    return _finished(routed, messages.columns, prefix, fields, explode=explode, fate=fate)


def _with_routes(
    messages: DataFrame, plan: Plan, keys: Sequence[str], names: Sequence[str], fields: StructType
) -> DataFrame:
    # Spark 4.3 hands columns of files to an Arrow UDF's plan as they lie there, and fails where one has texts with a collation.
    collated = " collate " in messages.schema.simpleString()
    udf = arrow_udf(plan, fields) if len(messages.schema) > len(keys) and not collated else None
    if udf is None:
        return _whole_rows(messages, plan, keys, names, fields)
    sf = _functions(messages)
    struct = free_name("route", [*messages.columns, *names])
    # The function is deterministic. But Spark copies a UDF that it takes for deterministic into each filter on its result,
    # and runs it once more for each.
    routes = udf.asNondeterministic()(*(sf.col(quoted(name)) for name in keys))
    routed = messages.select("*", routes.alias(struct))
    return routed.select(
        *(sf.col(quoted(name)) for name in messages.columns),
        *(sf.col(f"{struct}.{field.name}").alias(name) for name, field in zip(names, fields, strict=True)),
    )


def _whole_rows(
    messages: DataFrame, plan: Plan, keys: Sequence[str], names: Sequence[str], fields: StructType
) -> DataFrame:
    added = [StructField(name, field.dataType) for name, field in zip(names, fields, strict=True)]
    places = tuple(messages.columns.index(name) for name in keys)
    whole = replace(plan, columns=places, output=(*messages.columns, *names))
    # PySpark's mapInArrow looks the columns up by their names without quoting these, and fails at dots and backticks.
    plain = messages.toDF(*(f"c{number}" for number in range(len(messages.columns))))
    return plain.mapInArrow(over_batches(whole), StructType([*messages.schema, *added]))


def _finished(
    routed: DataFrame, kept: list[str], prefix: str, fields: StructType, *, explode: bool, fate: bool
) -> DataFrame:
    """Make a row of each copy, and add the word for what became of the message."""
    sf = _functions(routed)

    def added(name: str) -> Any:
        return sf.col(quoted(prefix + name))

    open_ends = [sf.size(added(name)) > 0 for name in ("not_simulated", ONE_OF.name) if name in fields.names]
    word: Column = (
        sf.when(added("routed"), "routed")
        .when(reduce(or_, open_ends), "undecided")
        .when(added("problem").isNotNull(), "problem")
        .otherwise("unroutable")
    )
    queues = sf.explode_outer(added("queues")).alias(prefix + QUEUE) if explode else added("queues")
    return routed.select(
        *(sf.col(quoted(name)) for name in kept),
        queues,
        *(added(field.name) for field in fields.fields[1:]),
        *[word.alias(prefix + FATE)] * fate,
    )


def _functions(frame: DataFrame) -> Any:
    """Return Spark's functions for a DataFrame: those of Connect are of another module, and Spark does not always ask."""
    if is_connect(frame.sparkSession):
        from pyspark.sql.connect import functions

        return functions
    from pyspark.sql import functions as classic

    return classic
