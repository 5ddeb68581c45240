"""What test_connect.py runs: routes messages on Spark Connect, and writes what came out to found.json in a folder.

``python connect_program.py FOLDER`` asks each way once; ``python connect_program.py FOLDER all`` asks all there is.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from dfa_router.errors import OptionError
from dfa_router.rabbitmq import Binding, Exchange, Queue, Topology, topology_of
from dfa_router.spark import check_executors, register, route, shipping
from dfa_router.spark.session import SHORT_JOBS
from tests.spark.workers import keys_of_workers

SCHEMA = "exchange string, routing_key string, number int"
MESSAGES = [("x", "a.b", 1), ("x", "b", 2), ("x", None, 3)]


def topology() -> Topology:
    """Return a topology; each is shipped by itself."""
    return topology_of(
        exchanges=[Exchange(name="x", type="topic")],
        queues=[Queue(name="q")],
        bindings=[Binding(source="x", destination="q", routing_key="a.#")],
    )


def listed(routed: DataFrame) -> list[list[Any]]:
    """Return the rows in the order of the messages."""
    rows = routed.select("exchange", "routing_key", "queues", "routed", "not_simulated", "problem").collect()
    return [list(row) for row in sorted(rows, key=lambda row: (row.routing_key is None, row.routing_key))]


def main(folder: Path, everything: bool) -> None:
    """Ask one session."""
    builder = SparkSession.builder.remote("local[2]")
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    for name, value in (settings | {"spark.driver.extraJavaOptions": SHORT_JOBS}).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    found: dict[str, Any] = {"session": type(session).__module__}
    check_executors(session)
    wide = session.createDataFrame(MESSAGES, SCHEMA)
    narrow = wide.select("exchange", "routing_key")
    largest = shipping.LARGEST_CLOSURE
    ways = [("closure", largest, "dfa", "wide"), ("artifacts", 0, "dfa", "narrow")]
    if everything:
        ways += [("closure", largest, "dfa", "narrow"), ("artifacts", 0, "dfa", "wide")]
        ways += [("broadcast", 0, "trie", width) for width in ("wide", "narrow")]
    for way, size, engine, width in ways:
        shipping.LARGEST_CLOSURE = size
        own = topology()
        messages = wide if width == "wide" else narrow
        found[f"{way} {width}"] = listed(route(messages, own, engine=engine, cache_bytes=1_000_000 + size))
        how = next(iter(shipping._shipped[own].values()))[1][0]
        assert how == ("artifacts" if way == "artifacts" else "closure"), how
    shipping.LARGEST_CLOSURE = largest
    own = topology()
    options = route(wide, own, explode=True, fate=True, prefix="p_").orderBy("number")
    found["options"] = [list(row) for row in options.select("p_queue", "p_fate").collect()]

    names = register(session, own)
    wide.createOrReplaceTempView("messages")
    asked = session.sql("SELECT route(exchange, routing_key).queues AS queues FROM messages ORDER BY number")
    found["sql function"] = [row.queues for row in asked.collect()]
    found["sql table"] = "none before Spark 4.0"
    if len(names) > 1:
        asked = session.sql("SELECT queues FROM messages, LATERAL route_table(exchange, routing_key) ORDER BY number")
        found["sql table"] = [row.queues for row in asked.collect()]

    choosing = topology_of(
        exchanges=[Exchange(name="x", type="x-random")],
        bindings=[Binding(source="x", destination=name) for name in ("q", "r")],
    )
    found["one of"] = [
        [one.asDict(recursive=True) for one in row.one_of]
        for frame in (wide, narrow)[: 1 + everything]
        for row in route(frame, choosing).where("routing_key = 'b'").collect()
    ]

    if everything:
        found["keys of workers"] = keys_of_workers(session, topology(), "x")
        found |= streamed(session, wide, folder)
    session.stop()
    try:
        route(wide, own)
    except OptionError as error:
        found["stopped"] = str(error)
    (folder / "found.json").write_text(json.dumps(found))


def streamed(session: SparkSession, wide: DataFrame, folder: Path) -> dict[str, list[list[Any]]]:
    """Route a stream into files, and one batch by batch in a function."""
    own = topology()
    found: dict[str, list[list[Any]]] = {}
    log = str(folder / "log")
    wide.coalesce(1).write.parquet(log)
    messages = session.readStream.schema(SCHEMA).parquet(log)
    query = (
        route(messages, own)
        .writeStream.option("checkpointLocation", str(folder / "kept"))
        .trigger(availableNow=True)
        .start(str(folder / "routed"), format="parquet")
    )
    query.awaitTermination()
    found["stream to files"] = listed(session.read.parquet(str(folder / "routed")))
    target = str(folder / "by function")

    def write(batch: DataFrame, _: int) -> None:
        route(batch, own).write.mode("append").parquet(target)

    messages.writeStream.option("checkpointLocation", str(folder / "kept too")).trigger(availableNow=True).foreachBatch(
        write
    ).start().awaitTermination()
    found["stream to a function"] = listed(session.read.parquet(target))
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] == ["all"])
