"""The two ends of a relay: keys with a word in front of each, which says where the key is; and the names of what they got to.

A key ``a.b`` at the station with the word ``S`` becomes ``S.a.b``; the empty key, which has no words, becomes ``S``.

Bytes are copied 64 at a time, so whatever is copied from or to has SLACK bytes more than it needs.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel, load64, store64
from compiler.kernels._text_vectors import copy_eight_ends, copy_line
from compiler.kernels.tables import Bytes, Int32s, Int64s, Keys, Signed, Unsigned
from compiler.kernels.unsigned import ONE, SEVEN, THREE, TWO, ZERO

__all__ = [
    "AT_ONCE",
    "copy_ends",
    "copy_names",
    "copy_text",
    "lead",
    "measure_names",
    "repeat_names",
    "screen_keys",
    "screened",
]

AT_ONCE, LINE_BYTES = 8, np.uint64(64)
"""Ends of names that are copied together, and bytes of text."""
HIGH_BIT = np.uint8(0x80)


@kernel
def lead(
    keys: Keys,
    first: Signed,
    rows: Int32s,
    at: Int32s,
    word_offsets: Int32s,
    words: Bytes,
    offsets: Int32s,
    data: Bytes,
) -> None:
    """Write the keys ``first + rows[i]``, each behind the word of station ``at[i]`` and a dot, to ``data`` from ``offsets[0]`` on.

    A word has at most 7 bytes.
    """
    end = np.uint64(offsets[0])
    for i in range(rows.size):
        begin, stop = np.uint64(keys.offsets[first + rows[i]]), np.uint64(keys.offsets[first + rows[i] + 1])
        word = np.uint64(word_offsets[at[i]])
        store64(data, end, load64(words, word))
        end += np.uint64(word_offsets[at[i] + 1]) - word
        if stop > begin:
            data[end] = np.uint8(46)  # a dot
            end += ONE
            copy_text(keys.data, begin, stop, data, end)
            end += stop - begin
        offsets[i + 1] = end


@kernel
def screen_keys(keys: Keys) -> Signed:
    """Return the number of bytes of the longest key, plus 2^32 if any byte of any key is no ASCII."""
    return screened(keys.offsets, keys.data)


@inlined
def screened(offsets: Int32s, data: Bytes) -> Signed:
    """Do what :func:`screen_keys` does."""
    longest, bits = np.int32(0), np.uint8(0)
    for i in range(np.uint64(offsets.size - 1)):  # both loops become vectors
        longest = max(longest, np.int32(offsets[i + ONE] - offsets[i]))
    for at in range(np.uint64(offsets[0]), np.uint64(offsets[offsets.size - 1])):
        bits |= data[at]
    return np.int64(longest) | (np.int64(1) << 32 if bits >= HIGH_BIT else np.int64(0))


@kernel
def measure_names(
    route_ids: Int32s,
    offsets: Int32s,
    outputs: Int32s,
    low: Signed,
    name_offsets: Int64s,
    other_low: Signed,
    other_offsets: Int64s,
    sizes: Int64s,
    totals: Int64s,
    bits: Bytes,
) -> None:
    """Write how many names of two sorts, and bytes of these, the rows have in all to ``totals``.

    Route r has the outputs ``outputs[offsets[r]:offsets[r + 1]]``, ascending; output ``low + n`` has the name n of the first sort, with
    an entry more in ``name_offsets`` than there are names, and output ``other_low + n`` that of the second sort. ``sizes`` gets three
    entries for each route: the index of its first output with a name, how many have one, and how many bytes these names have; and
    behind all of these the same of the second sort. Bit i of ``bits`` says whether row i has a name of the first sort.
    """
    routes = offsets.size - 1
    _measure_routes(offsets, outputs, low, name_offsets, sizes, 0)
    _measure_routes(offsets, outputs, other_low, other_offsets, sizes, 3 * routes)
    names = length = others = other_length = np.int64(0)
    byte = np.uint8(0)
    for row in range(np.uint64(route_ids.size)):
        route = THREE * np.uint64(route_ids[row])
        other = route + THREE * np.uint64(routes)
        names += sizes[route + ONE]
        length += sizes[route + TWO]
        others += sizes[other + ONE]
        other_length += sizes[other + TWO]
        byte |= np.uint8(sizes[route + ONE] > 0) << np.uint8(row & SEVEN)
        if row & SEVEN == SEVEN:
            bits[row >> THREE] = byte
            byte = np.uint8(0)
    if route_ids.size & 7:
        bits[route_ids.size >> 3] = byte
    totals[0], totals[1], totals[2], totals[3] = names, length, others, other_length


@inlined
def _measure_routes(
    offsets: Int32s, outputs: Int32s, low: Signed, name_offsets: Int64s, sizes: Int64s, begin: Signed
) -> None:
    """Write the three entries of each route to ``sizes``, from ``begin`` on."""
    named = name_offsets.size - 1
    for route in range(offsets.size - 1):
        first = np.int64(offsets[route])
        while first < offsets[route + 1] and outputs[first] < low:
            first += 1
        names = length = np.int64(0)
        while first + names < offsets[route + 1] and outputs[first + names] < low + named:
            name = outputs[first + names] - low
            length += name_offsets[name + 1] - name_offsets[name]
            names += 1
        at = begin + 3 * route
        sizes[at], sizes[at + 1], sizes[at + 2] = first, names, length


@kernel
def copy_names(
    route_ids: Int32s,
    outputs: Int32s,
    sizes: Int64s,
    low: Signed,
    name_offsets: Int64s,
    names: Bytes,
    list_offsets: Int32s,
    text_offsets: Int32s,
    texts: Bytes,
) -> None:
    """Write the names of each row's route one after the other: a list of texts for each row, as Arrow has it."""
    at, entry = ZERO, ZERO
    for row in range(np.uint64(route_ids.size)):
        route = THREE * np.uint64(route_ids[row])
        first = np.uint64(sizes[route])
        for i in range(first, first + np.uint64(sizes[route + ONE])):
            name = np.uint64(outputs[i] - low)
            begin, end = np.uint64(name_offsets[name]), np.uint64(name_offsets[name + ONE])
            copy_text(names, begin, end, texts, at)
            at += end - begin
            entry += ONE
            text_offsets[entry] = at
        list_offsets[row + ONE] = entry


