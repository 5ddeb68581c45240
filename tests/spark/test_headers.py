"""Headers, CC and BCC in logs: columns of that name count, both as DataFrames and as files."""

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

pytestmark = pytest.mark.spark

TOPOLOGY = topology_of(
    exchanges=[
        Exchange(name="h", type="headers"),
        Exchange(name="d", type="direct"),
        Exchange(name="r", type="x-random"),
    ],
    bindings=[
        Binding(source="h", destination="usd", arguments={"currency": "USD"}),
        Binding(source="h", destination="any", arguments={"x-match": "any", "currency": "EUR", "urgent": None}),
        Binding(source="d", destination="one", routing_key="1"),
        Binding(source="d", destination="two", routing_key="2"),
        Binding(source="r", destination="p"),
        Binding(source="r", destination="q"),
    ],
)
ROWS: list[tuple[str, str, dict[str, str] | None, list[str] | None]] = [
    ("h", "k", {"currency": "USD"}, None),
    ("h", "k", {"urgent": "x"}, []),
    ("d", "1", None, ["2"]),
    ("d", "0", {"BCC": '["2"]'}, None),
    ("r", "k", {}, None),
]
EXPECTED = [["usd"], ["any"], ["one", "two"], ["two"], []]


def log() -> pa.Table:
    names, keys, headers, copies = zip(*ROWS, strict=True)
    pairs = [None if one is None else list(one.items()) for one in headers]
    return pa.table(
        {
            "exchange": pa.array(names),
            "routing_key": pa.array(keys),
            "headers": pa.array(pairs, pa.map_(pa.string(), pa.string())),
            "cc": pa.array(copies, pa.list_(pa.string())),
            "bcc": pa.array(["no list of keys"] * len(ROWS)),
        }
    )


def found(rows: Any) -> list[Any]:
    return [(row.queues, row.routed, row.not_simulated) for row in rows]


def test_a_dataframe_with_headers_and_copies(spark: SparkSession, tmp_path: Path) -> None:
    from dfa_router.spark import route

    pq.write_table(log(), tmp_path / "log.parquet")
    routed = route(spark.read.parquet(str(tmp_path / "log.parquet")), TOPOLOGY).collect()
    assert found(routed) == [(queues, True, []) for queues in EXPECTED]
    narrow = spark.read.parquet(str(tmp_path / "log.parquet")).select("exchange", "routing_key")
    without = route(narrow, TOPOLOGY).collect()
    assert [row.not_simulated for row in without] == [["h"], ["h"], [], [], []], "rows that need headers say so"


def test_headers_in_another_column_and_as_json(spark: SparkSession) -> None:
    from dfa_router.spark import route

    rows = [("h", "k", '{"currency": "USD"}'), ("d", "1", '{"CC": ["2"]}'), ("h", "k", "{")]
    messages = spark.createDataFrame(rows, "exchange string, routing_key string, properties string")
    routed = route(messages, TOPOLOGY, columns={"headers": "properties"}).collect()
    assert [row.queues for row in routed] == [["usd"], ["one", "two"], []]
    assert "cannot be read as JSON" in routed[2].problem
    with pytest.raises(
        dr.OptionError, match="no key of a message; expected exchange, routing_key, vhost, bcc, cc, headers"
    ):
        route(messages, TOPOLOGY, columns={"colour": "properties"})


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_files_with_headers_and_copies(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    from dfa_router.spark.job import route_log

    (tmp_path / "log").mkdir()
    if kind == "parquet":
        pq.write_table(log(), tmp_path / "log" / "1.parquet")
    else:
        lines = [
            {"exchange": name, "routing_key": key, **({"headers": headers} if headers else {}), "cc": copies or []}
            for name, key, headers, copies in ROWS
        ]
        (tmp_path / "log" / "1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = tmp_path / "out"
    summary = route_log(spark, TOPOLOGY, str(tmp_path / "log"), str(out), kind=kind, out_kind="parquet")
    table = pq.read_table(out)
    by_row = sorted(
        zip(table["exchange"].to_pylist(), table["routing_key"].to_pylist(), table["queues"].to_pylist(), strict=True)
    )
    assert by_row == sorted((name, key, queues) for (name, key, *_), queues in zip(ROWS, EXPECTED, strict=True))
    assert summary.messages == len(ROWS)
