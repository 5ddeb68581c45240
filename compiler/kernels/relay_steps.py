"""Itineraries, worked out once for each combination of an itinerary and an accept set: see :mod:`compiler.kernels.relay_tables`."""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels.interning import enter_set, hash_of, same
from compiler.kernels.relay_tables import (
    CONSTANT,
    EPOCH,
    GROW_MEMBERS,
    GROW_SETS,
    GROW_STATES,
    GROW_VALUES,
    MEMBERS,
    SETS,
    STATES,
    VALUES,
    WANTED,
    Itineraries,
    Network,
    Scratch,
)
from compiler.kernels.sorting import sort
from compiler.kernels.tables import Int32s, Signed
from compiler.kernels.unsigned import LOW_HALF, ONE, UPPER_HALF, ZERO

__all__ = ["name_set", "work_out"]


@inlined
def name_set(cache: Itineraries, offsets: Int32s, positions: Int32s, conditions: Int32s, number: Signed) -> Signed:
    """Return the number of a set in the cache, entering it there if it is new."""
    counts, values, ends, slots = cache.counts, cache.values, cache.set_ends, cache.set_slots
    first, last = np.int64(offsets[number]), np.int64(offsets[number + 1])
    begin = np.int64(counts[VALUES])
    end = begin + last - first
    if end > values.size:
        counts[WANTED] = end
        return np.int64(-GROW_VALUES)
    if counts[SETS] >= ends.size or 2 * (counts[SETS] + 1) > slots.size:
        return np.int64(-GROW_SETS)
    for i in range(last - first):
        values[begin + i] = conditions[positions[first + i]]
    hashed = hash_of(values, begin, end)
    mask = np.uint64(slots.size - 1)
    slot = np.uint64(hashed) & mask
    while slots[slot] != ZERO:
        if slots[slot] >> UPPER_HALF == np.uint64(hashed):
            known = np.int64(slots[slot] & LOW_HALF)
            if same(values, np.int64(ends[known - 1]), np.int64(ends[known]), values, begin, end):
                return known
        slot = (slot + ONE) & mask
    name = np.int64(counts[SETS])
    enter_set(slots, slot, hashed, name)
    ends[name] = end
    counts[VALUES] = end
    counts[SETS] = name + 1
    return name


@kernel
def work_out(
    network: Network, cache: Itineraries, scratch: Scratch, itinerary: Signed, name: Signed, station: Signed
) -> Signed:
    """Return the itinerary that follows one when the key has the set ``name``; or that which begins at a station (name 0)."""
    counts, ends, members = cache.counts, cache.ends, cache.members
    counts[EPOCH] += 1
    epoch = np.int32(counts[EPOCH])
    outputs, waiting, visited, agenda = scratch.outputs, scratch.waiting, scratch.visited, scratch.agenda
    n_outputs = n_waiting = n_visited = np.int64(0)
    here = np.int64(-1)
    if itinerary > 0:
        here = np.int64(cache.waits[itinerary])
        at = np.int64(ends[3 * itinerary - 1])
        while at < ends[3 * itinerary]:
            outputs[n_outputs] = members[at]
            scratch.output_marks[members[at]] = epoch
            n_outputs += 1
            at += 1
        while at < ends[3 * itinerary + 1]:
            if members[at] != here:
                waiting[n_waiting] = members[at]
                n_waiting += 1
            at += 1
        while at < ends[3 * itinerary + 2]:
            visited[n_visited] = members[at]
            scratch.station_marks[members[at]] = epoch
            n_visited += 1
            at += 1
        agenda[0] = here
    else:
        agenda[0] = station
        scratch.station_marks[station] = epoch
        visited[0] = station
        n_visited = np.int64(1)
    todo = np.int64(1)
    n_known = np.int64(scratch.output_marks.size)
    while todo > 0:
        todo -= 1
        at = np.int64(agenda[todo])
        low, high = np.int64(network.conditions[at]), np.int64(network.conditions[at + 1])
        constant = network.kinds[at] == CONSTANT
        if not constant and not (at == here or (here >= 0 and _in_group(network, here, at))):
            waiting[n_waiting] = at
            n_waiting += 1
            continue
        first, last = low, high
        if not constant:
            first, last = np.int64(cache.set_ends[name - 1]), np.int64(cache.set_ends[name])
        met = False
        for i in range(first, last):
            condition = i if constant else np.int64(cache.values[i])
            if condition < low or condition >= high:
                continue
            for j in range(network.offsets[condition], network.offsets[condition + 1]):
                met = True
                target = np.int64(network.targets[j])
                if target < n_known:
                    if scratch.output_marks[target] != epoch:
                        scratch.output_marks[target] = epoch
                        outputs[n_outputs] = target
                        n_outputs += 1
                elif scratch.station_marks[target - n_known] != epoch:
                    scratch.station_marks[target - n_known] = epoch
                    agenda[todo] = visited[n_visited] = target - n_known
                    todo += 1
                    n_visited += 1
        alternate = np.int64(network.alternates[at])
        if not met and alternate >= 0 and scratch.station_marks[alternate] != epoch:
            scratch.station_marks[alternate] = epoch
            agenda[todo] = visited[n_visited] = alternate
            todo += 1
            n_visited += 1
    sort(outputs, n_outputs)
    if n_waiting == 0:
        n_visited = np.int64(0)
    sort(waiting, n_waiting)
    sort(visited, n_visited)
    return _name_itinerary(cache, scratch, n_outputs, n_waiting, n_visited)


