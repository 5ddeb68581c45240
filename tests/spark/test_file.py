"""Workers map the automata of a topology from one file, and an engine without a file goes as a broadcast."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from dfa_router.rabbitmq import Binding, Exchange, topology_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TOPOLOGY = topology_of(
    exchanges=[Exchange(name="market", type="topic")],
    bindings=[Binding(source="market", destination="fx", destination_type="queue", routing_key="forex.*")],
)


@pytest.mark.parametrize("engine", ["dfa", "nfa", "trie"])
def test_a_topology_travels_with_every_engine(spark: SparkSession, engine: str) -> None:
    from dfa_router.spark import route

    messages = spark.createDataFrame([("market", "forex.eur"), ("market", "x")], "exchange string, routing_key string")
    found = {row.routing_key: row.queues for row in route(messages, TOPOLOGY, engine=engine).collect()}
    assert found == {"forex.eur": ["fx"], "x": []}


def test_workers_map_the_file(spark: SparkSession) -> None:
    from dfa_router.spark import route

    router = TOPOLOGY.compile(cache_bytes=7_654_321)
    messages = spark.createDataFrame([("market", "forex.eur")] * 100, "exchange string, routing_key string")
    assert route(messages, TOPOLOGY, cache_bytes=7_654_321).where("routed").count() == 100

    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        maps = Path("/proc/self/maps").read_text().splitlines()
        files = {line.split("/", 1)[1] for line in maps if line.endswith(".dfar")}
        yield pa.RecordBatch.from_pydict({"file": sorted(files)})

    files = {row.file for row in spark.range(2, numPartitions=2).mapInArrow(mapped, "file string").collect()}
    assert len([file for file in files if router.fingerprint[:16] in file]) == 1
