"""The lazy DFA over a column of keys: a block of keys at a time, word by word.

All keys of a block are advanced by one word before any is advanced by the next, in three passes: name the words, look
the words up, look the transitions up. The misses of one pass then overlap in the memory system, which pays as soon as
the tables outgrow the first-level cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import kernel, prefetch
from compiler.kernels.determinize import build, build_start
from compiler.kernels.words import GOLDEN, scan_word, symbol_at
from compiler.tables import (
    DISPLACEMENT_SHIFT,
    DONE,
    EXPANDED,
    FINAL,
    PROBES,
    ROW,
    START,
    TARGET,
    WORDS,
)

__all__ = ["BLOCK", "walk"]

BLOCK = 128
"""Keys that are walked together."""


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
) -> Any:
    """Match keys ``row`` to ``stop`` and write ``base`` + set number - 1 into ``out``, -1 for a null key.

    Returns DONE, or the table of the cache that must grow first; ``meta[ROW]`` is then the row to resume at. ``valid``
    is empty where no key is null. ``block`` is at most BLOCK.
    """
    meta = cache.meta
    if meta[START] == 0:
        meta[ROW] = row
        status = build_start(program, cache, work)
        if status != DONE:
            return status
    start = meta[START]
    cursor = np.empty(BLOCK, np.int64)
    ends = np.empty(BLOCK, np.int64)
    names = np.empty(BLOCK, np.uint64)
    lengths = np.empty(BLOCK, np.int64)
    states = np.empty(BLOCK, np.int64)
    symbols = np.empty(BLOCK, np.uint64)
    mixed = np.empty(BLOCK, np.uint64)
    active = np.empty(BLOCK, np.int64)
    separator = program.separator
    words, word_shift = program.words, np.uint64(program.word_shift)
    transitions, shift = cache.transitions, np.uint64(cache.transition_shift)
    key_shift, symbol_bits = np.uint64(cache.key_shift), np.uint64(cache.symbol_bits)
    check_shift = np.uint64(64) - shift
    while row < stop:
        meta[ROW] = row
        count = min(block, stop - row)
        n = 0
        for k in range(count):
            i = row + k
            states[k] = start
            if valid.size > 0 and not valid[i]:
                states[k] = 0
                continue
            cursor[k] = offsets[i]
            ends[k] = offsets[i + 1]
            if cursor[k] < ends[k] and not start & FINAL:
                active[n] = k
                n += 1
        while n > 0:
            meta[WORDS] += n
            for j in range(n):
                k = active[j]
                name, length = scan_word(data, cursor[k], ends[k], separator)
                names[k] = name
                lengths[k] = length
                prefetch(words, np.int64(np.uint64(2) * ((name * GOLDEN) >> word_shift)))
            for j in range(n):
                k = active[j]
                symbol = symbol_at(
                    words, word_shift, program.word_data, program.word_offsets, names[k], lengths[k], data, cursor[k]
                )
                symbols[k] = symbol
                mixed[k] = ((np.uint64(states[k]) << symbol_bits | symbol) << key_shift) * GOLDEN
                if symbol != np.uint64(0):
                    prefetch(transitions, np.int64(mixed[k] >> shift))
            m = 0
            for j in range(n):
                k = active[j]
                state = states[k]
                target = np.int64(0)
                if symbols[k] != np.uint64(0):
                    slot = mixed[k] >> shift
                    tag = ((mixed[k] << check_shift) >> np.uint64(32)) << np.uint64(32)
                    for _ in range(PROBES):
                        entry = transitions[slot]
                        if entry & ~np.uint64(TARGET | FINAL) == tag:
                            target = np.int64(entry & np.uint64(TARGET | FINAL))
                            break
                        if entry == np.uint64(0):
                            break
                        slot += np.uint64(1)
                        tag += np.uint64(1 << DISPLACEMENT_SHIFT)
                if target == 0:
                    default = np.int64(cache.state_default[state])
                    if default >= 0 and (default & EXPANDED or symbols[k] == np.uint64(0)):
                        target = default & (TARGET | FINAL)
                if target == 0 or target & TARGET == TARGET:
                    target = build(program, cache, work, state, np.int64(symbols[k]))
                    if target < 0:
                        return -target
                states[k] = target & TARGET
                cursor[k] += lengths[k] + 1
                # A separator at the very end is followed by one more word, the empty one.
                if cursor[k] <= ends[k] and not target & FINAL:
                    active[m] = k
                    m += 1
            n = m
        for k in range(count):
            state = states[k] & TARGET
            out[row + k] = base + cache.state_set[state] - 1 if state != 0 else -1
        row += count
    meta[ROW] = row
    return DONE
