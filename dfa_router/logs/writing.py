"""Files of a result: Parquet, or JSON lines and CSV with the fields that Spark would write.

Pages of Parquet are compressed by snappy, as Spark compresses its own: the fastest that every reader has. In JSON lines each
row has all fields, null ones too. In CSV each file has a header, null is an empty field, text stands in quotation marks, and
lists and objects are JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv

from dfa_router.logs.counting import text_of
from dfa_router.logs.encoding import Encoding, added_columns, runs
from dfa_router.logs.json_text import is_written, json_lines, json_texts
from dfa_router.rabbitmq.columns import RoutedBatch

__all__ = ["ENDINGS", "opened", "writable"]

ENDINGS = {"parquet": "parquet", "jsonl": "json", "csv": "csv"}
"""The endings of the files of each format, as Spark names them."""

MOST_NAME_BYTES = 1 << 26
"""Of the names that are written as text at a time: as JSON they may be a dozen times as long, and a column of Arrow has 2 GiB."""

Write = Callable[[pa.Table, RoutedBatch], None]
"""Takes columns of a log, and what became of each row."""


def writable(schema: pa.Schema, kind: str) -> bool:
    """Tell whether columns can be written in a format; doubles in CSV are left to Spark, which writes 1.0E20.

    >>> writable(pa.schema([("n", pa.float64())]), "jsonl"), writable(pa.schema([("n", pa.float64())]), "csv")
    (True, False)
    """
    if kind == "parquet":
        return True
    return all(is_written(field.type) and not (kind == "csv" and "double" in str(field.type)) for field in schema)


@contextmanager
def opened(kind: str, sink: Any, schema: pa.Schema, *, old_times: bool = False) -> Iterator[Write]:
    """Yield what writes rows of a result with a schema to a file, each call's as row groups where there are such."""
    if kind == "parquet":
        with ExitStack() as closing:
            encoding = Encoding(schema, old_times=old_times)
            writers: list[pq.ParquetWriter] = []

            def write(table: pa.Table, batch: RoutedBatch) -> None:
                if not writers:
                    writers.append(closing.enter_context(encoding.writer(sink, table)))
                for rows, added in added_columns(batch):
                    some = table.slice(rows.start, rows.stop - rows.start)
                    whole = pa.table([*some.columns, *added], schema=encoding.schema)
                    writers[0].write_table(whole, row_group_size=max(1, len(whole)))

            yield write
            if not writers:
                closing.enter_context(encoding.writer(sink, None))
    elif kind == "jsonl":
        yield _in_runs(schema, lambda rows: _write_text(sink, json_lines(rows)))
    else:
        texts = pa.schema([(field.name, _in_csv(field.type)) for field in schema])
        with arrow_csv.CSVWriter(sink, texts) as csv_writer:
            yield _in_runs(schema, lambda rows: csv_writer.write_table(_without_nesting(rows, texts)))


def _in_runs(schema: pa.Schema, write: Callable[[pa.Table], None]) -> Write:
    """Return what hands a result's rows to a function, as many at a time as have few names."""

    def write_all(table: pa.Table, batch: RoutedBatch) -> None:
        for rows in runs(np.cumsum(batch.name_bytes), MOST_NAME_BYTES):
            some = table.slice(rows.start, rows.stop - rows.start)
            write(_well_formed(pa.table([*some.columns, *batch.sliced(rows).columns()], schema=schema)))

    return write_all


def _in_csv(kind: pa.DataType) -> pa.DataType:
    return pa.string() if pa.types.is_nested(kind) else kind


def _without_nesting(table: pa.Table, texts: pa.Schema) -> pa.Table:
    columns = [
        pa.compute.if_else(column.is_valid(), json_texts(column.combine_chunks()), pa.scalar(None, pa.string()))
        if pa.types.is_nested(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, schema=texts)


def _well_formed(table: pa.Table) -> pa.Table:
    """Return a table whose text is text: files may hold anything."""
    columns = [text_of(column) if pa.types.is_string(column.type) else column for column in table.columns]
    return pa.table(columns, schema=table.schema)


def _write_text(sink: Any, lines: pa.Array) -> None:
    offsets, data = lines.buffers()[1:]
    if len(lines):
        first, last = (pa.Array.from_buffers(pa.int32(), len(lines) + 1, [None, offsets])[n].as_py() for n in (0, -1))
        sink.write(data.slice(first, last - first))
