"""What kernels for a single key share: the frame that they read from, how a key is cut into words, and how strays are told.

A *frame* is one array of numbers, and of the addresses and sizes of the tables and of the key's buffer. Its first slots are the same for
a cache and for sealed tables; behind them come those of the kernel's own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.kernels._jit import array_at, equal64, inlined, trailing_zeros
from compiler.kernels.exact_keys import find_one
from compiler.kernels.seal_tables import Seal
from compiler.kernels.store_tables import Exact
from compiler.kernels.strays import children_if_stray
from compiler.kernels.tables import (
    KEY_CACHE_HITS,
    MISSING,
    Bytes,
    Cache,
    Int32s,
    Int64s,
    Program,
    Signed,
    Uint64s,
    Unsigned,
)
from compiler.kernels.unsigned import ONE, WINDOW, ZERO
from compiler.kernels.words import below

__all__ = [
    "FILTERS",
    "KEY",
    "META",
    "OWN",
    "RESERVED",
    "SEPARATOR",
    "WORD_DATA",
    "WORD_MULTIPLIER",
    "WORD_OFFSETS",
    "WORD_SHIFT",
    "WORD_TABLE",
    "find_whole",
    "frame_of",
    "is_stray",
    "next_word",
]

SEPARATOR, RESERVED, WORD_SHIFT, WORD_MULTIPLIER, EDGE_SHIFT, EDGE_SYMBOL_BITS, EDGE_KEY_SHIFT = range(7)
"""Slots of a frame that are numbers."""
KEY, WORD_TABLE, WORD_DATA, WORD_OFFSETS, FILTERS, META = range(7, 19, 2)
"""Slots of a frame that are addresses of arrays; each is followed by the array's size."""
STATE_END, MEMBERS, NODES, LABELS, EDGES = range(19, 29, 2)
"""Those that are read only for a word that passes a filter and has no transition."""
EXACT_SLOTS, EXACT_RECORDS, EXACT_MARKS = range(29, 35, 2)
"""Those of keys that are looked up whole, of no numbers where none are."""
OWN = 35
"""The first slot of the kernel's own."""
KINDS: tuple[type, ...] = (
    *(np.uint8, np.uint64, np.uint8, np.int32, np.uint64, np.int64),
    *(np.int32, np.int32, np.uint64, np.int32, np.uint64),
    *(np.uint64, np.uint64, np.uint64),
)
"""The types of the numbers in these arrays, as kernels read them."""
NO_EXACT = Exact(*[np.empty(0, np.uint64)] * 3)
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


def frame_of(
    program: Program,
    tables: Cache | Seal,
    exact: Exact | None,
    key: Bytes,
    own: dict[str, type],
    numbers: tuple[Signed, ...] = (),
) -> Uint64s:
    """Return a frame; keys will be put into the buffer ``key``, with PADDING behind them.

    The kernel's own slots are the arrays of the tables that ``own`` names, with the types of their numbers, and then ``numbers``. The
    frame does not keep the arrays alive: the caller must, as long as it uses the frame. A new frame is needed when an array
    of a cache is replaced by a larger one. A cache that is cleared keeps its arrays.
    """
    reserved = program.reserved if program.reserved >= 0 else NO_BYTE
    edges = program.edge_shift, program.edge_symbol_bits, program.edge_key_shift
    words = program.words, program.word_data, program.word_offsets
    states = tables.filters, tables.meta, tables.state_end, tables.members
    arrays: list[npt.NDArray[Any]] = [key, *words, *states, program.nodes, program.labels, program.edges]
    arrays += exact or NO_EXACT
    arrays += [getattr(tables, name) for name in own]
    for array, kind in zip(
        arrays, (*KINDS, *own.values()), strict=True
    ):  # kernels get addresses, and would read anything
        assert array.dtype == kind
        assert array.flags.c_contiguous
    places = [number for array in arrays for number in (array.ctypes.data, len(array))]
    first = program.separator, reserved, program.word_shift, program.word_multiplier, *edges
    return np.array([*first, *places, *numbers], np.uint64)


@inlined
def find_whole(frame: Uint64s, data: Bytes, length: Unsigned) -> Signed:
    """Return MISSING minus where the record of a key begins that a pattern without wildcards spells, and count it; MISSING for another key."""
    slots = array_at(frame, EXACT_SLOTS, np.uint64)
    if slots.size == 0:
        return MISSING
    records, marks = array_at(frame, EXACT_RECORDS, np.uint64), array_at(frame, EXACT_MARKS, np.uint64)
    place = find_one(slots, records, marks, data, length)
    if place != ZERO:
        meta: Int64s = array_at(frame, META, np.int64)
        meta[KEY_CACHE_HITS] += 1
    return MISSING - np.int64(place)


@inlined
def is_stray(frame: Uint64s, state: Unsigned, symbol: Unsigned) -> bool:
    """Tell whether a word that has passed the filter of a state, which has this number, is no literal of it."""
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
