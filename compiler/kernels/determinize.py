"""Subset construction inside the kernel: a transition that is not in the cache is built without leaving it.

States and accept sets are hash-consed: equal ones get one number. Each function that adds something first makes sure
that everything it may add has room, and else returns which table must grow; nothing is ever half added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels.advance import advance, begin, close, enter
from compiler.kernels.tables import (
    BUILDS,
    DEFAULTS,
    GROW_MEMBERS,
    GROW_SETS,
    GROW_STATES,
    GROW_TAGS,
    GROW_TRANSITIONS,
    MEMBERS,
    PROBES,
    SETS,
    START,
    START_RESERVED,
    STATES,
    TAGS,
    TRANSITIONS,
    WANTED,
)
from compiler.kernels.transitions import mix, place
from compiler.kernels.words import GOLDEN

__all__ = ["build", "build_start", "rehash"]

ONES = np.uint64(0xFFFFFFFF)


@kernel
def build_start(program: Any, cache: Any, work: Any) -> Any:
    """Build the state that each root's keys begin in; return 0, or the table that must grow."""
    for root in range(program.roots - 1, -1, -1):
        begin(program, np.int64(root), work)
        state = _intern(cache, work)
        if state < 0:
            return -state
        cache.meta[START_RESERVED if root else START] = state
    return 0


@inlined
def build(program: Any, cache: Any, work: Any, from_state: Any, with_symbol: Any) -> Any:
    """Return the successor of a state with its FINAL bit, building what is missing; or less the table that must grow.

    The symbol's transition is not in the table: either the symbol is no literal of the state, or it was never read here.
    """
    meta = cache.meta
    state, symbol = np.int64(from_state), np.int64(with_symbol)
    # Integers are of one type wherever a helper is called: each further combination would be compiled anew.
    first, last = np.int64(cache.state_end[state - 1]), np.int64(cache.state_end[state])
    default = np.int64(cache.info[2 * state] & ONES)
    if default == 0:
        advance(program, cache.members, first, last, np.int64(0), work)
        default = _intern(cache, work)
        if default < 0:
            return default
        cache.info[2 * state] |= np.uint64(default)
        meta[DEFAULTS] += 1
        meta[BUILDS] += 1
    if symbol == 0 or not cache.info[2 * state + 1] >> np.uint64(program.filter_bits[symbol]) & np.uint64(1):
        return default
    if 2 * (meta[TRANSITIONS] + 1) > cache.transitions.size - PROBES + 1:
        return np.int64(-GROW_TRANSITIONS)
    target = default
    if enter(program, cache.members, first, last, symbol, work) > 0:
        close(program, work)
        target = _intern(cache, work)
        if target < 0:
            return target
    mixed = mix(np.uint64(state), np.uint64(symbol), np.uint64(cache.symbol_bits), np.uint64(cache.key_shift))
    if not place(cache.transitions, cache.transition_shift, mixed, np.uint64(target), meta):
        return np.int64(-GROW_TRANSITIONS)
    meta[BUILDS] += 1
    return target


@inlined
def _intern(cache: Any, work: Any) -> Any:
    """Return the number of the state in ``work`` with its FINAL bit, adding it if new; or less the table that must grow."""
    meta = cache.meta
    members, tags = work.counts[0], work.counts[1]
    accept = _intern_set(cache, work, tags)
    if accept < 0:
        return accept
    hashed = _hash(work.members, members) ^ np.int32(accept * 40503)
    slots = cache.state_slots
    mask = np.uint64(slots.size - 1)
    slot = np.uint64(hashed) & mask
    while slots[slot] != np.uint64(0):
        state = np.int64(slots[slot] & ONES)
        if (
            slots[slot] >> np.uint64(32) == np.uint64(hashed)
            and np.int64(cache.info[2 * state] >> np.uint64(32)) == accept
            and _same(cache.members, cache.state_end[state - 1], cache.state_end[state], work.members, members)
        ):
            return state | work.counts[2]
        slot = (slot + np.uint64(1)) & mask
    if meta[STATES] >= cache.state_end.size or meta[STATES] > cache.state_limit:
        return np.int64(-GROW_STATES)
    if meta[MEMBERS] + members > cache.members.size:
        meta[WANTED] = meta[MEMBERS] + members
        return np.int64(-GROW_MEMBERS)
    state = meta[STATES]
    start = meta[MEMBERS]
    for i in range(members):
        cache.members[start + i] = work.members[i]
    cache.state_end[state] = start + members
    cache.info[2 * state] = np.uint64(accept) << np.uint64(32)
    if work.counts[2] != 0:  # a state that no word can change is its own default successor
        cache.info[2 * state] |= np.uint64(state | work.counts[2])
    cache.info[2 * state + 1] = np.uint64(work.counts[3])
    slots[slot] = np.uint64(hashed) << np.uint64(32) | np.uint64(state)
    meta[MEMBERS] = start + members
    meta[STATES] = state + 1
    return state | work.counts[2]


@inlined
def _intern_set(cache: Any, work: Any, tags: Any) -> Any:
    """Return the number of the accept set in ``work``, adding it if new; or less the table that must grow."""
    meta = cache.meta
    hashed = _hash(work.tags, tags)
    slots = cache.set_slots
    mask = np.uint64(slots.size - 1)
    slot = np.uint64(hashed) & mask
    while slots[slot] != np.uint64(0):
        accept = np.int64(slots[slot] & ONES)
        if slots[slot] >> np.uint64(32) == np.uint64(hashed) and _same(
            cache.tags, cache.set_end[accept - 1], cache.set_end[accept], work.tags, tags
        ):
            return accept
        slot = (slot + np.uint64(1)) & mask
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
    slots[slot] = np.uint64(hashed) << np.uint64(32) | np.uint64(accept)
    meta[TAGS] = start + tags
    meta[SETS] = accept + 1
    return accept


@inlined
def _hash(values: Any, n: Any) -> Any:
    hashed = np.uint64(n)
    for i in range(n):
        hashed = (hashed ^ np.uint64(values[i])) * GOLDEN
        hashed ^= hashed >> np.uint64(32)
    return np.int32(hashed & np.uint64(0x7FFFFFFF))


@inlined
def _same(pool: Any, first: Any, last: Any, values: Any, n: Any) -> Any:
    if last - first != n:
        return False
    for i in range(n):
        if pool[first + i] != values[i]:
            return False
    return True


@kernel
def rehash(old: Any, slots: Any) -> Any:
    """Enter the numbers of one table of slots into an empty larger one."""
    mask = np.uint64(slots.size - 1)
    for i in range(old.size):
        entry = old[i]
        if entry != np.uint64(0):
            slot = entry >> np.uint64(32) & mask
            while slots[slot] != np.uint64(0):
                slot = (slot + np.uint64(1)) & mask
            slots[slot] = entry
