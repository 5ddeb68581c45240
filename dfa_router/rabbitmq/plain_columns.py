"""Where the columns of a plain batch lie: Arrow columns of text or bytes in one piece, with 32-bit offsets and without nulls.

To make a column of each, and to check it, takes 6 us, a quarter of what matching 256 keys takes. Here only what Python knows of a
column is looked at; offsets are checked by the kernel that reads them (:mod:`compiler.kernels.relay_batches`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

__all__ = ["PlainColumns", "plain_columns"]


class PlainColumns(NamedTuple):
    """The columns of a plain batch."""

    places: list[int]
    """Where vhosts, exchanges and keys lie, as :meth:`compiler.relay.plain_relay.PlainRelay.run_plain` takes it."""
    rows: int
    keys: pa.Array


def plain_columns(exchanges: Any, keys: Any, vhosts: Any, single: pa.Array) -> PlainColumns | None:
    """Return where columns of a batch lie, or None if they are not plain; ``single`` stands in for ``vhosts`` that are None.

    They are not if one has nulls, several chunks, another type or length, or fewer offsets than rows, as a damaged one has.

    >>> one, column = pa.array(["/"]), pa.array(["a", "bc"])
    >>> plain_columns(column, column, None, one).rows
    2
    >>> plain_columns(column, ["a", "b"], None, one), plain_columns(column, column, one, one)
    (None, None)
    """
    keys = _in_one_piece(keys)
    places = _places_of((single if vhosts is None else _in_one_piece(vhosts), _in_one_piece(exchanges), keys))
    if places is None:
        return None
    vhost_ends, exchange_ends, key_ends = places[1], places[5], places[9]
    if exchange_ends != key_ends or (vhosts is not None and vhost_ends != key_ends):
        return None
    return PlainColumns(places, key_ends - 1, keys)


def _in_one_piece(column: Any) -> Any:
    """Return the only chunk of a column that has one, and any other column as it is."""
    return column.chunk(0) if type(column) is pa.ChunkedArray and column.num_chunks == 1 else column


def _places_of(columns: Sequence[Any]) -> list[int] | None:
    """Return four numbers for each column: the address of its offsets, how many these are, the address of its bytes, and how many
    there are; None where one is not plain.
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
