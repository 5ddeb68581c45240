"""A column of keys through dense rows: for small automata whose cache has all transitions that the keys ask for.

Where literal words are few, each state gets a row with a successor for every one of them, as automata over bytes have. A step is
then one load: no filter, no hash, no entry that may be another key's. The rows are written from the cache when nothing has been
built for a while (:mod:`compiler.machine.dense_rows`). Nothing is built here: at the first block in which a successor is missing
the kernel stops, and the general walk goes on from there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from compiler.kernels._jit import kernel, ones
from compiler.kernels._vectors import step_eight_in_rows
from compiler.kernels.filters import may_be_literal
from compiler.kernels.key_sample import sample_block
from compiler.kernels.leaving import clear_behind, leave, leave_early, worth_leaving
from compiler.kernels.reading import enter_keys, look_ahead, read_words
from compiler.kernels.strays import children_if_stray
from compiler.kernels.tables import (
    BLOCK,
    STATES,
    WORDS,
    Cache,
    Int32s,
    Int64s,
    Keys,
    Program,
    Signed,
    Uint64s,
)
from compiler.kernels.transitions import mixed_of, unmix
from compiler.kernels.unsigned import EIGHT, FINAL_BIT, LANE_MASK, LOW_HALF, ONE, STATE_MASK, TWO, ZERO
from compiler.kernels.work import Work

__all__ = ["fill_dense_rows", "walk_dense_rows"]

Uint32s = npt.NDArray[np.uint32]


@kernel
def fill_dense_rows(program: Program, cache: Cache, table: Uint32s, bits: Signed) -> None:
    """Write the cache's transitions into ``table``: the successor of a state by a symbol is at ``state << bits | symbol``.

    An entry is 0 where the successor is not known. All entries of a state that no word can change are that state with its
    FINAL bit; other entries have no such bit.
    """
    info, transitions, shift = cache.info, cache.transitions, np.uint64(cache.transition_shift)
    width, symbols = ONE << np.uint64(bits), np.uint64(program.word_offsets.size)
    for state in range(ONE, np.uint64(cache.meta[STATES])):
        default, literals = info[TWO * state] & LOW_HALF, info[TWO * state + ONE]
        final = default == state | FINAL_BIT
        for symbol in range(width):
            target = default if final else default & STATE_MASK
            if (
                symbol < symbols
                and may_be_literal(cache.filters, literals, symbol)
                and children_if_stray(program, cache.members, cache.state_end, state, symbol) == ZERO
            ):
                target = ZERO
            table[state << np.uint64(bits) | symbol] = target
    for slot in range(np.uint64(transitions.size)):
        entry = transitions[slot]
        if entry != ZERO:
            key = unmix(mixed_of(entry, slot, shift), np.uint64(cache.key_shift))
            symbol = key & (ONE << np.uint64(cache.symbol_bits)) - ONE
            table[key >> np.uint64(cache.symbol_bits) << np.uint64(bits) | symbol] = entry & STATE_MASK


@kernel
def walk_dense_rows(
    program: Program,
    meta: Int64s,
    info: Uint64s,
    work: Work,
    table: Uint32s,
    bits: Signed,
    keys: Keys,
    row: Signed,
    stop: Signed,
    base: Signed,
    out: Int32s,
) -> Signed:
    """Match keys ``row`` to ``stop``, as :func:`compiler.kernels.walk.walk` does, whose comments explain the phases.

    ``meta`` and ``info`` are the cache's, and ``info`` is frozen, as that of sealed tables is.
    Returns ``stop``, or the first row of a block in which a successor is missing.
    """
    while row < stop:
        where = np.uint64(row), np.uint64(stop), np.uint64(BLOCK)
        n, following = enter_keys(program, meta, STATE_MASK, work, keys, *where, out)
        sample_block(work, keys.data, n, row, following)
        read = missing = ZERO
        while n > ZERO:
            clear_behind(work.states, n)
            most = look_ahead(keys.data, work, n, program.separator)
            level = waiting = ZERO
            while level < most:
                read_words(program, keys.data, work, n, level)
                i = stepped = ZERO
                while i < n:
                    found = step_eight_in_rows(table, np.uint64(bits), work.states, work.symbols, work.words, level, i)
                    stepped += ones(found & LANE_MASK)
                    missing |= found >> EIGHT
                    i += EIGHT
                read += stepped
                level += ONE
                leaves, waiting = worth_leaving(work, n, stepped, waiting, level, most)
                if leaves:
                    n = leave_early(info, work, n, level, most, base, out)
            if missing != ZERO:
                return np.int64(row)
            n = leave(info, work, n, base, out)
        meta[WORDS] += np.int64(read)
        row = np.int64(following)
    return np.int64(row)
