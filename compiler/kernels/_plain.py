"""The steps of :mod:`compiler.kernels._vectors` without vectors: a key at a time, and text byte by byte.

The engine does not use them. They say what the vectors do, which the tests hold them to, and they are what the vectors
are measured against (``python -m benchmarks.ablations``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, load64
from compiler.kernels.tables import AHEAD, BLOCK, FINAL, SCRAMBLE, SYMBOL, TARGET
from compiler.kernels.transitions import mix
from compiler.kernels.words import filter_bit

__all__ = ["look_eight", "mix_eight", "read_eight", "shift_eight", "step_eight", "step_eight_in_rows"]

ZERO, ONE, TWO, EIGHT, HALF, TOP, BIT, WINDOW = (np.uint64(i) for i in (0, 1, 2, 8, 32, 56, 58, 64))
ROW, MOST, BYTE = np.uint64(BLOCK), np.uint64(AHEAD), np.uint64(0xFF)
NUMBER, STOP, LITERAL, GOLDEN = np.uint64(TARGET), np.uint64(FINAL), np.uint64(SYMBOL), np.uint64(SCRAMBLE)
LOW_HALF = np.uint64(0xFFFFFFFF)


@inlined
def look_eight(
    data: Any, begins: Any, ends: Any, first: Any, separator: Any, counts: Any, froms: Any, stops: Any, heads: Any
) -> Any:
    """Find the next words of the keys from ``first`` on, up to AHEAD of each; return the lanes that have more to see."""
    beyond = ZERO
    for lane in range(EIGHT):
        key = first + lane
        at, end = begins[key], ends[key]
        froms[key], counts[key] = at, ZERO
        if at > end:
            continue
        count = packed = begin = ZERO
        if end - at < WINDOW:
            for i in range(end - at + ONE):
                if at + i == end or data[at + i] == separator:
                    if count < MOST:
                        packed |= i << EIGHT * count
                        heads[ROW * count + key] = load64(data, at + begin)
                    begin = i + ONE
                    count += ONE
        if ZERO < count <= MOST:
            stops[key], counts[key], begins[key] = packed, count, end + ONE
        else:
            beyond |= ONE << lane
    return beyond


@inlined
def read_eight(
    heads: Any,
    stops: Any,
    counts: Any,
    level: Any,
    first: Any,
    table: Any,
    shift: Any,
    symbols: Any,
    late: Any,
    lates: Any,
) -> Any:
    """Find the symbols of word ``level`` of the keys from ``first`` on; return the lanes that need another look."""
    more = ZERO
    for lane in range(EIGHT):
        key = first + lane
        symbols[key] = ZERO
        if level >= counts[key]:
            continue
        begin = ZERO
        if level != ZERO:
            begin = (stops[key] >> EIGHT * (level - ONE) & BYTE) + ONE
        length = (stops[key] >> EIGHT * level & BYTE) - begin
        name = heads[ROW * level + key]
        if length < EIGHT:
            name = name & (ONE << EIGHT * length) - ONE | length << TOP
        elif length > EIGHT or name >> TOP <= EIGHT:
            late[lates] = key
            lates += ONE
            more |= ONE << lane
            continue
        slot = name * GOLDEN >> shift
        symbol = table[TWO * slot + ONE]
        if symbol == ZERO:
            continue
        if table[TWO * slot] == name:
            symbols[key] = symbol | filter_bit(name) << BIT
        else:
            late[lates] = key
            lates += ONE
            more |= ONE << lane
    return more


@inlined
def mix_eight(states: Any, symbols: Any, symbol_bits: Any, key_shift: Any, mixed: Any, first: Any) -> Any:
    """Scramble the states and symbols of the keys from ``first`` on."""
    for key in range(first, first + EIGHT):
        mixed[key] = mix(states[key], symbols[key] & LITERAL, symbol_bits, key_shift)


@inlined
def step_eight(
    info: Any, transitions: Any, shift: Any, states: Any, symbols: Any, mixed: Any, words: Any, level: Any, first: Any,
    late: Any, lates: Any,
) -> Any:  # fmt: skip
    """Give the keys from ``first`` on their successors; return the lanes that read a word, and << 8 the late ones."""
    found = ZERO
    for lane in range(EIGHT):
        key = first + lane
        state, symbol, bit = states[key], symbols[key] & LITERAL, symbols[key] >> BIT
        target = info[TWO * state] & LOW_HALF
        if level >= words[key] or target == state | STOP:
            continue
        found |= ONE << lane
        if symbol != ZERO and info[TWO * state + ONE] >> bit & ONE != ZERO:
            entry = transitions[mixed[key] >> shift]
            tag = mixed[key] << WINDOW - shift >> HALF << HALF
            target = entry if entry & ~(NUMBER | STOP) == tag else ZERO
        if target & NUMBER != ZERO:
            states[key] = target & NUMBER
        else:
            late[lates] = key
            lates += ONE
            found |= ONE << EIGHT + lane
    return found


@inlined
def step_eight_in_rows(rows: Any, bits: Any, states: Any, symbols: Any, words: Any, level: Any, first: Any) -> Any:
    """Give the keys from ``first`` on the successors in ``rows``; return the lanes that read a word, and << 8 those without."""
    found = ZERO
    for lane in range(EIGHT):
        key = first + lane
        target = np.uint64(rows[states[key] << bits | symbols[key] & LITERAL])
        if level < words[key] and target & STOP == ZERO:
            states[key] = target
            found |= ONE << lane
            if target == ZERO:
                found |= ONE << EIGHT + lane
    return found


@inlined
def shift_eight(now: Any, key: Any, accepts: Any, word: Any, loops: Any, lane: Any) -> Any:
    """Move all patterns in eight lanes of a key by one word; return which lanes are not empty."""
    active = ZERO
    for i in range(EIGHT):
        stays = now[key + i] & loops[lane + i]
        moved = (now[key + i] & accepts[word + i]) << ONE | stays
        now[key + i] = moved | (moved & loops[lane + i]) << ONE
        if now[key + i] != ZERO:
            active |= ONE << i
    return active
