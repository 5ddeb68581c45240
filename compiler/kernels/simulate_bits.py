"""The bit-parallel simulation: all patterns of a small binding set take a step together, a machine word at a time.

:mod:`compiler.machine.bit_program` has the idea and the tables. A word costs a fixed number of instructions, whatever key and
patterns are. So it wins against a lazy DFA that finds a new state with every word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, kernel, trailing_zeros
from compiler.kernels._vectors import shift_eight
from compiler.kernels.interning import add_found_set
from compiler.kernels.reading import look_ahead, read_words
from compiler.kernels.tables import BLOCK, Int32s, Keys, Program, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import EIGHT, ONE, ZERO
from compiler.kernels.words import begins_with
from compiler.kernels.work import SETS_FOUND, SETS_SHARED, TAGS_WANTED, FoundSets, Work

__all__ = ["list_tags", "simulate_bits"]

LOG_WORD, IN_WORD, WORD_BITS = np.uint64(6), np.uint64(63), np.uint64(64)
"""Number b of a row of bits is bit ``b & IN_WORD`` of machine word ``b >> LOG_WORD``."""


@kernel
def simulate_bits(
    program: Program,
    bits: Any,
    work: Work,
    keys: Keys,
    row: Signed,
    stop: Signed,
    base: Signed,
    out: Int32s,
    sets: FoundSets,
) -> Signed:
    """Match keys ``row`` to ``stop``: write ``base`` minus the number of each key's set into ``out``, -1 for a null key.

    ``bits`` is a :class:`compiler.machine.bit_program.BitProgram`. Sets are added to ``sets`` from number
    ``counts[SETS_FOUND]`` on. Returns ``stop``, or, if ``sets.tags`` or ``sets.slots`` is too short, the row at which to go on.
    """
    accepts, loops, start, separator = bits.accepts, bits.loops, bits.start, program.separator
    offsets, data, valid = keys.offsets, keys.data, keys.valid
    now, begins, ends, words, symbols = work.lanes, work.begins, work.ends, work.words, work.symbols
    lanes = np.uint64(loops.size)
    while row < stop:
        if 2 * (sets.counts[SETS_SHARED] + BLOCK) > sets.slots.size:
            return row
        n = np.uint64(min(BLOCK, stop - row))
        for i in range(n):
            at = np.uint64(row) + i
            begins[i], ends[i] = np.uint64(offsets[at]), np.uint64(offsets[at + ONE])
            root = lanes if begins_with(data, begins[i], ends[i], program.reserved) else ZERO
            begins[i] += np.uint64(begins[i] == ends[i])  # an empty key has no words
            for j in range(lanes):
                now[lanes * i + j] = start[root + j]
        most = look_ahead(data, work, n, separator)
        while most > ZERO:
            level = ZERO
            while level < most:
                read_words(program, data, work, n, level)
                for i in range(n):
                    if level >= words[i]:
                        continue
                    first, key = symbols[i] * lanes, lanes * i
                    any_active = lane = ZERO
                    while lane < lanes:
                        any_active |= shift_eight(now, key + lane, accepts, first + lane, loops, lane)
                        lane += EIGHT
                    if any_active == ZERO:  # the rest of the key need not be read
                        words[i], begins[i] = ZERO, ends[i] + ONE
                level += ONE
            most = look_ahead(data, work, n, separator)
        for i in range(n):
            if valid.size > 0 and not valid[row]:
                out[row] = -1
            else:
                number = _put_set(bits, work, lanes * i, sets)
                if number < 0:
                    return row
                out[row] = base - number
            row += 1
    return row


@inlined
def _put_set(bits: Any, work: Work, key: Unsigned, sets: FoundSets) -> Signed:
    """Add the accept set of the key whose lanes begin at ``key``, and return its number.

    Returns -1 if ``sets.tags`` is too short, and writes the length that it needs into ``counts[TAGS_WANTED]``.
    """
    counts = sets.counts
    number = counts[SETS_FOUND]
    first = np.int64(sets.ends[number - 1]) if number > 0 else np.int64(0)
    if first + bits.tags.size > sets.tags.size:
        counts[TAGS_WANTED] = first + bits.tags.size
        return -1
    return add_found_set(sets, np.int64(list_tags(bits, work, key, sets.tags, np.uint64(first))))


@inlined
def list_tags(bits: Any, work: Any, key: Unsigned, tags: Int32s, first: Unsigned) -> Unsigned:
    """Write the accept tags of the key whose lanes begin at ``key``, ascending, to ``tags`` from ``first`` on, where all have room; return their end."""
    now, offsets, all_tags = work.lanes, bits.tag_offsets, bits.tags
    end = first
    for j in range(np.uint64(bits.ends.size)):
        matched = now[key + j] & bits.ends[j]
        while matched != ZERO:
            bit = WORD_BITS * j + trailing_zeros(matched)
            matched &= matched - ONE
            for i in range(np.uint64(offsets[bit]), np.uint64(offsets[bit + ONE])):
                tags[end] = all_tags[i]
                end += ONE
    if not bits.in_order:
        _ascend(work.marks, tags, first, end, np.uint64(all_tags.size + 63) >> LOG_WORD)
    return end


@inlined
def _ascend(marks: Uint64s, tags: Int32s, first: Unsigned, end: Unsigned, most: Unsigned) -> None:
    """Sort ``tags[first:end]`` by setting a bit of ``marks[:most]`` for each tag and reading the bits in order.

    Sorting by comparison took a third of the time of `hard`.
    """
    for j in range(most):
        marks[j] = ZERO
    for i in range(first, end):
        tag = np.uint64(tags[i])
        marks[tag >> LOG_WORD] |= ONE << (tag & IN_WORD)
    at = first
    for j in range(most):
        marked = marks[j]
        while marked != ZERO:
            tags[at] = WORD_BITS * j + trailing_zeros(marked)
            marked &= marked - ONE
            at += ONE
