"""What kernels for a single key share: the frame that they read from, how a key is cut into words, and how strays are told.

A *frame* is one array of numbers, and of the addresses and sizes of the tables and of the key's buffer. Its first slots are the same for
a cache and for sealed tables; behind them come those of the kernel's own, numbers first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.kernels._builtins import (
    bytes_of,
    clear_error,
    copy_bytes,
    dictionary_item,
    is_instance,
    make_number,
    make_tuple,
    new_reference,
    pointer_of,
    release,
    set_dictionary_item,
    set_tuple_item,
    size_of_bytes,
    take_utf8,
    tuple_item,
)
from compiler.kernels._jit import array_at, equal64, inlined, trailing_zeros
from compiler.kernels.exact_keys import find_one
from compiler.kernels.key_store import numbers_of
from compiler.kernels.seal_tables import Seal
from compiler.kernels.store_tables import Exact
from compiler.kernels.strays import children_if_stray
from compiler.kernels.tables import (
    KEY_CACHE_HITS,
    MISSING,
    PADDING,
    Bytes,
    Cache,
    Int32s,
    Int64s,
    Program,
    Signed,
    Uint64s,
    Unsigned,
)
from compiler.kernels.unsigned import LOW_HALF, ONE, UPPER_HALF, WINDOW, ZERO
from compiler.kernels.words import below

__all__ = [
    "FILTERS",
    "FOUND_WHOLE",
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
    "ADDRESS",
    "MOST_SLOTS",
    "answer_of",
    "find_whole",
    "frame_of",
    "is_stray",
    "next_word",
    "put_arrays",
    "state_of_frame",
    "take_key",
    "tuple_of",
]

SEPARATOR, RESERVED, WORD_SHIFT, WORD_MULTIPLIER, EDGE_SHIFT, EDGE_SYMBOL_BITS, EDGE_KEY_SHIFT = range(7)
"""Slots of a frame that are numbers."""
LENGTH, FOUND_WHOLE, ROOM = range(7, 10)
"""Slots that kernels write: the bytes of a key, while it is taken; how many keys were found whole so far; and how many more bytes of answers
may be kept."""
KEY, WORD_TABLE, WORD_DATA, WORD_OFFSETS, FILTERS, META, SET_END, TAGS = range(10, 26, 2)
"""Slots of a frame that are addresses of arrays; each is followed by the array's size."""
STATE_END, MEMBERS, NODES, LABELS, EDGES = range(26, 36, 2)
"""Those that are read only for a word that passes a filter and has no transition."""
EXACT_SLOTS, EXACT_RECORDS, EXACT_MARKS = range(36, 42, 2)
"""Those of keys that are looked up whole, of no numbers where none are."""
OWN = 42
"""The first slot of the kernel's own."""
MOST_SLOTS = 128
"""No frame has more."""
ADDRESS, TEXT, NONE_ITEM, KEPT, _FRAME = range(5)
"""Items of a builtin's state: where its frame is, the type str, None, the answers that are kept, and the frame."""
FEW_TAGS = 8
"""A set with more tags is kept as a tuple, as making one takes longer than looking it up."""
SET_BYTES, TAG_BYTES, NUMBER_BYTES = 160, 8, 32
"""What CPython takes at most for a set that is kept, for each of its tags, and for a tag that is an object of its own. A set has a tuple with what the
garbage collector puts before it (56), its number (32), and an entry of a dictionary that has just grown (60)."""
SHARED_NUMBERS = 256
"""Python has one object for each number up to this one."""
KINDS: tuple[type, ...] = (
    *(np.uint8, np.uint64, np.uint8, np.int32, np.uint64, np.int64, np.int32, np.int32),
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
    numbers: Sequence[Signed],
    own: Sequence[tuple[npt.NDArray[Any], type]],
) -> Uint64s:
    """Return a frame; keys will be put into the buffer ``key``, with PADDING behind them.

    The kernel's own slots are ``numbers``, and then arrays, each with the type of its numbers. The
    frame does not keep the arrays alive: the caller must, as long as it uses the frame. A new frame is needed when an array
    of a cache is replaced by a larger one. A cache that is cleared keeps its arrays.
    """
    reserved = program.reserved if program.reserved >= 0 else NO_BYTE
    edges = program.edge_shift, program.edge_symbol_bits, program.edge_key_shift
    words = program.words, program.word_data, program.word_offsets
    states = tables.filters, tables.meta, tables.set_end, tables.tags, tables.state_end, tables.members
    arrays: list[npt.NDArray[Any]] = [key, *words, *states, program.nodes, program.labels, program.edges]
    arrays += exact or NO_EXACT
    first = program.separator, reserved, program.word_shift, program.word_multiplier, *edges
    shared = _places(zip(arrays, KINDS, strict=True))
    frame = np.array([*first, 0, 0, 0, *shared, *numbers, *_places(own)], np.uint64)
    assert len(frame) <= MOST_SLOTS
    return frame


