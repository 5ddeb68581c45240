"""The lists of a plain batch: for each row the names of the outputs that it got to, of two sorts.

The names of an itinerary's outputs are written one after the other when they are wanted for the first time, and kept: a row's names are
then one text that is copied, and the processor need not guess how many they are.

The answer lies in one block: for each sort where lists end, where names end, and the names; then a bit for each row that says whether
it has any of the first sort. So there is one array to make, and nothing is written twice.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels.leading import AT_ONCE, copy_ends, copy_text
from compiler.kernels.relay_tables import (
    BLOCK_BYTES,
    DONE,
    GROW_NAME_BYTES,
    GROW_NAMES,
    LETTERS,
    LINE,
    LISTED,
    LISTS_AT,
    NAME_BYTES,
    NAMES,
    OTHER_LETTERS,
    OTHERS,
    SLACK,
    WANTED,
    WRONG,
    Itineraries,
    Texts,
)
from compiler.kernels.tables import Bytes, Int32s, Int64s, Signed, Unsigned
from compiler.kernels.unsigned import EIGHT, ONE, TWO, ZERO

__all__ = ["name_rows"]

TwoSorts = tuple[Texts, Texts]
THREE, FOUR = np.uint64(3), np.uint64(4)
PLACES = FOUR
"""An entry of ``Itineraries.named`` is eight numbers: for both sorts how many names there are, below 0 if none is written yet, and how many
bytes these have; then for both sorts where in ``name_ends`` theirs begin, and where in ``name_texts``."""
MOST = np.int64(2**31 - 1)
"""The most names, and bytes of names, of a sort: offsets have 32 bits."""


@kernel
def name_rows(
    cache: Itineraries,
    texts: TwoSorts,
    itineraries: Int32s,
    rows: Signed,
    counts: Int64s,
    measured: Signed,
    block: Int32s,
    data: Bytes,
) -> Signed:
    """Write the lists of all rows to ``block``, whose bytes are ``data``, if it has room for them.

    ``counts``, those of a ``Room``, get how many names, and bytes of names, of each sort all rows have together, where the parts of the
    block begin, and how many bytes it takes; if that was ``measured`` before, they have it. Returns DONE, WRONG for over 2^31 names or bytes
    of a sort, or minus the table that must grow.
    """
    count = np.uint64(rows)
    if not measured:
        status = _measured(cache, texts, itineraries, count, counts)
        if status != DONE:
            return np.int64(status)
    if counts[BLOCK_BYTES] <= np.int64(data.size):
        _write_names(cache, itineraries, count, counts, 0, block, data)
        if counts[OTHERS]:
            _write_names(cache, itineraries, count, counts, 1, block, data)
        _write_bits(count, counts, block, data)
    return np.int64(DONE)


@inlined
def _measured(cache: Itineraries, texts: TwoSorts, itineraries: Int32s, rows: Unsigned, counts: Int64s) -> Signed:
    """Measure the lists of all rows, and write the names that were not wanted before."""
    named = cache.named
    names = length = others = other_length = np.int64(0)
    for row in range(rows):
        entry = EIGHT * np.uint64(itineraries[row])
        if named[entry] < 0:
            status = _write_once(cache, texts, np.uint64(itineraries[row]))
            if status != DONE:
                return np.int64(status)
        names += named[entry]
        length += named[entry + ONE]
        others += named[entry + TWO]
        other_length += named[entry + THREE]
    counts[LISTED], counts[LETTERS], counts[OTHERS], counts[OTHER_LETTERS] = names, length, others, other_length
    if max(names, length, others, other_length) > MOST:
        return np.int64(WRONG)
    at_byte = _laid_out(counts, LISTS_AT, np.int64(0), rows, names, length)
    if others:
        at_byte = _laid_out(counts, LISTS_AT + 3, at_byte, rows, others, other_length)
    counts[LISTS_AT + 6] = at_byte
    counts[BLOCK_BYTES] = at_byte + np.int64(rows >> THREE) + 1
    return np.int64(DONE)


@inlined
def _laid_out(counts: Int64s, slot: Signed, begin: Signed, rows: Unsigned, names: Signed, length: Signed) -> Signed:
    """Write where the three parts of a sort begin, the first at ``begin``, and return where they end."""
    counts[slot] = begin
    counts[slot + 1] = counts[slot] + _whole_lines(4 * np.int64(rows) + 4)
    counts[slot + 2] = counts[slot + 1] + _whole_lines(4 * (names + 1 + AT_ONCE))
    return np.int64(counts[slot + 2] + _whole_lines(length + SLACK))


@inlined
def _whole_lines(size: Signed) -> Signed:
    return (size + LINE - 1) // LINE * LINE


@kernel
def _write_once(cache: Itineraries, texts: TwoSorts, itinerary: Unsigned) -> Signed:
    """Write the names of an itinerary's outputs; return DONE, or minus the table that must grow."""
    counts, named = cache.counts, cache.named
    members = cache.members[np.int64(cache.ends[THREE * itinerary - ONE]) : np.int64(cache.ends[THREE * itinerary])]
    count, size = np.int64(counts[NAMES]), np.int64(counts[NAME_BYTES])
    for sort in range(2):
        names = texts[sort]
        for member in members:
            begin, end = _place_of(names, member)
            count += begin >= 0
            size += end - begin
    if count + AT_ONCE > cache.name_ends.size:
        counts[WANTED] = count + AT_ONCE
        return np.int64(-GROW_NAMES)
    if size + SLACK > cache.name_texts.size:
        counts[WANTED] = size + SLACK
        return np.int64(-GROW_NAME_BYTES)
    entry = EIGHT * itinerary
    for sort in range(2):
        names = texts[sort]
        first, text = np.uint64(counts[NAMES]), np.uint64(counts[NAME_BYTES])
        at, length = first, ZERO
        for member in members:
            begin, end = _place_of(names, member)
            if begin >= 0:
                copy_text(names.data, np.uint64(begin), np.uint64(end), cache.name_texts, text + length)
                length += np.uint64(end - begin)
                cache.name_ends[at] = length
                at += ONE
        counts[NAMES], counts[NAME_BYTES] = np.int64(at), np.int64(text + length)
        own = entry + TWO * np.uint64(sort)
        named[own + ONE], named[own + PLACES], named[own + PLACES + ONE] = length, first, text
        named[own] = at - first
    return np.int64(DONE)


