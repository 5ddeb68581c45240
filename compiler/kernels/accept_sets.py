"""The accept sets of a cache: equal ones get one number, whether they belong to a state or to a key that was simulated.

A state's set is interned when the state is built. That of a simulated key is when the key is to be stored
(:mod:`compiler.machine.key_store`): what is stored outlives the answer of the call, so it must be a set of the cache.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel, prefetch
from compiler.kernels.interning import enter_set, hash_of, same
from compiler.kernels.tables import DONE, GROW_SETS, GROW_TAGS, SETS, TAGS, WANTED, Cache, Int32s, Signed
from compiler.kernels.unsigned import LOW_HALF, ONE, UPPER_HALF, ZERO
from compiler.kernels.work import NEXT_KEY, FoundSets, Work

__all__ = ["adopt_sets", "intern_set"]

AHEAD = 8
"""Keys before one whose set is adopted, the tags of its set are asked for."""


@inlined
def intern_set(cache: Cache, work: Work, tags: Signed) -> Signed:
    """Return the number of the accept set that was work, ``work.tags[:tags]``; it is added if it is new.

    Returns minus the number of the table that must grow, if one must.
    """
    meta = cache.meta
    hashed = hash_of(work.tags, 0, tags)
    slots = cache.set_slots
    mask = np.uint64(slots.size - 1)
    slot = np.uint64(hashed) & mask
    while slots[slot] != ZERO:
        accept = np.int64(slots[slot] & LOW_HALF)
        if slots[slot] >> UPPER_HALF == np.uint64(hashed) and same(
            cache.tags, cache.set_end[accept - 1], cache.set_end[accept], work.tags, 0, tags
        ):
            return accept
        slot = (slot + ONE) & mask
    if meta[SETS] >= cache.set_end.size:
        return np.int64(-GROW_SETS)
    if meta[TAGS] + tags > cache.tags.size:
        meta[WANTED] = meta[TAGS] + tags
        return np.int64(-GROW_TAGS)
    accept = meta[SETS]
    start = meta[TAGS]
    for i in range(tags):
        cache.tags[start + i] = work.tags[i]
    cache.set_end[accept] = start + tags
    enter_set(slots, slot, hashed, accept)
    meta[TAGS] = start + tags
    meta[SETS] = accept + 1
    return accept


@kernel
def adopt_sets(
    cache: Cache, work: Work, sets: FoundSets, ids: Int32s, row: Signed, simulated: Signed, base: Signed
) -> Signed:
    """Make the sets of simulated keys, from ``row`` on, sets of the cache: ``simulated`` - s in ``ids`` becomes ``base`` + set - 1.

    Returns DONE, or the table of the cache that must grow first; ``sets.counts[NEXT_KEY]`` is the row to go on with.
    """
    ends, tags = sets.ends, sets.tags
    for i in range(row, ids.size):
        if i + AHEAD < ids.size and ids[i + AHEAD] <= simulated:
            prefetch(tags, np.uint64(ends[simulated - ids[i + AHEAD]]))
        if ids[i] > simulated:
            continue
        number = np.int64(simulated - ids[i])
        first = np.int64(ends[number - 1]) if number > 0 else np.int64(0)
        count = np.int64(ends[number]) - first
        for j in range(count):
            work.tags[j] = tags[first + j]
        accept = intern_set(cache, work, count)
        if accept < 0:
            sets.counts[NEXT_KEY] = i
            return -accept
        ids[i] = base + accept - 1
    return np.int64(DONE)