@inlined
def _in_group(network: Network, here: Signed, station: Signed) -> bool:
    """Tell whether the accept set of a key that waits ``here`` speaks of a station, too."""
    low, high = np.int64(network.group_offsets[here]), np.int64(network.group_offsets[here + 1])
    while low < high:
        middle = (low + high) // 2
        if network.groups[middle] < station:
            low = middle + 1
        else:
            high = middle
    return bool(low < network.group_offsets[here + 1] and network.groups[low] == station)


@inlined
def _name_itinerary(
    cache: Itineraries, scratch: Scratch, n_outputs: Signed, n_waiting: Signed, n_visited: Signed
) -> Signed:
    """Return the number of the itinerary that ``scratch`` has, entering it in the cache if it is new."""
    counts, ends, slots, members = cache.counts, cache.ends, cache.slots, cache.members
    begin = np.int64(counts[MEMBERS])
    end = begin + n_outputs + n_waiting + n_visited
    if end > members.size:
        counts[WANTED] = end
        return np.int64(-GROW_MEMBERS)
    if counts[STATES] >= cache.waits.size or 2 * (counts[STATES] + 1) > slots.size:
        return np.int64(-GROW_STATES)
    for i in range(n_outputs):
        members[begin + i] = scratch.outputs[i]
    for i in range(n_waiting):
        members[begin + n_outputs + i] = scratch.waiting[i]
    for i in range(n_visited):
        members[begin + n_outputs + n_waiting + i] = scratch.visited[i]
    hashed = hash_of(members, begin, end)
    mask = np.uint64(slots.size - 1)
    slot = np.uint64(hashed) & mask
    while slots[slot] != ZERO:
        if slots[slot] >> UPPER_HALF == np.uint64(hashed):
            known = np.int64(slots[slot] & LOW_HALF)
            start = np.int64(ends[3 * known - 1])
            if (
                ends[3 * known] - start == n_outputs
                and ends[3 * known + 1] - ends[3 * known] == n_waiting
                and same(members, start, np.int64(ends[3 * known + 2]), members, begin, end)
            ):
                return known
        slot = (slot + ONE) & mask
    name = np.int64(counts[STATES])
    enter_set(slots, slot, hashed, name)
    ends[3 * name] = begin + n_outputs
    ends[3 * name + 1] = begin + n_outputs + n_waiting
    ends[3 * name + 2] = end
    cache.waits[name] = scratch.waiting[0] if n_waiting > 0 else -1
    counts[MEMBERS] = end
    counts[STATES] = name + 1
    return name
