"""What Arrow leaves unchecked is checked here, as files may hold anything: offsets, sizes, indices into dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dfa_router.counted import counted
from dfa_router.errors import KeyTypeError

__all__ = ["LONGEST_KEY", "check_column", "check_layout", "is_text", "same_place", "too_long", "wide_offsets"]

LONGEST_KEY = 2**31 - 1
"""The most bytes of a key, and of all keys of a part of a column: what 32-bit offsets can address."""
_OFFSETS: dict[int, np.dtype[Any]] = {
    pa.string().id: np.dtype(np.int32),
    pa.binary().id: np.dtype(np.int32),
    pa.large_string().id: np.dtype(np.int64),
    pa.large_binary().id: np.dtype(np.int64),
}
"""The types of columns that have offsets, and the type of these."""


_TEXTS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
)


def is_text(kind: pa.DataType) -> bool:
    """Tell whether columns of a type hold text or bytes.

    >>> is_text(pa.large_string()), is_text(pa.binary()), is_text(pa.int32())
    (True, True, False)
    """
    return any(check(kind) for check in _TEXTS)


def check_column(column: pa.ChunkedArray, name: str) -> None:
    """Refuse a damaged column, and keys that are too long; ``name`` is what messages call it. Raises :class:`KeyTypeError`."""
    row = 0
    checked: pa.Array | None = None
    for chunk in column.chunks:
        if not pa.types.is_dictionary(column.type):
            check_layout(chunk, name)
            _check_sizes(chunk, f"{name}[{{}}]", row)
        else:
            dictionary = chunk.dictionary
            if checked is None or not same_place(dictionary, checked):  # most chunks have that of the one before
                check_layout(dictionary, name)
                _check_sizes(dictionary, f"value {{}} of the dictionary of {name}", 0)
                checked = dictionary
            _check_indices(chunk.indices, len(dictionary), row, name)
        row += len(chunk)


def too_long(key: str, size: int) -> KeyTypeError:
    """Return the error for a key of too many bytes; ``key`` says which it is."""
    return KeyTypeError(f"{key} has {size:,} bytes: at most {LONGEST_KEY:,} can be matched, and brokers carry far less")


def check_layout(chunk: pa.Array, name: str) -> None:
    """Refuse keys that lie outside of their buffers: Arrow believes the offsets of files and of buffers that it is given.

    Kernels, and most functions of Arrow, would read whatever lies there. It takes 0.17 ns a key; a compiled loop would take half
    of that, and cost those who need no kernels the start of the compiler.
    """
    try:
        chunk.validate()  # the number and the size of buffers
        if pa.types.is_string_view(chunk.type) or pa.types.is_binary_view(chunk.type):
            chunk.view(pa.binary_view()).validate(full=True)  # as bytes: keys need not be UTF-8
            return
    except pa.ArrowInvalid as error:
        raise KeyTypeError(f"{name} is a damaged Arrow column ({error}): make or write it again") from None
    width = _OFFSETS.get(chunk.type.id)
    if width is None or not len(chunk):
        return
    _, offsets, data = chunk.buffers()
    starts: npt.NDArray[Any] = np.frombuffer(offsets, width, len(chunk) + 1, chunk.offset * width.itemsize)
    size = 0 if data is None else data.size
    if starts[0] < 0 or starts[-1] > size or np.less(starts[1:], starts[:-1]).any():
        wrong = np.flatnonzero((starts[1:] < starts[:-1]) | (starts[1:] > size) | (starts[:-1] < 0))
        raise KeyTypeError(
            f"{name} is a damaged Arrow column: the offsets of row {int(wrong[0])} of {len(chunk)} are {starts[wrong[0]]} to "
            f"{starts[wrong[0] + 1]}, in data of {counted(size, 'byte')}: make or write it again"
        )


def _check_sizes(chunk: pa.Array, key: str, first: int) -> None:
    """Refuse a key that 32-bit offsets cannot address; ``key`` is what row ``first`` and those after it are called."""
    if not (pa.types.is_large_string(chunk.type) or pa.types.is_large_binary(chunk.type)):
        return
    offsets = wide_offsets(chunk)
    if offsets[-1] - offsets[0] > LONGEST_KEY:
        sizes = np.diff(offsets)
        worst = int(sizes.argmax())
        if sizes[worst] > LONGEST_KEY:
            raise too_long(key.format(first + worst), int(sizes[worst]))


def _check_indices(indices: pa.Array, keys: int, first: int, name: str) -> None:
    """Refuse indices outside of a dictionary of so many keys; it takes 0.1 ns a row."""
    try:
        indices.validate()
    except pa.ArrowInvalid as error:
        raise KeyTypeError(f"{name} is a damaged Arrow column ({error}): make or write it again") from None
    least, most = pc.min_max(indices).values()
    if least.is_valid and (least.as_py() < 0 or most.as_py() >= keys):
        numbers = pc.fill_null(indices, 0).to_numpy()
        wrong = ((numbers < 0) | (numbers >= keys)) & indices.is_valid().to_numpy(zero_copy_only=False)
        row = int(wrong.argmax())
        raise KeyTypeError(
            f"{name} is a damaged Arrow column: row {first + row} has the index {indices[row]}, in a dictionary of {counted(keys, 'key')}: "
            "make or write it again"
        )


def same_place(one: pa.Array, other: pa.Array) -> bool:
    """Tell whether two arrays lie at one place in memory."""
    return len(one) == len(other) and one.offset == other.offset and _places(one) == _places(other)


def _places(array: pa.Array) -> list[tuple[int, int] | None]:
    return [None if buffer is None else (buffer.address, buffer.size) for buffer in array.buffers()]


def wide_offsets(chunk: pa.Array) -> npt.NDArray[np.int64]:
    """Return the offsets of an array that has 64-bit ones; an empty array may have no buffers."""
    return (
        np.frombuffer(chunk.buffers()[1], np.int64, len(chunk) + 1, chunk.offset * 8)
        if len(chunk)
        else np.zeros(1, np.int64)
    )
