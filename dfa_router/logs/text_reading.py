"""A part of a log of text, read with Arrow: first to see what it holds, then its rows.

Each block is read as a whole where it is plain, and otherwise once its odd lines were replaced
(:mod:`~dfa_router.logs.json_lines`, :mod:`~dfa_router.logs.csv_lines`). Both passes see the same blocks, so what the first one
has seen is what the second one reads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from dfa_router.errors import MessagesError
from dfa_router.logs.blocks import BLANK, Block, Mark
from dfa_router.logs.csv_lines import csv_columns, csv_line_by_line, plain_csv, without_header
from dfa_router.logs.json_lines import json_columns, json_line_by_line, plain_json
from dfa_router.logs.json_types import check_numbers, merged
from dfa_router.logs.lines import blocks
from dfa_router.logs.marks import NO_UTF8, READ_PROBLEM
from dfa_router.logs.partitions import OtherWayError
from dfa_router.logs.parts import Part, TextPiece
from dfa_router.logs.stores import STORE_ERRORS
from dfa_router.logs.trace_reading import publication_counts, trace_tables
from dfa_router.logs.trace_records import TRACE

__all__ = ["ReadText", "Seen", "SeeText"]


class Seen(NamedTuple):
    """What a part holds."""

    kind: pa.DataType
    """A struct of the columns."""
    damaged: pa.DataType
    """The same of all lines; those that are no UTF-8 tell Spark no columns."""
    rows: tuple[int, ...]
    """Of each piece."""
    unread: bool
    """Whether lines have to be kept, as they could not be read in full."""
    reason: str | None = None
    """Why the log is left to Spark."""
    damaged_file: bool = False
    """Whether the reason is that a file cannot be read: only of a store may Spark know more."""
    readable: tuple[bool, ...] = ()
    """Of each piece whether there is a line in it that was read in full."""


@dataclass(frozen=True, slots=True)
class SeeText:
    """Looks at parts of a log; it can be pickled if ``passed`` can."""

    store: Any
    """The ``pyarrow.fs.FileSystem`` of the log."""
    kind: str
    """Its format, ``jsonl``, ``csv`` or ``trace``."""
    passed: Callable[[int], object] | None = None
    """Called with the rows of each block that was read: a compressed file is one part, however long it is."""

    def __call__(self, part: Part[TextPiece]) -> Seen:
        """Tell what a part holds, or why the log is left to Spark."""
        if self.kind == "trace":
            return self._trace(part)
        kinds: set[pa.DataType] = set()
        every: set[pa.DataType] = set()
        rows: list[int] = []
        readable: list[bool] = []
        unread, path = False, ""
        try:
            for piece in part.pieces:
                path = piece.path
                rows.append(0)
                readable.append(False)
                for block, table in _tables(self.store, self.kind, piece, None):
                    check_numbers(table.columns, block.data)
                    whole = pa.struct(table.schema)
                    every.add(whole)
                    if self.kind == "jsonl" and any(mark.problem.startswith(NO_UTF8) for mark in block.marks):
                        whole, unread = pa.struct(json_columns(_without_damaged(block), None).schema), True
                    kinds.add(whole)
                    rows[-1] += self._passed(block.rows)
                    kept = sum(mark.line is not None for mark in block.marks)
                    unread |= kept > 0
                    readable[-1] |= kept < block.rows
            kind, damaged = (merged(sorted(some, key=str)) for some in (kinds, every))
            return Seen(kind, damaged, tuple(rows), unread, readable=tuple(readable))
        except OtherWayError as error:
            return Seen(pa.null(), pa.null(), (), unread, str(error))
        except STORE_ERRORS as error:
            return Seen(pa.null(), pa.null(), (), unread, f"{path}: {error}", damaged_file=isinstance(error, OSError))

    def _trace(self, part: Part[TextPiece]) -> Seen:
        """Count the messages; the columns of a trace are known, and there is always one for what could not be read."""
        path = ""
        try:
            rows = []
            for piece in part.pieces:
                path = piece.path
                rows.append(sum(map(self._passed, publication_counts(self.store, piece))))
            return Seen(pa.struct(TRACE), pa.struct(TRACE), tuple(rows), unread=True)
        except STORE_ERRORS as error:
            raise MessagesError(f"{path}: cannot be read: {error}") from error

    def _passed(self, rows: int) -> int:
        if self.passed is not None:
            self.passed(rows)
        return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadText:
    """Reads parts of a log; it can be pickled."""

    store: Any
    """The ``pyarrow.fs.FileSystem`` of the log."""
    kind: str
    """Its format, ``jsonl``, ``csv`` or ``trace``."""
    schema: pa.Schema
    """Of the log."""
    unreadable: str | None
    """The last column, which keeps lines that could not be read in full, if there is such a line."""

    def __call__(self, part: Part[TextPiece], rows: int, names: Collection[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows of a part and their problems, at most so many at a time."""
        known = self.schema if self.unreadable is None else self.schema.remove(len(self.schema) - 1)
        for piece in part.pieces:
            try:
                for block, found in _tables(self.store, self.kind, piece, known):
                    table = self._marked(_with_all_columns(found, known), block.marks)
                    if names is not None:  # the others, such as payloads, are let go of block by block
                        table = table.select([one for one in table.schema.names if one in names or one == READ_PROBLEM])
                    for first in range(0, len(table), rows):
                        yield table.slice(first, rows)
            except (*STORE_ERRORS, OtherWayError) as error:
                raise MessagesError(f"{piece.path}: cannot be read: {error}") from error

    def _marked(self, table: pa.Table, marks: tuple[Mark, ...]) -> pa.Table:
        problems: list[str | None] = [None] * len(table)
        lines: list[str | None] = [None] * len(table)
        for mark in marks:
            problems[mark.row] = mark.problem
            # Readers of Parquet refuse a whole file in which something that is called text is none.
            lines[mark.row] = None if mark.line is None else mark.line.decode(errors="replace")
        if self.unreadable is not None:
            kept = pa.array(lines, pa.string()) if marks else pa.nulls(len(table), pa.string())
            table = table.append_column(self.unreadable, kept)
        said = pa.array(problems, pa.string()) if marks else pa.nulls(len(table), pa.string())
        return table.append_column(READ_PROBLEM, said)


