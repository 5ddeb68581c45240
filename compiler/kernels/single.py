"""One key through the lazy DFA as it is: no building, no block, few arguments.

Handing a kernel the forty arrays of the general walk takes longer than walking a key. This one takes the few that
reading needs; where a transition is missing it says so, and the general walk does the key again and builds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import kernel
from compiler.kernels.words import GOLDEN, name_word, same_bytes, word_end
from compiler.tables import DISPLACEMENT_SHIFT, FINAL, PROBES, TARGET, WORDS

__all__ = ["MISSING", "walk_one"]

MISSING = -1
ONE, TWO = np.uint64(1), np.uint64(2)
LOW_HALF = np.uint64(0xFFFFFFFF)
NUMBER, STOP, PAYLOAD = np.uint64(TARGET), np.uint64(FINAL), np.uint64(TARGET | FINAL)
NEXT_SLOT = np.uint64(1 << DISPLACEMENT_SHIFT)


@kernel
def walk_one(
    data: Any,
    length: Any,
    words: Any,
    word_data: Any,
    word_offsets: Any,
    info: Any,
    transitions: Any,
    scalars: Any,
    meta: Any,
) -> Any:
    """Return the accept set of the key ``data[:length]``, or MISSING; ``scalars`` are those of ``Walker._arguments``."""
    separator = np.uint8(scalars[0])
    word_shift, shift = np.uint64(scalars[1]), np.uint64(scalars[2])
    symbol_bits, key_shift = np.uint64(scalars[3]), np.uint64(scalars[4])
    word_mask, check_shift = np.uint64((words.size >> 1) - 1), np.uint64(64) - shift
    at, stop = np.uint64(0), np.uint64(length)
    state = np.uint64(scalars[7] if at < stop and np.int64(data[0]) == scalars[6] else scalars[5])
    read = 0
    more = at < stop  # an empty key has no words
    while more and state & STOP == np.uint64(0):
        size = word_end(data, at, stop, separator) - at
        name = name_word(data, at, size)
        slot = name * GOLDEN >> word_shift
        symbol = np.uint64(0)
        while True:
            entry = words[TWO * slot + ONE]
            if entry == np.uint64(0):
                break
            if words[TWO * slot] == name and entry >> np.uint64(32) == size + ONE:
                symbol = entry & LOW_HALF
                begin = np.uint64(word_offsets[symbol - ONE])
                if size <= np.uint64(8) or same_bytes(word_data, begin, data, at, size):
                    break
                symbol = np.uint64(0)
            slot = (slot + ONE) & word_mask
        default = info[TWO * state] & LOW_HALF
        literal = info[TWO * state + ONE] >> (symbol & np.uint64(63)) & ONE
        if default == np.uint64(0):
            return MISSING
        if literal == np.uint64(0) or symbol == np.uint64(0):
            state = default
        else:
            mixed = ((state << symbol_bits | symbol) << key_shift) * GOLDEN
            slot = mixed >> shift
            tag = mixed << check_shift >> np.uint64(32) << np.uint64(32)
            target = np.uint64(0)
            for _ in range(PROBES):
                entry = transitions[slot]
                if entry & ~PAYLOAD == tag or entry == np.uint64(0):
                    target = entry & PAYLOAD
                    break
                slot += ONE
                tag += NEXT_SLOT
            if target == np.uint64(0):
                return MISSING
            state = target
        read += 1
        at += size + ONE
        more = at <= stop  # a separator at the very end is followed by one more word, the empty one
    meta[WORDS] += read
    return np.int64(info[TWO * (state & NUMBER)] >> np.uint64(32))
