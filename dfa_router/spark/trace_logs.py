"""Trace logs of RabbitMQ that only Spark reaches: each file is handed to a worker, which reads it as it reads a local one.

What this leaves out: dividing a file. Its bytes become one row of Spark's, so a file has to be smaller than 2 GiB here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from dfa_router.logs.marks import READ_PROBLEM, UNREADABLE
from dfa_router.logs.parts import Part, TextPiece
from dfa_router.logs.text_reading import ReadText
from dfa_router.logs.trace_reading import form_of
from dfa_router.logs.trace_records import TRACE
from dfa_router.spark.log_lines import listing

__all__ = ["trace_rows"]

SCHEMA = TRACE.append(pa.field(UNREADABLE, pa.string()))
ROWS = 10_000
"""Of a batch that a worker hands over."""


def trace_rows(session: SparkSession, path: str) -> tuple[DataFrame, int]:
    """Return a row for each publication, and how many there are."""
    files = session.read.format("binaryFile").options(**listing(session, path)).load(path).select("path", "content")
    schema = from_arrow_schema(SCHEMA.append(pa.field(READ_PROBLEM, pa.string())))
    rows = files.mapInArrow(_rows, schema)
    return rows, rows.agg(sf.count("*")).collect()[0][0]


def _rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for path, content in zip(batch["path"].to_pylist(), batch["content"], strict=True):
            store = _Held(content.as_buffer())
            read = ReadText(store=store, kind="trace", schema=SCHEMA, unreadable=UNREADABLE)
            for table in read(Part(0, (TextPiece(path, 0, None, 0, 0, (form_of(store, path),)),)), ROWS):
                yield from table.combine_chunks().to_batches()


@dataclass(frozen=True, slots=True)
class _Held:
    """A file that is held in memory, as a ``pyarrow.fs.FileSystem`` opens it."""

    content: pa.Buffer

    def open_input_file(self, _: str) -> pa.NativeFile:
        return pa.BufferReader(self.content)

    def open_input_stream(self, _: str, codec: str) -> pa.NativeFile:
        return pa.CompressedInputStream(pa.BufferReader(self.content), codec)
