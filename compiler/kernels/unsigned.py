"""Constants as uint64, for kernels.

numba makes a float of a uint64 and an int64, and a plain ``1`` in a kernel is an int64. So whatever is combined with unsigned
numbers must be unsigned itself. Indices are unsigned as well: a signed one may count from the end of an array, and finding
out takes three instructions at each access.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels.tables import AHEAD, BLOCK, FINAL, SCRAMBLE, TARGET, WIDE

__all__ = [
    "BLOCK_ROW",
    "EIGHT",
    "FINAL_BIT",
    "GOLDEN",
    "KEYS_AHEAD",
    "LANE_MASK",
    "LENGTH_SHIFT",
    "LOW_HALF",
    "MOST_WORDS",
    "NONE",
    "ONE",
    "SEVEN",
    "SIX",
    "SIXTY_THREE",
    "STATE_MASK",
    "THREE",
    "TWO",
    "UPPER_HALF",
    "WIDE_FILTER",
    "WINDOW",
    "ZERO",
]

ZERO, ONE, TWO, THREE, SIX, SEVEN, EIGHT, SIXTY_THREE = (np.uint64(number) for number in (0, 1, 2, 3, 6, 7, 8, 63))
UPPER_HALF, LOW_HALF = np.uint64(32), np.uint64(0xFFFFFFFF)
"""The shift by which the upper half of a packed number is read, and the mask of its lower half."""
WINDOW = np.uint64(64)
"""How many bytes of a key are compared with the separator at once, and the bits of the mask that comes of it."""
NONE = np.uint64(2**64 - 1)
"""Stands for a number that there is not."""
LANE_MASK = np.uint64(0xFF)
"""The mask of eight lanes, and of a byte."""
BLOCK_ROW, MOST_WORDS = np.uint64(BLOCK), np.uint64(AHEAD)
"""From one word of a key to its next in ``Work.heads``; and AHEAD."""
STATE_MASK, FINAL_BIT = np.uint64(TARGET), np.uint64(FINAL)
WIDE_FILTER = np.uint64(WIDE)
LENGTH_SHIFT = np.uint64(56)
"""The shift to the length in a word's name (see :mod:`compiler.kernels.words`)."""
GOLDEN = np.uint64(SCRAMBLE)
KEYS_AHEAD = np.uint64(2048)
"""How many bytes ahead of a key that is read from a column the column's bytes are asked for. Not all processors fetch soon enough what is
read in order: on an Intel Xeon with 480 MB of third-level cache a warm key of `stock`, which is stored, took 30 to 37 ns without and 23 to
28 with that, and one of 40 bytes in the key cache 14.0 and 12.2. From 1,024 to 8,192 bytes make no difference."""
