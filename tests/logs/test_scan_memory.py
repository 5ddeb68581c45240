"""A scan holds a few parts of a log, however long the log is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.router.memory import MB, needs_proc, peak

WRITE = """
import pyarrow.csv as pc, pyarrow.parquet as pq
rows, group = {rows}, 100_000
for first in range(0, rows, group):
    keys = pa.array([f"order.{{n:09}}.eu.created" for n in range(first, first + group)])
    table = pa.table({{"exchange": pa.array(["x"] * group), "routing_key": keys, "body": keys}})
    if first == 0:
        writer = (pq.ParquetWriter if "{kind}" == "parquet" else pc.CSVWriter)(r"{path}", table.schema)
    writer.write_table(table)
writer.close()
del table, keys, writer
"""
SCAN = """
from dfa_router.logs.scanning import plan_log, scanned
plan = plan_log(r"{path}", "{kind}")
rows = sum(scanned(plan, lambda tables: sum(table.num_rows for table in tables), plan.schema.names))
assert rows == {rows}, rows
"""


def scanning(folder: Path, kind: str, rows: int) -> int:
    """Return the bytes that going through a log of so many rows takes, at most."""
    path = folder / f"{rows}.{kind}"
    text = {"path": path, "kind": kind, "rows": rows}
    return peak(SCAN.format(**text), WRITE.format(**text))


@pytest.mark.slow
@needs_proc
def test_four_times_the_rows_take_a_few_megabytes_more(tmp_path: Path) -> None:
    """3 million rows more are 170 MB as columns; what a million take is mostly the parts that are read at once, in pieces."""
    assert scanning(tmp_path, "parquet", 4_000_000) < scanning(tmp_path, "parquet", 1_000_000) + 85 * MB


@needs_proc
@pytest.mark.long
@pytest.mark.parametrize(("kind", "most"), [("parquet", 200 * MB), ("csv", 300 * MB)])
def test_ten_million_rows(tmp_path: Path, kind: str, most: int) -> None:
    """They are 600 MB as columns, and more as text, of which a part is read at a time by each core."""
    assert scanning(tmp_path, kind, 10_000_000) < most