def put_arrays(frame: Uint64s, arrays: Mapping[int, tuple[npt.NDArray[Any], type]]) -> None:
    """Put arrays, each with the type of its numbers, into slots of a frame that has had others there."""
    for slot, array in arrays.items():
        frame[slot : slot + 2] = _places([array])


def _places(arrays: Iterable[tuple[npt.NDArray[Any], type]]) -> list[int]:
    """Return the address and the size of each array, which has the type of numbers that is beside it."""
    places = []
    for array, kind in arrays:  # kernels get addresses, and would read anything
        assert array.dtype == kind
        assert array.flags.c_contiguous
        places += [array.ctypes.data, len(array)]
    return places


def state_of_frame(frame: Uint64s, room: int) -> tuple[object, ...]:
    """Return the state of a :class:`compiler.kernels._builtins.Builtin` that reads this frame, and keeps it; and answers of so many bytes."""
    frame[ROOM] = room
    return frame.ctypes.data, str, None, {}, frame


@inlined
def take_key(state: Signed, frame: Uint64s, key: Signed) -> Signed:
    """Copy a key, str or bytes, to the buffer; return how many bytes it has, or MISSING if it cannot be taken."""
    data, length = np.intp(0), np.int64(0)
    text = is_instance(key, tuple_item(state, TEXT))
    if text > 0:
        # Python keeps the UTF-8 of text that is not ASCII with the text, as it does when a list becomes an Arrow column.
        data = take_utf8(key, pointer_of(tuple_item(state, ADDRESS)) + 8 * LENGTH)
        length = np.int64(frame[LENGTH])
    elif text == 0:
        data = bytes_of(key)
        if data != 0:
            length = size_of_bytes(key)
    if data == 0:  # half of a surrogate pair, or neither of the two
        clear_error()
        return MISSING
    if length + PADDING > np.int64(frame[KEY + 1]):
        return MISSING
    copy_bytes(np.int64(frame[KEY]), data, length)
    return length


@inlined
def answer_of(state: Signed, frame: Uint64s, accept: Signed) -> Signed:
    """Return the tags of an accept set, or of a record that stands for one, as a tuple of Python; None for MISSING."""
    if accept == MISSING:
        answer: Signed = tuple_item(state, NONE_ITEM)
        new_reference(answer)
        return answer
    if accept < MISSING:
        frame[FOUND_WHOLE] += ONE
        records = array_at(frame, EXACT_RECORDS, np.uint64)
        place = np.uint64(MISSING - accept)
        count = np.int64(records[place] & LOW_HALF)
        first = place + ONE + numbers_of(records[place] >> UPPER_HALF)
        answer = make_tuple(count)
        i = 0
        while answer != 0 and i < count:
            two = records[first + np.uint64(i >> 1)]
            answer = put(answer, i, np.int64(two >> UPPER_HALF if i & 1 else two & LOW_HALF))
            i += 1
        return answer
    ends, tags = array_at(frame, SET_END, np.int32), array_at(frame, TAGS, np.int32)
    begin = np.int64(ends[accept - 1])
    count = np.int64(ends[accept]) - begin
    name = np.intp(0)
    if count > FEW_TAGS:
        name = make_number(accept)
        if name == 0:
            return 0
        answer = dictionary_item(tuple_item(state, KEPT), name)
        if answer != 0:
            new_reference(answer)
            release(name)
            return answer
    answer = tuple_of(tags, begin, count)
    if name != 0:
        room, size = np.int64(frame[ROOM]), SET_BYTES + TAG_BYTES * count
        if answer != 0 and size <= room:
            shared = 0
            while shared < count and tags[begin + shared] <= SHARED_NUMBERS:  # they ascend
                shared += 1
            size += NUMBER_BYTES * (count - shared)
            if size <= room:
                if set_dictionary_item(tuple_item(state, KEPT), name, answer) == 0:
                    frame[ROOM] -= np.uint64(size)
                else:
                    clear_error()
        release(name)
    return answer


@inlined
def tuple_of(tags: Int32s, begin: Signed, count: Signed) -> Signed:
    """Return ``count`` tags from ``begin`` on as a tuple of Python; 0 where there is no memory for it."""
    answer: Signed = make_tuple(count)
    i = 0
    while answer != 0 and i < count:
        answer = put(answer, i, np.int64(tags[begin + i]))
        i += 1
    return answer


@inlined
def put(answer: Signed, at: Signed, tag: Signed) -> Signed:
    """Put a tag into a tuple; return the tuple, or 0 where there is no memory for it."""
    number = make_number(tag)
    if number == 0:
        release(answer)
        return 0
    set_tuple_item(answer, at, number)
    return answer


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
