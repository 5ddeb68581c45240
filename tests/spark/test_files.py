"""The two ways of routing a Parquet log give the same rows, types and counts, as Spark reads them."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dfa_router as dr
from tests.topologies import TWO_VHOSTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def rows(count: int, seed: int) -> dict[str, list[Any]]:
    chance = random.Random(seed)
    return {
        "exchange": [chance.choice(["x", "x", "h", "", "gone", None]) for _ in range(count)],
        "routing_key": [chance.choice(["a.b", "a.c", "q", "n.n", "", "k" * 300, None]) for _ in range(count)],
        "n": list(range(count)),
    }


def plain(folder: Path, _: SparkSession) -> None:
    folder.mkdir()
    pq.write_table(pa.table(rows(3_000, 1)), folder / "1.parquet", row_group_size=500)
    pq.write_table(pa.table({**rows(300, 2), "vhost": ["b"] * 300}), folder / "2.parquet")


def partitioned(folder: Path, _: SparkSession) -> None:
    for number, place in enumerate(["day=2025-01-31/part=1", "day=2025-02-01/part=x%3Dy"]):
        (folder / place).mkdir(parents=True)
        pq.write_table(pa.table(rows(50, number)), folder / place / "f.parquet")


def written_by_spark(folder: Path, spark: SparkSession) -> None:
    columns = (
        "id as n, if(id % 7 = 0, null, 'x') as exchange, concat('a.', id) as routing_key, "
        "timestamp_seconds(id) as at, cast(id as decimal(20, 3)) as price, array(id, null) as items, "
        "named_struct('k', id, 'm', map('a', id)) as body, cast('x' as binary) as raw, "
        "cast(null as date) as day, cast(id % 3 as tinyint) as part"
    )
    spark.sql(f"select {columns} from range(500)").write.partitionBy("part").parquet(str(folder))


def binary_keys(folder: Path, _: SparkSession) -> None:
    keys = [b"a.b", b"a.\xff", None, b"\xff"]
    folder.mkdir()
    pq.write_table(
        pa.table({"exchange": ["x"] * 4, "routing_key": pa.array(keys, pa.binary()), "n": range(4)}),
        folder / "1.parquet",
    )


def views(folder: Path, _: SparkSession) -> None:
    """As DataFusion and polars write it."""
    text, columns = pa.string_view(), rows(300, 3)
    names = {name: pa.array(columns[name], text) for name in ("exchange", "routing_key")}
    folder.mkdir()
    cc = pa.array([None, ["a.b"], []] * 100, pa.list_(text))
    pq.write_table(
        pa.table({**names, "n": columns["n"], "vhost": pa.array(["b"] * 300, text), "cc": cc}), folder / "1.parquet"
    )


@pytest.mark.parametrize(
    "make", [pytest.param(plain, marks=pytest.mark.long), partitioned, written_by_spark, binary_keys, views]
)
def test_both_ways_give_the_same(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path, SparkSession], None]
) -> None:
    from dfa_router.logs.planning import OtherWayError
    from dfa_router.spark import job

    make(tmp_path / "log", spark)

    def route(name: str) -> Any:
        out, counts = str(tmp_path / name), str(tmp_path / f"{name}.counts")
        options: dict[str, Any] = {"kind": "parquet", "out_kind": "parquet", "top": 0, "counts": counts}
        return job.route_log(spark, TWO_VHOSTS, str(tmp_path / "log"), out, **options)

    files = route("files")

    def refuse(*_: object) -> None:
        raise OtherWayError("the test says so")

    monkeypatch.setattr(job, "plan_of", refuse)
    frames = route("frames")
    assert (files.way, frames.way) == ("files", "frames")
    assert replace(files, out="", seconds=0, stages={}, way="") == replace(frames, out="", seconds=0, stages={}, way="")
    one, other = (spark.read.parquet(str(tmp_path / name)) for name in ("files", "frames"))
    assert [(field.name, field.dataType) for field in one.schema] == [
        (field.name, field.dataType) for field in other.schema
    ]
    assert one.orderBy("n", *one.columns[3:5]).collect() == other.orderBy("n", *one.columns[3:5]).collect()
    counts = [
        pq.read_table(tmp_path / f"{name}.counts").sort_by(
            [(column, "ascending") for column in ("kind", "vhost", "name", "key")]
        )
        for name in ("files", "frames")
    ]
    assert counts[0].equals(counts[1])


def test_what_spark_has_to_read_is_said(spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from dfa_router.spark.job import route_log

    log = tmp_path / "log"
    log.mkdir()
    for number, name in enumerate(["n", "N"]):
        pq.write_table(pa.table({"exchange": ["x"], "routing_key": ["a"], name: [number]}), log / f"{number}.parquet")
    with caplog.at_level(logging.WARNING):
        summary = route_log(spark, TWO_VHOSTS, str(log), str(tmp_path / "out"), kind="parquet", out_kind="parquet")
    assert (summary.way, summary.messages) == ("frames", 2)
    (said,) = [record.getMessage() for record in caplog.records if record.name.startswith("dfa_router")]
    assert "several times as long: its files write column 'N' in several cases" in said


@pytest.mark.parametrize("out_kind", ["parquet", "jsonl"])
def test_a_damaged_page_is_bad_input_that_names_its_file(spark: SparkSession, tmp_path: Path, out_kind: str) -> None:
    """Whether Arrow reads the log or Spark does."""
    from dfa_router.spark.job import route_log

    log = tmp_path / "log.parquet"
    pq.write_table(pa.table(rows(20_000, 1)), log, compression="none", use_dictionary=False)
    data = bytearray(log.read_bytes())
    data[50_000:120_000] = b"\xff" * 70_000
    log.write_bytes(data)
    told = r"/\S*log\.parquet: .+; fetch or write that file again, or leave it out$"
    with pytest.raises(dr.MessagesError, match=told):
        route_log(spark, TWO_VHOSTS, str(log), str(tmp_path / "out"), kind="parquet", out_kind=out_kind)
    assert [path.name for path in tmp_path.iterdir()] == ["log.parquet"]


def test_keys_of_a_fixed_size_are_refused_before_anything_is_routed(spark: SparkSession, tmp_path: Path) -> None:
    from dfa_router.spark.job import route_log

    log = tmp_path / "log.parquet"
    pq.write_table(pa.table({"exchange": ["x"], "routing_key": pa.array([b"ab"], pa.binary(2))}), log)
    with pytest.raises(dr.MessagesError, match=r"^column 'routing_key' is fixed_size_binary\[2\]: .*Cast it first$"):
        route_log(spark, TWO_VHOSTS, str(log), str(tmp_path / "out"), kind="parquet", out_kind="parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["log.parquet"]


def test_labels_and_rows_are_reported(spark: SparkSession, tmp_path: Path) -> None:
    from dfa_router.spark.job import route_log

    pq.write_table(pa.table(rows(1_000, 1)), tmp_path / "log.parquet")
    said: list[str] = []
    log, out = str(tmp_path / "log.parquet"), str(tmp_path / "out")
    summary = route_log(
        spark, TWO_VHOSTS, log, out, kind="parquet", out_kind="parquet", report=lambda label, *_: said.append(label)
    )
    assert list(dict.fromkeys(said)) == ["planning", "routing", "counting"]
    assert list(summary.stages) == ["planning", "routing", "counting", "committing"]
    assert summary.seconds == pytest.approx(sum(summary.stages.values()))
