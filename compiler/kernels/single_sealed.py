"""One key through sealed tables: :mod:`compiler.kernels.single` for records."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.kernels._jit import array_at, brief, inlined
from compiler.kernels.filters import may_be_literal
from compiler.kernels.records import (
    COMPLETE_BIT,
    REFERENCE_MASK,
    accept_of,
    find_entry,
    pair_of,
    state_of,
)
from compiler.kernels.seal_tables import Seal
from compiler.kernels.single import MISSING, NO_BYTE, Children, next_word
from compiler.kernels.strays import children_if_stray
from compiler.kernels.tables import (
    START,
    START_RESERVED,
    WORDS,
    Bytes,
    Int32s,
    Program,
    Signed,
    Uint64s,
    Unsigned,
)
from compiler.kernels.unsigned import FINAL_BIT, NONE, ONE, TWO, ZERO
from compiler.kernels.words import begins_with, find_symbol, name_word

__all__ = ["make_frame", "walk_one_sealed"]

SEPARATOR, RESERVED, WORD_SHIFT, WORD_MULTIPLIER, EDGE_SHIFT, EDGE_SYMBOL_BITS, EDGE_KEY_SHIFT = range(7)
"""Slots of a frame that are numbers."""
KEY, WORD_TABLE, WORD_DATA, WORD_OFFSETS, RECORDS, FILTERS, META = range(7, 21, 2)
"""Slots of a frame that are addresses of arrays; each is followed by the array's size."""
STARTS, BEFORE, STATE_END, MEMBERS, NODES, LABELS, EDGES = range(21, 35, 2)
"""Those that are read only for a word that passes a filter and has no entry."""
KINDS: tuple[type, ...] = (
    *(np.uint8, np.uint64, np.uint8, np.int32, np.uint64, np.uint64, np.int64),
    *(np.uint64, np.int32, np.int32, np.int32, np.uint64, np.int32, np.uint64),
)
"""The types of the numbers in these arrays, as the kernel reads them."""


class _Starts(NamedTuple):
    """What a Seal has to number states by."""

    starts: Uint64s
    before: Int32s


def make_frame(program: Program, seal: Seal, key: Bytes) -> Uint64s:
    """Return the frame for :func:`walk_one_sealed`, as :func:`compiler.kernels.single.make_frame` does."""
    reserved = program.reserved if program.reserved >= 0 else NO_BYTE
    hashing = program.word_shift, program.word_multiplier
    edges = program.edge_shift, program.edge_symbol_bits, program.edge_key_shift
    words = program.words, program.word_data, program.word_offsets
    states = seal.records, seal.filters, seal.meta, seal.starts, seal.before, seal.state_end, seal.members
    arrays: tuple[npt.NDArray[Any], ...] = key, *words, *states, program.nodes, program.labels, program.edges
    for array, kind in zip(arrays, KINDS, strict=True):  # the kernel gets addresses, and would read anything
        assert array.dtype == kind
        assert array.flags.c_contiguous
    places = [number for array in arrays for number in (array.ctypes.data, len(array))]
    return np.array([program.separator, reserved, *hashing, *edges, *places], np.uint64)


@brief
def walk_one_sealed(frame: Uint64s, length: Signed) -> Signed:
    """Return the accept set of the key in the buffer, which has ``length`` bytes, or MISSING."""
    data, meta = array_at(frame, KEY, np.uint8), array_at(frame, META, np.int64)
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
                elif head & COMPLETE_BIT == ZERO and not _is_stray(frame, state, symbol):
                    target = ZERO
        if target == ZERO:
            return MISSING
        state = target
        read += ONE
        at += size + ONE
        more = at <= end  # a separator at the very end is followed by one more word, the empty one
    meta[WORDS] += np.int64(read)
    return np.int64(accept_of(records, state))


@inlined
def _is_stray(frame: Uint64s, state: Unsigned, symbol: Unsigned) -> bool:
    """Tell whether a word that has passed a state's filter is no literal of it."""
    starts = _Starts(array_at(frame, STARTS, np.uint64), array_at(frame, BEFORE, np.int32))
    children = Children(
        array_at(frame, NODES, np.uint64),
        array_at(frame, LABELS, np.int32),
        array_at(frame, EDGES, np.uint64),
        np.int64(frame[EDGE_SHIFT]),
        np.int64(frame[EDGE_SYMBOL_BITS]),
        np.int64(frame[EDGE_KEY_SHIFT]),
    )
    ends, members = array_at(frame, STATE_END, np.int32), array_at(frame, MEMBERS, np.int32)
    return bool(children_if_stray(children, members, ends, state_of(starts, state), symbol) != ZERO)
