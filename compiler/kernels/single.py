"""One key through the lazy DFA as it is: no building, no block of keys, and only two arguments.

Handing a kernel the arrays of the general walk takes longer than walking a key; handing it nine arrays still took 0.4 us. So
all that is needed to read a key lies in one array, the *frame* (:mod:`compiler.kernels.single_frame`). If a transition is missing, the kernel says so, and the general walk does the key again and builds it. The words of
a key are counted here only if none was missing. Where many keys come singly, :mod:`compiler.kernels.single_lost` goes on. ``python -m benchmarks engine single`` measures this kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.kernels._builtins import Builtin, numbers_at, pointer_of, tuple_item
from compiler.kernels._jit import array_at, inlined
from compiler.kernels.filters import may_be_literal
from compiler.kernels.single_frame import (
    ADDRESS,
    FILTERS,
    KEY,
    MEMBERS,
    META,
    MOST_SLOTS,
    OWN,
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
    find_whole,
    frame_of,
    is_stray,
    next_word,
    put_arrays,
    take_key,
)
from compiler.kernels.store_tables import Exact
from compiler.kernels.tables import (
    MISSING,
    START,
    START_RESERVED,
    WORDS,
    Bytes,
    Cache,
    Int32s,
    Program,
    Signed,
    Uint64s,
    Unsigned,
)
from compiler.kernels.transitions import find, mix
from compiler.kernels.unsigned import FINAL_BIT, LOW_HALF, ONE, STATE_MASK, TWO, UPPER_HALF, ZERO
from compiler.kernels.words import begins_with, find_symbol, name_word

__all__ = [
    "DOORKEEPER_SHIFT",
    "FURTHER",
    "INFO",
    "KEY_SHIFT",
    "SHIFT",
    "STATE_LIMIT",
    "SYMBOL_BITS",
    "TRANSITIONS",
    "make_frame",
    "match_one",
    "renewed",
]

SHIFT, SYMBOL_BITS, KEY_SHIFT, STATE_LIMIT, DOORKEEPER_SHIFT = range(OWN, OWN + 5)
"""Slots of a frame that are numbers: all that a cache has."""
INFO, TRANSITIONS = range(OWN + 5, OWN + 9, 2)
"""Slots that are addresses of arrays; each is followed by the array's size."""
FURTHER = OWN + 9
"""The first slot behind these, of a kernel that can more."""


def make_frame(
    program: Program,
    cache: Cache,
    exact: Exact | None,
    key: Bytes,
    further: Sequence[tuple[npt.NDArray[Any], type]] = (),
) -> Uint64s:
    """Return the frame for :func:`walk_one`, as :func:`compiler.kernels.single_frame.frame_of` does, and ``further`` arrays behind that."""
    own = (cache.info, np.uint64), (cache.transitions, np.uint64), *further
    return frame_of(program, cache, exact, key, _numbers(cache), own)


def renewed(frame: Uint64s, cache: Cache) -> Uint64s:
    """Return a frame that was made for an earlier cache of a walker, for this one; it takes a third of the time of making one."""
    frame = frame.copy()
    frame[OWN:INFO] = _numbers(cache)
    arrays: dict[int, tuple[npt.NDArray[Any], type]] = {
        FILTERS: (cache.filters, np.uint64),
        META: (cache.meta, np.int64),
        SET_END: (cache.set_end, np.int32),
        TAGS: (cache.tags, np.int32),
        STATE_END: (cache.state_end, np.int32),
        MEMBERS: (cache.members, np.int32),
        INFO: (cache.info, np.uint64),
        TRANSITIONS: (cache.transitions, np.uint64),
    }
    put_arrays(frame, arrays)
    return frame


def _numbers(cache: Cache) -> tuple[Signed, ...]:
    return cache.transition_shift, cache.symbol_bits, cache.key_shift, cache.state_limit, cache.doorkeeper_shift


def _match_one(state: Signed, key: Signed) -> Signed:
    """Return the accept tags of a key, str or bytes, as a tuple, or None if a transition is missing, or the key is too long or wrong."""
    frame: Uint64s = numbers_at(pointer_of(tuple_item(state, ADDRESS)), MOST_SLOTS)
    length = take_key(state, frame, key)
    return answer_of(state, frame, MISSING if length == MISSING else walk_one(frame, length))


match_one = Builtin(_match_one, keywords=False)


@inlined
def walk_one(frame: Uint64s, length: Signed) -> Signed:
    """Return the accept set of the key in the buffer, which has ``length`` bytes, or MISSING; for one that is found whole, see :func:`find_whole`."""
    data = array_at(frame, KEY, np.uint8)
    known = find_whole(frame, data, np.uint64(length))
    if known < MISSING:
        return known
    info = array_at(frame, INFO, np.uint64)
    meta = array_at(frame, META, np.int64)
    first, end = ZERO, np.uint64(length)
    state, read = _follow(
        data,
        first,
        end,
        np.uint64(meta[START_RESERVED if begins_with(data, first, end, np.int64(frame[RESERVED])) else START]),
        np.uint8(frame[SEPARATOR]),
        array_at(frame, WORD_TABLE, np.uint64),
        array_at(frame, WORD_DATA, np.uint8),
        array_at(frame, WORD_OFFSETS, np.int32),
        frame[WORD_SHIFT],
        frame[WORD_MULTIPLIER],
        info,
        array_at(frame, FILTERS, np.uint64),
        array_at(frame, TRANSITIONS, np.uint64),
        frame[SHIFT],
        frame[SYMBOL_BITS],
        frame[KEY_SHIFT],
        frame,
    )
    if state == ZERO:
        return MISSING
    meta[WORDS] += np.int64(read)
    return np.int64(info[TWO * state] >> UPPER_HALF)


@inlined
def _follow(
    data: Bytes,
    at: Unsigned,
    end: Unsigned,
    state: Unsigned,
    separator: np.uint8,
    words: Uint64s,
    word_data: Bytes,
    word_offsets: Int32s,
    word_shift: Unsigned,
    multiplier: Unsigned,
    info: Uint64s,
    filters: Uint64s,
    transitions: Uint64s,
    shift: Unsigned,
    symbol_bits: Unsigned,
    key_shift: Unsigned,
    frame: Uint64s,
) -> tuple[Unsigned, Unsigned]:
    """Return the state that a key leads to, or 0 if a transition is missing, and how many words were read.

    ``state`` is the start state with its FINAL bit, or 0 if that is not built, which is what an unknown key begins with.
    """
    read = ZERO
    mask = ZERO  # the separators that are found and not used yet, the next byte's lowest
    more = at < end  # an empty key has no words
    while more and state & FINAL_BIT == ZERO:
        length, mask = next_word(data, at, end, mask, separator)
        name = name_word(data, at, length, multiplier)
        number = state & STATE_MASK
        target = default = info[TWO * number] & LOW_HALF
        literals = info[TWO * number + ONE]
        if min(literals, target) != ZERO:
            symbol = find_symbol(words, word_shift, multiplier, word_data, word_offsets, name, data, at, length)
            if may_be_literal(filters, literals, symbol):
                target = find(transitions, mix(number, symbol, symbol_bits, key_shift), shift)
                if target == ZERO and is_stray(frame, number, symbol):
                    target = default
        if target == ZERO:
            return ZERO, read
        state = target
        read += ONE
        at += length + ONE
        more = at <= end  # a separator at the very end is followed by one more word, the empty one
    return state & STATE_MASK, read
