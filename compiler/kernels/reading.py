"""A block of keys read word by word: where the next words end, what they are called, which literals they are.

A block has keys 0 to n, n at most BLOCK; what is known of them lies in arrays with a number for each (see
:class:`compiler.tables.Work`), which have room for a multiple of eight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, ones, trailing_zeros
from compiler.kernels._vectors import name_eight, symbols_of_eight
from compiler.kernels.words import begins_with, find_stops, find_symbol, name_word
from compiler.tables import BLOCK, FINAL

__all__ = ["enter_keys", "find_symbols", "is_read", "leave", "look_ahead", "name_words", "nobody", "stop_before"]

ZERO, ONE, TWO, EIGHT, HALF = (np.uint64(i) for i in (0, 1, 2, 8, 32))
LOW_HALF, STOP = np.uint64(0xFFFFFFFF), np.uint64(FINAL)
ROW = np.uint64(BLOCK)


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
    m = ZERO
    for i in range(n):
        state = states[i]
        if is_read(info, begins[i], ends[i], state):
            out[rows[i]] = base + np.int64(info[TWO * state] >> HALF) - 1
        else:
            rows[m], begins[m], ends[m], states[m], slots[m] = rows[i], begins[i], ends[i], state, slots[i]
            m += ONE
    return m


@inlined
def nobody(numbers: Any, n: Any) -> Any:
    """Write zeros behind the keys of a block, where they are no multiple of eight: steps read, but do not use these."""
    for i in range(n, n + EIGHT):
        numbers[i] = ZERO


@inlined
def look_ahead(data: Any, begins: Any, ends: Any, counts: Any, n: Any, separator: Any, stops: Any) -> Any:
    """Find where the next words of all keys end, up to AHEAD of each; return the most that a key has.

    ``begins`` is where a key's next word begins, and behind ``ends`` if it has none; it moves behind the words that are
    found, and ``counts`` tells how many these are.
    """
    most = ZERO
    for i in range(n):
        counts[i] = ZERO
        if begins[i] <= ends[i]:
            counts[i], begins[i] = find_stops(data, begins[i], ends[i], separator, stops, i)
            most = max(most, counts[i])
    nobody(counts, n)
    return most


@inlined
def stop_before(stops: Any, level: Any, key: Any) -> Any:
    """Return where the word before word ``level`` of a key ends."""
    return stops[ROW * level + key]


@inlined
def name_words(data: Any, stops: Any, counts: Any, n: Any, level: Any, names: Any) -> Any:
    """Name word ``level`` of all keys that have one."""
    i = ZERO
    while i < n:
        hashed = name_eight(data, stops, counts, level, names, i)
        while hashed != ZERO:
            key = i + trailing_zeros(hashed)
            begin = stop_before(stops, level, key) + ONE
            names[key] = name_word(data, begin, stop_before(stops, level + ONE, key) - begin)
            hashed &= hashed - ONE
        i += EIGHT


@inlined
def find_symbols(
    program: Any, data: Any, stops: Any, level: Any, names: Any, keys: Any, n: Any, symbols: Any, late: Any
) -> Any:
    """Look up ``names[:n]``, those of word ``level`` of ``keys[:n]``; write ``symbols``, 0 for a word that is no literal.

    ``late`` is scratch space.
    """
    words, shift, word_data, word_offsets = program.words, program.word_shift, program.word_data, program.word_offsets
    i = lates = ZERO
    while i < n:
        lates += ones(symbols_of_eight(words, np.uint64(shift), names, i, n, symbols, late, lates))
        i += EIGHT
    for j in range(lates):
        at = late[j]
        begin = stop_before(stops, level, keys[at]) + ONE
        length = stop_before(stops, level + ONE, keys[at]) - begin
        symbols[at] = find_symbol(words, np.uint64(shift), word_data, word_offsets, names[at], data, begin, length)
