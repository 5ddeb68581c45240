"""Demands on the fields of messages: which criteria a message meets, and which demands that satisfies.

Two steps, as in the second half of ZeroMQ's "High-speed message matching" whitepaper: a message's fields are looked up among the
*criteria* of all demands (a field is there; a field has a value), and in the bitmap of each criterion that is met the demands
are counted which have it. Messages that meet the same criteria are counted once: they have the same *combination*.

A counter per demand would be one addition for each bit. Here the counters of 64 demands stand upright, a bit of each in one
number, so a bitmap's word is added to 64 counters in two or three operations. A demand on all its criteria is satisfied where
its counter is equal to its need, one on any where it is not 0.

Numbers of criteria, combinations and demands count from 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compiler.kernels._jit import inlined, kernel, trailing_zeros
from compiler.kernels.interning import hash_of, same
from compiler.kernels.sorting import sort
from compiler.kernels.tables import Bytes, Int32s, Int64s, Keys, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import GOLDEN, LOW_HALF, ONE, TWO, UPPER_HALF, ZERO
from compiler.kernels.words import find_symbol, name_word

__all__ = ["Bitmaps", "Combinations", "Criteria", "Fields", "combine_fields", "count_hits", "fill_pairs"]

LOW_BITS = np.uint64(63)


class Fields(NamedTuple):
    """The fields of messages, those of one message after the other."""

    offsets: Int32s
    """Message i has the fields ``range(offsets[i], offsets[i + 1])``."""
    names: Keys
    values: Keys
    kinds: Bytes
    """What a value is, as criteria say it, too; 0 if there is none, so that only the presence counts."""


class Criteria(NamedTuple):
    """The hash tables of all criteria; immutable."""

    numbers: Uint64s
    """Shift and multiplier of the table of names, and of that of values (see :mod:`compiler.kernels.words`)."""
    names: Uint64s
    name_data: Bytes
    name_offsets: Int32s
    values: Uint64s
    value_data: Bytes
    value_offsets: Int32s
    presence: Int32s
    """For each name's symbol the criterion that it is there, or -1."""
    pairs: Uint64s
    """With linear probing: pairs of (name's symbol << 40 | kind << 32 | value's symbol), and the criterion plus 1."""


class Combinations(NamedTuple):
    """What criteria messages meet, each combination once; filled by a kernel."""

    ends: Int32s
    """Combination c is ``members[ends[c]:ends[c + 1]]``, ascending."""
    members: Int32s
    slots: Uint64s
    """The hash table of combinations: hash << 32 | combination + 1."""
    scratch: Int32s
    """Room for the criteria of one message."""


class Bitmaps(NamedTuple):
    """The demands of one matcher, by criteria; immutable. Demand d is bit d % 64 of word d // 64."""

    criteria: Int32s
    """The criteria that any of its demands has, ascending."""
    starts: Int64s
    """Criterion ``criteria[i]`` has the words ``range(starts[i], starts[i + 1])``; words without a bit are left out."""
    places: Int32s
    """Which word of the bitmap each of these is."""
    words: Uint64s
    needs: Uint64s
    """How many criteria a demand has, upright: bit p of the needs of word w is ``needs[p * width + w]``."""
    every: Uint64s
    """The demands on all of their criteria, of which there is at least one; others are on any."""
    always: Uint64s
    """The demands that every message satisfies."""
    certain: Uint64s
    """A bit for each word of ``always``: whether it has any."""


@kernel
def fill_pairs(keys: Uint64s, pairs: Uint64s) -> None:
    """Enter criterion i with the key ``keys[i]``, unless that is 0, into an empty table."""
    mask = np.uint64((pairs.size >> 1) - 1)
    for i in range(keys.size):
        key = keys[i]
        if key != ZERO:
            slot = _home(key) & mask
            while pairs[TWO * slot + ONE] != ZERO:
                slot = (slot + ONE) & mask
            pairs[TWO * slot] = key
            pairs[TWO * slot + ONE] = np.uint64(i + 1)


