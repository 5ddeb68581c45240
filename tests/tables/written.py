"""What tables hold, read from their files: what the tests of tables and those of jobs compare with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dfa_router.tables import Table


def rows_of(table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table, read file by file as the docstrings of :mod:`dfa_router.tables.table` say."""
    found = []
    for file in table.files:
        part = pq.ParquetFile(file.path).read()
        assert file.rows in {None, len(part)}
        columns = []
        for field in table.schema:
            if field.name in file.partition:
                columns.append(pa.array([file.partition[field.name].as_py()] * len(part), field.type))
            elif field.name in part.column_names:
                columns.append(part[field.name].cast(field.type))
            else:
                columns.append(pa.nulls(len(part), field.type))
        found += pa.table(columns, schema=table.schema).to_pylist()
    return found


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows in an order of their own."""
    return sorted(rows, key=lambda row: [str(value) for value in row.values()])


def messages(start: int, stop: int, **more: Any) -> pa.Table:
    """Return messages with numbers."""
    count = stop - start
    columns = {
        "exchange": ["x"] * count,
        "routing_key": [f"a.{n}" for n in range(start, stop)],
        "n": range(start, stop),
    }
    return pa.table({**columns, **{name: [value] * count for name, value in more.items()}})


def parquet_files(folder: Path) -> int:
    """Return how many Parquet files lie in a folder, be they of the table or not."""
    return sum(1 for _ in folder.rglob("*.parquet"))
