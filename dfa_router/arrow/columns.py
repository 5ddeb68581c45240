"""Checked Arrow columns become the layout that kernels read: 32-bit offsets into bytes, and an optional mask of valid keys."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from compiler.values import KeyColumn
from dfa_router.arrow.checks import LONGEST_KEY, wide_offsets

__all__ = ["key_column", "key_columns", "plain", "validity"]

_SMALL_ROWS, _SMALL_BYTES = 1 << 16, 1 << 26
"""The most rows and bytes of chunks that are put together."""
_VIEW_BYTES = 16


def key_columns(column: pa.ChunkedArray) -> Iterator[KeyColumn]:
    """Yield a column of strings or bytes as offsets and bytes, in parts: its chunks, or several small ones as one."""
    for array in _gathered(column):
        if pa.types.is_null(array.type):
            yield KeyColumn(np.zeros(len(array) + 1, np.int32), np.empty(0, np.uint8), np.zeros(len(array), np.bool_))
        else:
            wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
            yield from _addressable(array) if wide else [key_column(array)]


def _gathered(column: pa.ChunkedArray) -> Iterator[pa.Array]:
    """Yield the chunks of a column, none of them of views, and small ones together.

    To begin a part takes the time of 2,000 keys: chunks of 2,048 rows would take 2.2 times as long as one column, and take 1.7
    times.
    """
    chunks = [
        plain(chunk) for chunk in column.chunks if len(chunk)
    ]  # of an empty one nothing was checked, not even its offsets
    if len(chunks) == 1:
        yield chunks[0]
        return
    small: list[pa.Array] = []
    rows = size = 0
    for chunk in chunks:
        if small and (rows + len(chunk) > _SMALL_ROWS or size + chunk.nbytes > _SMALL_BYTES):
            yield _joined(small)
            small, rows, size = [], 0, 0
        small.append(chunk)
        rows, size = rows + len(chunk), size + chunk.nbytes
    if small:
        yield _joined(small)


def _joined(chunks: list[pa.Array]) -> pa.Array:
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)  # which copies a single one, too


def key_column(chunk: pa.Array) -> KeyColumn:
    """Return the buffers of a string or binary array with 32-bit offsets, which may be a slice."""
    _, offsets, data = chunk.buffers()
    rows = len(chunk)
    if offsets is None or offsets.size == 0:  # an empty array may have no buffers
        starts = np.zeros(rows + 1, np.int32)
    else:
        starts = np.frombuffer(offsets, np.int32, rows + 1, chunk.offset * 4)
    return KeyColumn(starts, _bytes_of(data), validity(chunk))


def _bytes_of(data: pa.Buffer | None) -> npt.NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8)


def validity(chunk: pa.Array) -> npt.NDArray[np.bool_] | None:
    """Return which keys are not null, or None where none is."""
    bits = chunk.buffers()[0]
    if bits is None or chunk.null_count == 0:
        return None
    first, begin = divmod(chunk.offset, 8)  # Arrow's own function would import pandas
    unpacked = np.unpackbits(np.frombuffer(bits, np.uint8, offset=first), count=begin + len(chunk), bitorder="little")
    return unpacked[begin:].view(np.bool_)


def plain(chunk: pa.Array) -> pa.Array:
    """Return a column of a view type as one of a large type, and any other column as it is."""
    if pa.types.is_string_view(chunk.type):
        return _without_hidden(chunk).cast(pa.large_string())
    if pa.types.is_binary_view(chunk.type):
        return _without_hidden(chunk).cast(pa.large_binary())
    return chunk


def _without_hidden(chunk: pa.Array) -> pa.Array:
    """Return views of which those of null rows are empty.

    What these are is undefined, so Arrow's validation passes over them; but its cast adds up their sizes, and ends the process where the
    sum is negative.
    """
    valid = validity(chunk)
    if valid is None:
        return chunk
    _, views, *data = chunk.buffers()
    words = np.frombuffer(views, np.uint64, 2 * len(chunk), _VIEW_BYTES * chunk.offset).reshape(-1, 2)
    hidden = ~valid
    if not words[hidden, 0].any():  # the size is there
        return chunk
    emptied = words.copy()
    emptied[hidden] = 0
    bits = pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(chunk.type, len(chunk), [bits, pa.py_buffer(emptied), *data])


def _addressable(chunk: pa.Array) -> Iterator[KeyColumn]:
    """Yield an array with 64-bit offsets in parts that 32-bit offsets can address; only offsets are copied."""
    offsets, valid = wide_offsets(chunk), validity(chunk)
    data = _bytes_of(chunk.buffers()[2])
    start = 0
    while start < len(chunk):
        base = offsets[start]
        # At least one key: key_array lets no longer one pass.
        stop = int(np.searchsorted(offsets, base + LONGEST_KEY, side="right")) - 1
        narrow = np.empty(stop + 1 - start, np.int32)
        np.subtract(offsets[start : stop + 1], base, out=narrow, casting="unsafe")
        yield KeyColumn(narrow, data[base : base + LONGEST_KEY], None if valid is None else valid[start:stop])
        start = stop
