"""Routing on Spark: no row is lost, and wrong ones are marked; workers keep what they have compiled."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
from tests.spark.tables import from_arrow
from tests.spark.workers import keys_of_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

ADDED = ["queues", "routed", "not_simulated", "problem"]


TOPOLOGY = topology_of(
    vhosts=["/", "b"],
    exchanges=[
        Exchange(name="market", type="topic"),
        Exchange(name="odd", type="x-unheard-of"),
        Exchange(name="inner", type="fanout", internal=True),
        Exchange(vhost="b", name="market", type="direct"),
    ],
    queues=[Queue(name="q"), Queue(vhost="b", name="r")],
    bindings=[
        Binding(source="market", destination="q", routing_key="a.#"),
        Binding(source="market", destination="odd", destination_type="exchange", routing_key="#.odd"),
        Binding(vhost="b", source="market", destination="r", routing_key="a.b"),
    ],
)

ROWS: list[tuple[str | None, str | None, str | bytes | None, list[str], list[str], str | None]] = [
    ("/", "market", "a.b", ["q"], [], None),
    ("/", "market", "", [], [], None),
    ("/", "market", "a.odd", ["q"], ["odd"], None),
    ("/", "odd", "", [], ["odd"], None),
    ("b", "market", "a.b", ["r"], [], None),
    ("b", "", "r", ["r"], [], None),
    ("/", "market", None, [], [], "routing_key is null"),
    ("/", None, "a", [], [], "exchange is null"),
    (None, "market", "a", [], [], "vhost is null"),
    ("/", "nobody", "a", [], [], "no exchange 'nobody'"),
    ("x", "market", "a", [], [], "no vhost 'x'"),
    ("/", "inner", "a", [], [], "exchange 'inner' is internal"),
    ("/", "market", "a" + ".w" * 9_999, ["q"], [], "routing_key is over AMQP's 255 bytes"),
    ("/", "market", b"a.\xff", ["q"], [], "routing_key is not valid UTF-8"),
]


def frame(spark: SparkSession, *, binary: bool = False) -> DataFrame:
    """Return the rows above as a DataFrame; as text, the key of the last row holds bytes that are no UTF-8."""
    keys = [key.encode() if isinstance(key, str) else key for *_, key, _, _, _ in ROWS]
    table = pa.table(
        {
            "vhost": [row[0] for row in ROWS],
            "exchange": [row[1] for row in ROWS],
            "routing_key": pa.array(keys, pa.binary()),
            "number": list(range(len(ROWS))),
            "pay load`": [{"n": n, "tags": ["x", None]} for n in range(len(ROWS))],
        }
    )
    messages = from_arrow(spark, table)
    return messages if binary else messages.withColumn("routing_key", messages.routing_key.cast("string"))


def check(rows: Iterable[Any], *, numbered: bool) -> None:
    """Compare rows with what is expected of them."""
    found = list(rows)
    assert len(found) == len(ROWS)
    for number, row in enumerate(sorted(found, key=lambda row: row.number) if numbered else found):
        _, _, _, queues, not_simulated, problem = ROWS[number]
        assert (row.queues, row.routed, row.not_simulated) == (queues, bool(queues), not_simulated), row
        assert (row.problem or "").startswith(problem or ""), row
        assert (row.problem is None) == (problem is None), row


def plan(frame: DataFrame) -> str:
    """Return the physical plan as text."""
    return str(frame._jdf.queryExecution().executedPlan().toString())


@pytest.mark.parametrize("large", [False, True], ids=["string", "large_string"])
def test_rows_are_kept_and_marked_on_both_ways_through_python(spark: SparkSession, *, large: bool) -> None:
    from dfa_router.spark import route

    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", str(large).lower())
    try:
        wide = route(frame(spark), TOPOLOGY)
        assert wide.columns == ["vhost", "exchange", "routing_key", "number", "pay load`", *ADDED]
        rows = wide.collect()
        check(rows, numbered=True)
        assert sorted(row["pay load`"].n for row in rows) == list(range(len(ROWS)))
        narrow = route(frame(spark).select("exchange", "routing_key", "vhost").coalesce(1), TOPOLOGY)
        assert narrow.columns == ["exchange", "routing_key", "vhost", *ADDED]
        check(narrow.collect(), numbered=False)
        if not large:
            check(route(frame(spark, binary=True), TOPOLOGY).collect(), numbered=True)
            assert bytes(rows[-1].routing_key) == b"a.\xff" if isinstance(rows[-1].routing_key, bytes) else True
    finally:
        spark.conf.unset("spark.sql.execution.arrow.useLargeVarTypes")


def test_without_a_vhost_column_the_argument_says_which(spark: SparkSession) -> None:
    from dfa_router.spark import route

    messages = spark.createDataFrame([("market", "a.b"), ("", "r")], "exchange string, routing_key string")
    both = route(messages, TOPOLOGY, vhost="b").collect() + route(messages, TOPOLOGY).collect()
    assert [row.queues for row in both] == [["r"], ["r"], ["q"], []]


def test_empty_fields_of_csv_are_nulls_to_spark_and_are_told_from_them_as_documented(
    spark: SparkSession, tmp_path: Path
) -> None:
    from dfa_router.spark import route

    (tmp_path / "log.csv").write_text('n,exchange,routing_key\n0,"",r\n1,,r\n2,fan,""\n3,fan,\n')
    topology = topology_of(
        exchanges=[Exchange(name="fan", type="fanout")],
        queues=[Queue(name="r")],
        bindings=[Binding(source="fan", destination="r")],
    )
    messages = spark.read.option("header", True).csv(str(tmp_path / "log.csv"))
    problems = [row.problem for row in route(messages, topology).orderBy("n").collect()]
    assert problems == ["exchange is null"] * 2 + ["routing_key is null"] * 2
    assert "fillna" in str(route.__doc__)
    filled = route(messages.fillna("", ["exchange", "routing_key"]), topology)
    assert [(row.queues, row.problem) for row in filled.collect()] == [(["r"], None)] * 4


def test_the_payload_stays_in_the_jvm_and_keys_cross_once(spark: SparkSession) -> None:
    from pyspark.sql import functions as sf

    from dfa_router.spark import route

    wide = route(frame(spark), TOPOLOGY)
    asked = wide.where("routed").where(sf.size("queues") > 0).select("number", "queues", "problem")
    text = plan(asked)
    if not hasattr(sf, "arrow_udf"):
        assert text.count("MapInArrow") == 1, "before Spark 4.1, which brought Arrow UDFs"
        return
    assert text.count("ArrowEvalPython") == 1, text
    assert "MapInArrow" not in text
    assert "route_keys(exchange" in text.replace("vhost", "exchange") or "route_keys(" in text
    narrow = route(frame(spark).select("exchange", "routing_key"), TOPOLOGY)
    assert plan(narrow).count("MapInArrow") == 1


def test_messages_of_another_shape_are_refused(spark: SparkSession) -> None:
    from dfa_router.spark import route

    for schema, expected in [
        ("exchange string, key string", r"no column 'routing_key'; they have: exchange string, key string"),
        ("routing_key string", "no column 'exchange'"),
        ("exchange string, routing_key int", r"'routing_key' is int: expected a string.*Cast it"),
        ("exchange binary, routing_key string", "'exchange' is binary"),
        ("exchange string, routing_key string, vhost int", "'vhost' is int"),
        ("exchange string, routing_key string, Queues int", "a column 'queues', which the result adds.*Rename or drop"),
        ("exchange string, routing_key string, problem string", "'problem'"),
        ("exchange string, EXCHANGE string, routing_key string", "two columns 'exchange' and 'EXCHANGE'"),
        ("exchange string, exchange string, routing_key string", "two columns 'exchange'"),
    ]:
        with pytest.raises(dr.MessagesError, match=expected):
            route(spark.createDataFrame([], schema), TOPOLOGY)
    with pytest.raises(dr.OptionError, match="unknown engine 'fast'"):
        route(frame(spark), TOPOLOGY, engine="fast")


def test_a_topology_is_broadcast_once_and_let_go_with_it(spark: SparkSession) -> None:
    from dfa_router.spark import route

    module = importlib.import_module("dfa_router.spark.shipping")
    messages = frame(spark)
    gc.collect()
    before = len(module._shipped)
    topology = topology_of(exchanges=[Exchange(name="market", type="topic")])
    route(messages, topology)
    first = next(iter(module._shipped[topology].values()))
    route(messages, topology, vhost="b")
    assert list(module._shipped[topology].values()) == [first]
    route(messages, topology, engine="nfa")
    assert len(module._shipped[topology]) == 2
    del topology, first
    gc.collect()
    assert len(module._shipped) == before


def test_workers_keep_their_router_from_query_to_query(spark: SparkSession) -> None:
    counts = keys_of_workers(spark, TOPOLOGY, "market")
    assert max(counts) >= 1000, f"a few workers share eight queries of 500 rows: {counts}"


def test_the_worker_keeps_a_few_routers() -> None:
    from dfa_router.spark import _worker

    before = dict(_worker._routers)
    try:
        for number in range(_worker.KEPT + 2):
            _worker.router_for(f"f{number}", TOPOLOGY.compile)
            _worker.router_for("f0", TOPOLOGY.compile)
        assert len(_worker._routers) == _worker.KEPT
        assert "f0" in _worker._routers, "what is used stays"
        assert "f1" not in _worker._routers
    finally:
        _worker._routers.clear()
        _worker._routers.update(before)
