"""Numbers at which something in the compiler changes, with their neighbours: what tests count, measure and cut by.

A test takes the numbers within the range that it can afford, so a number that is added here is tried everywhere.
"""

from __future__ import annotations

__all__ = ["KEY_COUNTS", "LENGTHS", "WORD_COUNTS", "between"]

LENGTHS = (
    *(0, 1, 2),
    *(7, 8, 9),  # a word of up to seven bytes, and most of eight, is its own name
    *(15, 16, 17),
    *(31, 32, 33),
    *(54, 55, 56, 57),  # a slot of the key cache has room for 56 bytes
    *(61, 62, 63, 64, 65, 66),  # keys are compared with the separator 64 bytes at a time
    *(71, 72, 73),  # kernels may read 72 bytes beyond a key
    *(126, 127, 128, 129, 130, 191, 192, 193),  # two and three times 64 bytes
    *(255, 256, 257),  # the most that AMQP carries
    *(300, 500, 1000),
    *(4094, 4095, 4096, 4097),  # the buffer for single keys
)
"""Bytes of a word or a key."""

WORD_COUNTS = (
    *(0, 1, 2),
    *(7, 8, 9),  # the ends of eight words are found at a time
    *(15, 16, 17),
    *(62, 63, 64, 65),  # a machine word of simulation by bits has room for 63 tokens and the end
    *(127, 128, 129),
)
"""Words of a key, or tokens of a pattern."""

KEY_COUNTS = (
    *(0, 1, 2),
    *(7, 8, 9),  # eight keys take a step at once
    *(127, 128, 129),  # a walk takes 128 keys at a time
    *(255, 256, 257),
)
"""Keys of a batch."""


def between(numbers: tuple[int, ...], least: int, most: int) -> list[int]:
    """Return the numbers of a range, both ends included.

    >>> between(LENGTHS, 5, 15)
    [7, 8, 9, 15]
    """
    return [number for number in numbers if least <= number <= most]
