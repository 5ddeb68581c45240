"""Iceberg tables, written by ``pyiceberg`` into a catalog and read by their folder alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dfa_router as dr
from dfa_router.tables import Table, read_table, table_at
from tests.tables.written import in_order, messages, parquet_files, rows_of

pytest.importorskip("pyiceberg")
pytest.importorskip("sqlalchemy")

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestWriterV2,
    write_manifest_list,
)
from pyiceberg.typedef import Record
from pyiceberg.types import LongType

pytestmark = pytest.mark.filterwarnings("ignore:Delete operation did not match any records")


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Any]:
    made = SqlCatalog("test", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}")
    made.create_namespace("logs")
    yield made
    made.engine.dispose()


def table_of(path: object) -> Table:
    found = table_at(str(path))
    assert found is not None
    assert found.format == "iceberg"
    return read_table(found)


def folder_of(table: Any) -> Path:
    return Path(table.location().removeprefix("file://"))


def test_files_that_were_replaced_or_deleted_from_are_none_of_the_table(catalog: Any) -> None:
    table = catalog.create_table("logs.messages", schema=messages(0, 1).schema)
    folder = folder_of(table)
    empty = table_of(folder)
    assert (empty.version, empty.files, empty.schema.names) == (-1, (), ["exchange", "routing_key", "n"])
    table.append(messages(0, 1000))
    first = table.current_snapshot().snapshot_id
    table.overwrite(messages(1000, 2000))
    table.append(messages(2000, 2010))
    table.delete("n < 1100")  # files are written anew
    assert parquet_files(folder) > 3
    found = table_of(folder)
    assert found.version == table.current_snapshot().snapshot_id
    assert sorted(row["n"] for row in rows_of(found)) == list(range(1100, 2010))
    assert sorted(row["n"] for row in rows_of(table_of(f"{folder}@v{first}"))) == list(range(1000))
    assert table_of(table.metadata_location.removeprefix("file://")) == found
    with pytest.raises(dr.errors.MessagesError, match=rf"has no snapshot 5; its newest ones: .*{found.version}"):
        table_of(f"{folder}@v5")


def test_partitions_have_the_types_of_the_table(catalog: Any) -> None:
    rows = pa.table(
        {
            "exchange": ["x"] * 3,
            "routing_key": ["a", "b", "c"],
            "text": ["01", "a/b=c d%41+", None],
            "day": [date(2024, 2, 29), None, date(1969, 1, 1)],
            "at": pa.array([datetime(2024, 1, 1, 12, 30, 0, 5, tzinfo=UTC), None, None], pa.timestamp("us", "UTC")),
            "number": [1, None, -1],
        }
    )
    table = catalog.create_table("logs.parts", schema=rows.schema)
    with table.update_spec() as spec:
        for name in ("text", "day", "at", "number"):
            spec.add_identity(name)
    table.append(rows)
    found = table_of(folder_of(table))
    assert all(file.partition.keys() == {"text", "day", "at", "number"} for file in found.files)
    assert in_order(rows_of(found)) == in_order(rows.to_pylist())


def test_files_that_were_added_may_lack_the_columns_of_their_partition(catalog: Any, tmp_path: Path) -> None:
    """As those of a Hive table that became an Iceberg table do."""
    table = catalog.create_table("logs.moved", schema=messages(0, 1, vhost="b").schema)
    table.append(messages(0, 5, vhost="b"))
    with table.update_spec() as spec:
        spec.add_identity("vhost")
    table.append(messages(5, 10, vhost="c"))
    for file in folder_of(table).rglob("data/vhost=c/*.parquet"):
        pq.write_table(pq.ParquetFile(file).read().drop(["vhost"]), file)
    rows = rows_of(table_of(folder_of(table)))
    assert sorted((row["n"], row["vhost"]) for row in rows) == [(n, "b" if n < 5 else "c") for n in range(10)]


def test_a_column_that_came_later_is_null_in_older_files_and_one_that_left_is_gone(catalog: Any) -> None:
    table = catalog.create_table("logs.more", schema=messages(0, 1, old="").schema)
    table.append(messages(0, 2, old="o"))
    with table.update_schema() as update:
        update.add_column("late", LongType())
        update.delete_column("old")
    table.append(messages(2, 4, late=7))
    found = table_of(folder_of(table))
    assert found.schema.names == ["exchange", "routing_key", "n", "late"]
    assert sorted((row["n"], row["late"]) for row in rows_of(found)) == [(0, None), (1, None), (2, 7), (3, 7)]


@pytest.mark.parametrize("again", [False, True], ids=["renamed", "another of its name"])
def test_a_table_whose_names_stood_for_other_columns_is_refused(catalog: Any, again: bool) -> None:
    table = catalog.create_table("logs.renamed", schema=messages(0, 1, key="").schema)
    table.append(messages(0, 2, key="k"))
    with table.update_schema() as update:
        if again:
            update.delete_column("key")
        else:
            update.rename_column("key", "other")
    if again:
        with table.update_schema() as update:
            update.add_column("key", LongType())
    with pytest.raises(dr.errors.MessagesError, match="its column 'key' was renamed or replaced, so that older files"):
        table_of(folder_of(table))


@pytest.mark.parametrize("nested", [False, True], ids=["a column", "in a struct"])
def test_a_column_with_a_value_for_older_rows_is_refused(catalog: Any, nested: bool) -> None:
    rows = messages(0, 2, of={"a": 1})
    table = catalog.create_table("logs.defaults", schema=rows.schema)
    table.append(rows)
    with table.update_schema() as update:
        update.add_column(("of", "late") if nested else "late", LongType(), default_value=7)
    with pytest.raises(dr.errors.MessagesError, match=r"its column '(of\.)?late' is 7 in files that are older than it"):
        table_of(folder_of(table))


class Deletes(ManifestWriterV2):
    """Writes manifests of delete files, which the library reads and does not write."""

    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


def test_delete_files_are_refused(catalog: Any) -> None:
    table = catalog.create_table("logs.deletes", schema=messages(0, 1).schema, properties={"format-version": "2"})
    table.append(messages(0, 10))
    folder, snapshot = folder_of(table), table.current_snapshot()
    (task,) = table.scan().plan_files()
    deletes = folder / "data" / "deletes.parquet"
    pq.write_table(pa.table({"file_path": [task.file.file_path], "pos": [3]}), deletes)
    manifest = table.io.new_output(f"file://{folder}/metadata/deletes.avro")
    with Deletes(table.spec(), table.schema(), manifest, snapshot.snapshot_id, "null") as writer:
        file = DataFile.from_args(
            content=DataFileContent.POSITION_DELETES,
            file_path=f"file://{deletes}",
            file_format=FileFormat.PARQUET,
            partition=Record(),
            record_count=1,
            file_size_in_bytes=deletes.stat().st_size,
        )
        file.spec_id = 0
        writer.add_entry(
            ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=snapshot.snapshot_id, data_file=file)
        )
    manifests = [*snapshot.manifests(table.io), writer.to_manifest_file()]
    listed = Path(snapshot.manifest_list.removeprefix("file://"))
    listed.unlink()
    output = table.io.new_output(snapshot.manifest_list)
    with write_manifest_list(2, output, snapshot.snapshot_id, None, snapshot.sequence_number, "null") as lists:
        lists.add_manifests(manifests)
    with pytest.raises(
        dr.errors.MessagesError, match=r"has deleted rows in its files \(delete files\): run rewrite_data_files"
    ):
        table_of(folder)


def test_a_table_that_was_moved_and_one_that_is_damaged(catalog: Any, tmp_path: Path) -> None:
    table = catalog.create_table("logs.moved", schema=messages(0, 1).schema)
    table.append(messages(0, 10))
    moved = tmp_path / "moved"
    shutil.copytree(folder_of(table), moved)
    (task,) = table.scan().plan_files()
    Path(task.file.file_path.removeprefix("file://")).unlink()
    with pytest.raises(dr.errors.MessagesError, match=r"its log names .*, which is not there: the table was moved"):
        table_of(moved)
    Path(table.metadata_location.removeprefix("file://")).write_text("{")
    with pytest.raises(dr.errors.MessagesError, match="its Iceberg metadata cannot be read"):
        table_of(folder_of(table))
