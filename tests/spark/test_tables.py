"""Delta and Iceberg tables as logs: routed as their log says, and as they are, whatever else lies in their folders."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from dfa_router.errors import MessagesError
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
from tests.tables.written import in_order, messages, parquet_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

deltalake = pytest.importorskip("deltalake")

pytestmark = pytest.mark.spark

TOPOLOGY = topology_of(
    exchanges=[Exchange(name="x", type="topic")],
    queues=[Queue(name="q")],
    bindings=[Binding(source="x", destination="q", routing_key="a.#")],
)
ODD = pa.table({
    "exchange": ["x"] * 4,
    "routing_key": list("abcd"),
    "vhost": ["/"] * 4,
    "text [é]": ["01", "a/b=c d%41+ [x]*{y}", None, "é"],
    "day": [date(2024, 2, 29), None, date(1969, 1, 1), date(2024, 2, 29)],
    "at": pa.array([datetime(2024, 1, 1, 12, 30, 0, 5, tzinfo=UTC), None, None, None], pa.timestamp("us", "UTC")),
    "number": pa.array([1, 2, None, 1], pa.int64()),
})  # fmt: skip
ADDED = ["queues", "routed", "not_simulated", "problem"]


def routed(spark: SparkSession, log: object, out: Path, way: str = "files") -> pa.Table:
    from dfa_router.logs.formats import format_of
    from dfa_router.spark.job import route_log

    summary = route_log(spark, TOPOLOGY, str(log), str(out), kind=format_of(str(log)), out_kind="parquet")
    rows = pq.read_table(out)
    assert (len(rows), summary.way) == (summary.messages, way)
    if way == "files" or "at" not in rows.column_names:
        return rows
    # Spark writes an instant as Parquet's oldest type has it, without a zone.
    instants = pc.assume_timezone(rows["at"].cast(pa.timestamp("us")), "UTC")
    return rows.set_column(rows.column_names.index("at"), "at", instants)


def test_a_delta_table_that_was_overwritten_has_its_own_rows_alone(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log [1] é"
    for start in (0, 1000, 2000):
        deltalake.write_deltalake(tmp_path / "log", messages(start, start + 1000), mode="overwrite")
    (tmp_path / "log").rename(log)  # the library reads folders with such names, and writes none
    assert parquet_files(log) == 3
    rows = routed(spark, log, tmp_path / "out")
    assert sorted(rows["n"].to_pylist()) == list(range(2000, 3000))
    assert set(map(tuple, rows["queues"].to_pylist())) == {("q",)}
    monkeypatch.chdir(tmp_path)
    assert sorted(routed(spark, "log [1] é", tmp_path / "again")["n"].to_pylist()) == list(range(2000, 3000))
    assert sorted(routed(spark, f"{log}@v1", tmp_path / "old")["n"].to_pylist()) == list(range(1000, 2000))


def test_partitions_of_a_delta_table_have_the_values_and_types_of_its_log(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "log"
    deltalake.write_deltalake(log, ODD, partition_by=["text [é]", "day", "at", "number", "vhost"])
    rows = routed(spark, log, tmp_path / "out")
    assert rows.column_names == [*ODD.column_names, *ADDED]
    kept = rows.select(ODD.column_names)
    assert kept.schema.types == ODD.schema.types
    assert in_order(kept.to_pylist()) == in_order(ODD.to_pylist())


def test_an_iceberg_table_whose_partitions_came_late(spark: SparkSession, tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    from pyiceberg.catalog.sql import SqlCatalog

    catalog: Any = SqlCatalog("test", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("logs")
    table = catalog.create_table("logs.messages", schema=ODD.schema)
    table.append(ODD.slice(0, 2))
    with table.update_spec() as spec:
        for name in ("text [é]", "day", "at", "number"):
            spec.add_identity(name)
    table.overwrite(ODD.slice(0, 1))
    table.append(ODD.slice(1))
    catalog.engine.dispose()
    rows = routed(spark, table.location().removeprefix("file://"), tmp_path / "out")
    assert in_order(rows.select(ODD.column_names).to_pylist()) == in_order(ODD.to_pylist())


def test_files_with_columns_of_other_types_are_read_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "log"
    deltalake.write_deltalake(log, ODD, partition_by=["text [é]", "day", "at"])
    for file in log.rglob("*.parquet"):
        part = pq.ParquetFile(file).read()
        number = part.column_names.index("number")
        pq.write_table(part.set_column(number, "number", part["number"].cast(pa.int32())), file)
    if int(spark.version.split(".")[0]) < 4:
        said = (
            r"column 'number' is int32 in .*, and int64 in the table, which Spark 3\.5\.\d+ cannot read: route it with"
        )
        with pytest.raises(MessagesError, match=said):
            routed(spark, log, tmp_path / "out")
        return
    rows = routed(spark, log, tmp_path / "out", way="frames")
    assert in_order(rows.select(ODD.column_names).to_pylist()) == in_order(ODD.to_pylist())


def test_a_table_without_rows_has_a_result_without_rows(spark: SparkSession, tmp_path: Path) -> None:
    deltalake.DeltaTable.create(tmp_path / "log", ODD.schema)
    rows = routed(spark, tmp_path / "log", tmp_path / "out")
    assert (len(rows), rows.column_names) == (0, [*ODD.column_names, *ADDED])


def test_a_table_is_found_by_its_uri(spark: SparkSession, tmp_path: Path) -> None:
    from dfa_router.spark.logs import read_messages

    log = tmp_path / "log"
    for start in (0, 10):
        deltalake.write_deltalake(log, messages(start, start + 10, day="é 1"), mode="overwrite", partition_by=["day"])
    found = read_messages(spark, f"file://{log}", "parquet")
    assert found.rows == 10
    assert {row.day for row in found.messages.collect()} == {"é 1"}
    with pytest.raises(
        MessagesError, match=r"lies in the Delta table file://.*/log, and files there may have been replaced"
    ):
        read_messages(spark, f"file://{log}/day=*", "parquet")


def test_a_table_is_not_read_as_another_format(tmp_path: Path) -> None:
    from dfa_router.logs.formats import format_of

    deltalake.write_deltalake(tmp_path / "log", messages(0, 1, day=1), partition_by=["day"])
    with pytest.raises(MessagesError, match="is a table, whose files are Parquet: leave --format out"):
        format_of(f"{tmp_path}/log", "jsonl")
    with pytest.raises(MessagesError, match="give the folder of the table"):
        format_of(f"{tmp_path}/log/day=1")
    assert format_of(f"{tmp_path}/log@v0") == "parquet"


def test_a_table_is_refused_before_spark_starts(tmp_path: Path) -> None:
    from dfa_router.logs.formats import format_of

    deltalake.write_deltalake(tmp_path / "log", messages(0, 1))
    with pytest.raises(MessagesError, match="has no version 7; its newest is 0"):
        format_of(f"{tmp_path}/log@v7")
    (file,) = (tmp_path / "log").glob("*.parquet")
    file.unlink()
    with pytest.raises(MessagesError, match="which is not there: the table was moved"):
        format_of(f"{tmp_path}/log")


@pytest.mark.parametrize("named", ["log", "log/", "log@v0"])
def test_no_result_is_written_into_a_table(tmp_path: Path, named: str) -> None:
    from dfa_router.logs.outputs import check_output

    deltalake.write_deltalake(tmp_path / "log", messages(0, 1))
    for out in ("log/out", "log", "."):
        with pytest.raises(MessagesError, match="lies in, or holds, the messages"):
            check_output(f"{tmp_path}/{named}", f"{tmp_path}/{out}", overwrite=True)
    check_output(f"{tmp_path}/{named}", f"{tmp_path}/out", overwrite=True)
