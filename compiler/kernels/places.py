"""From two columns of texts, a place and a name there, to a number: where each key of a batch begins.

Both texts together are one entry of a hash table with linear probing, and a text of up to 16 bytes is compared in two steps: by
its first and its last eight bytes. An entry is six numbers: these of the place and of the name, a number that stands for both
lengths, and the row of the known texts plus 1, which is 0 in an empty entry.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel, load64
from compiler.kernels.relay_tables import Directory
from compiler.kernels.tables import Bytes, Int32s, Keys, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import EIGHT, GOLDEN, ONE, TWO, UPPER_HALF, ZERO
from compiler.kernels.words import FARTHEST

__all__ = ["ends_within", "fill_places", "find_places", "station_of"]

ENTRY = np.uint64(6)
SHORT = np.uint64(16)

Ends = tuple[Unsigned, Unsigned, Unsigned, Unsigned]
"""The first and the last eight bytes of a text, and where it begins and ends."""


@kernel
def fill_places(places: Keys, names: Keys, multiplier: Unsigned, table: Uint64s) -> bool:
    """Enter all places and names there into an empty ``table``; False if too many meet in one part of it."""
    mask = np.uint64(table.size // 6 - 1)
    for i in range(names.offsets.size - 1):
        first, last, begin, end = _ends(places, i)
        name_first, name_last, name_begin, name_end = _ends(names, i)
        lengths = (end - begin) << UPPER_HALF | (name_end - name_begin)
        slot = _home(first, last, name_first, name_last, lengths, multiplier) & mask
        passed = 0
        while table[ENTRY * slot + np.uint64(5)] != ZERO:
            slot = (slot + ONE) & mask
            passed += 1
            if passed > FARTHEST:
                return False
        at = ENTRY * slot
        table[at], table[at + ONE] = first, last
        table[at + TWO], table[at + np.uint64(3)] = name_first, name_last
        table[at + np.uint64(4)], table[at + np.uint64(5)] = lengths, np.uint64(i + 1)
    return True


@kernel
def find_places(
    places: Keys,
    names: Keys,
    directory: Directory,
    rows: Signed,
    found: Int32s,
) -> Signed:
    """Write the station of each row, or -1, to ``found``; return how many rows have none.

    One text in ``places`` is that of all rows.
    """
    missing: Signed = 0
    several = places.offsets.size > 2
    for i in range(np.uint64(rows)):
        row = i if several else ZERO
        station = np.int32(-1)
        if (places.valid.size == 0 or places.valid[row]) and (names.valid.size == 0 or names.valid[i]):
            place, name = _ends(places, row), _ends(names, i)
            station = station_of(place, name, places.data, names.data, directory)
        missing += station < 0
        found[i] = station
    return missing


@inlined
def station_of(place: Ends, name: Ends, places: Bytes, names: Bytes, directory: Directory) -> Signed:
    """Return the station of a place and a name, which lie in ``places`` and ``names``, or -1."""
    table, multiplier = directory.table, directory.multiplier
    mask = np.uint64(table.size // 6 - 1)
    first, last, begin, end = place
    name_first, name_last, name_begin, name_end = name
    lengths = (end - begin) << UPPER_HALF | (name_end - name_begin)
    slot = _home(first, last, name_first, name_last, lengths, multiplier) & mask
    while table[ENTRY * slot + np.uint64(5)] != ZERO:
        at = ENTRY * slot
        other = (table[at] ^ first) | (table[at + ONE] ^ last) | (table[at + TWO] ^ name_first)
        other |= (table[at + np.uint64(3)] ^ name_last) | (table[at + np.uint64(4)] ^ lengths)
        if other == ZERO:
            known = np.int64(table[at + np.uint64(5)]) - 1
            if (end - begin <= SHORT or _same(directory.places, known, places, begin)) and (
                name_end - name_begin <= SHORT or _same(directory.names, known, names, name_begin)
            ):
                return directory.stations[known]
        slot = (slot + ONE) & mask
    return np.int32(-1)


@inlined
def _ends(texts: Keys, row: Signed) -> Ends:
    """Return the first and the last eight bytes of a text, or all of a shorter one twice, and where it begins and ends.

    Lengths are mixed, so there is no branch on them.
    """
    begin, end = np.uint64(texts.offsets[np.uint64(row)]), np.uint64(texts.offsets[np.uint64(row) + ONE])
    length = end - begin
    short, mask = _shortened(length)
    return load64(texts.data, begin) & mask, load64(texts.data, begin + (length - short)) & mask, begin, end


@inlined
def ends_within(offsets: Int32s, data: Bytes, row: Unsigned) -> Ends:
    """Return the same of a text with nothing behind its bytes that may be read."""
    begin, end = np.uint64(offsets[row]), np.uint64(offsets[row + ONE])
    length = end - begin
    short, mask = _shortened(length)
    if begin + EIGHT <= np.uint64(data.size):
        return load64(data, begin) & mask, load64(data, begin + (length - short)) & mask, begin, end
    bits = ZERO
    for i in range(length):  # below eight
        bits |= np.uint64(data[begin + i]) << (EIGHT * i)
    return bits, bits, begin, end


@inlined
def _shortened(length: Unsigned) -> tuple[Unsigned, Unsigned]:
    """Return how many of eight bytes are of a text of this length, and a mask of these."""
    short = min(length, EIGHT)
    mask = (TWO << (EIGHT * short - ONE & np.uint64(63))) - ONE
    return short, mask if length != ZERO else ZERO


@inlined
def _home(
    first: Unsigned, last: Unsigned, name_first: Unsigned, name_last: Unsigned, lengths: Unsigned, multiplier: Unsigned
) -> Unsigned:
    """Mix all numbers of an entry; the products do not wait for each other."""
    mixed = (first ^ lengths) * multiplier + last * (multiplier ^ GOLDEN << ONE)
    mixed += name_first * (multiplier << ONE ^ GOLDEN) + name_last * (multiplier << TWO ^ GOLDEN)
    return mixed ^ mixed >> UPPER_HALF


@kernel
def _same(known: Keys, number: Signed, texts: Bytes, begin: Unsigned) -> bool:
    """Compare two texts of one length, byte by byte."""
    at, other = np.int64(known.offsets[number]), np.int64(begin)
    for i in range(known.offsets[number + 1] - at):
        if known.data[at + i] != texts[other + i]:
            return False
    return True
