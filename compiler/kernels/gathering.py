"""Keys of some rows of a column, copied to a column of their own."""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels._text_vectors import copy_line
from compiler.kernels.tables import Bytes, Int32s, Int64s, Signed, Unsigned
from compiler.kernels.unsigned import ONE, SIXTY_THREE, WINDOW

__all__ = ["copy_within", "gather_ends", "gather_keys"]


@kernel
def gather_ends(begins: Int32s, rows: Int64s, offsets: Int32s) -> Signed:
    """Write where the keys of some rows will begin and end once they are copied, one after the other; return where the last one ends."""
    end = np.int64(0)
    offsets[0] = 0
    for i in range(np.uint64(rows.size)):
        row = np.uint64(rows[i])
        end += np.int64(begins[row + ONE]) - np.int64(begins[row])
        offsets[i + ONE] = end
    return end


@kernel
def gather_keys(begins: Int32s, source: Bytes, rows: Int64s, offsets: Int32s, data: Bytes) -> None:
    """Copy the keys of some rows to ``data``, one after the other, where ``offsets`` say that they begin and end.

    Key i of the column is ``source[begins[i]:begins[i + 1]]``. ``data`` has 64 bytes more than the keys: so many are copied at once
    where the source has them. Most keys take one round then, and how many a key takes is what the processor cannot guess.
    """
    for i in range(np.uint64(rows.size)):
        begin, to = np.uint64(begins[rows[i]]), np.uint64(offsets[i])
        copy_within(source, begin, begin + (np.uint64(offsets[i + ONE]) - to), data, to)


@inlined
def copy_within(source: Bytes, begin: Unsigned, end: Unsigned, data: Bytes, to: Unsigned) -> None:
    """Copy ``source[begin:end]``, 64 bytes at a time where the source has them; ``data`` has room for 64 more."""
    while begin < end:
        if begin + SIXTY_THREE < np.uint64(source.size):
            copy_line(source, begin, data, to)
            begin += WINDOW
            to += WINDOW
        else:
            data[to] = source[begin]
            begin += ONE
            to += ONE
