"""The bit-parallel simulation: all patterns of a small set step together, a machine word at a time.

See :mod:`compiler.machine.bit_program` for the idea. A word costs a fixed number of instructions, whatever the key and the patterns do,
which makes it the one to beat where a lazy DFA finds new states with every word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, kernel, trailing_zeros
from compiler.kernels._vectors import shift_eight
from compiler.kernels.reading import look_ahead, read_words
from compiler.kernels.tables import BLOCK, SYMBOL
from compiler.kernels.words import begins_with

__all__ = ["simulate_bits"]

ZERO, ONE, EIGHT, LITERAL = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(SYMBOL)


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
    """Match keys ``row`` to ``stop``: write ``base`` - set number into ``out``, -1 for a null key.

    Set s is written to ``tags[set_end[s - 1]:set_end[s]]``, from set ``counts[0]`` on; ``set_end`` has an entry for
    every key. Returns the row at which ``tags`` has no room for ``counts[1]`` tags, or ``stop``.
    """
    accepts, loops, start, separator = bits.accepts, bits.loops, bits.start, program.separator
    now, begins, ends, words = work.lanes, work.begins, work.ends, work.words
    froms, stops, heads, symbols = work.froms, work.stops, work.heads, work.symbols
    lanes = np.uint64(loops.size)
    while row < stop:
        n = np.uint64(min(BLOCK, stop - row))
        for i in range(n):
            at = np.uint64(row) + i
            begins[i], ends[i] = np.uint64(offsets[at]), np.uint64(offsets[at + ONE])
            root = lanes if begins_with(data, begins[i], ends[i], program.reserved) else ZERO
            begins[i] += np.uint64(
                begins[i] == ends[i]
            )  # an empty key has no words, any other has one at its beginning
            for j in range(lanes):
                now[lanes * i + j] = start[root + j]
        most = look_ahead(data, begins, ends, words, n, separator, froms, stops, heads)
        while most > ZERO:
            level = ZERO
            while level < most:
                read_words(program, data, begins, froms, stops, heads, words, n, level, symbols, work.late)
                for i in range(n):
                    if level >= words[i]:
                        continue
                    first, key = (symbols[i] & LITERAL) * lanes, lanes * i
                    any_active = lane = ZERO
                    while lane < lanes:
                        any_active |= shift_eight(now, key + lane, accepts, first + lane, loops, lane)
                        lane += EIGHT
                    if any_active == ZERO:  # the rest of the key need not be read
                        words[i], begins[i] = ZERO, ends[i] + ONE
                level += ONE
            most = look_ahead(data, begins, ends, words, n, separator, froms, stops, heads)
        for i in range(n):
            if valid.size > 0 and not valid[row]:
                out[row] = -1
            else:
                number = _put_set(bits, work, lanes * i, set_end, tags, counts)
                if number < 0:
                    return row
                out[row] = base - number
            row += 1
    return row


@inlined
def _put_set(bits: Any, work: Any, key: Any, set_end: Any, tags: Any, counts: Any) -> Any:
    """Write the accept tags of a key, whose lanes begin at ``key``, as a set, unless they equal the last one.

    Returns the set's number, or -1 where ``tags`` has no room, with the room that is needed in ``counts[1]``.
    """
    now, ends, offsets, all_tags, marks = work.lanes, bits.ends, bits.tag_offsets, bits.tags, work.marks
    number = counts[0]
    last = np.int64(set_end[number - 2]) if number > 1 else np.int64(0)
    first = np.int64(set_end[number - 1]) if number > 0 else np.int64(0)
    if first + all_tags.size > tags.size:
        counts[1] = first + all_tags.size
        return -1
    end = np.uint64(first)
    for j in range(np.uint64(ends.size)):
        matched = now[key + j] & ends[j]
        while matched != ZERO:
            bit = np.uint64(64) * j + trailing_zeros(matched)
            matched &= matched - ONE
            for i in range(np.uint64(offsets[bit]), np.uint64(offsets[bit + ONE])):
                tags[end] = all_tags[i]
                end += ONE
    if not bits.in_order:
        _ascend(marks, tags, np.uint64(first), end, np.uint64(all_tags.size + 63) >> np.uint64(6))
    found = np.int64(end) - first
    if number > 0 and first - last == found:
        same = np.int64(0)
        while same < found and tags[last + same] == tags[first + same]:
            same += 1
        if same == found:
            return number - 1
    set_end[number] = end
    counts[0] = number + 1
    return number


@inlined
def _ascend(marks: Any, tags: Any, first: Any, end: Any, most: Any) -> Any:
    """Sort ``tags[first:end]`` by marking each in ``marks[:most]``: comparing them took a third of the time of ``hard``."""
    for j in range(most):
        marks[j] = ZERO
    for i in range(first, end):
        tag = np.uint64(tags[i])
        marks[tag >> np.uint64(6)] |= ONE << (tag & np.uint64(63))
    at = first
    for j in range(most):
        marked = marks[j]
        while marked != ZERO:
            tags[at] = np.uint64(64) * j + trailing_zeros(marked)
            marked &= marked - ONE
            at += ONE
