"""The two ends of a relay: keys with a word in front of each, which says where the key is; and the names of what they got to.

A key ``a.b`` at the station with the word ``S`` becomes ``S.a.b``; the empty key, which has no words, becomes ``S``.

Bytes are copied eight at a time, so whatever is copied from or to has SLACK bytes more than it needs.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel, load64, store64
from compiler.kernels.tables import Bytes, Int32s, Int64s, Keys, Signed, Unsigned
from compiler.kernels.unsigned import EIGHT, ONE, ZERO
from compiler.kernels.words import below

__all__ = ["copy_names", "lead", "measure_names", "screen_keys"]

SIXTEEN = np.uint64(16)
HIGH_BITS = np.uint64(0x8080808080808080)


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
            _copy(keys.data, begin, stop, data, end)
            end += stop - begin
        offsets[i + 1] = end


@kernel
def screen_keys(keys: Keys) -> Signed:
    """Return the number of bytes of the longest key, plus 2^32 if any byte of any key is no ASCII."""
    longest, bits = ZERO, ZERO
    for i in range(keys.offsets.size - 1):
        begin, stop = np.uint64(keys.offsets[i]), np.uint64(keys.offsets[i + 1])
        longest = max(longest, stop - begin)
    at, stop = np.uint64(keys.offsets[0]), np.uint64(keys.offsets[keys.offsets.size - 1])
    while at + EIGHT <= stop:
        bits |= load64(keys.data, at)
        at += EIGHT
    if at < stop:
        bits |= load64(keys.data, at) & below(EIGHT * (stop - at))
    return np.int64(longest) | (np.int64(1) << 32 if bits & HIGH_BITS != ZERO else np.int64(0))


@kernel
def measure_names(
    route_ids: Int32s,
    offsets: Int32s,
    outputs: Int32s,
    low: Signed,
    name_offsets: Int64s,
    sizes: Int64s,
    totals: Int64s,
) -> None:
    """Write how many names, and bytes of names, the rows have in all to ``totals``.

    Route r has the outputs ``outputs[offsets[r]:offsets[r + 1]]``, ascending; output ``low + n`` has the name n, with an entry more
    in ``name_offsets`` than there are names, and other outputs have none. ``sizes`` gets three entries for each route: the index
    of its first output with a name, how many have one, and how many bytes these names have.
    """
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
        sizes[3 * route], sizes[3 * route + 1], sizes[3 * route + 2] = first, names, length
    names = length = np.int64(0)
    for row in range(route_ids.size):
        names += sizes[3 * route_ids[row] + 1]
        length += sizes[3 * route_ids[row] + 2]
    totals[0], totals[1] = names, length


@kernel
def copy_names(
    route_ids: Int32s,
    outputs: Int32s,
    low: Signed,
    sizes: Int64s,
    name_offsets: Int64s,
    names: Bytes,
    list_offsets: Int32s,
    text_offsets: Int32s,
    texts: Bytes,
) -> None:
    """Write the names of each row's route one after the other: a list of texts for each row, as Arrow has it."""
    at, entry = ZERO, np.int64(0)
    for row in range(route_ids.size):
        route = 3 * np.int64(route_ids[row])
        first = sizes[route]
        for i in range(first, first + sizes[route + 1]):
            name = outputs[i] - low
            begin, end = np.uint64(name_offsets[name]), np.uint64(name_offsets[name + 1])
            _copy(names, begin, end, texts, at)
            at += end - begin
            entry += 1
            text_offsets[entry] = at
        list_offsets[row + 1] = entry


@inlined
def _copy(source: Bytes, begin: Unsigned, end: Unsigned, target: Bytes, at: Unsigned) -> None:
    """Copy ``source[begin:end]`` to ``target[at:]``, and up to SLACK bytes more.

    The processor cannot predict how often a loop for a short text runs, so the first bytes are copied without one.
    """
    store64(target, at, load64(source, begin))
    store64(target, at + EIGHT, load64(source, begin + EIGHT))
    store64(target, at + SIXTEEN, load64(source, begin + SIXTEEN))
    store64(target, at + SIXTEEN + EIGHT, load64(source, begin + SIXTEEN + EIGHT))
    done = SIXTEEN + SIXTEEN
    while done < end - begin:
        store64(target, at + done, load64(source, begin + done))
        done += EIGHT
