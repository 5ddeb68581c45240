"""Routers as functions of SQL: the answers are those of Python, for nulls, for every batch and in every thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pytest

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
from dfa_router.sql import register_datafusion, register_duckdb

duckdb = pytest.importorskip("duckdb")
datafusion = pytest.importorskip("datafusion")

ROUTER = dr.compile([("a.*", "x"), ("#", "y")])
TOPOLOGY = topology_of(
    exchanges=[
        Exchange(name="x", type="topic"),
        Exchange(name="h", type="x-unheard-of"),
        Exchange(name="x", type="fanout", vhost="b"),
    ],
    queues=[Queue(name="q"), Queue(name="r", vhost="b")],
    bindings=[
        Binding(source="x", destination="q", routing_key="a.#"),
        Binding(source="x", destination="r", routing_key="", vhost="b"),
    ],
).compile()

Ask = Callable[[str], list[tuple[Any, ...]]]


def _duckdb(*registered: dict[str, Any], table: pa.Table | None = None) -> Ask:
    connection = duckdb.connect()
    for call in registered:
        register_duckdb(connection, **call)
    if table is not None:
        connection.register("messages", table)
    return lambda query: connection.sql(query).fetchall()


def _datafusion(*registered: dict[str, Any], table: pa.Table | None = None) -> Ask:
    context = datafusion.SessionContext()
    for call in registered:
        register_datafusion(context, **call)
    if table is not None:
        context.register_record_batches("messages", [table.to_batches(max_chunksize=1000)])
    return lambda query: [tuple(row.values()) for row in context.sql(query).to_pylist()]


each_engine = pytest.mark.parametrize("connect", [_duckdb, _datafusion], ids=["duckdb", "datafusion"])


@each_engine
def test_destinations_are_those_of_match_and_null_for_null(connect: Callable[..., Ask]) -> None:
    keys = pa.table({"key": ["a.b", None, "c", ""]})
    ask = connect({"router": ROUTER}, table=keys)
    expected = [("a.b", ["x", "y"]), (None, None), ("c", ["y"]), ("", ["y"])]
    assert ask("select key, destinations(key) as found from messages") == expected
    assert ask("select destinations('a.b') as one, destinations(null) as none") == [(["x", "y"], None)]
    assert ask("select destinations(key) as found from messages where key = 'no'") == []
    assert ask("select key from messages where destinations(key) is null") == [(None,)]


@each_engine
def test_a_route_is_that_of_route_columns_and_never_null(connect: Callable[..., Ask]) -> None:
    exchanges, keys = ["x", "x", None, "x", "no", "h"], ["a.b", "c", "a", None, "a", "a"]
    ask = connect({"router": TOPOLOGY}, table=pa.table({"exchange": exchanges, "key": keys}))
    expected = pa.table(TOPOLOGY.route_columns(exchanges, keys)).to_pylist()
    found = ask("select route(exchange, key) as found from messages")
    assert [row for (row,) in found] == expected
    assert expected[0]["queues"] == ["q"]
    assert expected[5]["not_simulated"] == ["h"]
    assert [row["problem"] for row in expected[2:4]] == ["exchange is null", "routing_key is null"]


@each_engine
def test_the_vhost_is_one_for_all_or_the_third_argument(connect: Callable[..., Ask]) -> None:
    ask = connect(
        {"router": TOPOLOGY, "vhost": "b"},
        {"router": TOPOLOGY, "vhost": None, "name": "route_of"},
        {"router": ROUTER, "name": "names"},
    )
    query = "select route('x', 'a') as one, route_of('x', 'a', '/') as two, route_of('x', 'a', 'b') as three"
    assert [found["queues"] for found in ask(query)[0]] == [["r"], ["q"], ["r"]]
    assert ask("select names('a.b') as names") == [(["x", "y"],)]


@each_engine
def test_a_vhost_without_a_name_is_not_the_default_one(connect: Callable[..., Ask]) -> None:
    """It is what the URI amqp://host/ says."""
    ask = connect({"router": TOPOLOGY, "vhost": ""})
    ((answer,),) = ask("select route('x', 'a.b')")
    assert (answer["queues"], answer["problem"]) == (
        [],
        TOPOLOGY.route_columns(["x"], ["a.b"], vhost="").problem[0].as_py(),
    )


