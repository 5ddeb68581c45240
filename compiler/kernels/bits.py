"""The bit-parallel simulation: all patterns of a small set step together, a machine word at a time.

See :mod:`compiler.bits` for the idea. A word costs a fixed number of instructions, whatever the key and the patterns do,
which makes it the one to beat where a lazy DFA finds new states with every word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import kernel, trailing_zeros
from compiler.kernels.advance import sort
from compiler.kernels.simulate import put_set
from compiler.kernels.words import begins_with, name_word, symbol_of, word_end

__all__ = ["simulate_bits"]


@kernel
def simulate_bits(
    program: Any,
    bits: Any,
    work: Any,
    offsets: Any,
    data: Any,
    valid: Any,
    row: Any,
    stop: Any,
    base: Any,
    out: Any,
    set_end: Any,
    tags: Any,
    counts: Any,
) -> Any:
    """Match keys ``row`` to ``stop``; the arguments and the result are those of ``simulate``."""
    accepts, loops, start, ends, separator = bits.accepts, bits.loops, bits.start, bits.ends, program.separator
    now = work.lanes
    lanes = loops.size
    while row < stop:
        if valid.size > 0 and not valid[row]:
            out[row] = -1
            row += 1
            continue
        at, end = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        root = lanes if begins_with(data, at, end, program.reserved) else 0
        for j in range(lanes):
            now[j] = start[root + j]
        more = at < end
        while more:
            length = word_end(data, at, end, separator) - at
            symbol = symbol_of(program, name_word(data, at, length), length, data, at)
            first = np.int64(symbol) * lanes
            any_active = np.uint64(0)
            for j in range(lanes):
                moved = (now[j] & accepts[first + j]) << np.uint64(1) | now[j] & loops[j]
                moved |= (moved & loops[j]) << np.uint64(1)
                now[j] = moved
                any_active |= moved
            at += length + np.uint64(1)
            # A separator at the very end is followed by one more word, the empty one.
            more = at <= end and any_active != np.uint64(0)
        found = 0
        for j in range(lanes):
            matched = now[j] & ends[j]
            while matched != np.uint64(0):
                bit = 64 * j + np.int64(trailing_zeros(matched))
                matched &= matched - np.uint64(1)
                for i in range(bits.tag_offsets[bit], bits.tag_offsets[bit + 1]):
                    work.tags[found] = bits.tags[i]
                    found += 1
        if not bits.in_order:
            sort(work.tags, np.int64(found))
        number = put_set(work, np.int64(found), set_end, tags, counts)
        if number < 0:
            return row
        out[row] = base + number
        row += 1
    return row
