"""One key through the lazy DFA as it is: no building, no block of keys, and only two arguments.

Handing a kernel the arrays of the general walk takes longer than walking a key; handing it nine arrays still took 0.4 us. So
all that is needed to read a key lies in one array, the *frame*: numbers, and the addresses and sizes of the tables and of the
key's buffer. If a transition is missing, the kernel says so, and the general walk does the key again and builds it. The words of
a key are counted here only if none was missing. ``python -m benchmarks engine single`` measures this kernel.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.kernels._jit import array_at, brief, equal64, inlined, trailing_zeros
from compiler.kernels.filters import may_be_literal
from compiler.kernels.strays import children_if_stray
from compiler.kernels.tables import (
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
from compiler.kernels.unsigned import FINAL_BIT, LOW_HALF, ONE, STATE_MASK, TWO, UPPER_HALF, WINDOW, ZERO
from compiler.kernels.words import begins_with, below, find_symbol, name_word

__all__ = ["MISSING", "NO_BYTE", "Children", "make_frame", "next_word", "walk_one"]

MISSING = -1
"""In place of an accept set: a transition is missing."""

SEPARATOR, RESERVED, WORD_SHIFT, WORD_MULTIPLIER, SHIFT, SYMBOL_BITS, KEY_SHIFT = range(7)
"""Slots of a frame that are numbers."""
EDGE_SHIFT, EDGE_SYMBOL_BITS, EDGE_KEY_SHIFT = range(7, 10)
KEY, WORD_TABLE, WORD_DATA, WORD_OFFSETS, INFO, FILTERS, TRANSITIONS, META = range(10, 26, 2)
"""Slots of a frame that are addresses of arrays; each is followed by the array's size."""
STATE_END, MEMBERS, NODES, LABELS, EDGES = range(26, 36, 2)
"""Those that are read only for a word that passes a filter and has no transition."""
KINDS: tuple[type, ...] = (
    *(np.uint8, np.uint64, np.uint8, np.int32, np.uint64, np.uint64, np.uint64, np.int64),
    *(np.int32, np.int32, np.uint64, np.int32, np.uint64),
)
"""The types of the numbers in these arrays, as the kernel reads them."""
NO_BYTE = 256
"""RESERVED where no byte is reserved."""


class Children(NamedTuple):
    """What a Program has to find children by."""

    nodes: Uint64s
    labels: Int32s
    edges: Uint64s
    edge_shift: Signed
    edge_symbol_bits: Signed
    edge_key_shift: Signed


def make_frame(program: Program, cache: Cache, key: Bytes) -> Uint64s:
    """Return the frame for :func:`walk_one`; keys will be put into the buffer ``key``, with PADDING behind them.

    The frame does not keep the arrays alive: the caller must, as long as it uses the frame. A new frame is needed when an array
    of the cache is replaced by a larger one. A cache that is cleared keeps its arrays.
    """
    reserved = program.reserved if program.reserved >= 0 else NO_BYTE
    hashing = program.word_shift, program.word_multiplier, cache.transition_shift, cache.symbol_bits, cache.key_shift
    edges = program.edge_shift, program.edge_symbol_bits, program.edge_key_shift
    words = program.words, program.word_data, program.word_offsets
    states = cache.info, cache.filters, cache.transitions, cache.meta, cache.state_end, cache.members
    arrays: tuple[npt.NDArray[Any], ...] = key, *words, *states, program.nodes, program.labels, program.edges
    for array, kind in zip(arrays, KINDS, strict=True):  # the kernel gets addresses, and would read anything
        assert array.dtype == kind
        assert array.flags.c_contiguous
    places = [number for array in arrays for number in (array.ctypes.data, len(array))]
    return np.array([program.separator, reserved, *hashing, *edges, *places], np.uint64)


@brief
def walk_one(frame: Uint64s, length: Signed) -> Signed:
    """Return the accept set of the key in the buffer, which has ``length`` bytes, or MISSING."""
    data = array_at(frame, KEY, np.uint8)
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
def _is_stray(frame: Uint64s, state: Unsigned, symbol: Unsigned) -> bool:
    """Tell whether a word that has passed a state's filter is no literal of it."""
    ends, members = array_at(frame, STATE_END, np.int32), array_at(frame, MEMBERS, np.int32)
    children = Children(
        array_at(frame, NODES, np.uint64),
        array_at(frame, LABELS, np.int32),
        array_at(frame, EDGES, np.uint64),
        np.int64(frame[EDGE_SHIFT]),
        np.int64(frame[EDGE_SYMBOL_BITS]),
        np.int64(frame[EDGE_KEY_SHIFT]),
    )
    return bool(children_if_stray(children, members, ends, state, symbol) != ZERO)


@inlined
def next_word(
    data: Bytes, at: Unsigned, end: Unsigned, mask: Unsigned, separator: np.uint8
) -> tuple[Unsigned, Unsigned]:
    """Return the length of the word that begins at ``at``, and which further separators are found, the next byte's lowest."""
    if mask == ZERO:
        mask = equal64(data, at, separator)
        left = end - at
        if left < WINDOW:
            mask = mask & below(left) | ONE << left
    length = WINDOW
    if mask != ZERO:
        length = trailing_zeros(mask)
        mask = mask >> length >> ONE
    else:
        while length < end - at and data[at + length] != separator:
            length += ONE
    return length, mask


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
                if target == ZERO and _is_stray(frame, number, symbol):
                    target = default
        if target == ZERO:
            return ZERO, read
        state = target
        read += ONE
        at += length + ONE
        more = at <= end  # a separator at the very end is followed by one more word, the empty one
    return state & STATE_MASK, read