@kernel
def combine_fields(fields: Fields, criteria: Criteria, found: Combinations, ids: Int32s) -> Signed:
    """Write the combination of each message to ``ids``, and return how many there are.

    There is room for a combination for each message, and for two criteria for each field.
    """
    ends, members, slots, scratch = found
    count = np.int64(0)
    name_shift, name_multiplier = criteria.numbers[0], criteria.numbers[1]
    value_shift, value_multiplier = criteria.numbers[2], criteria.numbers[3]
    names, values = fields.names, fields.values
    pair_mask, mask = np.uint64((criteria.pairs.size >> 1) - 1), np.uint64(slots.size - 1)
    for row in range(fields.offsets.size - 1):
        met: Signed = 0
        for i in range(fields.offsets[row], fields.offsets[row + 1]):
            at = np.uint64(names.offsets[i])
            length = np.uint64(names.offsets[i + 1]) - at
            word = name_word(names.data, at, length, name_multiplier)
            name = find_symbol(
                criteria.names, name_shift, name_multiplier, criteria.name_data, criteria.name_offsets, word, names.data, at, length
            )  # fmt: skip
            if name == ZERO:
                continue
            if criteria.presence[name] >= 0:
                scratch[met] = criteria.presence[name]
                met += 1
            kind = np.uint64(fields.kinds[i])
            if kind == ZERO:
                continue
            at = np.uint64(values.offsets[i])
            length = np.uint64(values.offsets[i + 1]) - at
            word = name_word(values.data, at, length, value_multiplier)
            value = find_symbol(
                criteria.values, value_shift, value_multiplier, criteria.value_data, criteria.value_offsets, word, values.data, at, length
            )  # fmt: skip
            if value == ZERO:
                continue
            key = name << np.uint64(40) | kind << UPPER_HALF | value
            slot = _home(key) & pair_mask
            while criteria.pairs[TWO * slot] != key and criteria.pairs[TWO * slot + ONE] != ZERO:
                slot = (slot + ONE) & pair_mask
            if criteria.pairs[TWO * slot + ONE] != ZERO:
                scratch[met] = np.int32(criteria.pairs[TWO * slot + ONE] - ONE)
                met += 1
        sort(scratch, np.int64(met))
        begin = end = np.int64(ends[count])
        for i in range(met):  # a field that comes twice counts once
            if i == 0 or scratch[i] != scratch[i - 1]:
                members[end] = scratch[i]
                end += 1
        hashed = np.uint64(hash_of(members, begin, end))
        slot = hashed & mask
        number = np.int64(-1)
        while slots[slot] != ZERO:
            if slots[slot] >> UPPER_HALF == hashed:
                known = np.int64(slots[slot] & LOW_HALF) - 1
                if same(members, np.int64(ends[known]), np.int64(ends[known + 1]), members, begin, end):
                    number = known
                    break
            slot = (slot + ONE) & mask
        if number < 0:
            number = count
            count += 1
            slots[slot] = hashed << UPPER_HALF | np.uint64(count)
            ends[count] = end
        ids[row] = number
    return count


@kernel
def count_hits(
    bitmaps: Bitmaps,
    ends: Int32s,
    members: Int32s,
    used: Int32s,
    first: Signed,
    counters: Uint64s,
    marks: Uint64s,
    found_ends: Int32s,
    found: Int32s,
) -> Signed:
    """Write the demands that each of the combinations ``used[first:]`` satisfies to ``found``, and where they end.

    ``found_ends[0]`` is 0. ``counters``, a number for each in ``needs``, and ``marks``, a bit for each word, are 0, and are left
    so. Returns the place in ``used`` for which there is no room: ``found`` must have one for each demand.
    """
    width = bitmaps.always.size
    planes = bitmaps.needs.size // width
    end = np.int64(0)
    for i in range(first, used.size):
        if end + 64 * width > found.size:
            return i
        combination = used[i]
        for j in range(ends[combination], ends[combination + 1]):
            own = _find(bitmaps.criteria, np.int64(members[j]))
            if own < 0:
                continue
            for k in range(bitmaps.starts[own], bitmaps.starts[own + 1]):
                place = np.int64(bitmaps.places[k])
                carried = bitmaps.words[k]
                marks[place >> 6] |= ONE << (np.uint64(place) & LOW_BITS)
                for plane in range(planes):
                    if carried == ZERO:
                        break
                    counter = plane * width + place
                    before = counters[counter]
                    counters[counter] = before ^ carried
                    carried &= before
        for mark in range(marks.size):
            waiting = marks[mark] | bitmaps.certain[mark]
            marks[mark] = ZERO
            while waiting != ZERO:
                place = (mark << 6) + np.int64(trailing_zeros(waiting))
                waiting &= waiting - ONE
                any_hit, unequal = ZERO, ZERO
                for plane in range(planes):
                    counter = plane * width + place
                    any_hit |= counters[counter]
                    unequal |= counters[counter] ^ bitmaps.needs[counter]
                    counters[counter] = ZERO
                every = bitmaps.every[place]
                satisfied = (every & ~unequal) | (any_hit & ~every) | bitmaps.always[place]
                while satisfied != ZERO:
                    found[end] = (place << 6) + np.int64(trailing_zeros(satisfied))
                    satisfied &= satisfied - ONE
                    end += 1
        found_ends[i + 1 - first] = end
    return np.int64(used.size)


@inlined
def _find(values: Int32s, value: Signed) -> Signed:
    """Return the place of a value among ascending ones, or -1."""
    low, high = np.int64(0), np.int64(values.size)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < values.size and values[low] == value else np.int64(-1)


@inlined
def _home(key: Unsigned) -> Unsigned:
    """Scramble a pair's key; the low bits are used."""
    mixed = key * GOLDEN
    return mixed ^ mixed >> UPPER_HALF
