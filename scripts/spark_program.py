"""A program for spark-submit that routes messages on a cluster of two executors; scripts/try_spark.sh runs it."""

from __future__ import annotations

import sys
import time

from pyspark.sql import SparkSession

import dfa_router
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
from dfa_router.spark import check_executors, register, route

ROWS = 200_000


def main() -> None:
    """Route on both ways through Python and in SQL, and print what it was done with; fails where a row is wrong."""
    session = SparkSession.builder.appName("dfa-router").getOrCreate()
    context = session.sparkContext
    while context._jsc.sc().getExecutorMemoryStatus().size() < 3:  # the driver is one of them
        time.sleep(0.2)
    check_executors(session)
    topology = topology_of(
        exchanges=[Exchange(name="x", type="topic")],
        queues=[Queue(name="even"), Queue(name="all")],
        bindings=[
            Binding(source="x", destination="even", routing_key="even.*"),
            Binding(source="x", destination="all", routing_key="#"),
        ],
    )
    messages = session.range(0, ROWS, 1, numPartitions=8).selectExpr(
        "'x' as exchange", "concat(if(id % 2 = 0, 'even.', 'odd.'), id) as routing_key", "id"
    )
    expected = {"all": ROWS, "even": ROWS // 2}
    for name, frame in {"wide": messages, "narrow": messages.drop("id")}.items():
        copies = route(frame, topology, explode=True).groupBy("queue").count().collect()
        found = {row.queue: row["count"] for row in copies}
        assert found == expected, (name, found)
    register(session, topology)
    messages.createOrReplaceTempView("messages")
    query = "SELECT sum(size(route(exchange, routing_key).queues)) AS copies FROM messages"
    assert session.sql(query).collect()[0].copies == sum(expected.values())
    places = context.parallelize(range(8), 8).map(lambda _: sys.executable).distinct().collect()
    print(f"Spark {session.version}: {ROWS:,} messages on two executors, {dfa_router.__file__} in {', '.join(places)}")
    session.stop()


if __name__ == "__main__":
    main()
