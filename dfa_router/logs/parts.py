"""The parts of a log: what one task reads, and how large it is made."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import pyarrow as pa

__all__ = ["Part", "Piece", "Read", "TextPiece", "part_bytes"]

MOST_BYTES = 128 << 20
"""Of a part, as it is stored; Spark's own measure."""
LEAST_BYTES = 2 << 20
"""Of a part, where the log has as much for each: below it, starting a task costs more than its work."""
OPENING_BYTES = 1 << 20
"""What opening a file counts for, so that a part of many small files is not too long."""
PARTS_PER_CORE = 4
"""Parts for each core, if the log is large enough: the last ones to end leave few cores idle."""


class Piece(NamedTuple):
    """Row groups of one Parquet file."""

    path: str
    row_groups: tuple[int, ...]
    rows: int
    bytes: int
    """Of the row groups when they are decompressed; decoded they may be far more, as values that occur often stand there once."""
    partition: tuple[Any, ...]
    """The values of the columns that the file's folders name."""


class TextPiece(NamedTuple):
    """The lines of a text file that begin within a range of its bytes."""

    path: str
    start: int
    end: int | None
    """None for a file that is read to its end, as a compressed one has to be."""
    rows: int
    """0 until the lines were counted."""
    bytes: int
    """When they are decoded, roughly."""
    names: tuple[str, ...] = ()
    """In CSV what the file's header names; in a trace its form, by itself."""


SomePiece = TypeVar("SomePiece", Piece, TextPiece)


class Part(NamedTuple, Generic[SomePiece]):
    """What one task routes."""

    number: int
    pieces: tuple[SomePiece, ...]

    @property
    def rows(self) -> int:
        """Return how many rows the part has."""
        return sum(piece.rows for piece in self.pieces)

    @property
    def bytes(self) -> int:
        """Return how large the part is when it is decompressed, roughly."""
        return sum(piece.bytes for piece in self.pieces)


class Read(Protocol):
    """Reads a part of a log; it can be pickled."""

    def __call__(self, part: Part[Any], rows: int, names: Collection[str] | None = None) -> Iterator[pa.Table]:
        """Yield tables of the log's columns, or those of ``names`` that it has, of at most about so many rows, in order.

        Text may have one column more, :data:`~dfa_router.logs.marks.READ_PROBLEM`. Raises ``MessagesError`` for a file that cannot be read.
        """


def part_bytes(stored: int, cores: int) -> int:
    """Return how large the parts of a log of so many bytes are, for so many cores."""
    return min(MOST_BYTES, max(LEAST_BYTES, -(-stored // (cores * PARTS_PER_CORE))))
