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
    from dfa_router.spark._worker import router_of
    from dfa_router.spark.shipping import ship

    fingerprint, packed = ship(spark, TOPOLOGY, "dfa", 7_654_321)

    # Whoever gets a task of the next query may be another worker, so each task asks for the router itself.
    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        queues = router_of(fingerprint, packed).route("market", "forex.eur").queues
        maps = Path("/proc/self/maps").read_text().splitlines()
        files = {line.split("/", 1)[1] for line in maps if line.endswith(".dfar") and fingerprint[:16] in line}
        yield pa.RecordBatch.from_pydict({"queues": [list(queues)], "files": [sorted(files)]})

    found = spark.range(2, numPartitions=2).mapInArrow(mapped, "queues array<string>, files array<string>").collect()
    assert [row.queues for row in found] == [["fx"]] * 2
    assert len({tuple(row.files) for row in found}) == len(found[0].files) == 1
