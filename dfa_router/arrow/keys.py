"""Keys in whatever form somebody has them become an Arrow column that has been checked."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from compiler.kernels.tables import PADDING
from dfa_router.arrow.capsules import column_of, without_index
from dfa_router.arrow.checks import LONGEST_KEY, check_column, is_text
from dfa_router.arrow.compiled import Before
from dfa_router.arrow.lists import new
from dfa_router.arrow.runs import runs_as_keys
from dfa_router.errors import KeyTypeError

__all__ = ["key_array"]

_MANY = 1 << 20
"""From how many texts on Arrow's function pays."""
SOON = 1 << 16
"""For how many texts of a process the kernel that parts them is not loaded: what it saves of these takes as long as that, some milliseconds."""


def key_array(keys: Any, name: str = "keys") -> pa.ChunkedArray:
    """Return the keys as a chunked Arrow column of strings or bytes, which may be dictionary-encoded.

    ``name`` is what messages call them. Raises :class:`KeyTypeError` for anything that is not such a column; the text names the
    type that was found, or the row that is damaged or has over 2 GiB.
    """
    keys = without_index(keys, name)
    column = _column_of_texts(keys) if type(keys) is list and keys else column_of(keys, name)
    if column is None:
        rows = _rows(keys)
        if rows is None:
            raise KeyTypeError(
                f"{name} is {_described(keys)}: expected an Arrow array of strings or a list of str{_remedy(keys, name)}"
            )
        column = pa.chunked_array([_from_python(rows, name)])
    given = column.type
    column = runs_as_keys(column, name)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (is_text(kind) or pa.types.is_null(kind)):
        if pa.types.is_nested(kind):  # Arrow casts none of these to text
            raise KeyTypeError(
                f"{name} is an Arrow column of {given}: a row must be one key: join its words, or flatten the lists"
            )
        text = "binary" if pa.types.is_fixed_size_binary(kind) else "string"  # bytes need not be UTF-8
        raise KeyTypeError(f"{name} is an Arrow column of {given}: cast it to {text} first")
    try:
        check_column(column, name)
    except pa.ArrowIndexError as error:  # what Arrow's own validation raises for views
        raise KeyTypeError(f"{name} is a damaged Arrow column ({error}): make or write it again") from None
    return column


def _rows(keys: Any) -> Iterator[Any] | None:
    """Return what goes through a list or the like; None for one text, for columns by name, and for what has no rows or no order."""
    if isinstance(keys, str | bytes | Mapping | set | frozenset) or not isinstance(keys, Iterable):
        return None  # going through columns would match their names
    try:
        return iter(keys)
    except TypeError:  # numpy's arrays of no dimension have the method alone
        return None


def _from_python(keys: Iterable[Any], name: str) -> pa.Array:
    """Make a column from Python strings, bytes and None."""
    encoded: list[bytes | None] = []
    for row, key in enumerate(keys):
        if key is None or isinstance(key, bytes):
            encoded.append(key)
        elif isinstance(key, str):
            encoded.append(_utf8(key, row, name))
        else:
            raise KeyTypeError(f"{name}[{row}] is {_described(key)}: expected str, bytes, or None for a missing key")
    return _bytes_array(encoded)


def _column_of_texts(texts: list[Any]) -> pa.ChunkedArray | None:
    """Return texts as Arrow's, without looking at them one by one in Python; None for a list of anything else, or of over 2 GiB.

    Of a text of 40 ASCII characters a kernel takes 50 ns on a Xeon where its length takes 120; one by one they took twice as long, and what is made of that another 80.
    """
    try:
        found = _parted(texts) or _measured(texts)
    except (TypeError, ValueError):
        return None  # bytes, None, or what is no key at all; lone surrogates; a list that gets shorter meanwhile
    if found is None:
        return None
    offsets, data = found
    return pa.chunked_array([pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))])


_BEFORE = Before()
"""What went without the kernel that parts texts."""


def _parted(texts: list[str]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]] | None:
    """Return where texts begin and end, and their bytes, by the kernel; None where it does not pay, or cannot tell."""
    if not _BEFORE.enough(SOON, len(texts)):
        return None
    from compiler.kernels.calling import direct
    from compiler.kernels.parting import part_texts

    joined = "\0".join(texts).encode()
    if len(joined) > LONGEST_KEY:
        return None
    offsets, data = new(len(texts) + 1, np.int32), new(len(joined) + PADDING, np.uint8)
    found = direct(part_texts, np.frombuffer(joined, np.uint8), offsets, data)
    return (offsets, data) if found == len(offsets) - 1 else None  # a text may have a zero, too


def _measured(texts: list[str]) -> tuple[npt.NDArray[np.int32], bytes] | None:
    """Return where texts begin and end, and their bytes, by their lengths; None for over 2 GiB."""
    lengths = np.fromiter(map(str.__len__, texts), np.int64, len(texts))
    if lengths.sum() > LONGEST_KEY:
        return None
    text = "".join(texts)
    data = text.encode()
    if len(data) != len(text):
        lengths = np.fromiter(map(bytes.__len__, map(str.encode, texts)), np.int64, len(texts))
    if len(data) > LONGEST_KEY or lengths.sum() != len(data):
        return None
    offsets = np.zeros(len(texts) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return offsets, data


def _bytes_array(texts: list[bytes | None]) -> pa.LargeBinaryArray:
    """Return texts as Arrow's; all of them may have over 2 GiB.

    Arrow's own function is faster by 80 ns a text, but imports pandas first, which takes 150 ms.
    """
    if "pandas" in sys.modules or len(texts) > _MANY:
        return pa.array(texts, pa.large_binary())
    nulls, offsets = texts.count(None), np.zeros(len(texts) + 1, np.int64)
    present = [text or b"" for text in texts]
    np.cumsum(np.fromiter(map(len, present), np.int64, len(texts)), out=offsets[1:])
    bits = np.packbits([text is not None for text in texts], bitorder="little") if nulls else None
    buffers = [None if bits is None else pa.py_buffer(bits), pa.py_buffer(offsets), pa.py_buffer(b"".join(present))]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(texts), buffers, nulls)


def _utf8(key: str, row: int, name: str) -> bytes:
    try:
        return str.encode(key)
    except UnicodeEncodeError as error:
        raise KeyTypeError(
            f"{name}[{row}] is {key!r}, with a lone surrogate at character {error.start}: pass the key as bytes"
        ) from None


def _remedy(keys: Any, name: str) -> str:
    """Return what to do with columns by name, with sets, and with what will be a column later: lazy frames and expressions of polars and others."""
    if isinstance(keys, set | frozenset):
        return f"; a set has no order for the answers to follow: hand over a list, such as sorted({name})"
    if isinstance(keys, Mapping):
        first = f", such as {name}[{next(iter(keys))!r}]" if keys else ""
        return f"; hand over one of its values{first}, or its own keys by list({name})"
    if hasattr(keys, "collect"):
        return "; collect it first"
    return "; within an expression, columns are handed over by its map_batches" if hasattr(keys, "map_batches") else ""


def _described(value: object) -> str:
    return (
        f"{value!r} ({type(value).__name__})" if isinstance(value, str | bytes | int | float) else type(value).__name__
    )
