"""One key through sealed tables: :mod:`compiler.kernels.single` for records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compiler.kernels._builtins import Builtin, numbers_at, pointer_of, tuple_item
from compiler.kernels._jit import array_at, inlined
from compiler.kernels.filters import may_be_literal
from compiler.kernels.records import COMPLETE_BIT, REFERENCE_MASK, accept_of, find_entry, pair_of, state_of
from compiler.kernels.seal_tables import Seal
from compiler.kernels.single_frame import (
    ADDRESS,
    FILTERS,
    KEY,
    META,
    MOST_SLOTS,
    OWN,
    RESERVED,
    SEPARATOR,
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
    take_key,
)
from compiler.kernels.store_tables import Exact
from compiler.kernels.tables import MISSING, START, START_RESERVED, WORDS, Bytes, Int32s, Program, Signed, Uint64s
from compiler.kernels.unsigned import FINAL_BIT, NONE, ONE, TWO, ZERO
from compiler.kernels.words import begins_with, find_symbol, name_word

__all__ = ["make_frame", "match_one_sealed"]

RECORDS, STARTS, BEFORE = range(OWN, OWN + 6, 2)
"""Slots of a frame that are addresses of arrays; each is followed by the array's size."""


class _Starts(NamedTuple):
    """What a Seal has to number states by."""

    starts: Uint64s
    before: Int32s


def make_frame(program: Program, seal: Seal, exact: Exact | None, key: Bytes) -> Uint64s:
    """Return the frame for :func:`walk_one_sealed`, as :func:`compiler.kernels.single_frame.frame_of` does."""
    own = (seal.records, np.uint64), (seal.starts, np.uint64), (seal.before, np.int32)
    return frame_of(program, seal, exact, key, (), own)


def _match_one_sealed(state: Signed, key: Signed) -> Signed:
    """Do as :func:`compiler.kernels.single.match_one`."""
    frame: Uint64s = numbers_at(pointer_of(tuple_item(state, ADDRESS)), MOST_SLOTS)
    length = take_key(state, frame, key)
    return answer_of(state, frame, MISSING if length == MISSING else walk_one_sealed(frame, length))


match_one_sealed = Builtin(_match_one_sealed, keywords=False)


@inlined
def walk_one_sealed(frame: Uint64s, length: Signed) -> Signed:
    """Return the accept set of the key in the buffer, which has ``length`` bytes, or MISSING; for one that is found whole, see :func:`find_whole`."""
    data, meta = array_at(frame, KEY, np.uint8), array_at(frame, META, np.int64)
    known = find_whole(frame, data, np.uint64(length))
    if known < MISSING:
        return known
    records = array_at(frame, RECORDS, np.uint64)
    at, end = ZERO, np.uint64(length)
    separator, multiplier = np.uint8(frame[SEPARATOR]), frame[WORD_MULTIPLIER]
    state = np.uint64(meta[START_RESERVED if begins_with(data, at, end, np.int64(frame[RESERVED])) else START])
    read = ZERO
    mask = ZERO
    more = at < end  # an empty key has no words
    while more and state & FINAL_BIT == ZERO:
        size, mask = next_word(data, at, end, mask, separator)
        name = name_word(data, at, size, multiplier)
        pair = pair_of(state)
        head, literals = records[TWO * pair], records[TWO * pair + ONE]
        target = head & REFERENCE_MASK
        if literals != ZERO:
            symbol = find_symbol(
                array_at(frame, WORD_TABLE, np.uint64),
                frame[WORD_SHIFT],
                multiplier,
                array_at(frame, WORD_DATA, np.uint8),
                array_at(frame, WORD_OFFSETS, np.int32),
                name,
                data,
                at,
                size,
            )
            if may_be_literal(array_at(frame, FILTERS, np.uint64), literals, symbol):
                found = find_entry(records, pair, symbol)
                if found != NONE:
                    target = found
                elif head & COMPLETE_BIT == ZERO:
                    starts = _Starts(array_at(frame, STARTS, np.uint64), array_at(frame, BEFORE, np.int32))
                    if not is_stray(frame, state_of(starts, state), symbol):
                        target = ZERO
        if target == ZERO:
            return MISSING
        state = target
        read += ONE
        at += size + ONE
        more = at <= end  # a separator at the very end is followed by one more word, the empty one
    meta[WORDS] += np.int64(read)
    return np.int64(accept_of(records, state))
