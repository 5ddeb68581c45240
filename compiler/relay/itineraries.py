"""The cache of a relay as a value: made small, grown table by table, and accounted for in one function.

As with the lazy DFA's cache (:mod:`compiler.machine.cache`), a kernel that finds a table full stops and says which.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels.relay_tables import (
    COUNTS,
    GROW_MEMBERS,
    GROW_NAME_BYTES,
    GROW_NAMES,
    GROW_SETS,
    GROW_STATES,
    GROW_STEPS,
    GROW_VALUES,
    NAME_BYTES,
    NAMES,
    SETS,
    STATES,
    WANTED,
    Itineraries,
    Network,
    Scratch,
)
from compiler.kernels.tables import longer
from compiler.machine.key_cache import NO_KEY_TABLE

__all__ = ["empty_itineraries", "grown", "make_scratch", "nbytes", "nothing_named", "with_names"]

NOT_WRITTEN, ENTRY = -1, 8
"""What an entry of ``named`` begins with before its names are written, and how many numbers it has."""
NAMES_AT_FIRST = 64
MOST = 2**31 - 1
"""The most entries of a table: their numbers have 32 bits."""


def empty_itineraries(network: Network) -> Itineraries:
    """Return a cache in which nothing is worked out."""
    counts = np.zeros(COUNTS, np.int64)
    counts[[SETS, STATES]] = 1
    return Itineraries(
        counts=counts,
        begins=np.zeros(len(network.kinds), np.int32),
        set_ends=np.zeros(32, np.int32),
        set_slots=np.zeros(64, np.uint64),
        values=np.empty(256, np.int32),
        ends=np.zeros(3 * 64, np.int32),
        waits=np.full(64, -1, np.int32),
        slots=np.zeros(128, np.uint64),
        members=np.empty(512, np.int32),
        steps=np.zeros(2 * 256, np.uint64),
        messages=NO_KEY_TABLE,
        **_no_names(),
    )


def nothing_named(cache: Itineraries) -> Itineraries:
    """Return the cache without the names of any itinerary."""
    cache.counts[[NAMES, NAME_BYTES]] = 0
    return cache._replace(**_no_names())


def with_names(cache: Itineraries, capacity: int | None) -> Itineraries | None:
    """Return the cache with room to note of each itinerary where its names are, or None where it would take more than ``capacity`` bytes."""
    size = ENTRY * len(cache.waits)
    if len(cache.named) == size:
        return cache
    if capacity is not None and nbytes(cache) + 4 * size > capacity:
        return None
    named = np.full(size, NOT_WRITTEN, np.int32)
    named[: len(cache.named)] = cache.named
    return cache._replace(named=named)


def _no_names() -> dict[str, Any]:
    none = np.empty(0, np.int32)
    return {"named": none, "name_ends": none, "name_texts": np.empty(0, np.uint8)}


def nbytes(cache: Itineraries) -> int:
    """Bytes of all arrays of a cache."""
    return sum(array.nbytes for array in cache)


def make_scratch(network: Network, outputs: int) -> Scratch:
    """Return room to work itineraries out."""
    stations = len(network.kinds)
    return Scratch(
        outputs=np.empty(outputs, np.int32),
        waiting=np.empty(stations, np.int32),
        visited=np.empty(stations, np.int32),
        agenda=np.empty(stations, np.int32),
        output_marks=np.zeros(outputs, np.int32),
        station_marks=np.zeros(stations, np.int32),
    )


def grown(cache: Itineraries, table: int, capacity: int | None) -> Itineraries | None:
    """Return the cache with more room in one table, or None where it would then take more than ``capacity`` bytes.

    Old and new arrays exist side by side while one is copied, and both are counted. No capacity is no bound.
    """
    wanted = int(cache.counts[WANTED])
    if wanted > MOST:
        return None
    new: dict[str, Any]
    if table == GROW_STEPS:
        new = {"steps": np.zeros(2 * len(cache.steps), np.uint64)}
    elif table == GROW_VALUES:
        new = {"values": longer(cache.values, max(2 * len(cache.values), wanted))}
    elif table == GROW_MEMBERS:
        new = {"members": longer(cache.members, max(2 * len(cache.members), wanted))}
    elif table == GROW_NAMES:
        new = {"name_ends": longer(cache.name_ends, max(2 * len(cache.name_ends), wanted, NAMES_AT_FIRST))}
    elif table == GROW_NAME_BYTES:
        more = max(len(cache.name_texts), wanted - len(cache.name_texts), 16 * NAMES_AT_FIRST)
        new = {"name_texts": np.concatenate((cache.name_texts, np.empty(more, np.uint8)))}
    elif table == GROW_SETS:
        slots = np.zeros(2 * len(cache.set_slots), np.uint64)
        new = {"set_ends": longer(cache.set_ends, 2 * len(cache.set_ends)), "set_slots": slots}
    else:
        assert table == GROW_STATES
        slots = np.zeros(2 * len(cache.slots), np.uint64)
        new = {
            "ends": longer(cache.ends, 2 * len(cache.ends)),
            "waits": longer(cache.waits, 2 * len(cache.waits)),
            "slots": slots,
        }
    if capacity is not None and nbytes(cache) + sum(array.nbytes for array in new.values()) > capacity:
        return None
    from compiler.kernels.interning import rehash  # as late as all kernels
    from compiler.kernels.relay import rehash_steps

    if table == GROW_STEPS:
        rehash_steps(cache.steps, new["steps"])
    elif table == GROW_SETS:
        rehash(cache.set_slots, new["set_slots"])
    elif table == GROW_STATES:
        rehash(cache.slots, new["slots"])
    return cache._replace(**new)
