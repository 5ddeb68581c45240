"""A column of keys through the lazy DFA as it is, key by key: for tables that lie near the processor.

The general walk takes a block of keys level by level, so that the misses of one level overlap; between the levels it puts
down and picks up what it knows of each key. Where all tables lie in the caches of one core there is little to overlap,
and a key that stays in registers is read in fewer instructions: the processor looks ahead into the next keys by itself.
Nothing is built here. At the first transition that is missing the kernel stops, and the general walk goes on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import equal64, inlined, kernel, trailing_zeros
from compiler.kernels.transitions import find, mix
from compiler.kernels.words import begins_with, below, filter_bit, find_symbol, name_word
from compiler.tables import FINAL, START, START_RESERVED, TARGET, WORDS

__all__ = ["MISSING", "follow", "follow_key"]

MISSING = np.uint64(0)
ONE, TWO = np.uint64(1), np.uint64(2)
LOW_HALF, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
NUMBER, STOP = np.uint64(TARGET), np.uint64(FINAL)


@inlined
def follow_key(
    data: Any,
    at: Any,
    end: Any,
    state: Any,
    separator: Any,
    words: Any,
    word_data: Any,
    word_offsets: Any,
    word_shift: Any,
    info: Any,
    transitions: Any,
    shift: Any,
    symbol_bits: Any,
    key_shift: Any,
) -> Any:
    """Return the state that a key leads to, or MISSING, and how many words were read."""
    read = np.uint64(0)
    mask = np.uint64(0)
    more = at < end  # an empty key has no words
    while more and state & STOP == np.uint64(0):
        if mask == np.uint64(0):
            mask = equal64(data, at, separator)
            left = end - at
            if left < np.uint64(64):
                mask = mask & below(left) | ONE << left
        length = np.uint64(64)
        if mask != np.uint64(0):
            length = trailing_zeros(mask)
            mask = mask >> length >> ONE
        else:
            while length < end - at and data[at + length] != separator:
                length += ONE
        name = name_word(data, at, length)
        number = state & NUMBER
        target = info[TWO * number] & LOW_HALF
        if info[TWO * number + ONE] >> filter_bit(name) & ONE != np.uint64(0) and target != np.uint64(0):
            symbol = find_symbol(words, word_shift, word_data, word_offsets, name, data, at, length)
            if symbol != np.uint64(0):
                target = find(transitions, mix(number, symbol, symbol_bits, key_shift), shift)
        if target == np.uint64(0):
            return MISSING, read
        state = target
        read += ONE
        at += length + ONE
        more = at <= end  # a separator at the very end is followed by one more word, the empty one
    return state & NUMBER, read


@kernel
def follow(
    program: Any, cache: Any, offsets: Any, data: Any, valid: Any, row: Any, stop: Any, base: Any, out: Any
) -> Any:
    """Match keys from ``row`` on, as ``walk`` does, up to ``stop`` or the first that is MISSING a transition; return its row."""
    meta = cache.meta
    start, start_reserved, reserved = np.uint64(meta[START]), np.uint64(meta[START_RESERVED]), program.reserved
    separator, words, word_data, word_offsets = (
        program.separator,
        program.words,
        program.word_data,
        program.word_offsets,
    )
    word_shift = np.uint64(program.word_shift)
    info, transitions, shift = cache.info, cache.transitions, np.uint64(cache.transition_shift)
    symbol_bits, key_shift = np.uint64(cache.symbol_bits), np.uint64(cache.key_shift)
    total = np.uint64(0)
    first, last = np.uint64(row), np.uint64(stop)
    begin = np.uint64(offsets[first])
    while first < last:
        end = np.uint64(offsets[first + ONE])
        if valid.size > 0 and not valid[first]:
            out[first] = -1
        else:
            at_start = start_reserved if begins_with(data, begin, end, reserved) else start
            state, read = follow_key(
                data, begin, end, at_start, separator, words, word_data, word_offsets, word_shift, info, transitions,
                shift, symbol_bits, key_shift,
            )  # fmt: skip
            if state == MISSING:
                break
            total += read
            out[first] = base + np.int64(info[TWO * state] >> HALF) - 1
        begin = end
        first += ONE
    meta[WORDS] += np.int64(total)
    return np.int64(first)
