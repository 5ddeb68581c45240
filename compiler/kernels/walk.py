"""The lazy DFA over a column of keys: a block of keys at a time, word by word, eight keys at once.

All keys of a block are advanced by one word before any is advanced by the next. Two things come of it. The misses of one
step overlap in the memory system, which pays as soon as the tables outgrow the first-level cache. And what a step does is
the same for all keys, so it is done for eight at a time in vectors (:mod:`compiler.kernels._vectors`), and without the
branches that nobody can guess: whether a key ends here, whether its word may be a literal.

Half of all words and more are no literal of the state that reads them, even where they are literals of other states. A state
therefore carries a filter of 64 bits, one set for each of its literals (Bloom's filter with one hash function): where
the word's bit is not set, the default successor is right, and neither the table of words nor that of transitions is asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, kernel, ones, prefetch, trailing_zeros
from compiler.kernels._vectors import find_eight, step_eight
from compiler.kernels.determinize import build, build_start
from compiler.kernels.reading import (
    enter_keys,
    find_symbols,
    is_read,
    leave,
    look_ahead,
    name_words,
    nobody,
    stop_before,
)
from compiler.kernels.recall import look_up, remember, slot_of
from compiler.kernels.transitions import find, mix
from compiler.kernels.words import begins_with
from compiler.tables import (
    DONE,
    DOOR_ASKS,
    FINAL,
    RECALLS,
    ROW,
    SEEN,
    START,
    START_RESERVED,
    STRAY_KEYS,
    STRAYS,
    TARGET,
    WORDS,
)

__all__ = ["walk"]

ONE, TWO, EIGHT, HALF = np.uint64(1), np.uint64(2), np.uint64(8), np.uint64(32)
LANES, LOW_HALF = np.uint64(0xFF), np.uint64(0xFFFFFFFF)
NUMBER, STOP = np.uint64(TARGET), np.uint64(FINAL)
THREE, FIVE, ASKS = np.uint64(3), np.uint64(5), np.uint64(DOOR_ASKS)
NO_SLOT = np.uint64(2**64 - 1)
"""The slot of a key whose answer is not known yet."""


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

    Where a transition is missing that has not been asked for often enough to be built, if the cache has a doorkeeper, the
    key is not walked to its end but left to be simulated: ``meta[STRAYS]`` tells how many are in ``work``, with their rows,
    states, and the words to go on with. They must be simulated before the cache is cleared.

    Returns DONE, or the table of the cache that must grow first. ``meta[ROW]`` is the row to resume at. ``valid``
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
    info, transitions, shift = cache.info, cache.transitions, np.uint64(cache.transition_shift)
    symbol_bits, key_shift = np.uint64(cache.symbol_bits), np.uint64(cache.key_shift)
    separator = program.separator
    door, door_shift = cache.door, np.uint64(cache.door_shift)
    stray_rows, stray_begins, stray_states = work.stray_rows, work.stray_begins, work.stray_states
    strays = np.uint64(0)
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
    while True:
        meta[ROW], meta[STRAYS] = row, np.int64(strays)
        if row >= stop or strays >= np.uint64(STRAY_KEYS):
            return DONE
        first = np.uint64(row)
        n = np.uint64(min(block, stop - row))
        read = recalls = np.uint64(0)
        if recalled.size == 0:
            n = enter_keys(
                offsets, data, valid, first, n, start, start_reserved, reserved, rows, begins, ends, states, out
            )
        else:
            count, n = n, np.uint64(0)
            end = np.uint64(offsets[first])
            for at in range(first, first + count):
                begin, end = end, np.uint64(offsets[at + ONE])
                if valid.size > 0 and not valid[at]:
                    out[at] = -1
                    continue
                slot = slot_of(data, begin, end - begin, recall_shift)
                accept = look_up(recalled, slot, data, begin, end - begin)
                if accept != np.uint64(0):
                    out[at] = base + np.int64(accept) - 1
                    recalls += ONE
                    continue
                rows[n], ends[n], slots[n] = at, end, slot
                begins[n] = begin + np.uint64(begin == end)
                states[n] = start_reserved if begins_with(data, begin, end, reserved) else start
                n += ONE
        while n > np.uint64(0):
            nobody(states, n)
            most = look_ahead(data, begins, ends, counts, n, separator, stops)
            level = np.uint64(0)
            while level < most:
                # Pass 1: the default successor, unless the filter says that the word may be a literal.
                name_words(data, stops, counts, n, level, names)
                lane = asked = np.uint64(0)
                while lane < n:
                    found = step_eight(info, states, counts, level, names, lane, asking, ask_names, ask_states, asked)
                    read += ones(found & LANES)
                    asked += ones(found >> EIGHT)
                    for j in range(8):
                        prefetch(info, TWO * states[lane + np.uint64(j)])
                    lane += EIGHT
                # Pass 2: find the symbols of the words that may be literals.
                find_symbols(program, data, stops, level, ask_names, asking, asked, symbols, late)
                for j in range(asked):
                    prefetch(transitions, mix(ask_states[j] & LOW_HALF, symbols[j], symbol_bits, key_shift) >> shift)
                # Pass 3: find the successors of their keys, building those that are not in the table.
                lane = lates = np.uint64(0)
                while lane < asked:
                    misses = find_eight(
                        transitions, shift, symbol_bits, key_shift, ask_states, symbols, asking, lane, asked,
                        late, late_symbols, lates,
                    )  # fmt: skip
                    lates += ones(misses)
                    lane += EIGHT
                for j in range(asked):
                    states[asking[j]] = ask_states[j]
                    prefetch(info, TWO * ask_states[j])
                if door.size > 0:
                    for j in range(lates):
                        mixed = mix(states[late[j]], late_symbols[j], symbol_bits, key_shift)
                        prefetch(door, mixed >> door_shift >> FIVE)
                for j in range(lates):
                    key, symbol = late[j], late_symbols[j]
                    state = states[key]
                    target = info[TWO * state] & LOW_HALF
                    mixed = mix(state, symbol, symbol_bits, key_shift)
                    if symbol != np.uint64(0):
                        target = find(transitions, mixed, shift)
                    if target == np.uint64(0):
                        if door.size > 0 and _is_rare(door, mixed >> door_shift, meta):
                            stray_rows[strays], stray_states[strays] = rows[key], state
                            stray_begins[strays] = stop_before(stops, level, key) + ONE
                            strays += ONE
                            counts[key], begins[key], slots[key] = np.uint64(0), ends[key] + ONE, NO_SLOT
                            continue
                        built = build(program, cache, work, state, symbol)
                        if built < 0:
                            return -built
                        target = np.uint64(built)
                    states[key] = target & NUMBER
                level += ONE
            if recalled.size > 0:
                for i in range(n):
                    if is_read(info, begins[i], ends[i], states[i]) and slots[i] != NO_SLOT:
                        begin = np.uint64(offsets[rows[i]])
                        accept = info[TWO * states[i]] >> HALF
                        remember(recalled, slots[i], data, begin, ends[i] - begin, accept)
            n = leave(info, base, out, n, rows, begins, ends, states, slots)
        meta[WORDS] += np.int64(read)
        meta[RECALLS] += np.int64(recalls)
        row = min(row + block, stop)


@inlined
def _is_rare(door: Any, cell: Any, meta: Any) -> Any:
    """Count a request for a transition that is not built; tell whether it has not been asked for often enough yet."""
    at, shift = cell >> FIVE, TWO * (cell & np.uint64(31))
    count = door[at] >> shift & THREE
    if count == ASKS:
        return False
    door[at] += ONE << shift
    meta[SEEN] += np.int64(count == np.uint64(0))
    return True
