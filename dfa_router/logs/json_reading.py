"""A part of a log in JSON lines, read with Arrow: first to see what it holds, then its rows.

Each block is read as a whole where it is plain, and otherwise once its odd lines were replaced
(:mod:`~dfa_router.logs.json_lines`). Both passes see the same blocks, so what the first one has seen is what the second one reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import json as arrow_json

from dfa_router.errors import MessagesError
from dfa_router.logs.json_lines import Block, Mark, line_by_line, plain_block
from dfa_router.logs.json_types import check_numbers, merged
from dfa_router.logs.lines import blocks
from dfa_router.logs.marks import READ_PROBLEM
from dfa_router.logs.partitions import OtherWayError
from dfa_router.logs.parts import Part, TextPiece
from dfa_router.logs.stores import STORE_ERRORS

__all__ = ["ReadJson", "Seen", "SeeJson"]


class Seen(NamedTuple):
    """What a part holds."""

    kind: pa.DataType
    """A struct of the keys."""
    rows: tuple[int, ...]
    """Of each piece."""
    unread: bool
    """Whether lines have to be kept, as they could not be read in full."""
    reason: str | None = None
    """Why the log is left to Spark."""


@dataclass(frozen=True, slots=True)
class SeeJson:
    """Looks at parts of a log; it can be pickled."""

    store: Any
    """The ``pyarrow.fs.FileSystem`` of the log."""

    def __call__(self, part: Part[TextPiece]) -> Seen:
        """Tell what a part holds, or why the log is left to Spark."""
        kinds: set[pa.DataType] = set()
        rows: list[int] = []
        unread, path = False, ""
        try:
            for piece in part.pieces:
                path = piece.path
                rows.append(0)
                for data in blocks(self.store, piece):
                    block, table = _read(data, None)
                    check_numbers(table.columns, block.data)
                    kinds.add(pa.struct(table.schema))
                    rows[-1] += block.rows
                    unread |= any(mark.line is not None for mark in block.marks)
            return Seen(merged(sorted(kinds, key=str)), tuple(rows), unread)
        except OtherWayError as error:
            return Seen(pa.null(), (), unread, str(error))
        except STORE_ERRORS as error:
            return Seen(pa.null(), (), unread, f"{path}: {error}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadJson:
    """Reads parts of a log; it can be pickled."""

    store: Any
    """The ``pyarrow.fs.FileSystem`` of the log."""
    schema: pa.Schema
    """Of the log."""
    unreadable: str | None
    """The last column, which keeps lines that could not be read in full, if there is such a line."""

    def __call__(self, part: Part[TextPiece], rows: int) -> Iterator[pa.Table]:
        """Yield the rows of a part and their problems, at most so many at a time."""
        known = self.schema if self.unreadable is None else self.schema.remove(len(self.schema) - 1)
        for piece in part.pieces:
            try:
                for data in blocks(self.store, piece):
                    block, table = _read(data, known)
                    table = self._marked(table.select(known.names), block.marks)
                    for first in range(0, len(table), rows):
                        yield table.slice(first, rows)
            except (*STORE_ERRORS, OtherWayError) as error:
                raise MessagesError(f"{piece.path}: cannot be read: {error}") from error

    def _marked(self, table: pa.Table, marks: tuple[Mark, ...]) -> pa.Table:
        problems: list[str | None] = [None] * len(table)
        lines: list[bytes | None] = [None] * len(table)
        for mark in marks:
            problems[mark.row], lines[mark.row] = mark.problem, mark.line
        if self.unreadable is not None:
            # As the line is, even if that is no UTF-8.
            kept = pa.array(lines, pa.binary()) if marks else pa.nulls(len(table), pa.binary())
            table = table.append_column(self.unreadable, kept.view(pa.string()))
        said = pa.array(problems, pa.string()) if marks else pa.nulls(len(table), pa.string())
        return table.append_column(READ_PROBLEM, said)


def _read(data: bytes, schema: pa.Schema | None) -> tuple[Block, pa.Table]:
    """Return the block that was read, and its columns: those of a schema, or those that Arrow finds."""
    block = plain_block(data)
    if block is not None:
        try:
            return block, _table(block, schema)
        except pa.ArrowInvalid:  # such as for a key that stands twice
            pass
    block = line_by_line(data)
    try:
        return block, _table(block, schema)
    except pa.ArrowInvalid as error:
        raise OtherWayError(str(error)) from error


def _table(block: Block, schema: pa.Schema | None) -> pa.Table:
    if not block.rows:
        return pa.schema([]).empty_table() if schema is None else schema.empty_table()
    table = arrow_json.read_json(
        pa.BufferReader(block.data),
        arrow_json.ReadOptions(use_threads=False, block_size=len(block.data) + 1),
        arrow_json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else "error"
        ),
    )
    if len(table) != block.rows:
        raise pa.ArrowInvalid(f"{block.rows} lines were read as {len(table)} rows")
    return table
