"""One key through the lazy DFA as it is: no building, no block, two arguments.

Handing a kernel the forty arrays of the general walk takes longer than walking a key, and nine still took 0.4 us. So what
reading needs lies in one array, the *frame*: numbers, and where the tables and the key are. Where a transition is missing
the kernel says so, and the general walk does the key again and builds it. ``python -m benchmarks engine single`` measures it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.kernels._jit import array_at, brief, equal64, inlined, trailing_zeros
from compiler.kernels.tables import FINAL, START, START_RESERVED, TARGET, WORDS, Cache, Program
from compiler.kernels.transitions import find, mix
from compiler.kernels.words import begins_with, below, filter_bit, find_symbol, name_word

__all__ = ["MISSING", "make_frame", "walk_one"]

MISSING = -1
NO_STATE, ONE, TWO, HALF = (np.uint64(i) for i in (0, 1, 2, 32))
LOW_HALF, NUMBER, STOP = np.uint64(0xFFFFFFFF), np.uint64(TARGET), np.uint64(FINAL)

# Slots of a frame: numbers, and the address and the size of each array.
SEPARATOR, RESERVED, WORD_SHIFT, SHIFT, SYMBOL_BITS, KEY_SHIFT = range(6)
KEY, WORD_TABLE, WORD_DATA, WORD_OFFSETS, INFO, TRANSITIONS, META = range(6, 20, 2)
# The numbers in these arrays, as the kernel reads them.
KINDS: tuple[type, ...] = np.uint8, np.uint64, np.uint8, np.int32, np.uint64, np.uint64, np.int64


def make_frame(program: Program, cache: Cache, key: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Return what :func:`walk_one` needs of the program and of the cache, and where the key will be.

    The frame keeps none of the arrays; whoever has it must, as long as it is used. A cache that is cleared keeps its own.
    """
    reserved = program.reserved if program.reserved >= 0 else 256  # no byte
    shifts = program.word_shift, cache.transition_shift, cache.symbol_bits, cache.key_shift
    words = program.words, program.word_data, program.word_offsets
    arrays: tuple[npt.NDArray[Any], ...] = key, *words, cache.info, cache.transitions, cache.meta
    for array, kind in zip(arrays, KINDS, strict=True):  # the kernel sees addresses, and would read anything
        assert array.dtype == kind
        assert array.flags.c_contiguous
    places = [number for array in arrays for number in (array.ctypes.data, len(array))]
    return np.array([program.separator, reserved, *shifts, *places], np.uint64)


@brief
def walk_one(frame: Any, length: Any) -> Any:
    """Return the accept set of the key, which has ``length`` bytes, or MISSING."""
    data = array_at(frame, KEY, np.uint8)
    info = array_at(frame, INFO, np.uint64)
    meta = array_at(frame, META, np.int64)
    first, end = np.uint64(0), np.uint64(length)
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
        info,
        array_at(frame, TRANSITIONS, np.uint64),
        frame[SHIFT],
        frame[SYMBOL_BITS],
        frame[KEY_SHIFT],
    )
    if state == NO_STATE:
        return MISSING
    meta[WORDS] += np.int64(read)
    return np.int64(info[TWO * state] >> HALF)


@inlined
def _follow(
    data: Any,
    at: Any,
    end: Any,
    state: Any,
    separator: Any,
    words: Any,
    word_data: Any,
    word_offsets: Any,
    word_shift: Any,
    info: Any,
    transitions: Any,
    shift: Any,
    symbol_bits: Any,
    key_shift: Any,
) -> Any:
    """Return the state that a key leads to, or NO_STATE, and how many words were read."""
    read = np.uint64(0)
    mask = np.uint64(0)
    more = at < end  # an empty key has no words
    while more and state & STOP == np.uint64(0):
        if mask == np.uint64(0):
            mask = equal64(data, at, separator)
            left = end - at
            if left < np.uint64(64):
                mask = mask & below(left) | ONE << left
        length = np.uint64(64)
        if mask != np.uint64(0):
            length = trailing_zeros(mask)
            mask = mask >> length >> ONE
        else:
            while length < end - at and data[at + length] != separator:
                length += ONE
        name = name_word(data, at, length)
        number = state & NUMBER
        target = info[TWO * number] & LOW_HALF
        if info[TWO * number + ONE] >> filter_bit(name) & ONE != np.uint64(0) and target != np.uint64(0):
            symbol = find_symbol(words, word_shift, word_data, word_offsets, name, data, at, length)
            if symbol != np.uint64(0):
                target = find(transitions, mix(number, symbol, symbol_bits, key_shift), shift)
        if target == np.uint64(0):
            return NO_STATE, read
        state = target
        read += ONE
        at += length + ONE
        more = at <= end  # a separator at the very end is followed by one more word, the empty one
    return state & NUMBER, read
