"""Routing of streams: what comes out of each sink, and that no row waits for rows that have not come yet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TOPOLOGY = topology_of(
    exchanges=[Exchange(name="x", type="topic")],
    queues=[Queue(name="q"), Queue(name="r")],
    bindings=[
        Binding(source="x", destination="q", routing_key="a.#"),
        Binding(source="x", destination="r", routing_key="*.b"),
    ],
)
SCHEMA = "exchange string, routing_key string, number int"


class Source:
    """A folder that a stream reads, and what has been put there."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder, self.rows = spark, str(folder), 0

    def put(self, *keys: str | None) -> None:
        """Add a file of messages with these keys."""
        rows = [("x", key, self.rows + n) for n, key in enumerate(keys)]
        self.rows += len(rows)
        self._spark.createDataFrame(rows, SCHEMA).coalesce(1).write.mode("append").parquet(self._folder)

    def stream(self) -> DataFrame:
        """Return the messages as a stream."""
        return self._spark.readStream.schema(SCHEMA).parquet(self._folder)


def queues_of(rows: DataFrame) -> list[list[str]]:
    """Return the queues of each message, in order."""
    return [row.queues for row in rows.orderBy("number").collect()]


def test_each_micro_batch_is_routed_when_it_comes(spark: SparkSession, tmp_path: Path) -> None:
    """Workers gather rows up to a number that none of these batches reaches."""
    from dfa_router.spark import route

    source = Source(spark, tmp_path / "log")
    source.put("a.b", "b", None)
    query = route(source.stream(), TOPOLOGY).writeStream.format("memory").queryName("routed").start()
    try:
        query.processAllAvailable()
        assert queues_of(spark.table("routed")) == [["q", "r"], [], []]
        source.put("x.b")
        source.put("a")
        query.processAllAvailable()
        assert queues_of(spark.table("routed")) == [["q", "r"], [], [], ["r"], ["q"]]
        assert sum(progress["numInputRows"] for progress in query.recentProgress) == source.rows
    finally:
        query.stop()
    assert query.exception() is None


def test_files_and_their_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    """A query that goes on from its checkpoint routes each message once."""
    from dfa_router.spark import route

    source = Source(spark, tmp_path / "log")
    for keys in (["a.b", "b"], ["x.b", None]):
        source.put(*keys)
        routed = route(source.stream(), TOPOLOGY, explode=True, fate=True)
        routed.writeStream.option("checkpointLocation", str(tmp_path / "kept")).trigger(availableNow=True).start(
            str(tmp_path / "routed"), format="parquet"
        ).awaitTermination()
    rows = spark.read.parquet(str(tmp_path / "routed")).orderBy("number", "queue").collect()
    assert [(row.number, row.queue, row.fate) for row in rows] == [
        (0, "q", "routed"),
        (0, "r", "routed"),
        (1, None, "unroutable"),
        (2, "r", "routed"),
        (3, None, "problem"),
    ]


def test_a_function_for_each_batch(spark: SparkSession, tmp_path: Path) -> None:
    """The topology is sent once, though each batch is routed by a call of its own."""
    from dfa_router.spark import route, shipping

    source, seen = Source(spark, tmp_path / "log"), []
    for key in ("a.b", "x.b", None):
        source.put(key)

    def write(batch: DataFrame, number: int) -> None:
        routed = route(batch, TOPOLOGY)
        seen.append((number, dict(shipping._shipped[TOPOLOGY])))
        routed.write.mode("append").parquet(str(tmp_path / "routed"))

    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "log"))
    stream.writeStream.option("checkpointLocation", str(tmp_path / "kept")).trigger(availableNow=True).foreachBatch(
        write
    ).start().awaitTermination()
    assert queues_of(spark.read.parquet(str(tmp_path / "routed"))) == [["q", "r"], ["r"], []]
    assert [number for number, _ in seen] == [0, 1, 2]
    assert all(shipped == seen[0][1] for _, shipped in seen)


def test_sql_over_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    from dfa_router.spark import register

    source = Source(spark, tmp_path / "log")
    source.put("a.b", "b", None)
    assert register(spark, TOPOLOGY)[0] == "route"
    source.stream().createOrReplaceTempView("stream")
    routed = spark.sql("SELECT number, route(exchange, routing_key).queues AS queues FROM stream")
    query = routed.writeStream.format("memory").queryName("by_sql").start()
    try:
        query.processAllAvailable()
        assert queues_of(spark.table("by_sql")) == [["q", "r"], [], []]
    finally:
        query.stop()
        spark.catalog.dropTempView("stream")
