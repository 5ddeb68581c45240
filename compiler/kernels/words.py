"""From the bytes of a key to the symbols of its words, eight bytes at a time.

A word of up to 8 bytes is its own name: the bytes as one little-endian number, and the length, which tells ``a`` from
``a`` with a zero byte behind it. A longer word is named by a hash, and compared byte by byte when the names agree. The
separator is found by arithmetic on all eight bytes at once (Hacker's Delight, "find first zero byte").
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import kernel, load64, trailing_zeros
from compiler.tables import SCRAMBLE

__all__ = ["fill_words", "scan_word", "symbol_at"]

GOLDEN = np.uint64(SCRAMBLE)
LONG = np.uint64(0xD6E8FEB86659FD93)
LOW = np.uint64(0x0101010101010101)
HIGH = np.uint64(0x8080808080808080)


@kernel
def load(data: Any, at: Any) -> Any:
    """Load 8 bytes from any place of ``data``, with zeros where it ends."""
    if at + 8 <= data.size:
        return load64(data, at)
    value = np.uint64(0)
    for i in range(data.size - at):
        value |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return value


@kernel
def scan_word(data: Any, at: Any, stop: Any, separator: Any) -> Any:
    """Name the word that begins at ``at`` in a key that ends at ``stop``: (name, length in bytes)."""
    value = load(data, at)
    x = value ^ separator
    zeros = (x - LOW) & ~x & HIGH
    n = np.int64(8)
    if zeros != np.uint64(0):
        n = np.int64(trailing_zeros(zeros) >> np.uint64(3))
    rest = stop - at
    if n < 8 or rest <= 8:
        n = min(n, rest)
        if n < 8:
            value &= (np.uint64(1) << np.uint64(8 * n)) - np.uint64(1)
        return value, n
    name = value
    length = np.int64(8)
    while True:
        value = load(data, at + length)
        x = value ^ separator
        zeros = (x - LOW) & ~x & HIGH
        n = np.int64(8)
        if zeros != np.uint64(0):
            n = np.int64(trailing_zeros(zeros) >> np.uint64(3))
        n = min(n, rest - length)
        if n == 0:
            break
        if n < 8:
            value &= (np.uint64(1) << np.uint64(8 * n)) - np.uint64(1)
        name = (name ^ (name >> np.uint64(29))) * LONG + value
        length += n
        if n < 8:
            break
    return name, length


@kernel
def symbol_at(
    words: Any, shift: Any, word_data: Any, word_offsets: Any, name: Any, length: Any, data: Any, at: Any
) -> Any:
    """Return the symbol of a named word that begins at ``at``, 0 (``OTHER``) if it is no literal."""
    mask = np.uint64((words.size >> 1) - 1)
    slot = (name * GOLDEN) >> np.uint64(shift)
    while True:
        entry = words[np.uint64(2) * slot + np.uint64(1)]
        if entry == np.uint64(0):
            return np.uint64(0)
        if words[np.uint64(2) * slot] == name and np.int64(entry >> np.uint64(32)) == length + 1:
            symbol = entry & np.uint64(0xFFFFFFFF)
            if length <= 8 or same_bytes(word_data, word_offsets[symbol - np.uint64(1)], data, at, length):
                return symbol
        slot = (slot + np.uint64(1)) & mask


@kernel
def same_bytes(left: Any, left_at: Any, right: Any, right_at: Any, length: Any) -> Any:
    """Compare two runs of bytes."""
    for i in range(length):
        if left[left_at + i] != right[right_at + i]:
            return False
    return True


@kernel
def fill_words(words: Any, shift: Any, word_data: Any, word_offsets: Any) -> Any:
    """Enter all literal words, whose symbols count from 1, into the empty hash table ``words``."""
    mask = np.uint64((words.size >> 1) - 1)
    for i in range(word_offsets.size - 1):
        start, stop = np.int64(word_offsets[i]), np.int64(word_offsets[i + 1])
        name, length = name_of(word_data, start, stop)
        slot = (name * GOLDEN) >> np.uint64(shift)
        while words[np.uint64(2) * slot + np.uint64(1)] != np.uint64(0):
            slot = (slot + np.uint64(1)) & mask
        words[np.uint64(2) * slot] = name
        words[np.uint64(2) * slot + np.uint64(1)] = np.uint64(length + 1) << np.uint64(32) | np.uint64(i + 1)


@kernel
def name_of(data: Any, start: Any, stop: Any) -> Any:
    """Name a word whose end is known: the same name that :func:`scan_word` finds."""
    length = stop - start
    name = np.uint64(0)
    at = start
    while True:
        n = min(np.int64(8), stop - at)
        value = load(data, at)
        if n < 8:
            value &= (np.uint64(1) << np.uint64(8 * n)) - np.uint64(1)
        name = value if at == start else (name ^ (name >> np.uint64(29))) * LONG + value
        at += n
        if at >= stop:
            return name, length
