"""Routing as functions of Spark SQL.

``route(exchange, routing_key)`` is a function of columns, to a struct. ``route_table`` is the same for use in FROM, with a
column for each field; it is a function in SQL around the first, which Spark 4.0 brought and plans as a projection.

Rejected: a Python table function with a TABLE argument. Arrow's kind cannot add columns to those of its argument; the other
kind can, and is called once for each row: a million rows with 100 bytes of payload took it 58 seconds that take the function
above one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyspark.errors import ParseException

from dfa_router.build import DEFAULT_CACHE_BYTES
from dfa_router.errors import OptionError
from dfa_router.rabbitmq.topology import Topology, check_topology
from dfa_router.spark._worker import Plan
from dfa_router.spark.functions import column_udf
from dfa_router.spark.route import BATCH_ROWS
from dfa_router.spark.shapes import KEYS, check_texts, output
from dfa_router.spark.shipping import check_session, ship
from dfa_router.whole_numbers import whole_number

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register"]


def register(
    session: SparkSession,
    topology: Topology,
    name: str = "route",
    *,
    engine: str = "dfa",
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    vhost: str = "/",
    batch_rows: int = BATCH_ROWS,
) -> tuple[str, ...]:
    """Make functions for a session's SQL, and return their names: ``name``, and from Spark 4.0 on ``name`` with ``_table``.

    ``route(exchange, routing_key)`` and ``route(exchange, routing_key, vhost)`` return a struct whose fields are the columns
    that :func:`dfa_router.spark.route` adds: ``SELECT *, r.* FROM (SELECT *, route(exchange, routing_key) AS r FROM
    messages)``. ``SELECT * FROM messages, LATERAL route_table(exchange, routing_key)`` has them as columns. Two arguments
    stand for a message of ``vhost``. A function of the same name is replaced. Options are those of
    :func:`dfa_router.spark.route`.

    The function is deterministic, as Spark asks of what stands in GROUP BY or in a lateral join. So Spark may call it twice for
    a message where its result stands in WHERE as well as in SELECT; :func:`dfa_router.spark.route` routes once. Spark 4.3 fails where
    a query reads columns with a collation from files beside it: set ``spark.sql.execution.arrow.pythonUDF.columnarInput.enabled`` to
    ``false``.

    >>> from dfa_router.rabbitmq import Exchange, Queue, topology_of
    >>> from dfa_router.spark import local_session, register
    >>> session = local_session("local[2]")
    >>> topology = topology_of(exchanges=[Exchange(name="", type="direct")], queues=[Queue(name="q")])
    >>> register(session, topology, "to")[0]
    'to'
    >>> session.sql("SELECT to('', 'q').queues AS there").collect()
    [Row(there=['q'])]

    Raises :class:`OptionError` for a name that is no plain identifier or that of a function of Spark's own, for other wrong options, and for a session that was stopped.
    """
    check_texts(name=name, vhost=vhost)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", name):
        raise OptionError(f"name is {name!r}: expected letters, digits and underscores, as for any function of SQL")
    batch_rows = whole_number("batch_rows", batch_rows, 1, "a number of rows from 1 up")
    check_session(session)
    if session.sql(f"SHOW SYSTEM FUNCTIONS LIKE '{name}'").collect():
        raise OptionError(f"name is {name!r}: Spark has a function of its own of that name; choose another")
    check_topology(topology)
    fingerprint, packed = ship(session, topology, engine, cache_bytes)
    plan = Plan(fingerprint=fingerprint, packed=packed, keys=KEYS, vhost=vhost, batch_rows=batch_rows)
    fields = output(topology.chooses)
    session.udf.register(name, column_udf(plan, fields))
    table = f"{name}_table"
    types = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in fields)
    default = vhost.replace("\\", "\\\\").replace("'", "\\'")
    arguments = ", ".join(f"{table}.{key}" for key in KEYS)
    statement = (
        f"CREATE OR REPLACE TEMPORARY FUNCTION {table}(exchange STRING, routing_key STRING, "  # noqa: S608  (an identifier, an escaped text)
        f"vhost STRING DEFAULT '{default}') RETURNS TABLE({types}) "
        f"RETURN SELECT r.* FROM (SELECT {name}({arguments}) AS r)"
    )
    try:
        session.sql(statement)
    except ParseException:  # before Spark 4.0
        return (name,)
    return (name, table)
