"""From the bytes of a word to its symbol.

Each word gets a *name*, which is one number of 64 bits, and the hash table ``Program.words`` maps names to symbols.

* A word of up to 7 bytes is its own name: its bytes as a little-endian number, and its length in the top byte. The length
  tells ``a`` from ``a`` followed by a zero byte.
* A word of 8 bytes is its own name as well, if its last byte, which is the top byte, is above 8 and so cannot be taken for
  a length.
* Any other word is named by a hash, with the length 8 in the top byte. Such names may be equal by accident, so the bytes are
  compared where a name is found. Names of the first two kinds are never compared.

Whoever writes the bindings could choose words that meet in one slot, and each look-up would go through all of them. So both the
slot and the hash depend on a multiplier, and :func:`fill_words` refuses one with which an entry is far from its home slot
(:func:`compiler.machine.words.word_table` then takes another).

Loads may reach up to PADDING bytes beyond a key's end. The caller of a kernel provides these bytes (``Keys.data``).
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import equal64, folded_product, inlined, kernel, load64, trailing_zeros
from compiler.kernels.tables import Bytes, Int32s, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import EIGHT, LENGTH_SHIFT, ONE, SEVEN, TWO, WINDOW, ZERO

__all__ = ["FARTHEST", "begins_with", "below", "enter_pair", "fill_words", "find_symbol", "name_word", "word_end"]

FARTHEST = 255
"""An entry may lie so many slots behind its home slot. In tables that are at most half full and not crafted, the farthest of a
million words lies about 60 slots behind."""


@inlined
def below(n: Unsigned) -> Unsigned:
    """Return the mask of the n lowest bits, for n from 0 to 63."""
    return (ONE << np.uint64(n)) - ONE


@kernel
def word_end(data: Bytes, at: Unsigned, stop: Unsigned, separator: np.uint8) -> Unsigned:
    """Return where the word that begins at ``at`` ends, in a key that ends at ``stop``."""
    while stop - at >= WINDOW:
        found = equal64(data, at, separator)
        if found != ZERO:
            return at + trailing_zeros(found)
        at += WINDOW
    return at + trailing_zeros(equal64(data, at, separator) | ONE << (stop - at))


@inlined
def name_word(data: Bytes, at: Unsigned, length: Unsigned, multiplier: Unsigned) -> Unsigned:
    """Return the name of the word of ``length`` bytes that begins at ``at``."""
    # Words of 8 bytes come among shorter ones, where the processor cannot predict a branch: up to 8 bytes are named
    # without one. Words that are named by hash are rare, so the branch to them is predicted.
    name = load64(data, at) & (TWO << (EIGHT * length - ONE & np.uint64(63))) - ONE
    name = (name if length != ZERO else ZERO) | (length & SEVEN) << LENGTH_SHIFT
    if length > EIGHT or (length == EIGHT and name >> LENGTH_SHIFT <= EIGHT):
        name = _hash_word(data, at, length, multiplier) & below(LENGTH_SHIFT) | EIGHT << LENGTH_SHIFT
    return name


@kernel
def _hash_word(data: Bytes, at: Unsigned, length: Unsigned, multiplier: Unsigned) -> Unsigned:
    """Hash a word of at least 8 bytes, 8 bytes at a time.

    Each step multiplies by a number that is unknown to whoever chose the word, and both halves of the product go on: with the
    lower half alone, two words that differ in certain bits would be equal whatever the number is.
    """
    name, i = length, ZERO
    while i < length:
        value = load64(data, at + i)
        if length - i < EIGHT:
            value &= below(EIGHT * (length - i))
        name = folded_product(name ^ value, multiplier)
        i += EIGHT
    return name


@inlined
def begins_with(data: Bytes, at: Unsigned, end: Unsigned, byte: Signed) -> bool:
    """Tell whether the key ``data[at:end]`` begins with a byte; no key begins with -1."""
    return bool(np.int64(data[at]) == byte and at < end)


@inlined
def find_symbol(
    words: Uint64s,
    shift: Unsigned,
    multiplier: Unsigned,
    word_data: Bytes,
    word_offsets: Int32s,
    name: Unsigned,
    data: Bytes,
    at: Unsigned,
    length: Unsigned,
) -> Unsigned:
    """Return the symbol of a word, which has a name and is ``data[at:at + length]``; 0 (``OTHER``) if it is no literal."""
    mask = np.uint64((words.size >> 1) - 1)
    slot = name * multiplier >> shift
    while True:
        symbol = words[TWO * slot + ONE]
        # An empty slot has name 0, which is the empty word's too, and symbol 0, which is right if the word is no literal.
        if words[TWO * slot] == name and (
            name >> LENGTH_SHIFT != EIGHT or _is_word(word_data, word_offsets, symbol, data, at, length)
        ):
            return symbol
        if symbol == ZERO:
            return symbol
        slot = (slot + ONE) & mask


@kernel
def _is_word(
    word_data: Bytes, word_offsets: Int32s, symbol: Unsigned, data: Bytes, at: Unsigned, length: Unsigned
) -> bool:
    """Tell whether a symbol's word is ``data[at:at + length]``.

    Eight bytes are compared at a time: one by one, a warm key of five words of 3 to 12 bytes took 1.3 times as long.
    """
    begin = np.uint64(word_offsets[symbol - ONE])
    if np.uint64(word_offsets[symbol]) - begin != length:
        return False
    i = ZERO
    while i < length:
        differs = load64(word_data, begin + i) ^ load64(data, at + i)
        if length - i < EIGHT:
            differs &= below(EIGHT * (length - i))
        if differs != ZERO:
            return False
        i += EIGHT
    return True


@kernel
def fill_words(words: Uint64s, shift: Signed, multiplier: Unsigned, word_data: Bytes, word_offsets: Int32s) -> bool:
    """Enter all literal words, whose symbols count from 1, into the empty table ``words``.

    Returns False if an entry would lie more than FARTHEST slots behind its home slot; the table is of no use then.
    """
    for i in range(word_offsets.size - 1):
        start, stop = np.int64(word_offsets[i]), np.int64(word_offsets[i + 1])
        name = name_word(word_data, np.uint64(start), np.uint64(stop - start), multiplier)
        if not enter_pair(words, (name * multiplier) >> np.uint64(shift), name, np.uint64(i + 1)):
            return False
    return True


@inlined
def enter_pair(table: Uint64s, home: Unsigned, name: Unsigned, value: Unsigned) -> bool:
    """Enter a name and a value, which is not 0, into a table of pairs; False if that is more than FARTHEST slots behind home."""
    mask = np.uint64((table.size >> 1) - 1)
    slot = home
    passed = 0
    while table[TWO * slot + ONE] != ZERO:
        slot = (slot + ONE) & mask
        passed += 1
        if passed > FARTHEST:
            return False
    table[TWO * slot] = name
    table[TWO * slot + ONE] = value
    return True
