"""From the bytes of a key to the symbols of its words.

Separators are found 64 bytes at a time, as a mask with a bit per byte. A word of up to 8 bytes is its own name: the
bytes as one little-endian number, and the length, which tells ``a`` from ``a`` with a zero byte behind it. A longer
word is named by a hash, and compared byte by byte where the names agree.

All loads may reach up to PADDING bytes beyond a key's end: whoever calls a kernel sees to it that they are there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import equal64, inlined, kernel, load64, trailing_zeros
from compiler.tables import SCRAMBLE

__all__ = ["begins_with", "below", "fill_words", "find_symbol", "name_word", "symbol_of", "word_end"]

GOLDEN = np.uint64(SCRAMBLE)
LONG = np.uint64(0xD6E8FEB86659FD93)
ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def below(n: Any) -> Any:
    """A mask of the n lowest bits, for n from 0 to 63."""
    return (np.uint64(1) << np.uint64(n)) - np.uint64(1)


@kernel
def word_end(data: Any, at: Any, stop: Any, separator: Any) -> Any:
    """Return where the word that begins at ``at`` ends, in a key that ends at ``stop``."""
    while stop - at >= np.uint64(64):
        found = equal64(data, at, separator)
        if found != np.uint64(0):
            return at + trailing_zeros(found)
        at += np.uint64(64)
    return at + trailing_zeros(equal64(data, at, separator) | np.uint64(1) << (stop - at))


@inlined
def name_word(data: Any, at: Any, length: Any) -> Any:
    """Name a word: its bytes if they are at most 8, else a hash of them. ``at`` and ``length`` are unsigned."""
    if length < np.uint64(8):
        return load64(data, at) & below(np.uint64(8) * length)
    if length == np.uint64(8):
        return load64(data, at)
    return hash_word(data, at, length)


@kernel
def hash_word(data: Any, at: Any, length: Any) -> Any:
    """Hash a word of over 8 bytes."""
    name = load64(data, at)
    i = np.uint64(8)
    while i < length:
        value = load64(data, at + i)
        if length - i < np.uint64(8):
            value &= below(np.uint64(8) * (length - i))
        name = (name ^ (name >> np.uint64(29))) * LONG + value
        i += np.uint64(8)
    return name


@inlined
def begins_with(data: Any, at: Any, end: Any, byte: Any) -> Any:
    """Tell whether the key ``data[at:end]`` begins with a byte; -1 is none."""
    return np.int64(data[at]) == byte and at < end


@inlined
def symbol_of(program: Any, name: Any, length: Any, data: Any, at: Any) -> Any:
    """Return the symbol of a named word that begins at ``at``, 0 (``OTHER``) if it is no literal."""
    shift = np.uint64(program.word_shift)
    return find_symbol(program.words, shift, program.word_data, program.word_offsets, name, length, data, at)


@inlined
def find_symbol(
    words: Any, shift: Any, word_data: Any, word_offsets: Any, name: Any, length: Any, data: Any, at: Any
) -> Any:
    """Do the work of :func:`symbol_of` with arrays that were taken out of the program before."""
    mask = np.uint64((words.size >> 1) - 1)
    slot = name * GOLDEN >> shift
    while True:
        entry = words[np.uint64(2) * slot + np.uint64(1)]
        if entry == np.uint64(0):
            return np.uint64(0)
        if words[np.uint64(2) * slot] == name and entry >> np.uint64(32) == length + np.uint64(1):
            symbol = entry & np.uint64(0xFFFFFFFF)
            begin = np.uint64(word_offsets[symbol - np.uint64(1)])
            if length <= np.uint64(8) or same_bytes(word_data, begin, data, at, length):
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
        name = name_word(word_data, np.uint64(start), np.uint64(stop - start))
        slot = (name * GOLDEN) >> np.uint64(shift)
        while words[np.uint64(2) * slot + np.uint64(1)] != np.uint64(0):
            slot = (slot + np.uint64(1)) & mask
        words[np.uint64(2) * slot] = name
        words[np.uint64(2) * slot + np.uint64(1)] = np.uint64(stop - start + 1) << np.uint64(32) | np.uint64(i + 1)
