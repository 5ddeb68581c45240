"""Routers as functions of SQL, in DuckDB and in DataFusion: one call registers one.

A :class:`Router` becomes ``destinations(key)``, a list of names, null for a null key. A compiled topology becomes
``route(exchange, routing_key)``, a struct of the columns of :class:`RoutedColumns`; it is never null, as a row that cannot
be routed says why in ``problem``. Both engines hand over Arrow arrays, from several threads at once, which routers allow.

What this leaves out: aggregates and table functions, as a plain ``select`` with ``unnest`` says the same; and polars, whose
columns go into :meth:`Router.match_batch` as they are.

DuckDB calls with 2,048 rows at a time, DataFusion with 8,192; so what a call costs counts. With three bindings and a million
keys on one core of a Xeon with 480 MB of third-level cache ``destinations`` takes 205 ns a key in DuckDB and 140 in DataFusion (300 and 215 where Arrow
takes the lists), ``route`` with the topology of ``examples/demo`` 580 and 200; a function that returns its argument takes 48 and 6
there. Python calls one function at a time, so more threads do not help. A table that is to be matched as a whole is better handed
over as a whole: ``router.match_batch(connection.sql("select key from messages")).destinations()`` takes 44.

Rejected: DuckDB's functions of Python values, one row at a time, which take 2,000 ns a key.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dfa_router.errors import OptionError
from dfa_router.rabbitmq.routed_columns import routed_fields
from dfa_router.rabbitmq.routing import TopologyRouter
from dfa_router.router import Router

__all__ = ["register_datafusion", "register_duckdb"]

_NAMES = pa.list_(pa.string())
_IN_DUCKDB = {pa.string(): "VARCHAR", pa.bool_(): "BOOLEAN", pa.float64(): "DOUBLE"}


def register_duckdb(
    connection: Any, router: Router | TopologyRouter, name: str | None = None, *, vhost: str | None = "/"
) -> None:
    """Make a router a function of a DuckDB connection: ``destinations(key)``, or for a topology ``route(exchange, key)``.

    ``name`` is another name for it. With ``vhost=None`` the function of a topology takes the vhost as its third argument;
    else all messages are of that vhost. Text is read as it is; keys that are a ``BLOB`` are decoded first, by ``decode(key)``.
    A function of the name that the connection was given before is replaced; an :class:`OptionError` is raised where DuckDB itself, or
    another connection to the same database, has one.

    >>> import duckdb, dfa_router as dr
    >>> connection = duckdb.connect()
    >>> register_duckdb(connection, dr.compile([("forex.*", "fx"), ("#", "audit")]))
    >>> connection.sql("select destinations(unnest(['forex.usd', 'weather', null]))").fetchall()
    [(['fx', 'audit'],), (['audit'],), (None,)]
    """
    import duckdb

    _check_place(connection, "create_function", "connection", "a connection of DuckDB, as duckdb.connect() returns it")
    function = _function_of(router, vhost)
    called = name or function.name
    with suppress(duckdb.InvalidInputException):  # there is none
        connection.remove_function(called)
    try:
        connection.create_function(
            called,
            function.call,
            ["VARCHAR"] * function.arguments,
            _in_duckdb(function.answer),
            type="arrow",
            null_handling="special",  # else rows with a null do not arrive, and a message without a key is to be told
            side_effects=function.changes,
        )
    except duckdb.CatalogException:
        raise OptionError(
            f"the database has a function {called!r}, which this connection was not given: choose another name, or replace it by the "
            "connection that was"
        ) from None


def register_datafusion(
    context: Any, router: Router | TopologyRouter, name: str | None = None, *, vhost: str | None = "/"
) -> None:
    """Make a router a function of a DataFusion context; as :func:`register_duckdb` for a DuckDB connection.

    >>> import datafusion, dfa_router as dr
    >>> context = datafusion.SessionContext()
    >>> register_datafusion(context, dr.compile([("forex.*", "fx"), ("#", "audit")]))
    >>> context.sql("select destinations('forex.usd') as found").to_pydict()
    {'found': [['fx', 'audit']]}
    """
    from datafusion import udf

    _check_place(
        context, "register_udf", "context", "a context of DataFusion, as datafusion.SessionContext() returns it"
    )
    function = _function_of(router, vhost)
    texts = [pa.string()] * function.arguments
    volatility = "stable" if function.changes else "immutable"
    context.register_udf(udf(function.call, texts, function.answer, volatility, name or function.name))


def _check_place(place: Any, call: str, name: str, expected: str) -> None:
    """Raise ``TypeError`` for what has no such call; the module ``duckdb`` has it, for its default connection."""
    if not hasattr(place, call):
        raise TypeError(f"{name} is {type(place).__name__}: expected {expected}")


def _in_duckdb(kind: pa.DataType) -> str:
    """Return what DuckDB calls a type."""
    if pa.types.is_list(kind):
        return f"{_in_duckdb(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        return f"STRUCT({', '.join(f'{field.name} {_in_duckdb(field.type)}' for field in kind)})"
    return _IN_DUCKDB[kind]


@dataclass(frozen=True, slots=True)
class _Function:
    """What both engines have to be told of a function."""

    name: str
    call: Callable[..., pa.Array]
    arguments: int
    """How many columns of text it takes."""
    answer: pa.DataType
    changes: bool
    """Whether an argument may have another answer at another time."""


def _function_of(router: Any, vhost: str | None) -> _Function:
    # Each function names its arguments: DuckDB counts them.
    if isinstance(router, Router):

        def destinations(key: Any) -> pa.Array:
            return router.match_batch(key).destinations()

        return _Function("destinations", destinations, 1, _NAMES, router.engine.dynamic)
    if not isinstance(router, TopologyRouter):
        raise TypeError(f"router is {type(router).__name__}: expected what dr.compile or Topology.compile returned")

    fields = list(routed_fields(router.chooses))

    def route_in(exchange: Any, routing_key: Any, vhosts: Any) -> pa.Array:
        batch = router.route_batch(exchange, routing_key, vhosts, vhost="/" if vhost is None else vhost)
        return pa.StructArray.from_arrays(list(batch.columns()), fields=fields)

    def route(exchange: Any, routing_key: Any) -> pa.Array:
        return route_in(exchange, routing_key, None)

    if vhost is None:
        return _Function("route", route_in, 3, pa.struct(fields), changes=False)
    return _Function("route", route, 2, pa.struct(fields), changes=False)
