"""A part of a Parquet log, read with Arrow: row groups one after the other, with the columns of all files."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dfa_router.errors import MessagesError
from dfa_router.logs.parts import Part, Piece
from dfa_router.logs.stores import STORE_ERRORS

__all__ = ["ReadParquet"]

BUFFER = 1 << 20
"""Bytes that are read of a local file's column at a time."""
BATCH_ROWS = 4_096
"""Rows that are decoded at a time, as Spark does. How large they will be no footer says: of values that occur often the file holds
one copy, and 120,000 rows of 30 KB were 8 KB there. To decode whole row groups at a time would save 3 % of routing them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadParquet:
    """Reads parts of a log."""

    store: Any
    """The ``pyarrow.fs.FileSystem`` of the log."""
    schema: pa.Schema
    """Of all files together, with the columns that folders name at the end."""
    partitions: tuple[str, ...]
    """The names of these last columns."""

    def __call__(self, part: Part[Piece], rows: int, names: Collection[str] | None = None) -> Iterator[pa.Table]:
        """Yield a part's rows, at most so many at a time, and :data:`BATCH_ROWS`; raises :class:`MessagesError` for a file that cannot be read.

        Of other columns than ``names`` nothing is decoded.
        """
        schema = self.schema
        if names is not None:
            schema = pa.schema([field for field in schema if field.name in names], schema.metadata)
        local = self.store.type_name == "local"
        for piece in part.pieces:
            try:
                with (
                    self.store.open_input_file(piece.path) as file,
                    pq.ParquetFile(
                        file, coerce_int96_timestamp_unit="us", buffer_size=BUFFER if local else 0, pre_buffer=not local
                    ) as opened,
                ):
                    for group in piece.row_groups:
                        for batch in opened.iter_batches(
                            min(rows, BATCH_ROWS),
                            row_groups=[group],
                            columns=None if names is None else schema.names,
                            use_threads=False,
                        ):
                            yield self._with_all_columns(batch, piece, schema)
            except (*STORE_ERRORS, ValueError) as error:
                said = " ".join(str(error).split()).rstrip(".")  # of several lines Spark's report would show the last
                raise MessagesError(
                    f"{piece.path}: cannot be read: {said}; fetch or write that file again, or leave it out"
                ) from error

    def _with_all_columns(self, batch: pa.RecordBatch, piece: Piece, schema: pa.Schema) -> pa.Table:
        named = dict(zip(self.partitions, piece.partition, strict=True))
        held = dict(zip(batch.schema.names, batch.columns, strict=True))
        columns = [
            pa.repeat(pa.scalar(named[one.name], one.type), len(batch))
            if one.name in named
            else held[one.name]
            if one.name in held
            else pa.nulls(len(batch), one.type)
            for one in schema
        ]
        return pa.table(columns, schema=schema)
