"""A relay's rows: from station to station, a table look-up for each. What the table lacks is in ``relay_steps``.

A kernel that finds a table full stops, says which, and goes on at the same row when the table has grown.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels.relay_steps import name_set, work_out
from compiler.kernels.relay_tables import DONE, FOUND, GROW_STEPS, NEXT, STEPS, Itineraries, Network, Scratch
from compiler.kernels.tables import Bools, Int32s, Signed, Uint64s
from compiler.kernels.unsigned import GOLDEN, ONE, TWO, UPPER_HALF, ZERO

__all__ = [
    "advance_rows",
    "begin_rows",
    "conclude_rows",
    "copy_outputs",
    "measure_outputs",
    "rehash_steps",
    "set_aside",
    "still_waiting",
    "take_steps",
]

FOUR = np.uint64(4)


@kernel
def begin_rows(
    network: Network,
    cache: Itineraries,
    scratch: Scratch,
    stations: Int32s,
    itineraries: Int32s,
    rows: Int32s,
    at: Int32s,
    first: Signed,
    found: Signed,
) -> Signed:
    """Write the itinerary of each row from ``first`` on, given the station where it begins; below 0, it begins nowhere.

    The rows that wait somewhere, and where, are written to ``rows`` and ``at`` from ``found`` on. Returns how many there are
    in all, or minus the table that must grow; then ``counts`` has the row to go on at (NEXT), and how many there are so far (FOUND).
    """
    for row in range(first, stations.size):
        station = np.int64(stations[row])
        itinerary = np.int64(0)
        if station >= 0:
            itinerary = np.int64(cache.begins[station])
            if itinerary == 0:
                itinerary = work_out(network, cache, scratch, np.int64(0), np.int64(0), station)
                if itinerary < 0:
                    cache.counts[NEXT], cache.counts[FOUND] = row, found
                    return itinerary
                cache.begins[station] = itinerary
            if cache.waits[itinerary] >= 0:
                rows[found] = row
                at[found] = cache.waits[itinerary]
                found += 1
        itineraries[row] = itinerary
    return found


@kernel
def advance_rows(
    network: Network,
    cache: Itineraries,
    scratch: Scratch,
    itineraries: Int32s,
    rows: Int32s,
    set_ids: Int32s,
    offsets: Int32s,
    positions: Int32s,
    conditions: Int32s,
    memo: Int32s,
    first: Signed,
) -> Signed:
    """Take each of the ``rows`` from ``first`` on one step further, given its accept set.

    Row ``rows[i]`` has the set ``set_ids[i]``; set s has the conditions ``conditions[positions[offsets[s]:offsets[s + 1]]]``. ``memo``
    is a power of two of fours, at first 0, of which set s has one, unless another takes it: s + 1, its number in the cache, the
    itinerary that the last row with it had, and the next one; most often it is the same again. Returns DONE, or minus the table that must
    grow.
    """
    return take_steps(network, cache, scratch, itineraries, rows, set_ids, offsets, positions, conditions, memo, first)


@inlined
def take_steps(
    network: Network,
    cache: Itineraries,
    scratch: Scratch,
    itineraries: Int32s,
    rows: Int32s,
    set_ids: Int32s,
    offsets: Int32s,
    positions: Int32s,
    conditions: Int32s,
    memo: Int32s,
    first: Signed,
) -> Signed:
    """Do what :func:`advance_rows` does."""
    steps, counts = cache.steps, cache.counts
    mask, memos = np.uint64((steps.size >> 1) - 1), np.uint64((memo.size >> 2) - 1)
    for i in range(first, rows.size):
        number, row = np.uint64(set_ids[i]), np.uint64(rows[i])
        own = FOUR * (number & memos)
        known = np.uint64(memo[own]) == number + ONE
        if known and memo[own + TWO] == itineraries[row]:
            itineraries[row] = memo[own + FOUR - ONE]
            continue
        name = np.int64(memo[own + ONE])
        if not known:
            name = name_set(cache, offsets, positions, conditions, np.int64(number))
            if name < 0:
                counts[NEXT] = i
                return name
            memo[own], memo[own + ONE], memo[own + TWO] = number + ONE, name, 0
        key = np.uint64(itineraries[row]) << UPPER_HALF | np.uint64(name)
        slot = _home(key) & mask
        while steps[TWO * slot] != key and steps[TWO * slot] != ZERO:
            slot = (slot + ONE) & mask
        target = np.int64(steps[TWO * slot + ONE])
        if target == 0:
            if 4 * (counts[STEPS] + 1) > steps.size:  # half of the slots
                counts[NEXT] = i
                return -GROW_STEPS
            target = work_out(network, cache, scratch, np.int64(itineraries[row]), name, np.int64(-1))
            if target < 0:
                counts[NEXT] = i
                return target
            steps[TWO * slot] = key
            steps[TWO * slot + ONE] = np.uint64(target)
            counts[STEPS] += 1
        memo[own + TWO], memo[own + FOUR - ONE] = itineraries[row], np.int32(target)
        itineraries[row] = target
    return DONE


@kernel
def set_aside(asked: Bools, rows: Int32s, at: Int32s, parts: Int32s) -> Signed:
    """Part rows by whether the station at which they wait, in ``at``, is ``asked``; return how many wait at others.

    ``parts`` has four rooms, each for as many numbers as there are rows: those that wait at others and where, those that wait at
    asked stations and where. All keep their order.
    """
    size = np.uint64(rows.size)
    kept = moved = ZERO
    for i in range(size):
        row, station = rows[i], at[i]
        special = asked[np.uint64(station)]
        # Written to both, as the processor cannot predict which.
        parts[kept], parts[size + kept] = row, station
        parts[TWO * size + moved], parts[(TWO + ONE) * size + moved] = row, station
        kept += ZERO if special else ONE
        moved += ONE if special else ZERO
    return np.int64(kept)


@kernel
def still_waiting(cache: Itineraries, itineraries: Int32s, rows: Int32s, at: Int32s) -> Signed:
    """Keep of the ``rows`` those that wait somewhere, in place, write where to ``at``, and return how many they are."""
    found = 0
    for i in range(rows.size):
        row = rows[i]
        station = cache.waits[itineraries[row]]
        if station >= 0:
            rows[found] = row
            at[found] = station
            found += 1
    return found


@kernel
def conclude_rows(itineraries: Int32s, marks: Int32s, route_ids: Int32s, used: Int32s, base: Signed) -> Signed:
    """Number the itineraries of all rows: return how many are new, with ``used[number - base]`` the itinerary.

    ``marks`` has the number of each itinerary, or -1. New ones count from ``base`` on.
    """
    known = 0
    for row in range(itineraries.size):
        itinerary = itineraries[row]
        number = marks[itinerary]
        if number < 0:
            number = base + known
            marks[itinerary] = number
            used[known] = itinerary
            known += 1
        route_ids[row] = number
    return known


@kernel
def measure_outputs(cache: Itineraries, used: Int32s, offsets: Int32s) -> Signed:
    """Write where the outputs of each of the ``used`` itineraries end, if they follow each other, and return the last end.

    ``offsets[0]`` is where the first ones begin. Ends are cut off to 32 bits.
    """
    end = np.int64(offsets[0])
    for i in range(used.size):
        itinerary = np.int64(used[i])
        if itinerary > 0:
            end += np.int64(cache.ends[3 * itinerary]) - np.int64(cache.ends[3 * itinerary - 1])
        offsets[i + 1] = np.int32(end)
    return end


@kernel
def copy_outputs(cache: Itineraries, used: Int32s, offsets: Int32s, values: Int32s) -> None:
    """Write the outputs of each of the ``used`` itineraries to ``values[offsets[i]:offsets[i + 1]]``."""
    for i in range(used.size):
        begin = np.int64(cache.ends[3 * np.int64(used[i]) - 1])
        for j in range(offsets[i + 1] - offsets[i]):
            values[offsets[i] + j] = cache.members[begin + j]


@kernel
def rehash_steps(old: Uint64s, steps: Uint64s) -> None:
    """Enter all steps into an empty larger table."""
    mask = np.uint64((steps.size >> 1) - 1)
    for i in range(old.size >> 1):
        key = old[2 * i]
        if key != ZERO:
            slot = _home(key) & mask
            while steps[TWO * slot] != ZERO:
                slot = (slot + ONE) & mask
            steps[TWO * slot] = key
            steps[TWO * slot + ONE] = old[2 * i + 1]


@inlined
def _home(key: Signed) -> Signed:
    """Scramble a step's key; the low bits are used."""
    mixed = key * GOLDEN
    return mixed ^ mixed >> UPPER_HALF