@kernel
def repeat_names(
    route_ids: Int32s,
    sizes: Int64s,
    route_ends: Int32s,
    route_starts: Int32s,
    route_texts: Bytes,
    list_offsets: Int32s,
    text_offsets: Int32s,
    texts: Bytes,
) -> None:
    """Do the same where there are few routes, whose names :func:`copy_names` has written one route after the other.

    The names of route r are ``range(route_ends[r], route_ends[r + 1])``, and where they end is in ``route_starts``. So a row's
    names are one text, and the processor need not guess how many they are: half of the time for 2.4 names a row. The arrays of
    offsets have AT_ONCE entries more than they need, and texts SLACK bytes.
    """
    at, entry = ZERO, ZERO
    for row in range(np.uint64(route_ids.size)):
        route = np.uint64(route_ids[row])
        first = np.uint64(route_ends[route])
        count, length = np.uint64(sizes[THREE * route + ONE]), np.uint64(sizes[THREE * route + TWO])
        begin = np.uint64(route_starts[first])
        copy_text(route_texts, begin, begin + length, texts, at)
        copy_ends(route_starts, first + ONE, count, at - begin, text_offsets, entry + ONE)
        at += length
        entry += count
        list_offsets[row + ONE] = entry


@inlined
def copy_ends(source: Int32s, first: Unsigned, count: Unsigned, shift: Unsigned, target: Int32s, at: Unsigned) -> None:
    """Copy ``count`` ends of names from ``source[first]`` on to ``target[at:]``, each plus ``shift``; and up to AT_ONCE more."""
    done = ZERO
    while True:
        copy_eight_ends(source, first + done, target, at + done, shift)
        done += np.uint64(AT_ONCE)
        if done >= count:
            break


@inlined
def copy_text(source: Bytes, begin: Unsigned, end: Unsigned, target: Bytes, at: Unsigned) -> None:
    """Copy ``source[begin:end]`` to ``target[at:]``, and up to SLACK bytes more.

    The processor cannot predict how often a loop for a short text runs, and most texts are done in one round.
    """
    length, done = end - begin, ZERO
    while True:
        copy_line(source, begin + done, target, at + done)
        done += LINE_BYTES
        if done >= length:
            break
