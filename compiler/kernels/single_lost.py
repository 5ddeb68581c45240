"""One key that the lazy DFA does not know as it is: what is missing is built, or the key is simulated, within the same call.

Such a key went on as a small batch of one, which took 9 us where it was simulated and more where something was built: two of these
went into handing a kernel its arrays, and the rest into some twenty steps of Python. Here all tables have their addresses in the frame
(:mod:`compiler.kernels.single_frame`).

It is the walk of :mod:`compiler.kernels.walk` for a block of one key, with the same answers and the same counters, but that a doorkeeper may count a request twice. What is out of the ordinary is left to
that: a table that must grow, a full cache, the first key and the last one before the pace is judged, and large sets, as the interpreter's lock
is kept meanwhile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._builtins import Builtin, numbers_at, pointer_of, tuple_item
from compiler.kernels._jit import array_at, inlined
from compiler.kernels.determinize import build
from compiler.kernels.doorkeeper import is_rare
from compiler.kernels.filters import may_be_literal
from compiler.kernels.single import (
    DOORKEEPER_SHIFT,
    FURTHER,
    INFO,
    KEY_SHIFT,
    SHIFT,
    STATE_LIMIT,
    SYMBOL_BITS,
    TRANSITIONS,
    make_frame,
    renewed,
)
from compiler.kernels.single_frame import (
    ADDRESS,
    EDGE_KEY_SHIFT,
    EDGE_SHIFT,
    EDGE_SYMBOL_BITS,
    EDGES,
    FILTERS,
    KEY,
    LABELS,
    MEMBERS,
    META,
    MOST_SLOTS,
    NODES,
    RESERVED,
    SEPARATOR,
    SET_END,
    STATE_END,
    TAGS,
    WORD_DATA,
    WORD_MULTIPLIER,
    WORD_OFFSETS,
    WORD_SHIFT,
    WORD_TABLE,
    answer_of,
    next_word,
    put_arrays,
    take_key,
    tuple_of,
)
from compiler.kernels.single_simulated import (
    MOST_MEMBERS,
    Bits,
    Scratch,
    Steps,
    Words,
    copy_set,
    simulate_as_bits,
    simulate_one,
    symbol_of,
)
from compiler.kernels.strays import children_if_stray, keep_stray
from compiler.kernels.tables import (
    CACHELESS,
    CLOSED,
    DONE,
    LISTED,
    MISSES,
    MISSING,
    PAUSED,
    SEEN,
    SIMULATED,
    START,
    START_RESERVED,
    STATES,
    UNJUDGED,
    WORDS,
    Bytes,
    Cache,
    Int32s,
    Int64s,
    Program,
    Signed,
    Uint64s,
    Unsigned,
)
from compiler.kernels.transitions import find, mix
from compiler.kernels.unsigned import FINAL_BIT, LOW_HALF, ONE, STATE_MASK, TWO, UPPER_HALF, ZERO
from compiler.kernels.words import begins_with
from compiler.kernels.work import TAG_COUNT, Work

__all__ = ["make_lost_frame", "match_lost", "renewed_lost"]

(
    STATE_SLOTS, SET_SLOTS, DOORKEEPER, TAG_OFFSETS, PATTERN_TAGS,
    LOOPS, ENTERED, EPSILON, NEW_MEMBERS, NEW_TAGS, SPARE_TAGS, COUNTS, LANES, MARKS, BEFORE, FEW_COUNTS,
    BIT_ACCEPTS, BIT_LOOPS, BIT_START, BIT_ENDS, BIT_TAG_OFFSETS, BIT_TAGS,
) = range(FURTHER, FURTHER + 44, 2)  # fmt: skip
"""Further slots that are addresses of arrays: of the cache, the program, the scratch space, and the caller's own."""


NO_BITS = (np.zeros(0, np.uint64),) * 4 + (np.zeros(0, np.int32),) * 2
BIT_KINDS = (np.uint64,) * 4 + (np.int32,) * 2