def _without_damaged(block: Block) -> Block:
    """Return a block with empty objects in place of lines that were no UTF-8."""
    damaged = {mark.row for mark in block.marks if mark.problem.startswith(NO_UTF8)}
    lines = [b"{}" if row in damaged else line for row, line in enumerate(block.data.split(b"\n")[:-1])]
    return Block(b"".join(line + b"\n" for line in lines), block.rows)


def _with_all_columns(table: pa.Table, schema: pa.Schema) -> pa.Table:
    held = set(table.schema.names)
    columns = [table[one.name] if one.name in held else pa.nulls(len(table), one.type) for one in schema]
    return pa.table(columns, schema=schema)


def _tables(store: Any, kind: str, piece: TextPiece, schema: pa.Schema | None) -> Iterator[tuple[Block, pa.Table]]:
    """Yield the blocks of a piece and their columns: those of a schema, or those that are found."""
    if kind == "trace":
        yield from trace_tables(store, piece, published=True)
        return
    headed = kind == "csv" and not piece.start
    for data in blocks(store, piece):
        lines = without_header(data) if headed else data
        headed = headed and not lines and not data.strip(BLANK)
        yield _csv(lines, piece) if kind == "csv" else _json(lines, schema)


def _json(data: bytes, schema: pa.Schema | None) -> tuple[Block, pa.Table]:
    block = plain_json(data)
    if block is not None:
        with suppress(pa.ArrowInvalid):  # such as for a key that stands twice
            return block, json_columns(block, schema)
    block = json_line_by_line(data)
    try:
        return block, json_columns(block, schema)
    except pa.ArrowInvalid as error:
        raise OtherWayError(str(error)) from error


def _csv(data: bytes, piece: TextPiece) -> tuple[Block, pa.Table]:
    block = plain_csv(data)
    if block is not None:
        with suppress(pa.ArrowInvalid):  # for a line with another number of fields
            return block, csv_columns(block, piece.names)
    block = csv_line_by_line(data, len(piece.names))
    return block, csv_columns(block, piece.names)
