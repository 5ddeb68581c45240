"""A session of Spark that runs a contestant for each line that it reads, and answers with a line of what that cost.

``python -m benchmarks.frames.child classic|connect LOG DEFINITIONS FOLDER`` is started by :mod:`benchmarks.frames.turns`: PySpark
keeps no classic session beside one of Connect, so each has a process of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import dfa_router as dr
from benchmarks.frames.contestants import CONTESTANTS, constants_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["MARK", "answer_of", "main", "routes_of"]

MARK = "FIGURE "
"""How lines that are answers begin: Spark writes lines, too."""

CONSTANT_ROWS = 20_000
"""Constants are the routes of so many messages."""


def cpu_seconds() -> float:
    """Return the processor time of all processes that this one has started, and of those that they started and saw end."""
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:  # it has ended
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
            ticks[int(entry.name)] = sum(map(int, fields[11:15]))
    family = list(children.get(os.getpid(), []))
    for process in family:
        family += children.get(process, [])
    return sum(ticks[process] for process in family) / os.sysconf("SC_CLK_TCK")


def session_of(kind: str) -> SparkSession:
    """Start Spark with two cores; on Connect, server and workers are processes of this machine as well."""
    if kind == "classic":
        from dfa_router.spark import local_session

        return local_session("local[2]", app_name="benchmark")
    from pyspark.sql import SparkSession

    from dfa_router.spark.java import find_java
    from dfa_router.spark.session import _launch_environment

    os.environ |= {name: value for name, value in _launch_environment("local[2]", find_java()).items() if value}
    return SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()


def routes_of(topology: dr.Topology, log: pa.Table) -> pa.StructArray:
    """Return the routes of the first messages, found without Spark."""
    some = log.slice(0, CONSTANT_ROWS)
    routed = topology.compile().route_columns(some["exchange"], some["routing_key"], some["vhost"])
    return pa.StructArray.from_arrays(list(routed), list(routed._fields))


def summary(table: pa.Table) -> dict[str, int]:
    """Count what is in a result."""
    lists = table["queues"].combine_chunks()
    return {
        "rows": len(table),
        "routed": pc.sum(table["routed"]).as_py(),
        "copies": len(lists.flatten()),
        "bytes": pc.sum(pc.binary_length(lists.flatten())).as_py(),
    }


def answer_of(
    name: str, messages: DataFrame, topology: dr.Topology, constants: pa.StructArray, target: Path
) -> dict[str, Any]:
    """Run a contestant, and return what it cost and what its result counts; the result does not stay at its target."""
    frame = CONTESTANTS[name](messages, topology, constants)
    cpu, started = cpu_seconds(), time.perf_counter()
    frame.write.parquet(str(target))
    cost = {"seconds": time.perf_counter() - started, "cpu": cpu_seconds() - cpu}
    counts = summary(pq.read_table(target, columns=["queues", "routed"]))
    shutil.rmtree(target)
    return cost | counts


def main(kind: str, log: str, definitions: str, folder: str) -> None:
    """Answer lines until there are none."""
    topology = dr.load_definitions(definitions)
    constants = constants_of(routes_of(topology, pq.read_table(log)))
    session = session_of(kind)
    messages = session.read.parquet(log)
    print(MARK + json.dumps({"spark": session.version}), flush=True)
    for line in sys.stdin:
        answer = answer_of(line.strip(), messages, topology, constants, Path(folder, f"{kind}.parquet"))
        print(MARK + json.dumps(answer), flush=True)
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
