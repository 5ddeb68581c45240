"""Dictionary columns of keys: each distinct key is matched once, and every row gets the answer of its key.

A chunked column may have another dictionary in every chunk, as files of several row groups have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dfa_router.arrow.checks import same_place
from dfa_router.arrow.columns import plain, validity
from dfa_router.arrow.lists import int32_array

__all__ = ["KEYS_PER_ROW", "Run", "decoded", "dictionary_of", "row_numbers"]

KEYS_PER_ROW = 2
"""With more keys than that for each row, those of a dictionary that no row names are left out. 65,536 rows over 450,000 keys take 4 to 13 ms
this way, and 35 ms if all keys are matched. With half as many rows as keys, all different, both ways take the same time."""


class Run(NamedTuple):
    """Rows that follow each other in a dictionary column, and have one dictionary."""

    numbers: pa.Array | None
    """For each key of that dictionary its number among the distinct keys of the column; None where that is its place."""
    indices: pa.Array
    """For each row the place of its key in that dictionary."""


def dictionary_of(
    column: pa.ChunkedArray, keys_per_row: int = KEYS_PER_ROW
) -> tuple[pa.ChunkedArray, list[Run]] | None:
    """Return the distinct keys of a dictionary column and where each row's key is among them, or None for another column.

    ``column`` is one that :func:`key_array` returned. A key is null if its index is null, and also if its index leads to a
    null value. A slice of a column has the whole column's dictionary; if that has over ``keys_per_row`` times as many keys as
    there are rows, only the keys that occur are returned.
    """
    if not pa.types.is_dictionary(column.type):
        return None
    found: list[tuple[pa.Array, list[pa.Array]]] = []
    for chunk in column.chunks:
        if not len(chunk):
            continue  # those of a slice that came over the C interface have indices that Arrow does not concatenate
        dictionary = chunk.dictionary
        if not found or not (same_place(dictionary, found[-1][0]) or dictionary.equals(found[-1][0])):
            found.append((dictionary, []))
        found[-1][1].append(chunk.indices)
    named = [
        _named(keys, indices[0] if len(indices) == 1 else pa.concat_arrays(indices), keys_per_row)
        for keys, indices in found
    ]
    if len(named) == 1:
        keys, indices = named[0]
        return pa.chunked_array([keys]), [Run(None, indices)]
    return _unified(named)


def _named(keys: pa.Array, indices: pa.Array, keys_per_row: int) -> tuple[pa.Array, pa.Array]:
    """Leave out the keys that no index names, where there are more keys than so many for each index."""
    if keys_per_row * len(indices) >= len(keys):
        return keys, indices
    named = indices.dictionary_encode()
    return plain(keys).take(named.dictionary), named.indices  # Arrow takes nothing from views


def _unified(named: list[tuple[pa.Array, pa.Array]]) -> tuple[pa.ChunkedArray, list[Run]]:
    """Give several dictionaries' equal keys one number.

    Arrow's ``unify_dictionaries`` has the numbers in the type of the indices, so that 8 bits run over; refuses null among the
    keys; and reads past the end for an index beyond its dictionary.
    """
    all_keys = pa.chunked_array([_large_binary(keys) for keys, _ in named], pa.large_binary())
    unified = all_keys.dictionary_encode().combine_chunks()
    runs, end = [], 0
    for keys, indices in named:
        begin, end = end, end + len(keys)
        runs.append(Run(unified.indices[begin:end], indices))
    return pa.chunked_array([unified.dictionary]), runs


def row_numbers(numbers: npt.NDArray[np.int32], runs: list[Run]) -> npt.NDArray[np.int32]:
    """Return the number of each row, given that of each distinct key; -1 for a null key."""
    of_key = int32_array(numbers)
    rows = [np.empty(0, np.int32)]
    for run in runs:
        found = (of_key if run.numbers is None else of_key.take(run.numbers)).take(run.indices)
        if not len(found):
            continue
        values, valid = np.frombuffer(found.buffers()[1], np.int32, len(found), 4 * found.offset), validity(found)
        rows.append(values if valid is None else np.where(valid, values, np.int32(-1)))
    return rows[-1] if len(runs) == 1 else np.concatenate(rows)


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a dictionary column as one of its values, which are no views; so of a column of views, and any other column as it is.

    Arrow casts no dictionary of views.
    """
    if not pa.types.is_dictionary(column.type):
        chunks = [plain(chunk) for chunk in column.chunks]
        return pa.chunked_array(chunks) if chunks else column
    chunks = [plain(chunk.dictionary).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(chunks or [plain(pa.array([], column.type.value_type))])


def _large_binary(chunk: pa.Array) -> pa.Array:
    """Return any column of keys as bytes with 64-bit offsets; only offsets are copied, and views."""
    if pa.types.is_null(chunk.type):
        return pa.nulls(len(chunk), pa.large_binary())
    # Text is cast by way of bytes: a cast between text types would refuse keys that are not valid UTF-8.
    column = plain(chunk)
    if pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type):
        return column.view(pa.large_binary())
    return column.view(pa.binary()).cast(pa.large_binary())
