"""A block of keys, word by word: how keys enter, where their next words end, which symbols these are. How keys leave it says
:mod:`compiler.kernels.leaving`.

What is known of the keys is in the arrays of a :class:`compiler.kernels.work.Work`. Keys 0 to n - 1 are in the block; vectors
take eight at a time and so also touch up to seven entries behind them.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import equal64, inlined, load64, ones, prefetch, trailing_zeros
from compiler.kernels._word_vectors import look_eight, read_eight
from compiler.kernels.tables import (
    START,
    START_RESERVED,
    Bytes,
    Int32s,
    Int64s,
    Keys,
    Program,
    Uint64s,
    Unsigned,
)
from compiler.kernels.unsigned import (
    BLOCK_ROW,
    EIGHT,
    KEYS_AHEAD,
    MOST_WORDS,
    ONE,
    WINDOW,
    ZERO,
)
from compiler.kernels.words import begins_with, below, find_symbol, name_word, word_end
from compiler.kernels.work import Work

__all__ = ["enter_keys", "look_ahead", "look_at", "read_words", "word_at"]

LONG = np.uint64(0xFF)
"""In ``Work.stops``, in place of the first word's end: that word is longer than a window, and the only one that is found."""


@inlined
def enter_keys(
    program: Program,
    meta: Int64s,
    mask: Unsigned,
    work: Work,
    keys: Keys,
    row: Unsigned,
    stop: Unsigned,
    most: Unsigned,
    out: Int32s,
) -> tuple[Unsigned, Unsigned]:
    """Put keys from ``row`` on into an empty block, at most so many; a null key is left out, and its answer is -1.

    Returns how many keys are in the block, and the row of the next one, at most ``stop``. ``meta`` is the cache's, in which the start states
    must be built; ``mask`` has the bits of these that the walk wants.
    """
    start, start_reserved = np.uint64(meta[START]) & mask, np.uint64(meta[START_RESERVED]) & mask
    offsets, data, valid = keys.offsets, keys.data, keys.valid
    rows, begins, ends, states = work.rows, work.begins, work.ends, work.states
    n, at = min(most, stop - row), row
    if valid.size > 0:
        m = ZERO
        # A block is filled up, as it takes as long with fewer keys; and without a branch that nobody can guess.
        while m < n and at < stop:
            rows[m], out[at] = at, -1  # written over if the key is not null
            m += np.uint64(valid[at])
            at += ONE
        n = m
    else:
        for i in range(n):
            rows[i] = row + i
        at += n
    for i in range(n):
        begin, end = np.uint64(offsets[rows[i]]), np.uint64(offsets[rows[i] + ONE])
        prefetch(data, begin + KEYS_AHEAD)
        begins[i] = begin + np.uint64(begin == end)  # an empty key has no words, any other has one at its beginning
        ends[i] = end
        states[i] = start
    if program.reserved >= 0:
        for i in range(n):
            if begins_with(data, begins[i], ends[i], program.reserved):
                states[i] = start_reserved
    return n, at


@inlined
def look_ahead(data: Bytes, work: Work, n: Unsigned, separator: np.uint8) -> Unsigned:
    """Find the next words of all keys, up to AHEAD of each; return the largest number that was found of one key.

    A key's ``begins`` moves behind the words that are found: above its ``ends`` if they are its last.
    """
    begins, ends, counts = work.begins, work.ends, work.words
    froms, stops, heads = work.froms, work.stops, work.heads
    for i in range(n, n + EIGHT):  # what is behind the last key is taken for keys that have no words left
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
def look_at(
    data: Bytes,
    begins: Uint64s,
    ends: Uint64s,
    separator: np.uint8,
    froms: Uint64s,
    stops: Uint64s,
    heads: Uint64s,
    key: Unsigned,
) -> Unsigned:
    """Find the next words of one key that has a word left; return how many, at most AHEAD.

    Only words that end within the next 64 bytes are found. If the first one does not, it is found alone, with LONG as its
    end: it ends one byte before the new ``begins``. :class:`compiler.kernels.work.Work` says what the arrays get; these
    are its fields, as in :func:`compiler.kernels._word_vectors.look_eight`.
    """
    at, end = begins[key], ends[key]
    froms[key] = at
    mask = equal64(data, at, separator)
    left = end - at
    # The key's end counts as a separator: a separator at the very end is followed by one more word, the empty one.
    mask = mask & below(left) | ONE << left if left < WINDOW else mask
    if mask == ZERO:
        stops[key] = LONG
        begins[key] = word_end(data, at + WINDOW, end, separator) + ONE
        return ONE
    count = packed = begin = ZERO
    while mask != ZERO and count < MOST_WORDS:
        stop = trailing_zeros(mask)
        packed |= stop << EIGHT * count
        heads[BLOCK_ROW * count + key] = load64(data, at + begin)
        begin = stop + ONE
        mask &= mask - ONE
        count += ONE
    stops[key], begins[key] = packed, at + begin
    return count


@inlined
def word_at(work: Work, level: Unsigned, key: Unsigned) -> tuple[Unsigned, Unsigned]:
    """Return where word ``level``, counted from 0, of the words that are found of a key begins and ends."""
    packed = work.stops[key]
    begin = work.froms[key]
    stop = begin + (packed >> EIGHT * level & LONG)
    if packed & LONG == LONG:
        stop = work.begins[key] - ONE
    if level != ZERO:
        begin += (packed >> EIGHT * (level - ONE) & LONG) + ONE
    return begin, stop


@inlined
def read_words(program: Program, data: Bytes, work: Work, n: Unsigned, level: Unsigned) -> None:
    """Write the symbols of word ``level`` of keys 0 to n - 1 into ``work.symbols``: 0 if it is no literal."""
    words, shift, multiplier = program.words, np.uint64(program.word_shift), np.uint64(program.word_multiplier)
    word_data, word_offsets = program.word_data, program.word_offsets
    froms, heads, stops, counts = work.froms, work.heads, work.stops, work.words
    symbols, late = work.symbols, work.late
    i = lates = ZERO
    while i < n:
        lates += ones(
            read_eight(data, froms, heads, stops, counts, level, i, words, shift, multiplier, symbols, late, lates)
        )
        i += EIGHT
    # Words that are named by hash, or are not in their home slots.
    for j in range(lates):
        key = late[j]
        begin, end = word_at(work, level, key)
        name = name_word(data, begin, end - begin, multiplier)
        symbols[key] = find_symbol(words, shift, multiplier, word_data, word_offsets, name, data, begin, end - begin)
