"""A column of keys through rows of successors: for small automata that know all that they are asked.

Where words are few, a state has a row with a successor for each of them, as automata over bytes do. Then a step is one access
without a question: no filter, no hash, no entry that may be another's. The rows are made from the cache as it is when
nothing has been built for a while. Nothing is built here: at the first block in which a successor is missing the kernel
stops, and the general walk goes on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import kernel, ones
from compiler.kernels._vectors import step_eight_in_rows
from compiler.kernels.reading import enter_keys, leave, look_ahead, nobody, read_words
from compiler.kernels.tables import (
    BLOCK,
    FINAL,
    START,
    START_RESERVED,
    STATES,
    TARGET,
    WORDS,
)
from compiler.kernels.transitions import mixed_of, unmix

__all__ = ["fill_dense_rows", "walk_dense_rows"]

ZERO, ONE, TWO, EIGHT = (np.uint64(i) for i in (0, 1, 2, 8))
LANES, LOW_HALF = np.uint64(0xFF), np.uint64(0xFFFFFFFF)
NUMBER, STOP = np.uint64(TARGET), np.uint64(FINAL)


@kernel
def fill_dense_rows(program: Any, cache: Any, rows: Any, bits: Any) -> Any:
    """Write what the cache knows into ``rows``: the successor of a state by a symbol is at ``state << bits | symbol``.

    It is 0 where it is not known, and has its FINAL bit where the state itself is one that no word can change.
    """
    info, transitions, shift = cache.info, cache.transitions, np.uint64(cache.transition_shift)
    width, filter_bits = ONE << np.uint64(bits), program.filter_bits
    for state in range(ONE, np.uint64(cache.meta[STATES])):
        default, literals = info[TWO * state] & LOW_HALF, info[TWO * state + ONE]
        final = default == state | STOP
        for symbol in range(width):
            target = default if final else default & NUMBER
            if ZERO < symbol < np.uint64(filter_bits.size) and literals >> np.uint64(filter_bits[symbol]) & ONE != ZERO:
                target = ZERO
            rows[state << np.uint64(bits) | symbol] = target
    for slot in range(np.uint64(transitions.size)):
        entry = transitions[slot]
        if entry != ZERO:
            key = unmix(mixed_of(entry, slot, shift), np.uint64(cache.key_shift))
            symbol = key & (ONE << np.uint64(cache.symbol_bits)) - ONE
            rows[key >> np.uint64(cache.symbol_bits) << np.uint64(bits) | symbol] = entry & NUMBER


@kernel
def walk_dense_rows(
    program: Any, cache: Any, work: Any, table: Any, bits: Any,
    offsets: Any, data: Any, valid: Any, row: Any, stop: Any, base: Any, out: Any,
) -> Any:  # fmt: skip
    """Match keys ``row`` to ``stop``, as ``walk`` does; return ``stop``, or the first row of the block that asks too much."""
    meta, info = cache.meta, cache.info
    start, start_reserved, reserved = (
        np.uint64(meta[START] & TARGET),
        np.uint64(meta[START_RESERVED] & TARGET),
        program.reserved,
    )
    separator, slots, late = program.separator, work.slots, work.late
    rows, begins, ends, states, counts = work.rows, work.begins, work.ends, work.states, work.words
    froms, stops, heads, symbols = work.froms, work.stops, work.heads, work.symbols
    while row < stop:
        n = np.uint64(min(BLOCK, stop - row))
        n = enter_keys(
            offsets, data, valid, np.uint64(row), n, start, start_reserved, reserved, rows, begins, ends, states, out
        )
        read = missing = ZERO
        while n > ZERO:
            nobody(states, n)
            most = look_ahead(data, begins, ends, counts, n, separator, froms, stops, heads)
            level = ZERO
            while level < most:
                read_words(program, data, begins, froms, stops, heads, counts, n, level, symbols, late)
                i = ZERO
                while i < n:
                    found = step_eight_in_rows(table, np.uint64(bits), states, symbols, counts, level, i)
                    read += ones(found & LANES)
                    missing |= found >> EIGHT
                    i += EIGHT
                level += ONE
            if missing != ZERO:
                return np.int64(row)
            n = leave(info, base, out, n, rows, begins, ends, states, slots)
        meta[WORDS] += np.int64(read)
        row = min(row + BLOCK, stop)
    return np.int64(row)
