"""One key simulated: a set of positions, or bits, is carried from word to word, and nothing is kept.

What :mod:`compiler.kernels.simulate_pairs` and :mod:`compiler.kernels.simulate_bits` do for many keys at once takes longer for a single one: a step
of subset construction that keeps nothing is simpler than lists of pairs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels._vectors import shift_eight
from compiler.kernels.advance import close, enter
from compiler.kernels.simulate_bits import list_tags
from compiler.kernels.single_frame import next_word
from compiler.kernels.tables import Bytes, Int32s, Int64s, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import EIGHT, ONE, ZERO
from compiler.kernels.words import find_symbol, name_word
from compiler.kernels.work import ENTERED_COUNT, FINAL_FLAG, LOOP_COUNT, MEMBER_COUNT, TAG_COUNT

__all__ = [
    "MOST_MEMBERS",
    "Bits",
    "Scratch",
    "Steps",
    "Words",
    "copy_set",
    "simulate_as_bits",
    "simulate_one",
    "symbol_of",
]

MOST_MEMBERS = 1024
"""The largest set that a single key is read in with the interpreter's lock kept: a word takes some 20 us. Beyond that, the way of small batches is not what takes the time."""
MOST_READ = 1 << 16
"""The most positions and accept tags of all of a key's sets together that it is read in so: a millisecond or less. 200,000 bindings of `#` have a set of one position and
200,000 tags, which a key of 2,000 words took 0.4 s to list word by word, and 9 ms the way of small batches, where they are listed once."""


class Steps(NamedTuple):
    """What a Program has to find successors by."""

    nodes: Uint64s
    labels: Int32s
    tag_offsets: Int32s
    tags: Int32s
    edges: Uint64s
    edge_shift: Signed
    edge_symbol_bits: Signed
    edge_key_shift: Signed


class Scratch(NamedTuple):
    """What a Work has for a step of subset construction, and for one of bits."""

    loops: Int32s
    entered: Int32s
    epsilon: Int32s
    members: Int32s
    tags: Int32s
    spare_tags: Int32s
    counts: Int64s
    lanes: Uint64s
    marks: Uint64s


class Words(NamedTuple):
    """What a Program has to name words by."""

    separator: Any
    table: Uint64s
    data: Bytes
    offsets: Int32s
    shift: Unsigned
    multiplier: Unsigned


class Bits(NamedTuple):
    """What a :class:`compiler.machine.bit_program.BitProgram` has; no numbers at all where there is none."""

    accepts: Uint64s
    loops: Uint64s
    start: Uint64s
    ends: Uint64s
    tag_offsets: Int32s
    tags: Int32s
    in_order: bool


@kernel
def simulate_one(
    program: Any,
    work: Any,
    words: Words,
    before: Int32s,
    size: Signed,
    root: Signed,
    data: Bytes,
    at: Unsigned,
    end: Unsigned,
    mask: Unsigned,
) -> bool:
    """Leave the accept tags of a key in ``work.tags``; return False where sets are too large. ``program`` are Steps, and ``work`` is a Scratch.

    A word begins at ``at``, in front of which the set is ``before[:size]``; or, with a ``root`` that is not negative, the whole key is to be read from there.
    """
    counts = work.counts
    read, more = size, True
    while more:
        if size > MOST_MEMBERS or read > MOST_READ:
            return False
        if root >= 0:
            work.entered[0] = root
            counts[LOOP_COUNT], counts[ENTERED_COUNT] = 0, 1
            root = np.int64(-1)
            more = at < end  # an empty key has no words
        else:
            length, mask = next_word(data, at, end, mask, words.separator)
            enter(program, before, np.int64(0), size, np.int64(symbol_of(words, data, at, length)), work)
            at += length + ONE
            more = at <= end  # a separator at the very end is followed by one more word, the empty one
        close(program, work)
        size = counts[MEMBER_COUNT]
        read += size + counts[TAG_COUNT]
        more = more and counts[FINAL_FLAG] == 0
        copy_set(work.members, np.int64(0), size, before)
    return True


@kernel
def simulate_as_bits(bits: Bits, work: Scratch, words: Words, reserved: bool, data: Bytes, end: Unsigned) -> None:
    """Do as :func:`simulate_one` for a whole key, which begins with the ``reserved`` byte or not."""
    now, lanes = work.lanes, np.uint64(bits.loops.size)
    root = lanes if reserved else ZERO
    for j in range(lanes):
        now[j] = bits.start[root + j]
    at = mask = ZERO
    more = at < end  # an empty key has no words
    while more:
        length, mask = next_word(data, at, end, mask, words.separator)
        first = symbol_of(words, data, at, length) * lanes
        any_active = lane = ZERO
        while lane < lanes:
            any_active |= shift_eight(now, lane, bits.accepts, first + lane, bits.loops, lane)
            lane += EIGHT
        at += length + ONE
        more = at <= end and any_active != ZERO
    work.counts[TAG_COUNT] = np.int64(list_tags(bits, work, ZERO, work.tags, ZERO))


@inlined
def copy_set(members: Int32s, first: Signed, last: Signed, before: Int32s) -> None:
    """Copy ``members[first:last]`` to the beginning of ``before``."""
    for i in range(last - first):
        before[i] = members[first + i]


@inlined
def symbol_of(words: Words, data: Bytes, at: Unsigned, length: Unsigned) -> Unsigned:
    """Return the symbol of a word; 0 if it is no literal of any pattern."""
    name = name_word(data, at, length, words.multiplier)
    return find_symbol(words.table, words.shift, words.multiplier, words.data, words.offsets, name, data, at, length)
