"""Routing in Spark SQL: a function of columns, and one for FROM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TOPOLOGY = topology_of(
    vhosts=["/", "it's"],
    exchanges=[Exchange(name="x", type="topic"), Exchange(vhost="it's", name="x", type="topic")],
    queues=[Queue(name="q"), Queue(name="r"), Queue(vhost="it's", name="s")],
    bindings=[
        Binding(source="x", destination="q", routing_key="a.#"),
        Binding(source="x", destination="r", routing_key="*.b"),
        Binding(vhost="it's", source="x", destination="s", routing_key="*.b"),
    ],
)


def has_table_functions(spark: SparkSession) -> bool:
    """Tell whether this Spark has functions written in SQL."""
    return int(spark.version.split(".")[0]) >= 4


@pytest.fixture
def messages(spark: SparkSession) -> Iterator[SparkSession]:
    """Return the session with a view of messages and the functions."""
    from dfa_router.spark import register

    spark.createDataFrame(
        [(1, "x", "a.b", "/"), (2, "x", "b", "/"), (3, "x", "a.b", "it's"), (4, None, "a", "/")],
        "number int, exchange string, routing_key string, vhost string",
    ).createOrReplaceTempView("messages")
    assert register(spark, TOPOLOGY) == (("route", "route_table") if has_table_functions(spark) else ("route",))
    yield spark
    spark.catalog.dropTempView("messages")


def test_a_function_of_columns(messages: SparkSession) -> None:
    rows = messages.sql("""
        SELECT number, r.*, route(exchange, routing_key, vhost).queues AS there
        FROM (SELECT *, route(exchange, routing_key) AS r FROM messages) ORDER BY number
    """).collect()
    assert [row.queues for row in rows] == [["q", "r"], [], ["q", "r"], []]
    assert [row.there for row in rows] == [["q", "r"], [], ["s"], []]
    assert [row.problem for row in rows] == [None, None, None, "exchange is null"]
    counted = "SELECT count(*) AS n FROM messages WHERE route(exchange, routing_key, vhost).routed"
    assert messages.sql(counted).collect()[0].n == 2
    once = messages.sql(
        "SELECT route('x', 'a.b').queues AS one, route(encode('x', 'UTF-8'), X'612E62').queues AS bytes"
    )
    assert [tuple(row) for row in once.collect()] == [(["q", "r"], ["q", "r"])]


def test_a_function_in_from(messages: SparkSession) -> None:
    if not has_table_functions(messages):
        pytest.skip("Spark has no functions written in SQL before 4.0")
    found = messages.sql("SELECT * FROM messages, LATERAL route_table(exchange, routing_key, vhost) ORDER BY number")
    assert found.columns[:4] == ["number", "exchange", "routing_key", "vhost"]
    assert found.columns[4:] == ["queues", "routed", "not_simulated", "problem"]
    assert [row.queues for row in found.collect()] == [["q", "r"], [], ["s"], []]
    copies = messages.sql("""
        SELECT queue, count(*) AS copies FROM messages, LATERAL route_table(exchange, routing_key)
        LATERAL VIEW explode(queues) AS queue GROUP BY queue ORDER BY queue
    """)
    assert [tuple(row) for row in copies.collect()] == [("q", 2), ("r", 2)]


def test_the_default_vhost_and_a_second_function(messages: SparkSession) -> None:
    from dfa_router.spark import register

    names = register(messages, TOPOLOGY, "there", vhost="it's")
    asked = "SELECT there(exchange, routing_key).queues AS queues FROM messages ORDER BY number"
    assert [row.queues for row in messages.sql(asked).collect()] == [["s"], [], ["s"], []]
    if not has_table_functions(messages):
        return
    assert names == ("there", "there_table")
    rows = messages.sql("""
        SELECT there(exchange, routing_key).queues AS one, t.queues AS two, route(exchange, routing_key).queues AS three
        FROM messages, LATERAL there_table(exchange, routing_key) AS t WHERE number = 1
    """).collect()
    assert [tuple(row) for row in rows] == [(["s"], ["s"], ["q", "r"])]


def test_wrong_calls_say_what_is_expected(messages: SparkSession) -> None:
    from pyspark.errors import PySparkException

    from dfa_router.spark import register

    for call, expected in [
        ("route(exchange)", "one column to route by: expected exchange, routing_key and perhaps vhost"),
        (
            "route(exchange, routing_key, vhost, 'x')",
            "4 columns to route by: expected exchange, routing_key and perhaps vhost",
        ),
        ("route()", "0 columns to route by: expected exchange, routing_key and perhaps vhost"),
        ("route(exchange, number)", r"TypeError: routing_key is int: expected a string; CAST\(... AS STRING\)"),
        ("route('x', 1.5)", r"TypeError: routing_key is decimal\(2,1\): expected a string"),
        ("route('x', 'a', array(vhost))", "TypeError: vhost is array<string>: expected a string"),
    ]:
        with pytest.raises(PySparkException, match=expected):
            messages.sql(f"SELECT {call} FROM messages").collect()
    with pytest.raises(dr.OptionError, match="name is 'my route': expected letters"):
        register(messages, TOPOLOGY, "my route")
    with pytest.raises(dr.OptionError, match="batch_rows is 0"):
        register(messages, TOPOLOGY, batch_rows=0)


@pytest.mark.parametrize("name", ["abs", "Count", "map", "explode", "and"])
def test_names_of_functions_of_spark_are_refused(messages: SparkSession, name: str) -> None:
    """Spark would call its own all the same."""
    from dfa_router.spark import register

    with pytest.raises(dr.OptionError, match=f"name is '{name}': Spark has a function of its own of that name"):
        register(messages, TOPOLOGY, name)
    assert messages.sql("SELECT abs(-1) AS one, count(*) AS all FROM messages").collect()[0].asDict() == {
        "one": 1,
        "all": 4,
    }


def test_a_function_is_replaced_by_one_of_its_name(messages: SparkSession) -> None:
    from dfa_router.spark import register

    for vhost, queues in (("/", ["q", "r"]), ("it's", ["s"])):
        register(messages, TOPOLOGY, "again", vhost=vhost)
        assert messages.sql("SELECT again('x', 'a.b').queues AS there").collect()[0].there == queues
