"""Texts that stand one behind the other, with a zero byte between each two, become a column's bytes and offsets.

Python joins and encodes a list of texts at once, which takes a third of the time of asking each for its length.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel, trailing_zeros
from compiler.kernels._text_vectors import zeros_of_line
from compiler.kernels.gathering import copy_within
from compiler.kernels.tables import Bytes, Int32s, Signed, Unsigned
from compiler.kernels.unsigned import ONE, WINDOW, ZERO

__all__ = ["part_texts"]


@kernel
def part_texts(joined: Bytes, offsets: Int32s, data: Bytes) -> Signed:
    """Write where each text begins and ends, and the bytes of all, without those between them.

    Returns how many texts there are; more than ``offsets`` has room for end it, and mean nothing. ``data`` has 64 bytes more than ``joined``.
    """
    size = np.uint64(joined.size)
    most = np.uint64(offsets.size - 1)
    begin = to = at = count = ZERO
    offsets[ZERO] = 0
    while at < size:
        zeros = _zeros(joined, at, size)
        while zeros != ZERO:
            if count == most:
                return np.int64(count + ONE)
            end = at + trailing_zeros(zeros)
            zeros &= zeros - ONE
            copy_within(joined, begin, end, data, to)
            to += end - begin
            begin = end + ONE
            count += ONE
            offsets[count] = np.int32(to)
        at += WINDOW
    if count < most:
        copy_within(joined, begin, size, data, to)
        offsets[count + ONE] = np.int32(to + (size - begin))
    return np.int64(count + ONE)


@inlined
def _zeros(joined: Bytes, at: Unsigned, size: Unsigned) -> Unsigned:
    """Return a number that has a bit for each zero among the next 64 bytes, the lowest for the first."""
    if at + WINDOW <= size:
        return zeros_of_line(joined, at)
    zeros = ZERO
    for i in range(size - at):
        zeros |= np.uint64(joined[at + i] == 0) << i
    return zeros
