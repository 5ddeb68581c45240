"""Exchanges that take one of their destinations: a column of its own, in DataFrames, in SQL and in files of each format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, topology_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TOPOLOGY = topology_of(
    exchanges=[
        Exchange(name="in", type="topic"),
        Exchange(name="h", type="x-consistent-hash"),
        Exchange(name="on", type="x-random"),
        Exchange(name="end", type="fanout"),
        Exchange(name="stop", type="fanout"),
        Exchange(name="odd", type="x-unheard-of"),
    ],
    bindings=[
        Binding(source="in", destination="all", routing_key="#"),
        Binding(source="in", destination="h", destination_type="exchange", routing_key="a.#"),
        Binding(source="h", destination='many, "more"', routing_key="3"),
        Binding(source="h", destination="few", routing_key="1"),
        Binding(source="on", destination="end", destination_type="exchange"),
        Binding(source="on", destination="stop", destination_type="exchange"),
    ],
)
EXCHANGES = ["in", "in", "h", "on", "odd", "no"]
KEYS = ["a.b", "b", "x", "x", "x", "x"]
TYPE = (
    "array<struct<exchange:string,candidates:array<struct<destination:string,destination_type:string,share:double>>>>"
)
FATES = ["routed", "routed", "routed", "undecided", "undecided", "problem"]


def expected() -> list[dict[str, Any]]:
    return pa.table(TOPOLOGY.compile().route_columns(EXCHANGES, KEYS)).to_pylist()  # type: ignore[no-any-return]


def as_dicts(rows: Any) -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in rows]


def test_the_topology_tells_whether_there_is_such_a_column() -> None:
    only = topology_of(
        exchanges=[Exchange(name="h", type="x-random"), Exchange(name="x", type="topic")],
        bindings=[
            Binding(source="h", destination="q"),
            Binding(source="h", destination="q", routing_key="again"),
            Binding(source="x", destination="q"),
            Binding(source="x", destination="r"),
        ],
    )
    for topology, chooses in ((TOPOLOGY, True), (only, False)):
        assert (topology.chooses, topology.compile().chooses) == (chooses, chooses)


@pytest.mark.parametrize("wide", [False, True])
def test_dataframes(spark: SparkSession, wide: bool) -> None:
    from dfa_router.spark import route

    rows = [
        (one, key, number)[: 3 if wide else 2] for number, (one, key) in enumerate(zip(EXCHANGES, KEYS, strict=True))
    ]
    messages = spark.createDataFrame(rows, "exchange string, routing_key string" + ", n int" * wide).coalesce(1)
    routed = route(messages, TOPOLOGY, fate=True)
    assert routed.schema["one_of"].dataType.simpleString() == TYPE
    names = ["queues", "routed", "not_simulated", "problem", "one_of"]
    assert as_dicts(routed.select(*names).collect()) == expected()
    assert [row.fate for row in routed.collect()] == FATES
    copies = route(messages, TOPOLOGY, explode=True, prefix="p_").where("p_queue is not null").collect()
    assert [(row.p_queue, len(row.p_one_of)) for row in copies] == [("all", 1), ("all", 0)]


def test_a_column_of_that_name_is_in_the_way_only_where_it_is_added(spark: SparkSession) -> None:
    from dfa_router.spark import route

    messages = spark.createDataFrame([("x", "k", "?")], "exchange string, routing_key string, one_of string")
    with pytest.raises(dr.MessagesError, match="a column 'one_of', which the result adds"):
        route(messages, TOPOLOGY)
    assert route(messages, topology_of(exchanges=[Exchange(name="x", type="topic")])).collect()[0].one_of == "?"


def test_functions_of_sql(spark: SparkSession) -> None:
    from dfa_router.spark import register

    register(spark, TOPOLOGY, "to")
    found = spark.sql("SELECT to('h', 'x') AS r, to('in', 'b').one_of AS none").collect()[0]
    assert found.r.asDict(recursive=True) == expected()[2]
    assert found.none == []


@pytest.mark.parametrize(
    ("way", "out_kind"),
    [
        ("parts", "parquet"),
        ("frames", "csv"),
        *(
            pytest.param(way, kind, marks=pytest.mark.long)
            for way, kind in (("parts", "jsonl"), ("parts", "csv"), ("frames", "parquet"), ("frames", "jsonl"))
        ),
    ],
)
def test_files(spark: SparkSession, tmp_path: Path, out_kind: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from dfa_router.logs.planning import OtherWayError
    from dfa_router.spark import job

    if way == "frames":

        def refuse(*_: Any, **__: Any) -> None:
            raise OtherWayError("asked for")

        monkeypatch.setattr(job, "plan_of", refuse)
    (tmp_path / "log").mkdir()
    pq.write_table(pa.table({"exchange": EXCHANGES, "routing_key": KEYS}), tmp_path / "log" / "1.parquet")
    out = str(tmp_path / "out")
    summary = job.route_log(spark, TOPOLOGY, str(tmp_path / "log"), out, kind="parquet", out_kind=out_kind)
    assert (summary.messages, summary.routed, summary.undecided, summary.unroutable) == (6, 3, 2, 1)
    assert summary.not_simulated == {"h": 2, "odd": 1, "on": 1}
    if out_kind == "parquet":
        read = spark.read.parquet(out)
        assert read.schema["one_of"].dataType.simpleString() == TYPE
        found = [row["one_of"] for row in as_dicts(read.collect())]
    elif out_kind == "jsonl":
        found = [
            json.loads(line)["one_of"] for file in Path(out).glob("*.json") for line in file.read_text().splitlines()
        ]
    else:
        found = [json.loads(row.one_of) for row in spark.read.csv(out, header=True, escape='"').collect()]
    assert found == [row["one_of"] for row in expected()]
