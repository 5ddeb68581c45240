"""A block of keys read word by word: where the next words end, what they are called, which literals they are.

A block has keys 0 to n, n at most BLOCK; what is known of them lies in arrays with a number for each (see
:class:`compiler.kernels.tables.Work`), which have room for eight more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import equal64, inlined, load64, ones, trailing_zeros
from compiler.kernels._vectors import look_eight, read_eight
from compiler.kernels.tables import AHEAD, BLOCK, FINAL
from compiler.kernels.words import begins_with, below, filter_bit, find_symbol, name_word, word_end

__all__ = ["enter_keys", "is_read", "leave", "look_ahead", "nobody", "read_words", "word_at"]

ZERO, ONE, TWO, EIGHT, HALF, BIT = (np.uint64(i) for i in (0, 1, 2, 8, 32, 58))
LOW_HALF, STOP = np.uint64(0xFFFFFFFF), np.uint64(FINAL)
ROW, MOST = np.uint64(BLOCK), np.uint64(AHEAD)
LONG = np.uint64(0xFF)
"""The byte of a first word that does not end within the 64 bytes that are looked at."""


@inlined
def enter_keys(
    offsets: Any, data: Any, valid: Any, row: Any, n: Any, start: Any, start_reserved: Any, reserved: Any,
    rows: Any, begins: Any, ends: Any, states: Any, out: Any,
) -> Any:  # fmt: skip
    """Begin a block with the keys of ``n`` rows from ``row`` on; write -1 into ``out`` for the nulls, and leave them out.

    Returns how many keys there are.
    """
    for i in range(n):
        begin, end = np.uint64(offsets[row + i]), np.uint64(offsets[row + i + ONE])
        rows[i] = row + i
        begins[i] = begin + np.uint64(begin == end)  # an empty key has no words, any other has one at its beginning
        ends[i] = end
        states[i] = start
    if reserved >= 0:
        for i in range(n):
            if begins_with(data, begins[i], ends[i], reserved):
                states[i] = start_reserved
    if valid.size > 0:
        m = ZERO
        for i in range(n):
            if valid[rows[i]]:
                rows[m], begins[m], ends[m], states[m] = rows[i], begins[i], ends[i], states[i]
                m += ONE
            else:
                out[rows[i]] = -1
        return m
    return n


@inlined
def is_read(info: Any, begin: Any, end: Any, state: Any) -> Any:
    """Tell whether a key has no further word, or is in a state that no word can change."""
    return begin > end or info[TWO * state] & LOW_HALF == state | STOP


@inlined
def leave(info: Any, base: Any, out: Any, n: Any, rows: Any, begins: Any, ends: Any, states: Any, slots: Any) -> Any:
    """Write the answers of the keys that are read into ``out``, and move the others up; return how many these are."""
    # Keys that go on get an answer too, which will be written over: nobody can guess which these are, and asking makes a
    # key of `stock` take 1.2 times as long (``python -m benchmarks.ablations``).
    unread = ZERO
    for i in range(n):
        out[rows[i]] = base + np.int64(info[TWO * states[i]] >> HALF) - 1
        unread += np.uint64(begins[i] <= ends[i])
    if unread == ZERO:
        return ZERO
    m = ZERO
    for i in range(n):
        if not is_read(info, begins[i], ends[i], states[i]):
            rows[m], begins[m], ends[m], states[m], slots[m] = rows[i], begins[i], ends[i], states[i], slots[i]
            m += ONE
    return m


@inlined
def nobody(numbers: Any, n: Any) -> Any:
    """Write zeros behind the keys of a block: steps take eight, and read them there, but do not use them."""
    for i in range(n, n + EIGHT):
        numbers[i] = ZERO


@inlined
def look_ahead(
    data: Any, begins: Any, ends: Any, counts: Any, n: Any, separator: Any, froms: Any, stops: Any, heads: Any
) -> Any:
    """Find the next words of all keys, up to AHEAD of each; return the most that were found of one.

    ``begins`` is where a key's next word begins, and behind ``ends`` if it has none; it moves behind the words that are
    found, and ``counts`` tells how many these are. For the rest see :func:`look_at`.
    """
    for i in range(n, n + EIGHT):
        begins[i], ends[i] = ONE, ZERO
    first = ZERO
    while first < n:
        beyond = look_eight(data, begins, ends, first, separator, counts, froms, stops, heads)
        while beyond != ZERO:
            key = first + trailing_zeros(beyond)
            counts[key] = look_at(data, begins, ends, separator, froms, stops, heads, key)
            beyond &= beyond - ONE
        first += EIGHT
    most = ZERO
    for i in range(n):
        most = max(most, counts[i])
    return most


@inlined
def look_at(data: Any, begins: Any, ends: Any, separator: Any, froms: Any, stops: Any, heads: Any, key: Any) -> Any:
    """Find the next words of a key that has one, up to AHEAD of those that end within 64 bytes; return how many.

    ``froms`` gets where the first begins; ``stops`` how far behind that each ends, a byte for each; and a row of ``heads`` for
    each its first eight bytes. A first word that is longer is found alone, with LONG for that byte: it ends where ``begins``
    is next, less one.
    """
    at, end = begins[key], ends[key]
    froms[key] = at
    mask = equal64(data, at, separator)
    left = end - at
    # A separator at the very end is followed by one more word, the empty one.
    mask = mask & below(left) | ONE << left if left < np.uint64(64) else mask
    if mask == ZERO:
        stops[key] = LONG
        begins[key] = word_end(data, at + np.uint64(64), end, separator) + ONE
        return ONE
    count = packed = begin = ZERO
    while mask != ZERO and count < MOST:
        stop = trailing_zeros(mask)
        packed |= stop << EIGHT * count
        heads[ROW * count + key] = load64(data, at + begin)
        begin = stop + ONE
        mask &= mask - ONE
        count += ONE
    stops[key], begins[key] = packed, at + begin
    return count


@inlined
def word_at(begins: Any, froms: Any, stops: Any, level: Any, key: Any) -> Any:
    """Return where word ``level`` of those of a key that are looked at begins and ends."""
    packed = stops[key]
    begin = froms[key]
    stop = begin + (packed >> EIGHT * level & LONG)
    if packed & LONG == LONG:
        stop = begins[key] - ONE
    if level != ZERO:
        begin += (packed >> EIGHT * (level - ONE) & LONG) + ONE
    return begin, stop


@inlined
def read_words(
    program: Any, data: Any, begins: Any, froms: Any, stops: Any, heads: Any, counts: Any, n: Any, level: Any, symbols: Any,
    late: Any,
) -> Any:  # fmt: skip
    """Read word ``level`` of keys 0 to ``n``: find the ``symbols``, with filter bits; 0 where there is no literal.

    ``late`` is scratch space.
    """
    words, shift, word_data, word_offsets = program.words, program.word_shift, program.word_data, program.word_offsets
    i = lates = ZERO
    while i < n:
        lates += ones(read_eight(heads, stops, counts, level, i, words, np.uint64(shift), symbols, late, lates))
        i += EIGHT
    for j in range(lates):
        key = late[j]
        begin, end = word_at(begins, froms, stops, level, key)
        name = name_word(data, begin, end - begin)
        symbol = find_symbol(words, np.uint64(shift), word_data, word_offsets, name, data, begin, end - begin)
        symbols[key] = symbol | filter_bit(name) << BIT if symbol != ZERO else ZERO
