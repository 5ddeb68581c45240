"""The lists of a plain batch: for each row the names of the outputs that it got to, of two sorts.

All of it lies in one block: for each sort where lists end, where names end, and the names; then a bit for each row that says whether
it has any of the first sort. So there is one array to make, and nothing is written twice. Where rows are many, and their routes few, it takes
half of the time to write each route once and copy that (:mod:`compiler.kernels.leading`).
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels.leading import copy_text
from compiler.kernels.relay_tables import (
    BLOCK_BYTES,
    LETTERS,
    LINE,
    LISTED,
    LISTS_AT,
    OTHER_LETTERS,
    OTHERS,
    SLACK,
    Itineraries,
    Room,
    Texts,
)
from compiler.kernels.tables import Bytes, Int32s, Int64s, Signed, Unsigned
from compiler.kernels.unsigned import ONE, ZERO

__all__ = ["TwoSorts", "measure_lists", "write_lists"]

TwoSorts = tuple[Texts, Texts]
THREE, SEVEN = np.uint64(3), np.uint64(7)
FOUR = np.uint64(4)


@inlined
def measure_lists(cache: Itineraries, room: Room, texts: TwoSorts, rows: Signed) -> None:
    """Write to ``room.counts`` how many names, and bytes of names, of each sort all rows have together, and where they are to lie."""
    names = length = others = other_length = np.int64(0)
    for row in range(np.uint64(rows)):
        itinerary = THREE * np.uint64(room.itineraries[row])
        for at in range(np.uint64(cache.ends[itinerary - ONE]), np.uint64(cache.ends[itinerary])):
            begin, end = _place_of(texts[0], cache.members[at])
            names += begin >= 0
            length += end - begin
            begin, end = _place_of(texts[1], cache.members[at])
            others += begin >= 0
            other_length += end - begin
    counts = room.counts
    counts[LISTED], counts[LETTERS], counts[OTHERS], counts[OTHER_LETTERS] = names, length, others, other_length
    at_byte = _laid_out(counts, LISTS_AT, np.int64(0), rows, names, length)
    if others:
        at_byte = _laid_out(counts, LISTS_AT + 3, at_byte, rows, others, other_length)
    counts[LISTS_AT + 6] = at_byte
    counts[BLOCK_BYTES] = at_byte + (rows >> 3) + 1


@inlined
def _laid_out(counts: Int64s, slot: Signed, begin: Signed, rows: Signed, names: Signed, length: Signed) -> Signed:
    """Write where the three parts of a sort begin, the first at ``begin``, and return where they end."""
    counts[slot] = begin
    counts[slot + 1] = counts[slot] + _whole_lines(4 * rows + 4)
    counts[slot + 2] = counts[slot + 1] + _whole_lines(4 * names + 4)
    return np.int64(counts[slot + 2] + _whole_lines(length + SLACK))


@inlined
def _whole_lines(size: Signed) -> Signed:
    return (size + LINE - 1) // LINE * LINE


@inlined
def _place_of(names: Texts, output: Signed) -> tuple[Signed, Signed]:
    """Return where the name of an output lies among those of a sort; -1 twice if it is of another."""
    name = np.uint64(np.int64(output) - names.first)
    if name >= np.uint64(names.offsets.size - 1):
        return np.int64(-1), np.int64(-1)
    return names.offsets[name], names.offsets[name + ONE]


@kernel
def write_lists(cache: Itineraries, room: Room, texts: TwoSorts, rows: Signed, block: Int32s, data: Bytes) -> None:
    """Write the lists of all rows to ``block``, whose bytes are ``data``, as they were laid out."""
    count, counts = np.uint64(rows), room.counts
    _write_sort(cache, room, texts[0], count, block, data, LISTS_AT)
    if counts[OTHERS]:
        _write_sort(cache, room, texts[1], count, block, data, LISTS_AT + 3)
    lists, bits = np.uint64(counts[LISTS_AT]) // FOUR, np.uint64(counts[LISTS_AT + 6])
    byte = np.uint8(0)
    for row in range(count):
        byte |= np.uint8(block[lists + row] < block[lists + row + ONE]) << np.uint8(row & SEVEN)
        if row & SEVEN == SEVEN:
            data[bits + (row >> THREE)] = byte
            byte = np.uint8(0)
    if count & SEVEN:
        data[bits + (count >> THREE)] = byte


@inlined
def _write_sort(
    cache: Itineraries,
    room: Room,
    names: Texts,
    rows: Unsigned,
    block: Int32s,
    data: Bytes,
    slot: Signed,
) -> None:
    """Write the lists of one sort, whose places are in ``room.counts`` from ``slot`` on."""
    at_lists, at_ends, at_text = room.counts[slot], room.counts[slot + 1], room.counts[slot + 2]
    lists, ends, text = np.uint64(at_lists) // FOUR, np.uint64(at_ends) // FOUR, np.uint64(at_text)
    entry, length = ZERO, ZERO
    block[lists] = block[ends] = 0
    for row in range(rows):
        itinerary = THREE * np.uint64(room.itineraries[row])
        for at in range(np.uint64(cache.ends[itinerary - ONE]), np.uint64(cache.ends[itinerary])):
            begin, end = _place_of(names, cache.members[at])
            if begin >= 0:
                copy_text(names.data, np.uint64(begin), np.uint64(end), data, text + length)
                length += np.uint64(end - begin)
                entry += ONE
                block[ends + entry] = length
        block[lists + row + ONE] = entry
