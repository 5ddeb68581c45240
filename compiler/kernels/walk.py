"""The lazy DFA over a column of keys: a block of keys at a time, word by word, eight keys at once.

All keys of a block are advanced by one word before any is advanced by the next. Two things come of it. The misses of one
step overlap in the memory system, which pays as soon as the tables outgrow the first-level cache. And what a step does is
the same for all keys, so it is done for eight at a time in vectors (:mod:`compiler.kernels._vectors`), and without the
branches that nobody can guess: whether a key ends here, whether its word is a literal of its state.

A state has a default successor, for all words but its literals, and a filter of 64 bits, one set for each of these (Bloom's
filter with one hash function). Where the word's bit is not set, the default is right, and no transition is built or stored
that would only say so: without, the first pass of `stock` takes 1.3 times as long.

What each of these choices is worth stands in ``benchmarks/results/ablations.md``: ``python -m benchmarks.ablations``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, kernel, ones, prefetch, trailing_zeros
from compiler.kernels._vectors import mix_eight, step_eight
from compiler.kernels.determinize import build, build_start
from compiler.kernels.key_slots import look_up, remember, slot_of
from compiler.kernels.reading import (
    enter_keys,
    is_read,
    leave,
    look_ahead,
    nobody,
    read_words,
    word_at,
)
from compiler.kernels.tables import (
    DEFERRED,
    DONE,
    DOORKEEPER_ASKS,
    KEY_CACHE_HITS,
    MISSES,
    MOST_DEFERRED,
    ROW,
    SEEN,
    START,
    START_RESERVED,
    SYMBOL,
    TARGET,
    WORDS,
)
from compiler.kernels.transitions import find
from compiler.kernels.words import begins_with

__all__ = ["walk"]

ONE, TWO, EIGHT, HALF = np.uint64(1), np.uint64(2), np.uint64(8), np.uint64(32)
LANES, LOW_HALF = np.uint64(0xFF), np.uint64(0xFFFFFFFF)
NUMBER, LITERAL = np.uint64(TARGET), np.uint64(SYMBOL)
THREE, FIVE, ASKS = np.uint64(3), np.uint64(5), np.uint64(DOORKEEPER_ASKS)
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
    key_table: Any,
) -> Any:
    """Match keys ``row`` to ``stop`` and write ``base`` + set number - 1 into ``out``, -1 for a null key.

    ``key_table`` is the table of whole keys, of no slots where it is not to be used.

    Where a transition is missing that has not been asked for often enough to be built, if the cache has a doorkeeper, the
    key is not walked to its end but left to be simulated: ``meta[DEFERRED]`` tells how many are in ``work``, with their rows,
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
    # Indices are unsigned: a signed one may count from the end, and finding out takes three instructions.
    start, start_reserved, reserved = (
        np.uint64(meta[START] & TARGET),
        np.uint64(meta[START_RESERVED] & TARGET),
        program.reserved,
    )
    info, transitions, shift = cache.info, cache.transitions, np.uint64(cache.transition_shift)
    symbol_bits, key_shift = np.uint64(cache.symbol_bits), np.uint64(cache.key_shift)
    separator = program.separator
    doorkeeper, doorkeeper_shift = cache.doorkeeper, np.uint64(cache.doorkeeper_shift)
    deferred_rows, deferred_begins, deferred_states = work.deferred_rows, work.deferred_begins, work.deferred_states
    deferred = np.uint64(0)
    rows, begins, ends, states, counts = work.rows, work.begins, work.ends, work.states, work.words
    slots, symbols, mixed, late = work.slots, work.symbols, work.mixed, work.late
    froms, stops, heads = work.froms, work.stops, work.heads
    # A slot is eight numbers: the table has as many slots as an eighth of its size, a power of two.
    key_table_shift = np.uint64(61) - trailing_zeros(np.uint64(key_table.size)) + np.uint64(6)
    while True:
        meta[ROW], meta[DEFERRED] = row, np.int64(deferred)
        if row >= stop or deferred >= np.uint64(MOST_DEFERRED):
            return DONE
        first = np.uint64(row)
        n = np.uint64(min(block, stop - row))
        read = missed = key_cache_hits = np.uint64(0)
        if key_table.size == 0:
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
                slot = slot_of(data, begin, end - begin, key_table_shift)
                accept = look_up(key_table, slot, data, begin, end - begin)
                if accept != np.uint64(0):
                    out[at] = base + np.int64(accept) - 1
                    key_cache_hits += ONE
                    continue
                rows[n], ends[n], slots[n] = at, end, slot
                begins[n] = begin + np.uint64(begin == end)
                states[n] = start_reserved if begins_with(data, begin, end, reserved) else start
                n += ONE
        while n > np.uint64(0):
            nobody(states, n)
            most = look_ahead(data, begins, ends, counts, n, separator, froms, stops, heads)
            level = np.uint64(0)
            while level < most:
                read_words(program, data, begins, froms, stops, heads, counts, n, level, symbols, late)
                lane = np.uint64(0)
                while lane < n:
                    mix_eight(states, symbols, symbol_bits, key_shift, mixed, lane)
                    lane += EIGHT
                for i in range(n):
                    prefetch(transitions, mixed[i] >> shift)
                lane = lates = np.uint64(0)
                while lane < n:
                    found = step_eight(
                        info, transitions, shift, states, symbols, mixed, counts, level, lane, late, lates
                    )
                    read += ones(found & LANES)
                    lates += ones(found >> EIGHT)
                    lane += EIGHT
                for i in range(n):
                    prefetch(info, TWO * states[i])
                if doorkeeper.size > 0:
                    for j in range(lates):
                        prefetch(doorkeeper, mixed[late[j]] >> doorkeeper_shift >> FIVE)
                for j in range(lates):
                    key = late[j]
                    state, symbol = states[key], symbols[key] & LITERAL
                    target = info[TWO * state] & LOW_HALF
                    if symbol != np.uint64(0):
                        target = find(transitions, mixed[key], shift)
                    if target == np.uint64(0):
                        missed += ONE
                        if doorkeeper.size > 0 and _is_rare(doorkeeper, mixed[key] >> doorkeeper_shift, meta):
                            deferred_rows[deferred], deferred_states[deferred] = rows[key], state
                            deferred_begins[deferred], _ = word_at(begins, froms, stops, level, key)
                            deferred += ONE
                            counts[key], begins[key], slots[key] = np.uint64(0), ends[key] + ONE, NO_SLOT
                            continue
                        built = build(program, cache, work, state, symbol)
                        if built < 0:
                            return -built
                        target = np.uint64(built)
                    states[key] = target & NUMBER
                level += ONE
            if key_table.size > 0:
                for i in range(n):
                    if is_read(info, begins[i], ends[i], states[i]) and slots[i] != NO_SLOT:
                        begin = np.uint64(offsets[rows[i]])
                        accept = info[TWO * states[i]] >> HALF
                        remember(key_table, slots[i], data, begin, ends[i] - begin, accept)
            n = leave(info, base, out, n, rows, begins, ends, states, slots)
        meta[WORDS] += np.int64(read)
        meta[MISSES] += np.int64(missed)
        meta[KEY_CACHE_HITS] += np.int64(key_cache_hits)
        row = min(row + block, stop)


@inlined
def _is_rare(doorkeeper: Any, cell: Any, meta: Any) -> Any:
    """Count a request for a transition that is not built; tell whether it has not been asked for often enough yet."""
    at, shift = cell >> FIVE, TWO * (cell & np.uint64(31))
    count = doorkeeper[at] >> shift & THREE
    if count == ASKS:
        return False
    doorkeeper[at] += ONE << shift
    meta[SEEN] += np.int64(count == np.uint64(0))
    return True
