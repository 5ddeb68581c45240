"""The lazy DFA over a column of keys: a block of keys at a time, word by word.

All keys of a block are advanced by one word before any is advanced by the next, in three passes: name the words, look
the words up, look the transitions up. The misses of one pass then overlap in the memory system, which pays as soon as
the tables outgrow the first-level cache.

Three words in four are no literal of the state that reads them, even where they are literals of other states. A state
therefore carries a filter of 64 bits, one set for each of its literals (Bloom's filter with one hash function): where
the word's bit is not set, the default successor is right, and the transition table is not asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import equal64, kernel, load64, prefetch, trailing_zeros
from compiler.kernels.determinize import build, build_start
from compiler.kernels.recall import look_up, remember, slot_of
from compiler.kernels.transitions import find, mix
from compiler.kernels.words import GOLDEN, ONES, begins_with, below, find_symbol, hash_word, word_end
from compiler.tables import (
    DONE,
    FINAL,
    LINE,
    RECALLS,
    ROW,
    START,
    START_RESERVED,
    TARGET,
    WORDS,
)

__all__ = ["walk"]

# What is known of a key of the block.
BEGIN, END, MASK, NAME, LENGTH, STATE, MIXED, SLOT = (np.uint64(i) for i in range(8))
"""Where its next word begins; where it ends; the separators and the end from there on, a bit per byte; its next word's
name, later symbol; that word's length; its state; the mixed key of its transition; its slot in the table of
whole keys."""

ONE = np.uint64(1)
TWO = np.uint64(2)
LOW_HALF = np.uint64(0xFFFFFFFF)
NUMBER = np.uint64(TARGET)
STOP = np.uint64(FINAL)


@kernel
def walk(
    program: Any,
    cache: Any,
    work: Any,
    offsets: Any,
    data: Any,
    valid: Any,
    row: Any,
    stop: Any,
    block: Any,
    base: Any,
    out: Any,
    recalled: Any,
) -> Any:
    """Match keys ``row`` to ``stop`` and write ``base`` + set number - 1 into ``out``, -1 for a null key.

    ``recalled`` is the table of whole keys, of no slots where it is not to be used.

    Returns DONE, or the table of the cache that must grow first; ``meta[ROW]`` is then the row to resume at. ``valid``
    is empty where no key is null. ``block`` is at most BLOCK.
    """
    meta = cache.meta
    if meta[START] == 0:
        meta[ROW] = row
        status = build_start(program, cache, work)
        if status != DONE:
            return status
    # Every array is taken out of its tuple here, once: inside a loop, numba would count a reference each time. Indices
    # are unsigned: a signed one may count from the end, and finding out takes three instructions.
    start, start_reserved, reserved = np.uint64(meta[START]), np.uint64(meta[START_RESERVED]), program.reserved
    words, word_shift = program.words, np.uint64(program.word_shift)
    word_data, word_offsets = program.word_data, program.word_offsets
    info, transitions, shift = cache.info, cache.transitions, np.uint64(cache.transition_shift)
    symbol_bits, key_shift = np.uint64(cache.symbol_bits), np.uint64(cache.key_shift)
    separator = program.separator
    keys, active, asking, unknown = work.keys, work.active, work.asking, work.unknown
    # A slot is eight numbers: the table has as many slots as an eighth of its size, a power of two.
    recall_shift = np.uint64(61) - trailing_zeros(np.uint64(recalled.size)) + np.uint64(6)
    while row < stop:
        meta[ROW] = row
        count = np.uint64(min(block, stop - row))
        first_row = np.uint64(row)
        n = news = np.uint64(0)
        begin = np.uint64(offsets[first_row])
        for i in range(count):
            k = np.uint64(LINE) * i
            end = np.uint64(offsets[first_row + i + ONE])
            if recalled.size > 0:
                slot = slot_of(data, begin, end - begin, recall_shift)
                accept = look_up(recalled, slot, data, begin, end - begin)
                if accept != np.uint64(0):
                    out[first_row + i] = base + np.int64(accept) - 1
                    begin = end
                    continue
                keys[k + SLOT] = slot
                unknown[news] = k
                news += ONE
            keys[k + LENGTH] = np.uint64(0) - ONE  # the first word begins one byte behind a separator that is not there
            keys[k + BEGIN] = begin
            keys[k + END] = end
            keys[k + STATE] = start_reserved if begins_with(data, begin, end, reserved) else start
            keys[k + MASK] = np.uint64(0)
            active[n] = k
            n += np.uint64(begin < end)
            begin = end
        if valid.size > 0:
            n = _without_nulls(valid, row, active, n)
        while True:
            # Pass 1: name the next word of each key that has one and whose state it could change.
            m = np.uint64(0)
            for j in range(n):
                k = active[j]
                state = keys[k + STATE]
                length = keys[k + LENGTH]
                begin = keys[k + BEGIN] + length + ONE
                end = keys[k + END]
                keys[k + STATE] = state & NUMBER
                # A separator at the very end is followed by one more word, the empty one.
                if begin > end or state & STOP != np.uint64(0):
                    continue
                mask = keys[k + MASK] >> (length & np.uint64(63)) >> ONE
                if mask == np.uint64(0):
                    mask = equal64(data, begin, separator)
                    if end - begin < np.uint64(64):
                        mask = mask & below(end - begin) | ONE << (end - begin)
                length = trailing_zeros(mask) if mask != np.uint64(0) else word_end(data, begin, end, separator) - begin
                if length <= np.uint64(8):
                    name = load64(data, begin) & ONES >> (np.uint64(64) - np.uint64(8) * max(length, ONE))
                    name = name if length != np.uint64(0) else np.uint64(0)
                else:
                    name = hash_word(data, begin, length)
                prefetch(words, TWO * (name * GOLDEN >> word_shift))
                keys[k + BEGIN] = begin
                keys[k + MASK] = mask
                keys[k + NAME] = name
                keys[k + LENGTH] = length
                active[m] = k
                m += ONE
            n = m
            if n == np.uint64(0):
                break
            meta[WORDS] += n
            # Pass 2: find each word's symbol, and the state where its default successor is right.
            asked = np.uint64(0)
            for j in range(n):
                k = active[j]
                name, length = keys[k + NAME], keys[k + LENGTH]
                symbol = find_symbol(words, word_shift, word_data, word_offsets, name, length, data, keys[k + BEGIN])
                state = keys[k + STATE]
                default = info[TWO * state] & LOW_HALF
                literal = info[TWO * state + ONE] >> (symbol & np.uint64(63)) & ONE
                if default != np.uint64(0) and (literal == np.uint64(0) or symbol == np.uint64(0)):
                    prefetch(info, TWO * (default & NUMBER))
                    keys[k + STATE] = default
                else:
                    mixed = mix(state, symbol, symbol_bits, key_shift)
                    prefetch(transitions, mixed >> shift)
                    keys[k + MIXED] = mixed
                    keys[k + NAME] = symbol
                    asking[asked] = k
                    asked += ONE
            # Pass 3: find the successors of the others, building those that are not in the table.
            for j in range(asked):
                k = asking[j]
                target = find(transitions, keys[k + MIXED], shift)
                if target == np.uint64(0):
                    built = build(program, cache, work, keys[k + STATE], keys[k + NAME])
                    if built < 0:
                        return -built
                    target = np.uint64(built)
                prefetch(info, TWO * (target & NUMBER))
                keys[k + STATE] = target
        if recalled.size > 0:
            meta[RECALLS] += np.int64(count - news)
            for j in range(news):
                k = unknown[j]
                at = first_row + k // np.uint64(LINE)
                accept = info[TWO * (keys[k + STATE] & NUMBER)] >> np.uint64(32)
                out[at] = base + np.int64(accept) - 1
                begin = np.uint64(offsets[at])
                if valid.size == 0 or valid[at]:
                    remember(recalled, keys[k + SLOT], data, begin, keys[k + END] - begin, accept)
        else:
            for i in range(count):
                state = keys[np.uint64(LINE) * i + STATE] & NUMBER
                out[first_row + i] = base + np.int64(info[TWO * state] >> np.uint64(32)) - 1
        if valid.size > 0:
            for i in range(count):
                if not valid[first_row + i]:
                    out[first_row + i] = -1
        row += np.int64(count)
    meta[ROW] = row
    return DONE


@kernel
def _without_nulls(valid: Any, row: Any, active: Any, n: Any) -> Any:
    """Take the keys that are null out of the active ones."""
    m = np.uint64(0)
    for j in range(n):
        active[m] = active[j]
        m += np.uint64(valid[np.uint64(row) + active[j] // np.uint64(LINE)])
    return m