def make_lost_frame(
    program: Program,
    cache: Cache,
    key: Bytes,
    work: Work,
    bits: Any,
    before: Int32s,
    counts: Int64s,
) -> Uint64s:
    """Return the frame for :func:`match_lost`. ``bits`` is a BitProgram or None, ``before`` has as much room as ``work.members``, and ``counts`` are a pace's."""
    return make_frame(
        *(program, cache, None, key),
        further=[
            (cache.state_slots, np.uint64),
            (cache.set_slots, np.uint64),
            (cache.doorkeeper, np.uint64),
            (program.tag_offsets, np.int32),
            (program.tags, np.int32),
            (work.loops, np.int32),
            (work.entered, np.int32),
            (work.epsilon, np.int32),
            (work.members, np.int32),
            (work.tags, np.int32),
            (work.spare_tags, np.int32),
            (work.counts, np.int64),
            (work.lanes, np.uint64),
            (work.marks, np.uint64),
            (before, np.int32),
            (counts, np.int64),
            *zip(NO_BITS if bits is None else bits[: len(NO_BITS)], BIT_KINDS, strict=True),
        ],
    )


def renewed_lost(frame: Uint64s, cache: Cache) -> Uint64s:
    """Do as :func:`compiler.kernels.single.renewed` for a frame of :func:`make_lost_frame`."""
    frame = renewed(frame, cache)
    arrays = {
        STATE_SLOTS: (cache.state_slots, np.uint64),
        SET_SLOTS: (cache.set_slots, np.uint64),
        DOORKEEPER: (cache.doorkeeper, np.uint64),
    }
    put_arrays(frame, arrays)
    return frame


def _match_lost(state: Signed, key: Signed) -> Signed:
    """Do as :func:`compiler.kernels.single.match_one` for a key for which that has returned None; return None where Python has to see to it."""
    frame: Uint64s = numbers_at(pointer_of(tuple_item(state, ADDRESS)), MOST_SLOTS)
    length = take_key(state, frame, key)
    accept = MISSING if length == MISSING else _read(frame, length)
    if accept == LISTED:
        return tuple_of(array_at(frame, NEW_TAGS, np.int32), 0, array_at(frame, COUNTS, np.int64)[TAG_COUNT])
    return answer_of(state, frame, accept)


match_lost = Builtin(_match_lost, keywords=False)