@each_engine
def test_a_table_of_many_batches_has_the_answers_of_match_batch(connect: Callable[..., Ask]) -> None:
    keys = [None if number % 7 == 0 else f"{'ab'[number % 2]}.{number}" for number in range(20_000)]
    table = pa.table({"number": range(20_000), "key": keys})
    ask = connect({"router": ROUTER}, table=table)
    found = ask("select number, destinations(key) as found from messages order by number")
    assert [names for _, names in found] == ROUTER.match_batch(keys).destinations().to_pylist()


def test_duckdb_asks_from_several_threads() -> None:
    connection = duckdb.connect()
    connection.sql("set threads = 4")
    register_duckdb(connection, ROUTER)
    connection.sql("create table keys as select 'a.' || i as key from range(300000) as t(i)")
    count = "select count(*) from keys where destinations(key) = ['x', 'y']"

    def ask() -> Any:
        cursor = connection.cursor()
        return cursor.sql(count).fetchall()

    with ThreadPoolExecutor(3) as pool:
        assert [job.result() for job in [pool.submit(ask) for _ in range(3)]] == [[(300_000,)]] * 3


@pytest.mark.parametrize("engine", ["trie", "dfa"])
def test_a_prepared_query_asks_a_router_whose_bindings_change_anew(engine: str) -> None:
    router = dr.compile([("a", "one")], engine=engine)
    connection = duckdb.connect()
    register_duckdb(connection, router)
    connection.execute("prepare question as select destinations('a')")
    assert connection.execute("execute question").fetchall() == [(["one"],)]
    asked = router.stats().keys
    if router.engine.dynamic:
        router.subscribe("a", "two")
        assert connection.execute("execute question").fetchall() == [(["one", "two"],)]
    else:
        connection.execute("execute question")
        assert router.stats().keys == asked, "it was answered when it was prepared"


@each_engine
def test_what_is_no_router_is_an_error_that_says_what_to_hand_over(connect: Callable[..., Ask]) -> None:
    with pytest.raises(TypeError, match=r"router is Topology: expected what dr.compile or Topology.compile returned"):
        connect({"router": topology_of()})


@each_engine
def test_exchanges_that_choose_have_a_column(connect: Callable[..., Ask]) -> None:
    router = topology_of(
        exchanges=[Exchange(name="h", type="x-consistent-hash"), Exchange(name="d", type="direct")],
        bindings=[
            Binding(source="h", destination="q", routing_key="3"),
            Binding(source="h", destination="r", routing_key="1"),
            Binding(source="d", destination="q", routing_key="k"),
        ],
    ).compile()
    ask = connect({"router": router}, table=pa.table({"exchange": ["h", "d", "no"], "key": ["k", "k", "k"]}))
    found = [row for (row,) in ask("select route(exchange, key) as found from messages")]
    assert found == pa.table(router.route_columns(["h", "d", "no"], ["k", "k", "k"])).to_pylist()
    (choice,) = found[0]["one_of"]
    shares = [(one["destination"], one["share"]) for one in choice["candidates"]]
    assert (choice["exchange"], shares) == ("h", [("q", 0.75), ("r", 0.25)])
    assert (found[0]["not_simulated"], found[0]["routed"], found[1]["one_of"]) == ([], True, [])


@each_engine
def test_a_function_that_is_registered_again_is_replaced(connect: Callable[..., Ask]) -> None:
    ask = connect({"router": ROUTER}, {"router": dr.compile([("a.*", "z")])})
    assert ask("select destinations('a.b') as found") == [(["z"],)]


def test_a_function_that_is_not_the_connections_own_is_not_replaced() -> None:
    connection = duckdb.connect()
    register_duckdb(connection, ROUTER)
    with pytest.raises(dr.OptionError, match="has a function 'destinations', which this connection was not given"):
        register_duckdb(connection.cursor(), ROUTER)
    with pytest.raises(dr.OptionError, match="choose another name"):
        register_duckdb(connection, ROUTER, "lower")
    assert connection.sql("select destinations('c'), lower('A')").fetchall() == [(["y"], "a")]


@pytest.mark.parametrize("given", [5, None, "messages.db", ROUTER], ids=["number", "none", "path", "router"])
def test_what_is_no_connection_is_refused(given: Any) -> None:
    for call, expected in [
        (register_duckdb, "connection is .*duckdb.connect"),
        (register_datafusion, "context is .*SessionContext"),
    ]:
        with pytest.raises(TypeError, match=expected):
            call(given, ROUTER)


def test_the_module_of_duckdb_is_a_connection_too() -> None:
    register_duckdb(duckdb, ROUTER, "of_the_module")
    assert duckdb.sql("select of_the_module('a.b')").fetchall() == [(["x", "y"],)]
