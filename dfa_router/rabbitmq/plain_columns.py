"""Where the columns of a plain batch lie: Arrow columns of text or bytes in one piece, with 32-bit offsets and without nulls.

To make a column of each, and to check it, takes 6 us, a quarter of what matching 256 keys takes. Here only what Python knows of a
column is looked at; offsets are checked by the kernel that reads them (:mod:`compiler.kernels.relay_batches`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

__all__ = ["in_one_piece", "places_of"]


def in_one_piece(column: Any) -> Any:
    """Return the only chunk of a column that has one, and any other column as it is."""
    return column.chunk(0) if type(column) is pa.ChunkedArray and column.num_chunks == 1 else column


def places_of(columns: Sequence[Any]) -> list[int] | None:
    """Return where columns lie, four numbers for each: the address of its offsets, how many these are, the address of its bytes, and
    how many there are.

    None if one has nulls, another type, or fewer offsets than rows, as a damaged one has.

    >>> column = pa.array(["a", "bc"])
    >>> places_of([column])[1::2], places_of([column, ["a"]]), places_of([pa.array(["a", None])])
    ([3, 3], None, None)
    """
    found: list[int] = []
    for array in columns:
        if type(array) is not pa.StringArray and type(array) is not pa.BinaryArray:
            return None
        valid, offsets, data = array.buffers()
        rows, first = len(array), array.offset
        if offsets is None or offsets.size < 4 * (first + rows + 1):
            return None
        if valid is not None and (8 * valid.size < first + rows or array.null_count):
            return None
        found += offsets.address + 4 * first, rows + 1, *((0, 0) if data is None else (data.address, data.size))
    return found
