"""How the tables of a cache grow: doubled while there is room, and in smaller steps, and denser, where the bound is near.

A kernel cannot replace an array that it was given, so it stops when a table is full and says which; :func:`grown` then
returns the cache with more room in that table, and the kernel goes on. A table doubles, so this happens a few dozen times in
the life of a cache.

Where a table has no room to double, half of the bound may still be free. Clearing the cache then would lose what it knows for want of
a few of its bytes: of twelve families of a million bindings, seven were never warm within the default bound, as they were cleared again
and again at two thirds of it, and took 0.6 to 2.8 times as long as looking whole keys up, where the others took 0.2. So tables of
states and sets then grow in STEPS, with hash tables that are filled to DENSE, and the table of transitions is filled further
instead of growing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.kernels.tables import (
    FILTERS_FULL,
    GROW_FILTERS,
    GROW_MEMBERS,
    GROW_STATES,
    GROW_TAGS,
    GROW_TRANSITIONS,
    PROBES,
    TRANSITIONS,
    TRANSITIONS_FULL,
    WANTED,
    Cache,
)
from compiler.machine.cache import nbytes
from compiler.mappings import TIGHT, zeros

__all__ = ["grown"]

STEPS = (7, 6, 5, 4, 3, 2, 1)
"""A table that cannot double grows by so many eighths, as many as there is room for: as old and new are there side by side while one is
copied, there will be less room for the next step."""
SMALL, TIMES, PART = 1 << 12, 8, 16
"""A table of at most SMALL bytes grows TIMES times as large, where that takes no more than one part in PART of what is free. Each growth ends a
call of a kernel, and a call takes as long as thousands of keys do. (The first pass over forty families of ``python -m benchmarks regret`` takes 0.93 of the time
in the geometric mean, 1.03 at worst; with SMALL four times as much 0.92, but caches of small sets would take more.)"""
SPARSE, DENSE = 0.5, 0.75
"""How full the hash table of states or sets may be, and how full where there is no room for more."""
MOST = 2**31 - 1
"""The most members of all states, or tags of all sets: where they end has 32 bits."""
LARGE, LARGER = 4, 16
"""A table of transitions that takes one part in LARGE of the capacity, or in LARGER of one that is not tight, does not double for the sake of a crowded
place. With LARGE, one stock of four had a table of 8 MB within 64 MiB, a fifth full, and its first pass took 1.06 times as long; with LARGER, each
comes upon at most 20 supplanted transitions in two million keys."""


def grown(cache: Cache, table: int, capacity: int, spare: int = 0) -> Cache | None:
    """Return the cache with more room in one table, or None where that would take more than ``capacity`` bytes.

    Old and new arrays exist side by side while one is copied, and both are counted: the bound holds at every moment. What grows in smaller
    steps leaves ``spare`` bytes free: they are worth more to whole keys than to some states more. (Of a family within 1 MiB, 1,200 keys
    that came again and again took 4 times as long without.)
    """
    room = capacity - nbytes(cache)
    if table == GROW_TRANSITIONS:
        return _more_transitions(cache, room, capacity)
    if table == GROW_FILTERS:
        return _more_filters(cache, min(room, capacity // 4), capacity)
    if table in (GROW_MEMBERS, GROW_TAGS):
        return _longer_pool(cache, "members" if table == GROW_MEMBERS else "tags", room, capacity, spare)
    if table == GROW_STATES:
        return _more_entries(cache, ("state_end", "info"), "state_slots", room, capacity, spare)
    return _more_entries(cache, ("set_end",), "set_slots", room, capacity, spare)


def _longer_pool(cache: Cache, name: str, room: int, capacity: int, spare: int) -> Cache | None:
    """Lengthen the members of states or the tags of sets."""
    old: npt.NDArray[np.int32] = getattr(cache, name)
    wanted = int(cache.meta[WANTED])
    size = _times(old.nbytes, room) * len(old)
    if 4 * size > room // 2:
        size, room = len(old) + len(old) // 4, room - spare
    size = min(max(size, wanted), room // 4, MOST)  # the last growth takes what is left
    if size < wanted:
        return None
    return _replaced(cache, {name: _longer(old, size, capacity)})


def _more_filters(cache: Cache, room: int, capacity: int) -> Cache:
    """Make room for another wide filter. Where there is none, the cache goes on with those that it has."""
    size = max(_times(cache.filters.nbytes, room) * len(cache.filters), int(cache.meta[WANTED]))
    if 8 * size > room:
        cache.meta[FILTERS_FULL] = 1
        return cache
    return cache._replace(filters=_longer(cache.filters, size, capacity))


def _more_transitions(cache: Cache, room: int, capacity: int) -> Cache | None:
    """Double the transition table, more than once if it has a crowded place and is not sparse, or let it be filled further."""
    from compiler.kernels.transitions import rehash_transitions

    slots, count = len(cache.transitions) - PROBES + 1, int(cache.meta[TRANSITIONS])
    crowded = 2 * (count + 1) <= slots
    if not crowded or 2 * 8 * slots <= capacity // (LARGER if capacity > TIGHT else LARGE):
        slots *= _times(cache.transitions.nbytes, room)
        while 8 * (slots + PROBES - 1) <= room:
            transitions = zeros(slots + PROBES - 1, np.uint64, capacity)
            shift = np.int64(64 - (slots.bit_length() - 1))
            if rehash_transitions(cache.transitions, cache.transition_shift, transitions, shift, cache.meta):
                cache.meta[TRANSITIONS_FULL] = 0
                return cache._replace(transitions=transitions, transition_shift=shift)
            slots *= 2
        cache.meta[TRANSITIONS] = count  # a table in which a place is crowded has counted its own
    if cache.meta[TRANSITIONS_FULL]:
        return None
    cache.meta[TRANSITIONS_FULL] = 1
    return cache


def _more_entries(
    cache: Cache, names: tuple[str, ...], slots_name: str, room: int, capacity: int, spare: int
) -> Cache | None:
    """Double the tables of states or of sets; or lengthen them by a step, where there is no room for that."""
    from compiler.kernels.interning import rehash

    old = {name: getattr(cache, name) for name in names}
    slots, count = getattr(cache, slots_name), len(old[names[0]])
    each = sum(table.nbytes for table in old.values()) // count

    def larger(size: int, full: float, room: int) -> Cache | None:
        places = len(slots)
        while size > full * places:
            places *= 2  # kernels want a power of two
        more = 8 * places if places > len(slots) else 0
        if each * size + more > room or not count < size <= 2 * cache.state_limit:
            return None
        tables = {name: _longer(table, len(table) // count * size, capacity) for name, table in old.items()}
        if more:
            tables[slots_name] = zeros(places, np.uint64, capacity)
            rehash(slots, tables[slots_name])
        return _replaced(cache, tables)

    doubled = larger(_times(slots.nbytes, room) * count, SPARSE, room // 2)
    if doubled is not None:
        return doubled
    steps = [count + step * count // 8 for step in STEPS]
    within = [size for size in steps if size <= DENSE * len(slots)]
    return next((found for size in (*within, *steps) if (found := larger(size, DENSE, room - spare))), None)


def _times(size: int, room: int) -> int:
    """Return how many times as large a table of ``size`` bytes should get where there is ``room``."""
    return TIMES if size <= SMALL and PART * TIMES * size <= room else 2


def _longer(old: npt.NDArray[Any], size: int, capacity: int) -> npt.NDArray[Any]:
    new = zeros(size, old.dtype, capacity)
    new[: len(old)] = old
    return new


def _replaced(cache: Cache, tables: dict[str, Any]) -> Cache:
    return cache._replace(**tables)
