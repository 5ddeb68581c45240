"""Columns of text or bytes as one Arrow array of bytes with 32-bit offsets, in which kernels read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from dfa_router.arrow import check_layout, key_array
from dfa_router.arrow.dictionaries import decoded
from dfa_router.arrow.lists import MOST
from dfa_router.errors import CapacityError, KeyTypeError

__all__ = ["bytes_array", "plain_array", "without_views"]

_TEXT, _BYTES = pa.string(), pa.binary()
_VIEWS = {pa.string_view(): _TEXT, pa.binary_view(): _BYTES}
_UNCLAIMED = {_TEXT: _BYTES, pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
"""Types of text, and those of the same bytes without the claim that they are UTF-8."""


def bytes_array(column: Any, name: str = "a column of messages") -> pa.BinaryArray:
    """Return a text or binary column, whosever it is, as one array of bytes; ``name`` is what messages call it.

    Raises :class:`KeyTypeError` for a column of another type, and :class:`CapacityError` for one of over 2 GiB.
    """
    plainly = _plainly(column, name)
    if plainly is not None:
        return plainly
    chunks = decoded(key_array(column, name))
    size = sum(chunk.nbytes for chunk in chunks.chunks if len(chunk))
    if size > MOST:
        raise CapacityError(
            f"{name} has {size / 2**30:.1f} GiB, and is routed as one array with offsets of 32 bits: route "
            "fewer messages at a time"
        )
    array = chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()  # which would copy a single one, too
    if pa.types.is_string(array.type):
        return array.view(pa.binary())
    if pa.types.is_large_string(array.type):
        array = array.view(pa.large_binary())
    return array if pa.types.is_binary(array.type) else array.cast(pa.binary())


def _plainly(column: Any, name: str) -> pa.BinaryArray | None:
    """Return what most columns are, text or bytes in one piece with 32-bit offsets, with a tenth of the questions; else None."""
    if isinstance(column, pa.ChunkedArray) and column.num_chunks == 1:
        column = column.chunk(0)
    if not isinstance(column, pa.Array):
        return None
    kind = column.type
    if not (kind.equals(_TEXT) or kind.equals(_BYTES)) or sum(one.size for one in column.buffers() if one) > MOST:
        return None
    check_layout(column, name)
    return column.view(_BYTES) if kind.equals(_TEXT) else column


def plain_array(column: Any) -> pa.Array:
    """Return a column of any type as one array; text in views, also within lists, maps and structs, as other text."""
    if hasattr(column, "__arrow_c_stream__"):  # a chunked column, whosever it is
        array = pa.chunked_array(column).combine_chunks()
    else:
        array = column if isinstance(column, pa.Array) else pa.array(column)
    _check_parts(array)
    kind = without_views(array.type)
    return array if kind.equals(array.type) else array.cast(kind)  # Arrow takes rows of few columns that hold views


def _check_parts(array: pa.Array) -> None:
    """Refuse a damaged column of lists, maps or structs, or of views: Arrow believes offsets at any depth."""
    try:
        array.validate()
        array.view(_with_leaves(array.type, _UNCLAIMED)).validate(full=True)  # as bytes: text need not be UTF-8
    except (pa.ArrowInvalid, pa.ArrowIndexError) as error:
        raise _damaged(str(error)) from None
    except pa.ArrowNotImplementedError:
        pass  # a type of which no view is made: of no use for an attribute
    _check_hidden(array)


def _check_hidden(array: pa.Array) -> None:
    """Refuse views of null rows that have a negative size: validation passes over them, and a cast adds up all sizes."""
    kind = array.type
    if pa.types.is_map(kind):
        parts = [array.keys, array.items]
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        parts = [array.values]
    elif pa.types.is_struct(kind):
        parts = [array.field(i) for i in range(kind.num_fields)]
    else:
        parts = []
    for part in parts:
        _check_hidden(part)
    if kind in _VIEWS and array.null_count:
        sizes = np.frombuffer(array.buffers()[1], np.int32, 4 * len(array), 16 * array.offset)[::4]
        if (sizes < 0).any():
            raise _damaged("a null row has a view of negative size")


def _damaged(problem: str) -> KeyTypeError:
    return KeyTypeError(f"a column of messages is a damaged Arrow column ({problem}): make or write it again")


def without_views(kind: pa.DataType) -> pa.DataType:
    """Return a type with text or bytes in place of views of them; other libraries keep theirs so.

    >>> without_views(pa.map_(pa.string_view(), pa.list_(pa.binary_view())))
    MapType(map<string, list<item: binary>>)
    """
    return _with_leaves(kind, _VIEWS)


def _with_leaves(kind: pa.DataType, others: Mapping[pa.DataType, pa.DataType]) -> pa.DataType:
    """Return a type with others in place of some, also within lists, maps and structs."""
    if kind in others:
        return others[kind]
    if pa.types.is_map(kind):
        return pa.map_(_with_leaves(kind.key_type, others), _with_leaves(kind.item_type, others), kind.keys_sorted)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        field = kind.value_field
        return (pa.list_ if pa.types.is_list(kind) else pa.large_list)(
            field.with_type(_with_leaves(field.type, others))
        )
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_with_leaves(field.type, others)) for field in kind])
    return kind