@inlined
def _read(frame: Uint64s, length: Signed) -> Signed:
    """Return the accept set of the key in the buffer; LISTED if it was simulated; or MISSING.

    It does as :func:`compiler.kernels.walk.walk` for one key, which is simulated on where that defers it.
    """
    data, end = array_at(frame, KEY, np.uint8), np.uint64(length)
    meta: Int64s = array_at(frame, META, np.int64)
    counts: Int64s = array_at(frame, FEW_COUNTS, np.int64)
    steps: Any = Steps(
        array_at(frame, NODES, np.uint64),
        array_at(frame, LABELS, np.int32),
        array_at(frame, TAG_OFFSETS, np.int32),
        array_at(frame, PATTERN_TAGS, np.int32),
        array_at(frame, EDGES, np.uint64),
        np.int64(frame[EDGE_SHIFT]),
        np.int64(frame[EDGE_SYMBOL_BITS]),
        np.int64(frame[EDGE_KEY_SHIFT]),
    )
    scratch: Any = Scratch(
        array_at(frame, LOOPS, np.int32),
        array_at(frame, ENTERED, np.int32),
        array_at(frame, EPSILON, np.int32),
        array_at(frame, NEW_MEMBERS, np.int32),
        array_at(frame, NEW_TAGS, np.int32),
        array_at(frame, SPARE_TAGS, np.int32),
        array_at(frame, COUNTS, np.int64),
        array_at(frame, LANES, np.uint64),
        array_at(frame, MARKS, np.uint64),
    )
    words = Words(
        np.uint8(frame[SEPARATOR]),
        array_at(frame, WORD_TABLE, np.uint64),
        array_at(frame, WORD_DATA, np.uint8),
        array_at(frame, WORD_OFFSETS, np.int32),
        frame[WORD_SHIFT],
        frame[WORD_MULTIPLIER],
    )
    before: Int32s = array_at(frame, BEFORE, np.int32)
    reserved = begins_with(data, ZERO, end, np.int64(frame[RESERVED]))
    if counts[CACHELESS] != 0 or counts[PAUSED] > 0:
        bits = Bits(
            array_at(frame, BIT_ACCEPTS, np.uint64),
            array_at(frame, BIT_LOOPS, np.uint64),
            array_at(frame, BIT_START, np.uint64),
            array_at(frame, BIT_ENDS, np.uint64),
            array_at(frame, BIT_TAG_OFFSETS, np.int32),
            array_at(frame, BIT_TAGS, np.int32),
            False,
        )
        if bits.loops.size > 0:
            simulate_as_bits(bits, scratch, words, reserved, data, end)
        elif not simulate_one(steps, scratch, words, before, np.int64(0), np.int64(reserved), data, ZERO, end, ZERO):
            return MISSING
        counts[PAUSED] = max(counts[PAUSED] - 1, 0)
        counts[UNJUDGED] = 0
        counts[SIMULATED] += 1
        return LISTED
    if counts[UNJUDGED] <= 1 or meta[START] == 0 or meta[CLOSED] != 0:
        return MISSING
    cache = Cache(
        meta,
        array_at(frame, STATE_END, np.int32),
        array_at(frame, INFO, np.uint64),
        array_at(frame, STATE_SLOTS, np.uint64),
        array_at(frame, MEMBERS, np.int32),
        array_at(frame, SET_END, np.int32),
        array_at(frame, SET_SLOTS, np.uint64),
        array_at(frame, TAGS, np.int32),
        array_at(frame, TRANSITIONS, np.uint64),
        np.int64(frame[SHIFT]),
        array_at(frame, FILTERS, np.uint64),
        np.int64(frame[SYMBOL_BITS]),
        np.int64(frame[KEY_SHIFT]),
        np.int64(frame[STATE_LIMIT]),
        array_at(frame, DOORKEEPER, np.uint64),
        np.int64(frame[DOORKEEPER_SHIFT]),
    )
    if meta[SEEN] > 16 * cache.doorkeeper.size:
        return MISSING
    info, state_end = cache.info, cache.state_end
    states = np.uint64(meta[STATES])
    symbol_bits, key_shift = np.uint64(cache.symbol_bits), np.uint64(cache.key_shift)
    state = np.uint64(meta[START_RESERVED if reserved else START])
    at = read = missed = mask = ZERO
    more = at < end  # an empty key has no words
    while more and state & FINAL_BIT == ZERO:
        begun = mask
        length, mask = next_word(data, at, end, mask, words.separator)
        symbol = symbol_of(words, data, at, length)
        number: Unsigned = state & STATE_MASK
        read += ONE
        target = default = info[TWO * number] & LOW_HALF
        passes = may_be_literal(cache.filters, info[TWO * number + ONE], symbol)
        mixed = mix(number, symbol if passes else ZERO, symbol_bits, key_shift)
        if passes and default != ZERO:
            target = find(cache.transitions, mixed, np.uint64(cache.transition_shift))
        if target == ZERO:
            first, last = np.int64(state_end[number - ONE]), np.int64(state_end[number])
            if last - first > MOST_MEMBERS:
                return MISSING
            children = ZERO
            if default != ZERO:
                children = children_if_stray(steps, cache.members, state_end, number, symbol)
            if children != ZERO:
                if keep_stray(steps, cache, number, mixed, children) != DONE:
                    return MISSING
                target = default
            else:
                missed += ONE
                if is_rare(cache, mixed, meta, number >= states):
                    copy_set(cache.members, first, last, before)
                    if not simulate_one(
                        steps, scratch, words, before, last - first, np.int64(-1), data, at, end, begun
                    ):
                        return MISSING
                    counts[SIMULATED] += 1
                    state = ZERO
                    break
                built = build(steps, cache, scratch, number, symbol)
                if built < 0:
                    return MISSING
                target = np.uint64(built)
        state = target
        at += length + ONE
        more = at <= end  # a separator at the very end is followed by one more word, the empty one
    meta[WORDS] += np.int64(read)
    meta[MISSES] += np.int64(missed)
    counts[UNJUDGED] -= 1
    if state == ZERO:
        return LISTED
    return np.int64(info[TWO * (state & STATE_MASK)] >> UPPER_HALF)
