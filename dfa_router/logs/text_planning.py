"""What a log of text holds: the parts of its files, and the columns that were seen in them.

Files are divided at any byte. So the parts are known from names and sizes, and what is in them is seen by those who will read
them: the lines are read twice, once for the columns and once for the rows, as a column may first occur in the last line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import pyarrow as pa

from dfa_router.logs import parts
from dfa_router.logs.json_reading import ReadJson, Seen
from dfa_router.logs.json_types import columns_of, merged
from dfa_router.logs.lines import CODECS
from dfa_router.logs.marks import UNREADABLE, free_name
from dfa_router.logs.partitions import OtherWayError, partition_of, partition_types
from dfa_router.logs.parts import Part, TextPiece, part_bytes
from dfa_router.logs.planning import Plan
from dfa_router.logs.stores import STORE_ERRORS, Found, Place, found

__all__ = ["json_plan", "text_parts"]

HADOOPS = (".lz4", ".snappy", ".deflate")
"""Endings of files that Spark reads by codecs of Hadoop's own form."""
INFLATED = 8
"""How many times larger a compressed file is when it is decoded, roughly."""


def text_parts(place: Place, *, pattern: bool, cores: int) -> tuple[Part[TextPiece], ...]:
    """Divide the files of a log into parts, for so many cores; raises :class:`OtherWayError` for those that Spark has to read."""
    try:
        files = list(found(place, pattern=pattern))
    except STORE_ERRORS as error:
        raise OtherWayError(str(error)) from error
    if not files:
        raise OtherWayError("there are no files")
    for file in files:
        if file.path.lower().endswith(HADOOPS):
            raise OtherWayError(f"{file.path} is compressed in a form of Hadoop's own")
    partition_types([partition_of(file.folders) for file in files])  # JSON lines get no column of them, as with Spark
    most = part_bytes(sum(file.size + parts.OPENING_BYTES for file in files), cores)
    return tuple(_parts(files, most))


def json_plan(place: Place, divided: Sequence[Part[TextPiece]], seen: Sequence[Seen]) -> Plan:
    """Plan a log of JSON lines by what was seen in its parts; raises :class:`OtherWayError`."""
    for one in seen:
        if one.reason is not None:
            raise OtherWayError(one.reason)
    schema = columns_of(merged(one.kind for one in seen))
    unreadable = free_name(UNREADABLE, schema.names) if any(one.unread for one in seen) else None
    if unreadable is not None:
        schema = schema.append(pa.field(unreadable, pa.string()))
    return Plan(
        schema=schema,
        read=ReadJson(store=place.store, schema=schema, unreadable=unreadable),
        parts=tuple(_counted(part, one.rows) for part, one in zip(divided, seen, strict=True)),
    )


def _counted(part: Part[TextPiece], rows: Sequence[int]) -> Part[TextPiece]:
    pieces = zip(part.pieces, rows, strict=True)
    return Part(part.number, tuple(piece._replace(rows=count) for piece, count in pieces))


def _parts(files: Sequence[Found], most: int) -> Iterator[Part[TextPiece]]:
    """Divide files into parts of about equal size: large ones into ranges, small ones joined."""
    held: list[TextPiece] = []
    size = number = 0
    for piece in (piece for file in files for piece in _pieces(file, most)):
        more = piece.bytes + parts.OPENING_BYTES
        if held and size + more > most:
            yield Part(number, tuple(held))
            number, held, size = number + 1, [], 0
        held.append(piece)
        size += more
    yield Part(number, tuple(held))


def _pieces(file: Found, most: int) -> Iterator[TextPiece]:
    if file.path.lower().endswith(tuple(CODECS)):
        yield TextPiece(file.path, 0, None, 0, file.size * INFLATED)
        return
    count = max(1, -(-file.size // most))
    bounds = [file.size * number // count for number in range(count + 1)]
    for start, end in pairwise(bounds):
        yield TextPiece(file.path, start, end, 0, end - start)
