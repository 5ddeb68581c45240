"""What Python workers keep from query to query, as their own routers count it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from dfa_router.rabbitmq import Topology

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["keys_of_workers"]

CACHE_BYTES = 12_345_678
"""Of no other router in these tests."""


def keys_of_workers(session: SparkSession, topology: Topology, exchange: str) -> list[int]:
    """Return how many keys the router of each worker has matched after eight queries of 500 rows, all of them routed."""
    from dfa_router.spark import route

    fingerprint = topology.compile(cache_bytes=CACHE_BYTES).fingerprint
    messages = session.createDataFrame([(exchange, "a.b")] * 500, "exchange string, routing_key string").coalesce(1)
    for _ in range(8):
        assert route(messages, topology, cache_bytes=CACHE_BYTES).where("routed").count() == 500

    def matched(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:  # inside, so that it travels as a whole
        from dfa_router.spark import _worker

        for _ in batches:
            pass
        router = _worker._routers.get(fingerprint)
        yield pa.RecordBatch.from_pydict({"keys": [router.stats().keys if router else 0]})

    return [row.keys for row in session.range(8, numPartitions=8).mapInArrow(matched, "keys long").collect()]
