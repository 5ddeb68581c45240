"""From the bytes of a key to the symbols of its words.

Separators are found 64 bytes at a time, as a mask with a bit per byte. A word's name is one number of 64 bits. A word of
up to 7 bytes is its own name: the bytes as a little-endian number, and the length in the top byte, which tells ``a`` from
``a`` with a zero byte behind it. So is one of 8 bytes, if its last byte cannot be taken for a length. Any other is named by a
hash, with the length 8 in the top byte, and compared byte by byte where the names agree.

All loads may reach up to PADDING bytes beyond a key's end: whoever calls a kernel sees to it that they are there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import equal64, inlined, kernel, load64, trailing_zeros
from compiler.kernels.tables import SCRAMBLE

__all__ = [
    "begins_with",
    "below",
    "fill_words",
    "filter_bit",
    "find_symbol",
    "name_word",
    "word_end",
]

GOLDEN = np.uint64(SCRAMBLE)
MIXER = np.uint64(0xD6E8FEB86659FD93)
ONE, TWO, EIGHT, TOP = np.uint64(1), np.uint64(2), np.uint64(8), np.uint64(56)


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
    """Name a word. ``at`` and ``length`` are unsigned."""
    # Nobody can guess whether a word has 8 bytes, so that is decided without a branch; other words by hash are rare.
    name = load64(data, at) & (TWO << (EIGHT * length - ONE & np.uint64(63))) - ONE
    name = (name if length != np.uint64(0) else np.uint64(0)) | (length & np.uint64(7)) << TOP
    if length > EIGHT or (length == EIGHT and name >> TOP <= EIGHT):
        name = hash_word(data, at, length) & below(TOP) | EIGHT << TOP
    return name


@kernel
def hash_word(data: Any, at: Any, length: Any) -> Any:
    """Hash a word of at least 8 bytes."""
    name = load64(data, at)
    i = np.uint64(8)
    while i < length:
        value = load64(data, at + i)
        if length - i < np.uint64(8):
            value &= below(np.uint64(8) * (length - i))
        name = (name ^ (name >> np.uint64(29))) * MIXER + value
        i += np.uint64(8)
    return name


@inlined
def begins_with(data: Any, at: Any, end: Any, byte: Any) -> Any:
    """Tell whether the key ``data[at:end]`` begins with a byte; -1 is none."""
    return np.int64(data[at]) == byte and at < end


@inlined
def find_symbol(
    words: Any, shift: Any, word_data: Any, word_offsets: Any, name: Any, data: Any, at: Any, length: Any
) -> Any:
    """Return the symbol of a named word that begins at ``at``, 0 (``OTHER``) if it is no literal."""
    mask = np.uint64((words.size >> 1) - 1)
    slot = name * GOLDEN >> shift
    while True:
        symbol = words[np.uint64(2) * slot + np.uint64(1)]
        # The name of an empty slot, 0, is that of the empty word, and its symbol, 0, says that this is no literal.
        if words[np.uint64(2) * slot] == name and (
            name >> TOP != EIGHT or _is_word(word_data, word_offsets, symbol, data, at, length)
        ):
            return symbol
        if symbol == np.uint64(0):
            return symbol
        slot = (slot + np.uint64(1)) & mask


@kernel
def _is_word(word_data: Any, word_offsets: Any, symbol: Any, data: Any, at: Any, length: Any) -> Any:
    """Compare a word with a symbol's, byte by byte."""
    begin = np.uint64(word_offsets[symbol - np.uint64(1)])
    if np.uint64(word_offsets[symbol]) - begin != length:
        return False
    for i in range(length):
        if word_data[begin + i] != data[at + i]:
            return False
    return True


@inlined
def filter_bit(name: Any) -> Any:
    """Return which of the 64 bits of a filter stands for a word."""
    return name * GOLDEN >> np.uint64(58)


@kernel
def fill_words(words: Any, shift: Any, word_data: Any, word_offsets: Any, bits: Any) -> Any:
    """Enter all literal words, whose symbols count from 1, into the empty hash table ``words``, and note their ``bits``."""
    mask = np.uint64((words.size >> 1) - 1)
    for i in range(word_offsets.size - 1):
        start, stop = np.int64(word_offsets[i]), np.int64(word_offsets[i + 1])
        name = name_word(word_data, np.uint64(start), np.uint64(stop - start))
        slot = (name * GOLDEN) >> np.uint64(shift)
        while words[np.uint64(2) * slot + np.uint64(1)] != np.uint64(0):
            slot = (slot + np.uint64(1)) & mask
        words[np.uint64(2) * slot] = name
        bits[i + 1] = filter_bit(name)
        words[np.uint64(2) * slot + np.uint64(1)] = np.uint64(i + 1)
