"""The lines of text files, in blocks of bytes that end where a line ends.

A file is divided at any byte: a line belongs to the range in which it begins. Compressed files are read from their beginning.
What this leaves out: codecs of Hadoop's own form, which Spark reads (:mod:`dfa_router.logs.hadoop_codecs`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pyarrow as pa

from dfa_router.logs.parts import TextPiece
from dfa_router.padded_gzip import opened_padded

__all__ = ["BLOCK_BYTES", "CODECS", "blocks", "open_piece"]

BLOCK_BYTES = 4 << 20
"""Bytes that are read at a time. A line may be longer; then it is a block of its own."""

CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""The endings of compressed files, and what Arrow calls their codecs; of LZ4 it is the form that everybody but Hadoop writes."""

_BOM = b"\xef\xbb\xbf"


def blocks(store: Any, piece: TextPiece) -> Generator[bytes, None, None]:
    """Yield the lines of a piece, in order; the file's last line may lack its end. Raises ``OSError`` and Arrow's errors."""
    with open_piece(store, piece) as file:
        yield from _within(file, piece.start, piece.end)


def open_piece(store: Any, piece: TextPiece) -> Any:
    """Open the file of a piece, decompressing it where its name says that it is compressed."""
    codec = next((codec for ending, codec in CODECS.items() if piece.path.lower().endswith(ending)), None)
    if codec == "gzip":
        file = store.open_input_file(piece.path)
        return opened_padded(file) or pa.CompressedInputStream(file, codec)
    return store.open_input_file(piece.path) if codec is None else store.open_input_stream(piece.path, codec)


def _within(file: Any, start: int, end: int | None) -> Iterator[bytes]:
    place = max(0, start - 1)  # a line begins at ``start`` if the byte before it ends one
    if place:
        file.seek(place)
    held = bytearray()
    begun = not start
    while chunk := file.read(BLOCK_BYTES):
        if not place:
            chunk, place = chunk.removeprefix(_BOM), len(chunk) - len(chunk.removeprefix(_BOM))
        if not begun:
            cut = chunk.find(b"\n") + 1
            begun = cut > 0
            place += cut or len(chunk)
            chunk = chunk[cut:] if cut else b""
            if end is not None and place >= end:
                return
        if end is not None and (last := chunk.find(b"\n", max(0, end - 1 - place))) >= 0:
            yield bytes(held) + chunk[: last + 1]
            return
        place += len(chunk)
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield bytes(held) + chunk[:cut]
            held.clear()
        held += chunk[cut:]
    if held:
        yield bytes(held)
