"""Tables as logs that Arrow reads: the columns are those of the table, whatever files and folders say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dfa_router.logs.partitions import OtherWayError
from dfa_router.logs.table_planning import WidenedError, planned_table
from dfa_router.tables import DataFile, Table
from tests.logs.test_parts import KEYS, result

SCHEMA = pa.schema([
    ("day", pa.date32()), ("exchange", pa.string()), ("routing_key", pa.string()), pa.field("n", pa.int64(), nullable=False)
])  # fmt: skip


def table(
    folder: Path, *files: dict[str, Any], partitions: tuple[dict[str, pa.Scalar], ...] = (), **options: Any
) -> Table:
    """Write files with these columns more than the keys, and return a table of them."""
    found = []
    for number, columns in enumerate(files):
        path = folder / f"day=9/{number}.parquet"
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"exchange": ["x"], "routing_key": ["a"], **columns}), path, **options)
        found.append(DataFile(path=str(path), partition=partitions[number] if partitions else {}, rows=1))
    return Table(format="delta", version=0, files=tuple(found), schema=SCHEMA)


def test_columns_are_those_of_the_table(tmp_path: Path) -> None:
    days = ({"day": pa.scalar(7, pa.date32())}, {"day": pa.scalar(None, pa.date32())})
    other = {"n": [5], "of no table": [0]}
    held = {"day": ["another type, and another value"]}
    plan = planned_table(table(tmp_path, held, other, partitions=days), cores=2)
    rows = result(plan, tmp_path / "out", KEYS)
    assert rows.column_names[:4] == SCHEMA.names
    assert rows.schema.types[:4] == SCHEMA.types
    assert [tuple(row.values())[:4] for row in rows.select(SCHEMA.names).to_pylist()] == [
        (days[0]["day"].as_py(), "x", "a", None),
        (None, "x", "a", 5),
    ]


@pytest.mark.parametrize(
    ("files", "kind", "reason"),
    [
        ([{"n": pa.array([1], pa.int32())}], WidenedError, "column 'n' is int32 in .*, and int64 in the table"),
        ([{"n": ["1"]}], OtherWayError, "column 'n' is string in .*, and int64 in the table"),
        ([{"N": [1]}], OtherWayError, "writes column 'n' as 'N'"),
        ([{"n": [1], "N": [1]}], OtherWayError, "by their case alone"),
    ],
    ids=["narrower", "types", "case", "both cases"],
)
def test_files_that_differ_from_the_table_are_left_to_spark(
    tmp_path: Path, files: list[dict[str, Any]], kind: type[Exception], reason: str
) -> None:
    with pytest.raises(OtherWayError, match=reason) as caught:
        planned_table(table(tmp_path, *files), cores=2)
    assert type(caught.value) is kind


def test_times_of_96_bits_are_left_to_spark(tmp_path: Path) -> None:
    old = table(tmp_path, {"at": pa.array([0], pa.timestamp("us"))}, use_deprecated_int96_timestamps=True)
    with pytest.raises(OtherWayError, match="times of 96 bits"):
        planned_table(old, cores=2)


def test_files_that_are_kept_apart_by_other_columns_are_left_to_spark(tmp_path: Path) -> None:
    some: tuple[dict[str, pa.Scalar], ...] = ({"day": pa.scalar(7, pa.date32())}, {})
    with pytest.raises(OtherWayError, match="other columns than they once were"):
        planned_table(table(tmp_path, {}, {}, partitions=some), cores=2)


def test_tables_in_stores_are_left_to_spark() -> None:
    file = DataFile(path="s3a://bucket/log/1.parquet", partition={}, rows=1)
    with pytest.raises(OtherWayError, match="lie in a store"):
        planned_table(Table(format="delta", version=0, files=(file,), schema=SCHEMA), cores=2)
