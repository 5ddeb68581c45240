"""Delta tables, written by ``deltalake``: their live files, after each thing that leaves files behind."""

from __future__ import annotations

import base64
import json
import string
import struct
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyroaring import BitMap64

import dfa_router as dr
from dfa_router.tables import Table, read_table, table_at
from tests.tables.written import in_order, messages, parquet_files, rows_of

deltalake = pytest.importorskip("deltalake")


def table_of(path: object) -> Table:
    found = table_at(str(path))
    assert found is not None
    assert found.format == "delta"
    return read_table(found)


def expected(folder: Path, version: int | None = None) -> list[dict[str, Any]]:
    """The rows as the library itself reads them."""
    return in_order(pa.table(deltalake.DeltaTable(folder, version=version).to_pyarrow_table()).to_pylist())


def test_files_that_were_replaced_are_none_of_the_table(tmp_path: Path) -> None:
    for start in (0, 1000, 2000):
        deltalake.write_deltalake(tmp_path, messages(start, start + 1000), mode="overwrite")
    assert parquet_files(tmp_path) == 3
    table = table_of(tmp_path)
    assert (table.version, len(table.files), table.schema.names) == (2, 1, ["exchange", "routing_key", "n"])
    assert [row["n"] for row in rows_of(table)] == list(range(2000, 3000))
    assert [row["n"] for row in rows_of(table_of(f"{tmp_path}@v0"))] == list(range(1000))
    assert table_of(f"{tmp_path}/").files == table.files


def test_rows_that_were_deleted_changed_or_merged_are_told_as_they_are_now(tmp_path: Path) -> None:
    deltalake.write_deltalake(tmp_path, messages(0, 10))
    deltalake.write_deltalake(tmp_path, messages(10, 20), mode="append")
    table = deltalake.DeltaTable(tmp_path)
    table.delete("n < 5")
    table.update(predicate="n = 7", updates={"routing_key": "'changed'"})
    found = in_order(rows_of(table_of(tmp_path)))
    assert found == expected(tmp_path)
    assert (len(found), sum(row["routing_key"] == "changed" for row in found)) == (15, 1)
    table.optimize.compact()
    assert in_order(rows_of(table_of(tmp_path))) == found


def test_partitions_are_what_the_log_says_not_what_folders_are_called(tmp_path: Path) -> None:
    table = pa.table(
        {
            "exchange": ["x"] * 6,
            "routing_key": list("abcdef"),
            "text": ["01", "a/b=c d%41+", "é", None, "01", ""],
            "day": [date(2024, 2, 29), date(1969, 1, 1), None, None, date(2024, 2, 29), date(2024, 2, 29)],
            "at": [datetime.fromisoformat("2024-01-01T12:30:00.000005"), None, None, None, None, None],
            "number": pa.array([1, 2, None, 4, 1, 1], pa.int16()),
        }
    )
    deltalake.write_deltalake(tmp_path, table, partition_by=["text", "day", "at", "number"])
    found = table_of(tmp_path)
    assert {type(value) for file in found.files for value in file.partition.values()} >= {
        pa.StringScalar,
        pa.Date32Scalar,
    }
    assert in_order(rows_of(found)) == expected(tmp_path)
    assert found.schema.names == table.schema.names


def test_a_log_with_a_checkpoint_and_without_its_beginning(tmp_path: Path) -> None:
    for start in range(0, 50, 10):
        mode = "overwrite" if start == 20 else "append"
        deltalake.write_deltalake(
            tmp_path,
            messages(start, start + 10),
            mode=mode,
            configuration={"delta.logRetentionDuration": "interval 0 days"},
        )
    table = deltalake.DeltaTable(tmp_path)
    table.create_checkpoint()
    table.cleanup_metadata()
    for old in range(3):
        (tmp_path / f"_delta_log/{old:020}.json").unlink(missing_ok=True)
    assert sorted(row["n"] for row in rows_of(table_of(tmp_path))) == list(range(20, 50))


def test_after_a_vacuum_the_present_is_whole_and_the_past_is_an_error(tmp_path: Path) -> None:
    deltalake.write_deltalake(tmp_path, messages(0, 10))
    deltalake.write_deltalake(tmp_path, messages(10, 20), mode="overwrite")
    deltalake.DeltaTable(tmp_path).vacuum(0, dry_run=False, enforce_retention_duration=False)
    assert [row["n"] for row in rows_of(table_of(tmp_path))] == list(range(10, 20))
    with pytest.raises(
        dr.errors.MessagesError, match=r"its log names .*parquet, which is not there: .* a vacuum removed"
    ):
        table_of(f"{tmp_path}@v0")


def test_a_column_that_came_later_is_null_in_older_files(tmp_path: Path) -> None:
    deltalake.write_deltalake(tmp_path, messages(0, 2))
    deltalake.write_deltalake(tmp_path, messages(2, 4, vhost="b"), mode="append", schema_mode="merge")
    table = table_of(tmp_path)
    assert table.schema.names == ["exchange", "routing_key", "n", "vhost"]
    assert in_order(rows_of(table)) == expected(tmp_path)


