"""A list for each row of a batch, of its set's members or of what these lead to, as Arrow lays lists out.

Names themselves are written by :mod:`compiler.kernels.leading`.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels.leading import AT_ONCE, copy_ends
from compiler.kernels.tables import Int32s, Int64s, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import GOLDEN, ONE, THREE, TWO, UPPER_HALF, ZERO

__all__ = ["copy_members", "end_lists", "name_sets", "total_names"]


@kernel
def end_lists(set_ids: Int32s, offsets: Int32s, ends: Int32s) -> Signed:
    """Write where the list of each row ends behind ``ends[0]``, which gets 0, and return how many entries all lists have.

    A row without a set (-1) has an empty list. If there are 2^31 entries or more, ``ends`` have run over.
    """
    end = np.int64(0)
    ends[0] = 0
    for row in range(np.uint64(set_ids.size)):
        if set_ids[row] >= 0:
            number = np.uint64(set_ids[row])
            end += np.int64(offsets[number + ONE]) - np.int64(offsets[number])
        ends[row + ONE] = np.int32(end)
    return end


@kernel
def copy_members(set_ids: Int32s, offsets: Int32s, members: Int32s, values: Int32s) -> None:
    """Write the members of each row's set one after the other; ``values`` has AT_ONCE entries more than they are.

    Eight are copied at once, as nobody can tell how many a set has; those of the last sets one by one, where eight are not there.
    """
    at, last = ZERO, np.int64(members.size) - np.int64(AT_ONCE)
    for row in range(np.uint64(set_ids.size)):
        if set_ids[row] >= 0:
            number = np.uint64(set_ids[row])
            first = np.uint64(offsets[number])
            count = np.uint64(offsets[number + ONE]) - first
            if np.int64(offsets[number + ONE]) <= last:
                copy_ends(members, first, count, ZERO, values, at)
            else:
                for i in range(count):
                    values[at + i] = members[first + i]
            at += count


@kernel
def name_sets(
    offsets: Int32s,
    members: Int32s,
    codes_of: Int32s,
    name_offsets: Int64s,
    seen: Uint64s,
    codes: Int32s,
    sizes: Int64s,
) -> Signed:
    """Write the codes of each set's members, each once in the order of its first member; return how many these are.

    ``codes_of`` has the code of each member, and the name of code c has ``name_offsets[c + 1] - name_offsets[c]`` bytes. ``sizes`` gets
    three entries for each set: the index of its first code, how many it has, and the bytes of their names; and three for an empty
    set behind all of them. A member that has no code ends the work: then -1 is returned. ``seen`` is a hash table
    for the codes of one set: zeros, a power of two of them, at least twice as many as the largest set has members; or nothing, where
    no two members have the same code.
    """
    end = ZERO
    for number in range(np.uint64(offsets.size - 1)):
        first, length = end, np.int64(0)
        for i in range(np.uint64(offsets[number]), np.uint64(offsets[number + ONE])):
            if np.uint64(members[i]) >= np.uint64(codes_of.size):
                return np.int64(-1)
            code = np.uint64(codes_of[members[i]])
            if seen.size == 0 or _is_new(seen, number + ONE, code):
                codes[end] = np.int32(code)
                end += ONE
                length += name_offsets[code + ONE] - name_offsets[code]
        sizes[THREE * number] = first
        sizes[THREE * number + ONE] = end - first
        sizes[THREE * number + TWO] = length
    behind = THREE * np.uint64(offsets.size - 1)
    sizes[behind], sizes[behind + ONE], sizes[behind + TWO] = np.int64(end), np.int64(0), np.int64(0)
    return np.int64(end)


@inlined
def _is_new(seen: Uint64s, number: Unsigned, code: Unsigned) -> Unsigned:
    """Put a code into the table and return 1, or return 0 if it was put there for the same number before."""
    entry, mask = number << UPPER_HALF | code, np.uint64(seen.size - 1)
    slot = (code * GOLDEN) >> UPPER_HALF & mask
    while seen[slot] >> UPPER_HALF == number:
        if seen[slot] == entry:
            return ZERO
        slot = (slot + ONE) & mask
    seen[slot] = entry
    return ONE


@kernel
def total_names(set_ids: Int32s, sizes: Int64s, totals: Int64s) -> None:
    """Write how many names the lists of all rows have, and how many bytes these have, to ``totals``; ``sizes`` as in :func:`name_sets`."""
    names = length = np.int64(0)
    for row in range(np.uint64(set_ids.size)):
        number = THREE * np.uint64(set_ids[row])
        names += sizes[number + ONE]
        length += sizes[number + TWO]
    totals[0], totals[1] = names, length
