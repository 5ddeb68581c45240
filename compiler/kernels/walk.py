"""The lazy DFA over a column of keys: a block of keys at a time, word by word, eight keys at once.

All keys of a block are advanced by one word before any is advanced by the next. Two things come of it. The misses of one
step overlap in the memory system, which pays as soon as the tables outgrow the first-level cache. And what a step does is
the same for all keys, so it is done for eight at a time in vectors (:mod:`compiler.kernels._vectors`), and without the
branches that nobody can guess: whether a key ends here, whether its word may be a literal.

Three words in four are no literal of the state that reads them, even where they are literals of other states. A state
therefore carries a filter of 64 bits, one set for each of its literals (Bloom's filter with one hash function): where
the word's bit is not set, the default successor is right, and neither the table of words nor that of transitions is asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import kernel, ones, prefetch, trailing_zeros
from compiler.kernels._vectors import find_eight, name_eight, step_eight, symbols_of_eight
from compiler.kernels.determinize import build, build_start
from compiler.kernels.recall import look_up, remember, slot_of
from compiler.kernels.transitions import find, mix
from compiler.kernels.words import begins_with, find_stops, find_symbol, name_word
from compiler.tables import BLOCK, DONE, FINAL, RECALLS, ROW, START, START_RESERVED, TARGET, WORDS

__all__ = ["walk"]

ONE, TWO, EIGHT, HALF = np.uint64(1), np.uint64(2), np.uint64(8), np.uint64(32)
LANES, LOW_HALF = np.uint64(0xFF), np.uint64(0xFFFFFFFF)
NUMBER, STOP = np.uint64(TARGET), np.uint64(FINAL)
ROW_OF_STOPS = np.uint64(BLOCK)


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
    start, start_reserved, reserved = (
        np.uint64(meta[START] & TARGET),
        np.uint64(meta[START_RESERVED] & TARGET),
        program.reserved,
    )
    words, word_shift = program.words, np.uint64(program.word_shift)
    word_data, word_offsets = program.word_data, program.word_offsets
    info, transitions, shift = cache.info, cache.transitions, np.uint64(cache.transition_shift)
    symbol_bits, key_shift = np.uint64(cache.symbol_bits), np.uint64(cache.key_shift)
    separator = program.separator
    rows, begins, ends, states, counts = work.rows, work.begins, work.ends, work.states, work.words
    slots, names, stops = work.slots, work.names, work.stops
    asking, symbols, late, late_symbols, ask_names, ask_states = (
        work.asking,
        work.symbols,
        work.late,
        work.late_symbols,
        work.ask_names,
        work.ask_states,
    )
    # A slot is eight numbers: the table has as many slots as an eighth of its size, a power of two.
    recall_shift = np.uint64(61) - trailing_zeros(np.uint64(recalled.size)) + np.uint64(6)
    while row < stop:
        meta[ROW] = row
        first = np.uint64(row)
        n = np.uint64(min(block, stop - row))
        read = recalls = np.uint64(0)
        for i in range(n):
            begin, end = np.uint64(offsets[first + i]), np.uint64(offsets[first + i + ONE])
            rows[i] = first + i
            begins[i] = begin + np.uint64(begin == end)  # an empty key has no words, any other has one at its beginning
            ends[i] = end
            states[i] = start
        if reserved >= 0:
            for i in range(n):
                if begins_with(data, begins[i], ends[i], reserved):
                    states[i] = start_reserved
        if valid.size > 0 or recalled.size > 0:
            m = np.uint64(0)
            for i in range(n):
                at = rows[i]
                if valid.size > 0 and not valid[at]:
                    out[at] = -1
                    continue
                if recalled.size > 0:
                    begin = np.uint64(offsets[at])
                    slots[m] = slot_of(data, begin, ends[i] - begin, recall_shift)
                    accept = look_up(recalled, slots[m], data, begin, ends[i] - begin)
                    if accept != np.uint64(0):
                        out[at] = base + np.int64(accept) - 1
                        recalls += ONE
                        continue
                rows[m], begins[m], ends[m], states[m] = at, begins[i], ends[i], states[i]
                m += ONE
            n = m
        while n > np.uint64(0):
            for i in range(n, n + EIGHT):
                states[i] = counts[i] = np.uint64(0)  # nobody, where the keys are no multiple of eight
            most = np.uint64(0)
            for i in range(n):
                counts[i] = np.uint64(0)
                if begins[i] <= ends[i]:
                    counts[i], begins[i] = find_stops(data, begins[i], ends[i], separator, stops, i)
                    most = max(most, counts[i])
            level = np.uint64(0)
            while level < most:
                here, there = ROW_OF_STOPS * level, ROW_OF_STOPS * (level + ONE)
                # Pass 1: the default successor, unless the filter says that the word may be a literal.
                i = asked = np.uint64(0)
                while i < n:
                    hashed = name_eight(data, stops, counts, level, names, i)
                    while hashed != np.uint64(0):
                        key = i + trailing_zeros(hashed)
                        begin = stops[here + key] + ONE
                        names[key] = name_word(data, begin, stops[there + key] - begin)
                        hashed &= hashed - ONE
                    found = step_eight(info, states, counts, level, names, i, asking, ask_names, ask_states, asked)
                    read += ones(found & LANES)
                    asked += ones(found >> EIGHT)
                    for j in range(8):
                        prefetch(info, TWO * states[i + np.uint64(j)])
                    i += EIGHT
                # Pass 2: find the symbols of the words that may be literals.
                i = lates = np.uint64(0)
                while i < asked:
                    lates += ones(symbols_of_eight(words, word_shift, ask_names, i, asked, symbols, late, lates))
                    i += EIGHT
                for j in range(lates):
                    key = asking[late[j]]
                    begin = stops[here + key] + ONE
                    symbols[late[j]] = find_symbol(
                        words, word_shift, word_data, word_offsets, names[key], data, begin, stops[there + key] - begin
                    )
                for j in range(asked):
                    prefetch(transitions, mix(ask_states[j] & LOW_HALF, symbols[j], symbol_bits, key_shift) >> shift)
                # Pass 3: find the successors of their keys, building those that are not in the table.
                i = lates = np.uint64(0)
                while i < asked:
                    lates += ones(
                        find_eight(
                            transitions,
                            shift,
                            symbol_bits,
                            key_shift,
                            ask_states,
                            symbols,
                            asking,
                            i,
                            asked,
                            late,
                            late_symbols,
                            lates,
                        )
                    )
                    i += EIGHT
                for j in range(asked):
                    states[asking[j]] = ask_states[j]
                    prefetch(info, TWO * ask_states[j])
                for j in range(lates):
                    key, symbol = late[j], late_symbols[j]
                    state = states[key]
                    target = info[TWO * state] & LOW_HALF
                    if symbol != np.uint64(0):
                        target = find(transitions, mix(state, symbol, symbol_bits, key_shift), shift)
                    if target == np.uint64(0):
                        built = build(program, cache, work, state, symbol)
                        if built < 0:
                            return -built
                        target = np.uint64(built)
                    states[key] = target & NUMBER
                level += ONE
            # Keys that have been read, or whose state no word can change, leave the block; the others move up.
            m = np.uint64(0)
            for i in range(n):
                state = states[i]
                entry = info[TWO * state]
                if begins[i] > ends[i] or entry & LOW_HALF == state | STOP:
                    accept = entry >> HALF
                    out[rows[i]] = base + np.int64(accept) - 1
                    if recalled.size > 0:
                        begin = np.uint64(offsets[rows[i]])
                        remember(recalled, slots[i], data, begin, ends[i] - begin, accept)
                    continue
                rows[m], begins[m], ends[m], states[m], slots[m] = rows[i], begins[i], ends[i], state, slots[i]
                m += ONE
            n = m
        meta[WORDS] += np.int64(read)
        meta[RECALLS] += np.int64(recalls)
        row = min(row + block, stop)
    meta[ROW] = row
    return DONE