def test_a_table_without_rows(tmp_path: Path) -> None:
    deltalake.DeltaTable.create(tmp_path, pa.schema([("exchange", pa.string()), ("routing_key", pa.string())]))
    table = table_of(tmp_path)
    assert (table.files, table.schema.names) == ((), ["exchange", "routing_key"])


def edited(folder: Path, change: Any) -> None:
    """Change the actions of a table's first version."""
    log = folder / "_delta_log" / f"{0:020}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        change(action)
    log.write_text("\n".join(map(json.dumps, actions)))


def deleting(rows: list[int]) -> dict[str, Any]:
    """A deletion vector as the protocol lays it out, inside of the log: a bitmap in base 85 of ZeroMQ."""
    data = struct.pack("<I", 1681511377) + BitMap64(rows).serialize()
    theirs = string.digits + string.ascii_uppercase + string.ascii_lowercase + "!#$%&()*+-;<=>?@^_`{|}~"
    zeromq = string.digits + string.ascii_lowercase + string.ascii_uppercase + ".-:+=^!/*?&<>()[]{}@%$#"
    text = base64.b85encode(data + bytes(-len(data) % 4)).decode().translate(str.maketrans(theirs, zeromq))
    return {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": len(data), "cardinality": len(rows)}


@pytest.mark.parametrize("deleted", [True, False])
def test_deleted_rows_in_files_are_refused_and_the_feature_alone_is_not(tmp_path: Path, deleted: bool) -> None:
    deltalake.write_deltalake(tmp_path, messages(0, 10))

    def change(action: dict[str, Any]) -> None:
        if "protocol" in action:
            action["protocol"] = {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": ["deletionVectors"],
                "writerFeatures": ["deletionVectors"],
            }
        elif "metaData" in action:
            action["metaData"]["configuration"] = {"delta.enableDeletionVectors": "true"}
        elif "add" in action and deleted:
            action["add"]["deletionVector"] = deleting([0, 7])

    edited(tmp_path, change)
    if deleted:
        # The library reads it so, which tells that it was laid out as it should be.
        assert [
            sum(vector) for vector in pa.table(deltalake.DeltaTable(tmp_path).deletion_vectors())[1].to_pylist()
        ] == [8]
        with pytest.raises(
            dr.errors.MessagesError, match=r"has deleted rows in its files \(deletion vectors\): run REORG"
        ):
            table_of(tmp_path)
    else:
        assert len(rows_of(table_of(tmp_path))) == 10


@pytest.mark.parametrize(
    ("feature", "settings", "told"),
    [
        (
            "columnMapping",
            {"delta.columnMapping.mode": "name"},
            "maps its columns .delta.columnMapping.mode is 'name'.",
        ),
        ("variantType", {}, "needs a reader with variantType, which is not known here: write it as Parquet first"),
        ("teleportation", {}, "its Delta log cannot be read: .*teleportation"),
    ],
)
def test_what_the_files_alone_do_not_tell_is_refused(
    tmp_path: Path, feature: str, settings: dict[str, str], told: str
) -> None:
    deltalake.write_deltalake(tmp_path, messages(0, 10))

    def change(action: dict[str, Any]) -> None:
        if "protocol" in action:
            features = {"readerFeatures": [feature], "writerFeatures": [feature]}
            action["protocol"] = {"minReaderVersion": 3, "minWriterVersion": 7, **features}
        elif "metaData" in action:
            action["metaData"]["configuration"] = settings
            schema = json.loads(action["metaData"]["schemaString"])
            for number, field in enumerate(schema["fields"] if settings else [], 1):
                field["metadata"] = {
                    "delta.columnMapping.id": number,
                    "delta.columnMapping.physicalName": field["name"],
                }
            action["metaData"]["schemaString"] = json.dumps(schema)

    edited(tmp_path, change)
    with pytest.raises(dr.errors.MessagesError, match=told):
        table_of(tmp_path)


def test_a_later_version_of_the_protocol_is_refused(tmp_path: Path) -> None:
    deltalake.write_deltalake(tmp_path, messages(0, 10))
    edited(tmp_path, lambda action: "protocol" in action and action["protocol"].update(minReaderVersion=4))
    with pytest.raises(dr.errors.MessagesError, match=r"its Delta log cannot be read: .*reader version 4"):
        table_of(tmp_path)


def test_a_damaged_log_is_an_error_that_names_the_table(tmp_path: Path) -> None:
    deltalake.write_deltalake(tmp_path, messages(0, 10))
    (tmp_path / "_delta_log" / f"{0:020}.json").write_text("{")
    with pytest.raises(dr.errors.MessagesError, match=f"^{tmp_path}: its Delta log cannot be read: "):
        table_of(tmp_path)


def test_a_version_that_is_not_there_is_an_error_that_names_the_newest(tmp_path: Path) -> None:
    for start in (0, 10):
        deltalake.write_deltalake(tmp_path, messages(start, start + 10), mode="append")
    with pytest.raises(dr.errors.MessagesError, match=f"^{tmp_path}: has no version 2; its newest is 1"):
        table_of(f"{tmp_path}@v2")
