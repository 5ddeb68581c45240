"""Which demands a combination of criteria satisfies, from bitmaps of demands; see :mod:`compiler.kernels.criteria`.

Where demands and fields are few there is a shorter way: of each field, the value rules out the demands that ask something else of it,
and what none rules out is satisfied. That is one bitmap for each field, and nothing is counted.

A counter per demand would be one addition for each bit. Here the counters of 64 demands stand upright, a bit of each in one
number, so a bitmap's word is added to 64 counters in two or three operations. A demand on all its criteria is satisfied where
its counter is equal to its need, one on any where it is not 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compiler.kernels._jit import inlined, kernel, trailing_zeros
from compiler.kernels.tables import Int32s, Int64s, Signed, Uint64s
from compiler.kernels.unsigned import ONE, ZERO

__all__ = ["Bitmaps", "count_hits"]

LOW_BITS = np.uint64(63)


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
    own: Int32s
    """For each criterion of the vocabulary its place in ``criteria`` or -1; nothing where that would take too much room."""
    fields: Int32s
    """For each of ``criteria`` twice the number of its field's name, plus 1 if it asks for a value."""
    blocks: Uint64s
    """Whole bitmaps of the demands on all that cannot be satisfied: first for each of ``criteria`` those that demand something else
    of its field, then for each field those that demand anything of it, as where a message does not have it. Only where demands
    and fields are few; else nothing, and ``words`` is read."""
    hits: Uint64s
    """Likewise, the demands on any that each criterion satisfies, and none for fields that are not there."""


@kernel
def count_hits(
    bitmaps: Bitmaps,
    ends: Int32s,
    members: Int32s,
    used: Int32s,
    first: Signed,
    counters: Uint64s,
    marks: Uint64s,
    chosen: Int64s,
    blocked: Uint64s,
    found_ends: Int32s,
    found: Int32s,
) -> Signed:
    """Write the demands that each of the combinations ``used[first:]`` satisfies to ``found``, and where they end.

    ``found_ends[0]`` is 0. ``counters``, a number for each in ``needs``, and ``marks``, a bit for each word, are 0, and are left
    so; ``chosen`` has two numbers for each field, ``blocked`` one for each word. Returns the place in ``used`` for which there is no room: ``found`` must have one for
    each demand.
    """
    width = np.int64(bitmaps.always.size)
    end: Signed = np.int64(0)
    for i in range(first, used.size):
        if end + 64 * width > found.size:
            return i
        low, high = np.int64(ends[used[i]]), np.int64(ends[used[i] + 1])
        if bitmaps.blocks.size > 0 and _choose(bitmaps, members, low, high, chosen):
            end = _unblocked(bitmaps, chosen, blocked, found, end)
        else:
            end = _counted(bitmaps, members, low, high, counters, marks, found, end)
        found_ends[i + 1 - first] = end
    return np.int64(used.size)


@inlined
def _choose(bitmaps: Bitmaps, members: Int32s, low: Signed, high: Signed, chosen: Int64s) -> bool:
    """Write for each field where the bitmap of its value begins; False if a field has several values that are asked for.

    Of the criteria on one field that are met, that of a value comes behind that of presence, and rules out more.
    """
    width = np.int64(bitmaps.always.size)
    absent = np.int64(bitmaps.criteria.size) * width
    for field in range(0, chosen.size, 2):
        chosen[np.uint64(field)], chosen[np.uint64(field) + ONE] = absent, 0
        absent += width
    for j in range(low, high):
        own = _place(bitmaps, np.int64(members[np.uint64(j)]))
        if own >= 0:
            of = np.uint64(bitmaps.fields[np.uint64(own)])
            if chosen[of | ONE] != 0:  # a value
                return False
            chosen[of & ~ONE], chosen[of | ONE] = own * width, np.int64(of & ONE)
    return True


@inlined
def _unblocked(bitmaps: Bitmaps, chosen: Int64s, blocked: Uint64s, found: Int32s, end: Signed) -> Signed:
    """Write what a combination satisfies, by one whole bitmap for each field: what its value rules out.

    ``blocked`` has a number for each word. Field by field, as the compiler makes vectors of that: word by word, with all fields in
    the inner loop, took twice as long, and with four words in registers it gathered them from four fields, which is no faster.
    """
    blocks, hits, every, always = bitmaps.blocks, bitmaps.hits, bitmaps.every, bitmaps.always
    width = np.uint64(always.size)  # an index that may be negative is looked at each time
    for place in range(width):
        blocked[place] = ~every[place]
    for field in range(0, chosen.size, 2):
        begin = np.uint64(chosen[np.uint64(field)])
        for place in range(width):
            blocked[place] |= blocks[begin + np.uint64(place)]
    some = ZERO
    for place in range(width):
        blocked[place] = ~blocked[place] | always[place]
        some |= blocked[place]
    if hits.size > 0:
        some = ONE
        for field in range(0, chosen.size, 2):
            begin = np.uint64(chosen[np.uint64(field)])
            for place in range(width):
                blocked[place] |= hits[begin + np.uint64(place)]
    if some == ZERO:  # of many demands most often none is satisfied
        return end
    for word in range(blocked.size):
        satisfied = blocked[np.uint64(word)]
        while satisfied != ZERO:
            found[end] = (word << 6) + np.int64(trailing_zeros(satisfied))
            satisfied &= satisfied - ONE
            end += 1
    return end


@kernel
def _counted(
    bitmaps: Bitmaps,
    members: Int32s,
    low: Signed,
    high: Signed,
    counters: Uint64s,
    marks: Uint64s,
    found: Int32s,
    end: Signed,
) -> Signed:
    """Write what a combination satisfies, by counting."""
    width = bitmaps.always.size
    planes = bitmaps.needs.size // width
    for j in range(low, high):
        own = _place(bitmaps, np.int64(members[j]))
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
    return end


@inlined
def _place(bitmaps: Bitmaps, criterion: Signed) -> Signed:
    """Return the place of a criterion among those of the demands, or -1."""
    if bitmaps.own.size > 0:
        return np.int64(bitmaps.own[np.uint64(criterion)])
    return _find(bitmaps.criteria, criterion)


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
