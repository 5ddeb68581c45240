"""What a log of text holds: the parts of its files, and the columns that were seen in them.

Files are divided at any byte. So the parts are known from names and sizes, and what is in them is seen by those who will read
them: the lines are read twice, once for the columns and once for the rows, as a column may first occur in the last line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import pairwise, zip_longest
from typing import Any

import pyarrow as pa

from dfa_router.errors import MessagesError
from dfa_router.logs import parts
from dfa_router.logs.blocks import BLANK
from dfa_router.logs.csv_lines import header_of
from dfa_router.logs.hadoop_codecs import is_left_to_spark
from dfa_router.logs.json_types import columns_of, merged
from dfa_router.logs.lines import CODECS, blocks, open_piece
from dfa_router.logs.listing import files_of, of_each
from dfa_router.logs.marks import READ_PROBLEM, UNREADABLE, free_name
from dfa_router.logs.partitions import OtherWayError, UnreadableError, partitions_of
from dfa_router.logs.parts import Part, TextPiece, part_bytes
from dfa_router.logs.planning import Plan
from dfa_router.logs.stores import STORE_ERRORS, Found, Place
from dfa_router.logs.text_reading import ReadText, Seen
from dfa_router.logs.trace_reading import form_of
from dfa_router.logs.trace_records import TRACE
from dfa_router.no_text import check_header, check_text

__all__ = ["text_parts", "text_plan"]

INFLATED = 8
"""How many times larger a compressed file is when it is decoded, roughly."""


def text_parts(place: Place, kind: str, *, pattern: bool, cores: int) -> tuple[Part[TextPiece], ...]:
    """Divide the files of a log into parts, for so many cores; raises :class:`OtherWayError` for those that Spark has to read."""
    files = files_of(place, pattern=pattern)
    for file, left in zip(files, of_each(files, partial(is_left_to_spark, place)), strict=True):
        if left:
            raise OtherWayError(f"{file.path} is compressed in a form that Arrow does not read")
    # JSON lines and traces get no column of them, as with Spark.
    if kind == "csv" and any(partitions_of([file.folders for file in files])):
        raise OtherWayError("its folders name columns")
    most = part_bytes(sum(file.size + parts.OPENING_BYTES for file in files), cores)
    headers = _headers(place.store, files) if kind == "csv" else _forms(place.store, files) if kind == "trace" else {}
    return tuple(_parts(files, most, headers))


def text_plan(place: Place, kind: str, divided: Sequence[Part[TextPiece]], seen: Sequence[Seen]) -> Plan:
    """Plan a log of a format by what was seen in its parts; raises :class:`OtherWayError`."""
    if kind == "jsonl":
        _check_objects(place.store, divided, seen)
    for one in seen:
        if one.reason is not None:
            raise UnreadableError(one.reason) if one.damaged_file else OtherWayError(one.reason)
    if kind == "csv":
        schema = _of_headers(divided)
    else:
        schema = TRACE if kind == "trace" else columns_of(merged(one.kind for one in seen))
    if kind == "jsonl" and schema != columns_of(merged(kind for one in seen for kind in (one.kind, one.damaged))):
        raise OtherWayError("lines that are no UTF-8 have columns, or types, of their own")
    unreadable = free_name(UNREADABLE, schema.names) if any(one.unread for one in seen) else None
    if unreadable is not None:
        schema = schema.append(pa.field(unreadable, pa.string()))
    return Plan(
        schema=schema,
        read=ReadText(store=place.store, kind=kind, schema=schema, unreadable=unreadable),
        parts=tuple(_counted(part, one.rows) for part, one in zip(divided, seen, strict=True)),
    )


def _headers(store: Any, files: Sequence[Found]) -> dict[str, tuple[str, ...]]:
    """Return what the first line of each file names, but for files without a line."""

    def header(file: Found) -> tuple[str, ...]:
        with closing(blocks(store, TextPiece(file.path, 0, None, 0, 0))) as found:
            lines = next((data for data in found if data.strip(BLANK)), b"")
        check_header(file.path, lines)
        names = header_of(lines)
        _check_names(file.path, names)
        return names

    return dict(zip([file.path for file in files], of_each(files, header), strict=True))


def _check_names(path: str, names: Sequence[str]) -> None:
    """Refuse a header that nobody reads: Spark makes other names of such ones, and then misses those in the file."""
    for place, name in enumerate(names, 1):
        if not name:
            raise MessagesError(f"{path}: its header has no name for column {place} of {len(names)}: give it one there")
        if name in names[: place - 1]:
            raise MessagesError(f"{path}: its header names column {name!r} twice: rename one of them there")


def _forms(store: Any, files: Sequence[Found]) -> dict[str, tuple[str, ...]]:
    """Return the form of each file of a trace; raises :class:`MessagesError` for one that is none."""

    def form(file: Found) -> tuple[str, ...]:
        try:
            return (form_of(store, file.path),)
        except STORE_ERRORS as error:
            raise MessagesError(f"{file.path}: cannot be read: {error}") from error

    return dict(zip([file.path for file in files], of_each(files, form), strict=True))


def _of_headers(divided: Sequence[Part[TextPiece]]) -> pa.Schema:
    """Return the columns of all files, in the order in which they first occur."""
    names = dict.fromkeys(name for part in divided for piece in part.pieces for name in piece.names)
    if not names:
        raise UnreadableError("no file has a line that names columns")
    if len({name.lower() for name in names}) < len(names) or READ_PROBLEM in names:
        raise OtherWayError("it has columns whose names differ by their case alone")
    return pa.schema([(name, pa.string()) for name in names])


def _check_objects(store: Any, divided: Sequence[Part[TextPiece]], seen: Sequence[Seen]) -> None:
    """Refuse files of JSON lines that are no text: each of their lines would be a row that cannot be read, and perhaps a part of one.

    A line that was read is one of text, whatever its file begins with: a program that was killed may have left the first lines damaged.
    """
    unread = ((part, one) for part, one in zip(divided, seen, strict=True) if one.unread)
    pieces = (found for part, one in unread for found in zip_longest(part.pieces, one.readable))
    for piece in (piece for piece, readable in pieces if not (piece.start or readable)):
        with open_piece(store, piece) as file:
            check_text(piece.path, bytes(file.read(16)))


def _counted(part: Part[TextPiece], rows: Sequence[int]) -> Part[TextPiece]:
    pieces = zip(part.pieces, rows, strict=True)
    return Part(part.number, tuple(piece._replace(rows=count) for piece, count in pieces))


def _parts(files: Sequence[Found], most: int, headers: Mapping[str, tuple[str, ...]]) -> Iterator[Part[TextPiece]]:
    """Divide files into parts of about equal size: large ones into ranges, small ones joined."""
    held: list[TextPiece] = []
    size = number = 0
    for piece in (piece for file in files for piece in _pieces(file, most, headers.get(file.path, ()))):
        more = piece.bytes + parts.OPENING_BYTES
        if held and size + more > most:
            yield Part(number, tuple(held))
            number, held, size = number + 1, [], 0
        held.append(piece)
        size += more
    yield Part(number, tuple(held))


def _pieces(file: Found, most: int, names: tuple[str, ...]) -> Iterator[TextPiece]:
    if file.path.lower().endswith(tuple(CODECS)):
        yield TextPiece(file.path, 0, None, 0, file.size * INFLATED, names)
        return
    count = max(1, -(-file.size // most))
    bounds = [file.size * number // count for number in range(count + 1)]
    for start, end in pairwise(bounds):
        yield TextPiece(file.path, start, end, 0, end - start, names)
