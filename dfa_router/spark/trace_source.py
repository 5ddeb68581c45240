"""RabbitMQ's trace log as a data source of Spark, ``rabbitmq-trace``: to be read at once, or followed as it grows.

Records come as Arrow batches, read by the same readers as those of ``dfa-router route``. As a stream, what was read is kept in Spark's
checkpoint as an offset of each file (:mod:`dfa_router.logs.trace_tailing`): a query that starts again reads the same records in the
same batches, so a sink that takes a batch once, as files do, gets each record once.

This module needs PySpark 4, which brought data sources in Python; :func:`dfa_router.spark.traces.register_trace_source` says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from dfa_router.errors import MessagesError
from dfa_router.file_names import local_name
from dfa_router.logs.blocks import Mark
from dfa_router.logs.marks import UNREADABLE
from dfa_router.logs.partitions import OtherWayError
from dfa_router.logs.parts import TextPiece
from dfa_router.logs.stores import STORE_ERRORS, Place, is_pattern, place_of
from dfa_router.logs.text_planning import text_parts
from dfa_router.logs.trace_reading import trace_tables
from dfa_router.logs.trace_records import TRACE
from dfa_router.logs.trace_tailing import check_length, ends_of, pieces_between

__all__ = ["READ_PROBLEM", "SCHEMA", "TraceSource"]

READ_PROBLEM = "read_problem"
"""The column that says what was wrong with a record; ``route`` has one named ``problem``."""

SCHEMA = TRACE.append(pa.field(UNREADABLE, pa.string())).append(pa.field(READ_PROBLEM, pa.string()))

ROWS = 10_000
"""Of a batch that is handed to Spark."""


class TraceSource(DataSource):
    """Records of traces; options are ``path``, and ``published``, with which what queues delivered is left out."""

    @classmethod
    def name(cls) -> str:
        """Return what the format is called."""
        return "rabbitmq-trace"

    def schema(self) -> StructType:
        """Return the columns, which are the same for every trace."""
        return from_arrow_schema(SCHEMA)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return what reads the files as they are now."""
        return _Reader(_options(self.options, schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name, as those below
        """Return what follows the files."""
        return _StreamReader(_options(self.options, schema))


@dataclass(frozen=True)
class _Options:
    path: str
    place: Place
    published: bool


def _options(given: Mapping[str, str], schema: StructType) -> _Options:
    if schema != from_arrow_schema(SCHEMA):
        raise MessagesError(
            "rabbitmq-trace: the columns of a trace are known: leave schema(...) out, and select what you need"
        )
    path = given.get("path")
    if path is None and "paths" in given:
        raise MessagesError("rabbitmq-trace: load(...) takes one path: give a folder or a pattern in place of a list")
    if path is None:
        raise MessagesError("rabbitmq-trace: give the file or folder of the trace with load(path)")
    place = place_of(local_name(path))
    if place is None:
        raise MessagesError(
            f"{path}: is in a store that Arrow does not reach; copy the trace to a folder, or to one that it reaches"
        )
    published = str(given.get("published", "false")).lower()
    if published not in {"true", "false"}:
        raise MessagesError(f"rabbitmq-trace: option published is {published!r}: expected true or false")
    return _Options(path, place, published == "true")


@dataclass
class _Partition(InputPartition):
    pieces: tuple[TextPiece, ...]
    growing: bool
    """Whether the pieces are those of a stream, whose ends were seen to be there."""

    def __init__(self, pieces: Sequence[TextPiece], *, growing: bool) -> None:
        super().__init__(None)
        self.pieces, self.growing = tuple(pieces), growing


class _Reader(DataSourceReader):
    def __init__(self, options: _Options) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        """Divide the files."""
        options = self._options
        try:
            parts = text_parts(options.place, "trace", pattern=is_pattern(options.path), cores=os.cpu_count() or 1)
        except OtherWayError as error:
            raise MessagesError(
                f"{options.path}: cannot be read: {error}; give a file that rabbitmq_tracing wrote, as it is or compressed by gzip or bzip2, "
                "a folder or a pattern of such files"
            ) from error
        return [_Partition(part.pieces, growing=False) for part in parts]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the records of a part."""
        return _read(self._options, partition)


class _StreamReader(DataSourceStreamReader):
    def __init__(self, options: _Options) -> None:
        self._options = options

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Return the offset before the first record."""
        return {"files": {}}

    def latestOffset(self) -> dict[str, Any]:  # type: ignore[override]  # noqa: N802 - newer ones hand over a limit
        """Return how far the files can be read now."""
        return {"files": ends_of(self._options.place, pattern=is_pattern(self._options.path))}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Divide what lies between two offsets."""
        pieces = pieces_between(self._options.place, start["files"], end["files"])
        return [_Partition([piece], growing=True) for piece in pieces]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the records of a part."""
        return _read(self._options, partition)

    def commit(self, end: dict[str, Any]) -> None:
        """Do nothing: the files stay."""


def _read(options: _Options, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    assert isinstance(partition, _Partition)
    store = options.place.store
    for piece in partition.pieces:
        if partition.growing and piece.end is not None:
            check_length(store, piece.path, piece.end)
        try:
            for block, table in trace_tables(store, piece, published=options.published):
                marked = _marked(table, block.marks).combine_chunks()
                yield from marked.to_batches(max_chunksize=ROWS)
        except STORE_ERRORS as error:
            raise MessagesError(
                f"{piece.path}: cannot be read: {error}; read it again if it was replaced meanwhile, or leave it out if it is damaged"
            ) from error


def _marked(table: pa.Table, marks: Sequence[Mark]) -> pa.Table:
    """Return the records with what was wrong with them, and the bytes of those that could not be read."""
    lines: Any = np.full(len(table), None, object)
    problems: Any = np.full(len(table), None, object)
    for mark in marks:
        problems[mark.row] = mark.problem
        lines[mark.row] = None if mark.line is None else mark.line.decode(errors="replace")
    columns = [*table.columns, pa.array(lines, pa.string()), pa.array(problems, pa.string())]
    return pa.table(columns, schema=SCHEMA)