@inlined
def _place_of(names: Texts, output: Signed) -> tuple[Signed, Signed]:
    """Return where the name of an output lies among those of a sort; -1 twice if it is of another."""
    name = np.uint64(np.int64(output) - names.first)
    if name >= np.uint64(names.offsets.size - 1):
        return np.int64(-1), np.int64(-1)
    return names.offsets[name], names.offsets[name + ONE]


@inlined
def _write_names(
    cache: Itineraries, itineraries: Int32s, rows: Unsigned, counts: Int64s, sort: Signed, block: Int32s, data: Bytes
) -> None:
    """Write the lists of a sort, a constant: most rows have a name of the first one, and few of the second, which others skip."""
    lists, ends, text = _begins(counts, LISTS_AT + 3 * sort)
    named = cache.named
    at, entry = ZERO, ZERO
    block[lists] = block[ends] = 0
    for row in range(rows):
        own = EIGHT * np.uint64(itineraries[row]) + TWO * np.uint64(sort)
        if sort == 0 or named[own] > 0:
            count, length = np.uint64(named[own]), np.uint64(named[own + ONE])
            first, begin = np.uint64(named[own + PLACES]), np.uint64(named[own + PLACES + ONE])
            copy_text(cache.name_texts, begin, begin + length, data, text + at)
            copy_ends(cache.name_ends, first, count, at, block, ends + entry + ONE)
            at += length
            entry += count
        block[lists + row + ONE] = entry


@inlined
def _begins(counts: Int64s, slot: Signed) -> tuple[Unsigned, Unsigned, Unsigned]:
    """Return where the parts of a sort begin: two in numbers of four bytes, the texts in bytes."""
    return np.uint64(counts[slot]) // FOUR, np.uint64(counts[slot + 1]) // FOUR, np.uint64(counts[slot + 2])


@inlined
def _write_bits(rows: Unsigned, counts: Int64s, block: Int32s, data: Bytes) -> None:
    """Write which rows have a name of the first sort."""
    lists, bits = np.uint64(counts[LISTS_AT]) // FOUR, np.uint64(counts[LISTS_AT + 6])
    for group in range((rows + EIGHT - ONE) >> THREE):
        byte, first = ZERO, EIGHT * group
        for k in range(min(EIGHT, rows - first)):
            row = lists + first + k
            byte |= np.uint64(block[row] < block[row + ONE]) << k
        data[bits + group] = byte
