"""A small batch on its way in and out: keys are copied to a walker's own memory, and their accept sets from it.

A kernel costs 20 ns for each array that it is handed, and numpy a quarter of a microsecond for each array that it makes.
For a batch of few keys that is more than matching them. So keys are copied by one kernel to arrays that are there already,
with the PADDING that :func:`compiler.kernels.walk.walk` wants, and another puts the whole answer into one array.

What this leaves out: null keys, and answers with more tags than the array has room for. The caller sees to these.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import array_at, brief, equal64, inlined, load64, store64, trailing_zeros
from compiler.kernels.tables import Bytes, Int32s, Int64s, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import EIGHT, GOLDEN, LOW_HALF, ONE, UPPER_HALF, WINDOW, ZERO

__all__ = ["OFFSETS", "PLACES", "WRONG", "add_sets", "copy_keys", "gather_sets", "split_keys"]

WRONG = -1
"""In place of a number of bytes or sets: these keys, or this answer, must go another way."""
OFFSETS, DATA = 0, 2
"""Slots of an array of places: the address of the offsets of keys and, behind it, their number; the same of the bytes."""
PLACES = 4
"""The length of an array of places."""
NUL = np.uint8(0)


@brief
def split_keys(joined: Bytes, size: Signed, count: Signed, offsets: Int32s, data: Bytes) -> Signed:
    """Take keys apart that are joined by NUL bytes, and return the number of their bytes, or WRONG if they are not ``count``.

    ``joined`` has WINDOW bytes more than ``size``, and ``data`` as much room; ``offsets`` has room for ``count`` + 1.
    """
    end = np.uint64(size)
    at = to = begin = ZERO
    row = 0
    offsets[0] = 0
    while at <= end:
        found = equal64(joined, at, NUL)
        while True:
            stop = at + trailing_zeros(found)  # WINDOW bytes on where none is found
            if stop >= end and row == count - 1:
                _copy(joined, begin, end, data, to)
                to += end - begin
                offsets[count] = np.int32(to)
                return np.int64(to)
            if found == ZERO:
                break
            if stop >= end or row == count - 1:
                return WRONG
            _copy(joined, begin, stop, data, to)
            to += stop - begin
            row += 1
            offsets[row] = np.int32(to)
            begin = stop + ONE
            found &= found - ONE
        at += WINDOW
    return WRONG


@brief
def copy_keys(places: Uint64s, first: Signed, count: Signed, wide: Signed, offsets: Int32s, data: Bytes) -> Signed:
    """Copy keys ``first`` to ``first + count`` from the places, and return the number of their bytes.

    ``wide`` is 1 where offsets have 64 bits, 0 where they have 32. Returns WRONG if offsets do not ascend or lead out of the
    bytes, or if there is no room in ``data``: nothing was read then that is not there.
    """
    if np.uint64(first + count) >= places[OFFSETS + 1]:
        return WRONG
    size = np.int64(places[DATA + 1])
    room = np.int64(len(data)) - np.int64(WINDOW)
    narrow_offsets, wide_offsets = array_at(places, OFFSETS, np.int32), array_at(places, OFFSETS, np.int64)
    origin = wide_offsets[first] if wide else np.int64(narrow_offsets[first])
    last = origin
    if origin < 0:
        return WRONG
    for i in range(count + 1):
        end = wide_offsets[first + i] if wide else np.int64(narrow_offsets[first + i])
        if end < last or end > size or end - origin > room:
            return WRONG
        offsets[i] = np.int32(end - origin)
        last = end
    source = array_at(places, DATA, np.uint8)
    at, stop, to = np.uint64(origin), np.uint64(last), ZERO
    while at + EIGHT <= stop:
        store64(data, to, load64(source, at))
        at += EIGHT
        to += EIGHT
    while at < stop:
        data[to] = source[at]
        at += ONE
        to += ONE
    return last - origin


@brief
def gather_sets(
    set_end: Int32s,
    tags: Int32s,
    ids: Int32s,
    first: Signed,
    step: Signed,
    count: Signed,
    slots: Uint64s,
    answer: Int32s,
) -> Signed:
    """Put the answer for ``count`` keys together, where set s, counted from 1, has the number ``first + step * s`` in ``ids``.

    ``answer`` gets a set number for each key; then, from ``count`` on, the offsets of the sets; and from ``2 * count + 1`` on
    the tags of all sets, each set once. ``slots`` has room for twice as many numbers as keys, up to the next power of two. Returns
    how many sets there are, or WRONG if ``answer`` is too short.
    """
    size = 2
    while size < 2 * count:
        size *= 2
    for i in range(size):
        slots[i] = ZERO
    mask = np.uint64(size - 1)
    sets = 0
    begin = 2 * count + 1
    end = begin
    answer[count] = 0
    for i in range(count):
        accept = np.uint64((np.int64(ids[i]) - first) * step)  # which is one of 1 and -1
        slot = accept * GOLDEN >> UPPER_HALF & mask
        while slots[slot] != ZERO and slots[slot] >> UPPER_HALF != accept:
            slot = slot + ONE & mask
        if slots[slot] == ZERO:
            slots[slot] = accept << UPPER_HALF | np.uint64(sets)
            start, stop = set_end[accept - ONE], set_end[accept]
            if end + (stop - start) > len(answer):
                return WRONG
            for tag in range(start, stop):
                answer[end] = tags[tag]
                end += 1
            sets += 1
            answer[count + sets] = end - begin
        answer[i] = np.int32(slots[slot] & LOW_HALF)
    return sets


@brief
def add_sets(
    set_ids: Int32s,
    offsets: Int32s,
    positions: Int32s,
    rows: Int64s,
    count: Signed,
    ends: Int32s,
    tags: Int32s,
    answer: Int32s,
) -> Signed:
    """Put an answer together again in which ``count`` rows have sets of their own: set i, of row ``rows[i]``, is ``tags[ends[i - 1]:ends[i]]``.

    ``answer`` gets a set number for each key, the offsets of all sets, and their tags. Returns the end of these, or WRONG if it is too short.
    """
    keys, sets = set_ids.size, offsets.size - 1
    shared = np.int64(offsets[sets])
    begin = keys + sets + count + 1
    end = begin + shared + np.int64(ends[count - 1])
    if end > answer.size:
        return WRONG
    for i in range(keys):
        answer[i] = set_ids[i]
    for i in range(sets + 1):
        answer[keys + i] = offsets[i]
    for i in range(count):
        answer[rows[i]] = np.int32(sets + i)
        answer[keys + sets + 1 + i] = np.int32(shared + ends[i])
    for i in range(shared):
        answer[begin + i] = positions[i]
    begin += shared
    for i in range(end - begin):
        answer[begin + i] = tags[i]
    return end


@inlined
def _copy(source: Bytes, begin: Unsigned, end: Unsigned, data: Bytes, to: Unsigned) -> None:
    """Copy bytes, and up to seven more behind them; both arrays have room for these."""
    while begin < end:
        store64(data, to, load64(source, begin))
        begin += EIGHT
        to += EIGHT
