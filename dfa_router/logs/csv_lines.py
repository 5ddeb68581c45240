r"""A block of CSV lines as Arrow can read it: as many fields in each as the file's header has.

Quotation marks are taken as RFC 4180 has them: around a whole field, doubled within. Where one stands elsewhere, it is left to
Spark's parser what it means, by :class:`OtherWayError`. A line with more fields, or fewer, is cut or filled up, and marked. An
empty field is null, in quotation marks or not; but the empty name is that of the default exchange, so an empty exchange or
routing key is the empty text, in whatever case its column is written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from dfa_router.logs.blocks import BLANK, Block, Mark, is_utf8, java_text, with_line_feeds
from dfa_router.logs.marks import NO_FIELDS, NO_UTF8
from dfa_router.logs.partitions import OtherWayError

__all__ = ["csv_columns", "csv_line_by_line", "has_empty_text", "header_of", "plain_csv", "without_header"]

_FIELD = re.compile(r'("(?:[^"]|"")*"|[^",]*)(,|$)')

_NOT_BLANK = re.compile(b"[^" + re.escape(BLANK) + b"]")

_CONTROLS = bytes(range(33))
"""What Spark's parser passes over at the ends of lines: a line of nothing else, such as the zeros that a crash leaves, is no record."""

_QUOTE, _COMMA, _END = b'",\n'


def has_empty_text(name: str) -> bool:
    """Tell whether an empty field of a column is the empty text, and not null.

    >>> has_empty_text("Routing_Key"), has_empty_text("note")
    (True, False)
    """
    return name.lower() in {"exchange", "routing_key"}


def header_of(data: bytes) -> tuple[str, ...]:
    r"""Return the names of a file's first line; raises :class:`OtherWayError` for a line that Spark would make other names of.

    >>> header_of(b'exchange,"a, b"\r\nx,y\n')
    ('exchange', 'a, b')
    """
    line, _ = _first_line(with_line_feeds(data))
    if not is_utf8(line) or not _is_regular(line + b"\n") or b"\0" in line:
        raise OtherWayError("it has a file whose header is no plain CSV")
    names = tuple(map(_unquoted, _fields(line.decode()))) if line else ()
    if len({name.lower() for name in names}) < len({*names}) or any(name.strip() != name for name in names):
        raise OtherWayError(
            "it has a file whose header has blanks around a name, or names that differ by their case alone"
        )
    return names


def without_header(data: bytes) -> bytes:
    """Return what stands behind a file's first line that is not blank."""
    return _first_line(with_line_feeds(data))[1]


def plain_csv(data: bytes) -> Block | None:
    r"""Return a block if nothing in it has to be looked at line by line, but the number of fields.

    >>> plain_csv(b'x,"a, b"\r\nx,\n')
    Block(data=b'x,"a, b"\nx,\n', rows=2, marks=())
    """
    lines = with_line_feeds(data).strip(b"\n") + b"\n"
    if b"\n\n" in lines or lines == b"\n" or b"\0" in lines or "\ufffd".encode() in lines or not is_utf8(lines):
        return None
    return Block(lines, lines.count(b"\n")) if _is_regular(lines) else None


def csv_line_by_line(data: bytes, fields: int) -> Block:
    r"""Return a block with a row of so many fields for each line that is not blank; raises :class:`OtherWayError`.

    >>> csv_line_by_line(b'a,b\n\nc\n', 2).data
    b'a,b\nc,\n'
    """
    lines: list[str] = []
    marks: list[Mark] = []
    for raw in with_line_feeds(data).split(b"\n"):
        if not raw.strip(BLANK):
            continue
        text = java_text(raw)
        is_record = bool(raw.strip(_CONTROLS))
        if is_record and (not _is_regular(text.encode() + b"\n") or "\0" in text):
            raise OtherWayError("it has lines with stray quotation marks, or marks of no text")
        found = _fields(text) if is_record else []
        if len(found) != fields:
            marks.append(Mark(len(lines), NO_FIELDS, text.encode()))
            found = found[:fields] + [""] * (fields - len(found))
        elif "\ufffd" in text:
            marks.append(Mark(len(lines), NO_UTF8, None))
        lines.append(",".join(found))
    return Block("".join(line + "\n" for line in lines).encode(), len(lines), tuple(marks))


def csv_columns(block: Block, names: Sequence[str]) -> pa.Table:
    """Return a block's columns; raises ``ArrowInvalid`` where a line has another number of fields."""
    if not block.rows:
        return pa.schema([(name, pa.string()) for name in names]).empty_table()
    table = arrow_csv.read_csv(
        pa.BufferReader(block.data),
        arrow_csv.ReadOptions(use_threads=False, block_size=len(block.data) + 1, column_names=list(names)),
        arrow_csv.ParseOptions(ignore_empty_lines=False),
        arrow_csv.ConvertOptions(
            check_utf8=False,
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    )
    if len(table) != block.rows:
        raise pa.ArrowInvalid(f"{block.rows} lines were read as {len(table)} rows")
    whole = np.ones(block.rows, bool)
    whole[[mark.row for mark in block.marks if mark.problem == NO_FIELDS]] = False
    for place, name in enumerate(names):
        if has_empty_text(name) and table[name].null_count:
            column = table[name].combine_chunks()
            empty = pc.and_(pc.is_null(column), pa.array(whole))
            table = table.set_column(place, name, pc.if_else(empty, "", column))
    return table


def _fields(line: str) -> list[str]:
    """Return the fields of a regular line as they stand there, with their quotation marks."""
    found = []
    for field in _FIELD.finditer(line):
        found.append(field[1])
        if not field[2]:
            break
    return found


def _unquoted(field: str) -> str:
    return field[1:-1].replace('""', '"') if field.startswith('"') else field


def _is_regular(lines: bytes) -> bool:
    """Tell whether each quotation mark begins or ends a field, or is one of a pair within: every other one begins something."""
    if b'"' not in lines:
        return True
    data = np.frombuffer(b"\n" + lines, np.uint8)
    quotes = np.flatnonzero(data == _QUOTE)
    if len(quotes) % 2:
        return False
    first, last = quotes[::2], quotes[1::2]
    ends = np.flatnonzero(data == _END)
    before, behind = data[first - 1], data[last + 1]
    return bool(
        np.isin(before, (_COMMA, _END, _QUOTE)).all()
        and np.isin(behind, (_COMMA, _END, _QUOTE)).all()
        and (np.searchsorted(ends, first) == np.searchsorted(ends, last)).all()
    )


def _first_line(data: bytes) -> tuple[bytes, bytes]:
    """Return the first line that is not blank, and what stands behind it."""
    found = _NOT_BLANK.search(data)
    if found is None:
        return b"", b""
    begin = data.rfind(b"\n", 0, found.start()) + 1
    line, _, behind = data[begin:].partition(b"\n")
    return line, behind
