"""The Arrow boundary: columns of keys in any form become the one layout that kernels read.

A kernel is compiled once for each combination of argument types, so all forms of a key column (string, large_string,
binary, views, dictionary, sliced, chunked, of another library, a list) become the same one here: 32-bit offsets into bytes,
and an optional mask of valid keys. Plain string columns are not copied.

What Arrow leaves unchecked is checked here, as files may hold anything: offsets, sizes, indices into dictionaries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from compiler.values import KeyColumn
from dfa_router.capsules import column_of
from dfa_router.errors import KeyTypeError

__all__ = [
    "LONGEST_KEY",
    "Rows",
    "check_layout",
    "key_array",
    "key_column",
    "key_columns",
    "plain",
    "same_place",
    "too_long",
]

_OFFSETS: dict[int, np.dtype[Any]] = {
    pa.string().id: np.dtype(np.int32),
    pa.binary().id: np.dtype(np.int32),
    pa.large_string().id: np.dtype(np.int64),
    pa.large_binary().id: np.dtype(np.int64),
}
"""The types of columns that have offsets, and the type of these."""
LONGEST_KEY = 2**31 - 1
"""The most bytes of a key, and of all keys of a part of a column: what 32-bit offsets can address."""
_SMALL_ROWS, _SMALL_BYTES = 1 << 16, 1 << 26
"""The most rows and bytes of chunks that are put together."""


def key_array(keys: Any, name: str = "keys") -> pa.ChunkedArray:
    """Return the keys as a chunked Arrow column of strings or bytes, which may be dictionary-encoded.

    ``name`` is what messages call them. Raises :class:`KeyTypeError` for anything that is not such a column; the text names the
    type that was found, or the row that is damaged or has over 2 GiB.
    """
    column = column_of(keys, name)
    if column is None:
        if not isinstance(keys, Iterable) or isinstance(keys, str | bytes):
            raise KeyTypeError(
                f"{name} is {_described(keys)}: expected an Arrow array of strings or a list of str{_remedy(keys)}"
            )
        column = pa.chunked_array([_from_python(keys, name)])
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (_is_text(kind) or pa.types.is_null(kind)):
        raise KeyTypeError(f"{name} is an Arrow column of {column.type}: cast it to string first")
    try:
        _check(column, name)
    except pa.ArrowIndexError as error:  # what Arrow's own validation raises for views
        raise KeyTypeError(f"{name} is a damaged Arrow column ({error}): make or write it again") from None
    return column


def _check(column: pa.ChunkedArray, name: str) -> None:
    """Refuse what is damaged, and keys that are too long."""
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
        if _is_view(chunk.type):
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
            f"{starts[wrong[0] + 1]}, in data of {size} bytes: make or write it again"
        )


def _check_sizes(chunk: pa.Array, key: str, first: int) -> None:
    """Refuse a key that 32-bit offsets cannot address; ``key`` is what row ``first`` and those after it are called."""
    if not (pa.types.is_large_string(chunk.type) or pa.types.is_large_binary(chunk.type)):
        return
    offsets = _wide_offsets(chunk)
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
            f"{name} is a damaged Arrow column: row {first + row} has the index {indices[row]}, in a dictionary of {keys} keys: "
            "make or write it again"
        )


def same_place(one: pa.Array, other: pa.Array) -> bool:
    """Tell whether two arrays lie at one place in memory."""
    return len(one) == len(other) and one.offset == other.offset and _places(one) == _places(other)


def _places(array: pa.Array) -> list[tuple[int, int] | None]:
    return [None if buffer is None else (buffer.address, buffer.size) for buffer in array.buffers()]


class Rows(Mapping[str, Any]):
    """Some rows of Arrow columns, taken of a column when somebody reads it; those that follow each other are not copied.

    To take a hundred of 100,000 rows costs Arrow 140 us a column, and few columns are read of those few rows.
    """

    def __init__(self, columns: Mapping[str, Any], rows: npt.NDArray[Any]) -> None:
        """Choose rows, by their numbers."""
        self.numbers = rows
        self._columns, self._taken = columns, dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        """Return the rows of a column."""
        if name not in self._taken:
            self._taken[name] = self._take(self._columns[name])
        return self._taken[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the columns."""
        return iter(self._columns)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        """Tell whether there is such a column, without taking its rows."""
        return name in self._columns

    def _take(self, column: Any) -> Any:
        rows = self.numbers
        if len(rows) and int(rows[-1]) - int(rows[0]) == len(rows) - 1 and (rows[1:] > rows[:-1]).all():
            return column.slice(int(rows[0]), len(rows))
        return column.take(pa.array(rows))


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
    return KeyColumn(starts, _bytes_of(data), _valid(chunk))


def _bytes_of(data: pa.Buffer | None) -> npt.NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8)


def _valid(chunk: pa.Array) -> npt.NDArray[np.bool_] | None:
    """Return which keys are not null, or None where none is."""
    if chunk.buffers()[0] is None or chunk.null_count == 0:
        return None
    valid: npt.NDArray[np.bool_] = chunk.is_valid().to_numpy(zero_copy_only=False)
    return valid


def plain(chunk: pa.Array) -> pa.Array:
    """Return a column of a view type as one of a large type, and any other column as it is."""
    if pa.types.is_string_view(chunk.type):
        return chunk.cast(pa.large_string())
    if pa.types.is_binary_view(chunk.type):
        return chunk.cast(pa.large_binary())
    return chunk


def _wide_offsets(chunk: pa.Array) -> npt.NDArray[np.int64]:
    """Return the offsets of an array that has 64-bit ones; an empty array may have no buffers."""
    return (
        np.frombuffer(chunk.buffers()[1], np.int64, len(chunk) + 1, chunk.offset * 8)
        if len(chunk)
        else np.zeros(1, np.int64)
    )


def _addressable(chunk: pa.Array) -> Iterator[KeyColumn]:
    """Yield an array with 64-bit offsets in parts that 32-bit offsets can address; only offsets are copied."""
    offsets, valid = _wide_offsets(chunk), _valid(chunk)
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


def _from_python(keys: Iterable[Any], name: str) -> pa.Array:
    """Make a column from Python strings, bytes and None."""
    encoded: list[bytes | None] = []
    for row, key in enumerate(keys):
        if key is None or isinstance(key, bytes):
            encoded.append(key)
        elif isinstance(key, str):
            encoded.append(_utf8(key, row, name))
        else:
            raise KeyTypeError(f"{name}[{row}] is {_described(key)}: expected str, bytes or None")
    return pa.array(encoded, pa.large_binary())  # all of them may have over 2 GiB


def _utf8(key: str, row: int, name: str) -> bytes:
    try:
        return key.encode()
    except UnicodeEncodeError as error:
        raise KeyTypeError(
            f"{name}[{row}] is {key!r}, with a lone surrogate at character {error.start}: pass the key as bytes"
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


def _remedy(keys: Any) -> str:
    """Return what to do with what will be a column later: lazy frames of polars and others, and their expressions."""
    if hasattr(keys, "collect"):
        return "; collect it first"
    return "; within an expression, columns are handed over by its map_batches" if hasattr(keys, "map_batches") else ""


def _described(value: object) -> str:
    return (
        f"{value!r} ({type(value).__name__})" if isinstance(value, str | bytes | int | float) else type(value).__name__
    )
