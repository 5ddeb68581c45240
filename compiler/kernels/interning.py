"""Equal sets get one number: what the tables of states and accept sets, and those of simulated keys, have in common.

A set is a run of ascending numbers in an array. A hash table with linear probing holds hash << 32 | number of the set; as the
hash is stored, looking for a set that is new reads no other set, and a larger table is filled without reading any.

Whoever sends keys may choose sets whose hashes end alike. A set that would make a long run of entries is not entered, and gets another
number when it comes again: that sets are equal is told to save work and room, and nothing depends on it.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel, trailing_zeros
from compiler.kernels.occupied import GROUP, occupied
from compiler.kernels.tables import Int32s, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import GOLDEN, LOW_HALF, ONE, UPPER_HALF, ZERO
from compiler.kernels.work import EMPTY_SET, SETS_FOUND, SETS_SHARED, SHARED_FROM, FoundSets

__all__ = ["add_found_set", "enter_set", "hash_of", "number_anew", "rehash", "same"]

LONGEST, FOR_EACH_TAG = 1023, 16
"""A run of entries without an empty slot between them has so many at most, so each search ends there. By chance none gets so long: not among a million entries where three quarters
of the slots are in use, the longest being of some 300. In the table of an answer, which no cache bounds, a run may have so many for each tag of the set that is entered:
to make the set takes as long as the search, and before one is told twice all in the run have been told."""


@inlined
def hash_of(values: Int32s, first: Signed, last: Signed) -> Signed:
    """Hash ``values[first:last]`` to 31 bits."""
    hashed = np.uint64(last - first)
    for i in range(first, last):
        hashed = (hashed ^ np.uint64(values[i])) * GOLDEN
        hashed ^= hashed >> UPPER_HALF
    return np.int32(hashed & np.uint64(0x7FFFFFFF))


@inlined
def same(pool: Int32s, first: Signed, last: Signed, values: Int32s, begin: Signed, end: Signed) -> bool:
    """Tell whether ``pool[first:last]`` equals ``values[begin:end]``."""
    if last - first != end - begin:
        return False
    for i in range(end - begin):
        if pool[first + i] != values[begin + i]:
            return False
    return True


@inlined
def enter_set(slots: Uint64s, slot: Unsigned, hashed: Signed, number: Signed, most: Signed = LONGEST) -> None:
    """Enter a set into the empty slot at which the search for it has ended, unless the run of entries that this makes has more than ``most``."""
    mask, longest = np.uint64(slots.size - 1), np.uint64(most)
    before, behind = ONE, ONE
    while before <= longest and slots[(slot - before) & mask] != ZERO:
        before += ONE
    while behind <= longest and slots[(slot + behind) & mask] != ZERO:
        behind += ONE
    if before + behind - ONE <= longest:
        slots[slot] = np.uint64(hashed) << UPPER_HALF | np.uint64(number)


@inlined
def add_found_set(sets: FoundSets, end: Signed) -> Signed:
    """Add the set from the last one's end to ``end`` of ``sets.tags``, and return its number.

    A set that is there already is not added if it is empty, equal to the last one, or has at least SHARED_FROM tags.
    ``sets.slots`` has room.
    """
    set_end, tags, counts, slots = sets.ends, sets.tags, sets.counts, sets.slots
    number = counts[SETS_FOUND]
    begin = np.int64(set_end[number - 1]) if number > 0 else np.int64(0)
    if begin == end:
        if counts[EMPTY_SET] != 0:
            return counts[EMPTY_SET] - 1
        counts[EMPTY_SET] = number + 1
    elif number > 0:
        last = np.int64(set_end[number - 2]) if number > 1 else np.int64(0)
        if same(tags, last, begin, tags, begin, end):
            return number - 1
    if end - begin >= SHARED_FROM:
        hashed = hash_of(tags, begin, end)
        mask = np.uint64(slots.size - 1)
        slot = np.uint64(hashed) & mask
        while slots[slot] != ZERO:
            known = np.int64(slots[slot] & LOW_HALF) - 1
            if slots[slot] >> UPPER_HALF == np.uint64(hashed):
                start = np.int64(set_end[known - 1]) if known > 0 else np.int64(0)
                if same(tags, start, np.int64(set_end[known]), tags, begin, end):
                    return known
            slot = (slot + ONE) & mask
        enter_set(slots, slot, hashed, number + 1, max(LONGEST, FOR_EACH_TAG * (end - begin)))
        counts[SETS_SHARED] += 1
    set_end[number] = end
    counts[SETS_FOUND] = number + 1
    return number


@kernel
def rehash(old: Uint64s, slots: Uint64s) -> None:
    """Enter all entries of a hash table of sets or of states into an empty larger one, where no run gets longer than it was: it has some entries of one run at most."""
    mask, size = np.uint64(slots.size - 1), np.uint64(old.size)
    for first in range(ZERO, size, GROUP):
        used = occupied(old, first, min(first + GROUP, size))
        while used != ZERO:
            entry = old[first + trailing_zeros(used)]
            used &= used - ONE
            slot = entry >> UPPER_HALF & mask
            while slots[slot] != ZERO:
                slot = (slot + ONE) & mask
            slots[slot] = entry


@kernel
def number_anew(ids: Int32s, more: Signed, simulated: Signed) -> None:
    """Number the sets of an answer, in which those of simulated keys come first: ``simulated`` - s becomes s, and s becomes s + ``more``.

    Whole-array arithmetic with masks took 15 ns for a key.
    """
    further, first = np.int32(more), np.int32(simulated)
    for i in range(ids.size):
        number = ids[i]
        renamed = np.int32(number + further) if number >= 0 else number
        ids[i] = np.int32(first - number) if number <= first else renamed
