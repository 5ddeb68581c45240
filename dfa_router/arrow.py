"""The Arrow boundary: columns of keys in any form become the one layout that kernels read.

A kernel is compiled once for each combination of argument types, so all forms of a key column (string, large_string,
binary, dictionary, sliced, chunked, a list) become the same one here: 32-bit offsets into bytes, and an optional mask of
valid keys. Plain string columns are not copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from compiler.values import KeyColumn
from dfa_router.errors import KeyTypeError

__all__ = ["dictionary_of", "key_array", "key_columns", "row_numbers"]

_OFFSETS: dict[int, np.dtype[Any]] = {
    pa.string().id: np.dtype(np.int32),
    pa.binary().id: np.dtype(np.int32),
    pa.large_string().id: np.dtype(np.int64),
    pa.large_binary().id: np.dtype(np.int64),
}
"""The types of columns that have offsets, and the type of these."""
_LIMIT = 2**31 - 1
"""The most bytes that the 32-bit offsets of a chunk can address."""


def key_array(keys: Any) -> pa.ChunkedArray:
    """Return the keys as a chunked Arrow column of strings or bytes, which may be dictionary-encoded.

    Raises :class:`KeyTypeError` for anything that is not such a column; the text names the type that was found.
    """
    if isinstance(keys, pa.ChunkedArray):
        column = keys
    elif isinstance(keys, pa.Array):
        column = pa.chunked_array([keys])
    elif isinstance(keys, Iterable) and not isinstance(keys, str | bytes):
        column = pa.chunked_array([_from_python(list(keys))])
    else:
        raise KeyTypeError(f"keys is {_named(keys)}: expected an Arrow array of strings or a list of str")
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (_is_text(kind) or pa.types.is_null(kind)):
        raise KeyTypeError(f"keys is an Arrow column of {column.type}: cast it to string first")
    for chunk in column.chunks:
        _check_layout(chunk.dictionary if pa.types.is_dictionary(column.type) else chunk)
    return column


def _check_layout(chunk: pa.Array) -> None:
    """Refuse keys that lie outside of their buffers: Arrow believes the offsets of files and of buffers that it is given.

    Kernels, and most functions of Arrow, would read whatever lies there. It takes 0.17 ns a key; a compiled loop would take half
    of that, and cost those who need no kernels the start of the compiler.
    """
    try:
        chunk.validate()  # the number and the size of buffers
        if _is_view(chunk.type):
            chunk.view(pa.binary_view()).validate(full=True)  # as bytes: keys need not be UTF-8
            return
    except pa.ArrowInvalid as error:
        raise KeyTypeError(f"keys is a damaged Arrow column ({error}): make or write it again") from None
    width = _OFFSETS.get(chunk.type.id)
    if width is None or not len(chunk):
        return
    _, offsets, data = chunk.buffers()
    starts: npt.NDArray[Any] = np.frombuffer(offsets, width, len(chunk) + 1, chunk.offset * width.itemsize)
    size = 0 if data is None else data.size
    if starts[0] < 0 or starts[-1] > size or np.less(starts[1:], starts[:-1]).any():
        wrong = np.flatnonzero((starts[1:] < starts[:-1]) | (starts[1:] > size) | (starts[:-1] < 0))
        raise KeyTypeError(
            f"keys is a damaged Arrow column: the offsets of row {int(wrong[0])} of {len(chunk)} are {starts[wrong[0]]} to "
            f"{starts[wrong[0] + 1]}, in data of {size} bytes: make or write it again"
        )


def dictionary_of(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, pa.Array] | None:
    """Return the distinct keys of a dictionary column and each row's index into them, or None for another column.

    A key is null if its index is null, and also if its index leads to a null value. A slice of a column has the whole
    column's dictionary; if that has over twice as many keys as there are rows, only the keys that occur are returned.
    """
    if not pa.types.is_dictionary(column.type):
        return None
    # Combining would copy a single chunk.
    whole = column.chunk(0) if column.num_chunks == 1 else column.unify_dictionaries().combine_chunks()
    keys, indices = whole.dictionary, whole.indices
    if 2 * len(indices) < len(keys):
        # 65,536 rows over 450,000 keys take 4 to 13 ms this way, and 35 ms if all keys are matched. With half as many rows
        # as keys, all different, both ways take the same time.
        named = indices.dictionary_encode()
        keys, indices = keys.take(named.dictionary), named.indices
    return pa.chunked_array([keys]), indices


def row_numbers(numbers: npt.NDArray[np.int32], indices: pa.Array) -> npt.NDArray[np.int32]:
    """Return the number of each row, given that of each distinct key; -1 for a null index.

    Raises ``IndexError`` for an index beyond the dictionary: Arrow does not check indices that come from files.
    """
    found = pa.array(numbers).take(indices)
    rows: npt.NDArray[np.int32] = (found.fill_null(-1) if found.null_count else found).to_numpy()
    return rows


def key_columns(column: pa.ChunkedArray) -> Iterator[KeyColumn]:
    """Yield the chunks of a column of strings or bytes as offsets and bytes."""
    for chunk in column.chunks:
        if pa.types.is_null(chunk.type):
            yield KeyColumn(np.zeros(len(chunk) + 1, np.int32), np.empty(0, np.uint8), np.zeros(len(chunk), np.bool_))
        else:
            for part in _addressable(_plain(chunk)):
                yield _buffers(part)


def _buffers(chunk: pa.Array) -> KeyColumn:
    """Return the buffers of a string or binary array with 32-bit offsets, which may be a slice."""
    valid, offsets, data = chunk.buffers()
    rows = len(chunk)
    if offsets is None or offsets.size == 0:  # an empty array may have no buffers
        starts = np.zeros(rows + 1, np.int32)
    else:
        starts = np.frombuffer(offsets, np.int32, rows + 1, chunk.offset * 4)
    return KeyColumn(
        starts,
        np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8),
        None if valid is None or chunk.null_count == 0 else chunk.is_valid().to_numpy(zero_copy_only=False),
    )


def _plain(chunk: pa.Array) -> pa.Array:
    """Return a column of a view type as one of a large type, and any other column as it is."""
    if pa.types.is_string_view(chunk.type):
        return chunk.cast(pa.large_string())
    if pa.types.is_binary_view(chunk.type):
        return chunk.cast(pa.large_binary())
    return chunk


def _addressable(chunk: pa.Array) -> Iterator[pa.Array]:
    """Yield an array with 64-bit offsets as parts with 32-bit offsets, and any other array as it is."""
    small = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}.get(chunk.type)
    if small is None:
        yield chunk
        return
    start, rows = 0, len(chunk)
    offsets = np.frombuffer(chunk.buffers()[1], np.int64, rows + 1, chunk.offset * 8) if rows else np.zeros(1, np.int64)
    while start < rows:
        stop = int(np.searchsorted(offsets, offsets[start] + _LIMIT, side="right")) - 1
        if stop <= start:
            raise KeyTypeError(
                f"key {start} has {offsets[start + 1] - offsets[start]} bytes: at most {_LIMIT} can be matched"
            )
        # Text is cast by way of bytes: a cast between text types would refuse keys that are not valid UTF-8.
        part = chunk.slice(start, min(stop, rows) - start)
        yield (
            part.view(pa.large_binary()).cast(pa.binary()) if pa.types.is_large_string(part.type) else part.cast(small)
        )
        start = min(stop, rows)


def _from_python(keys: Sequence[Any]) -> pa.Array:
    """Make a column from Python strings, bytes and None."""
    encoded: list[bytes | None] = []
    for row, key in enumerate(keys):
        if key is None or isinstance(key, bytes):
            encoded.append(key)
        elif isinstance(key, str):
            encoded.append(_utf8(key, row))
        else:
            raise KeyTypeError(f"keys[{row}] is {_named(key)}: expected str, bytes or None")
    return pa.array(encoded, pa.binary())


def _utf8(key: str, row: int) -> bytes:
    try:
        return key.encode()
    except UnicodeEncodeError as error:
        raise KeyTypeError(
            f"keys[{row}] is {key!r}, with a lone surrogate at character {error.start}: pass the key as bytes"
        ) from None


def _is_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind))


def _is_text(kind: pa.DataType) -> bool:
    return any(
        check(kind)
        for check in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_binary_view,
        )
    )


def _named(value: object) -> str:
    return (
        f"{value!r} ({type(value).__name__})" if isinstance(value, str | bytes | int | float) else type(value).__name__
    )
