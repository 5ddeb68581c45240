"""Subset construction inside the kernel: builds states and transitions that are not in the cache, without leaving the walk.

States and accept sets are interned: equal ones get one number, which a hash table finds. An entry is added whole or not at all:
first it is made sure that everything which belongs to it has room. If something has not, minus the number of the table that
must grow is returned (GROW_STATES and so on). A kernel cannot replace an array, so Python grows the table and calls again.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels.accept_sets import intern_set
from compiler.kernels.advance import advance, begin, close, enter
from compiler.kernels.filters import may_be_literal
from compiler.kernels.interning import enter_set, hash_of, same
from compiler.kernels.tables import (
    BUILDS,
    DEFAULTS,
    DONE,
    GROW_MEMBERS,
    GROW_STATES,
    MEMBERS,
    START,
    START_RESERVED,
    STATES,
    WANTED,
    Cache,
    Program,
    Signed,
)
from compiler.kernels.transitions import enter_transition, mix
from compiler.kernels.unsigned import LOW_HALF, ONE, UPPER_HALF, ZERO
from compiler.kernels.work import FINAL_FLAG, LITERAL_FILTER, MEMBER_COUNT, TAG_COUNT, Work

__all__ = ["build", "build_start"]


@kernel
def build_start(program: Program, cache: Cache, work: Work) -> Signed:
    """Build the start state of each root; return DONE, or the number (above 0) of the table that must grow."""
    # Downwards: START is what tells that both are built.
    for root in range(program.roots - 1, -1, -1):
        begin(program, np.int64(root), work)
        state = _intern(cache, work)
        if state < 0:
            return -state
        cache.meta[START_RESERVED if root else START] = state
    return DONE


@inlined
def build(program: Program, cache: Cache, work: Work, from_state: Signed, with_symbol: Signed) -> Signed:
    """Build what is missing for a word in a state; return the successor with its FINAL bit, or minus the table that must grow.

    To be called if the successor is not in the cache: the state's default successor is not built, or the symbol is a literal of
    the state and has no entry in the transition table.
    """
    meta = cache.meta
    state, symbol = np.int64(from_state), np.int64(with_symbol)
    # Helpers are called with integers of the same types everywhere: each other combination would be compiled once more.
    first, last = np.int64(cache.state_end[state - 1]), np.int64(cache.state_end[state])
    default = np.int64(cache.info[2 * state] & LOW_HALF)
    if default == 0:
        advance(program, cache.members, first, last, np.int64(0), work)
        default = _intern(cache, work)
        if default < 0:
            return default
        cache.info[2 * state] |= np.uint64(default)
        meta[DEFAULTS] += 1
        meta[BUILDS] += 1
    if not may_be_literal(cache.filters, cache.info[2 * state + 1], np.uint64(symbol)):
        return default
    if enter(program, cache.members, first, last, symbol, work) == 0:
        return default
    close(program, work)
    target = _intern(cache, work)
    if target < 0:
        return target
    mixed = mix(np.uint64(state), np.uint64(symbol), np.uint64(cache.symbol_bits), np.uint64(cache.key_shift))
    status = enter_transition(cache, mixed, np.uint64(target))
    if status != DONE:
        return -status
    meta[BUILDS] += 1
    return target


@inlined
def _intern(cache: Cache, work: Work) -> Signed:
    """Return the number of the state that was work, with its FINAL bit; it is added if it is new.

    Returns minus the number of the table that must grow, if one must.
    """
    meta = cache.meta
    members, final = work.counts[MEMBER_COUNT], work.counts[FINAL_FLAG]
    accept = intern_set(cache, work, work.counts[TAG_COUNT])
    if accept < 0:
        return accept
    # 2^16 over the golden ratio. A sign would be stored in 32 bits, and compared in 64.
    hashed = hash_of(work.members, 0, members) ^ np.int32(accept * 40503 & 0x7FFFFFFF)
    slots = cache.state_slots
    mask = np.uint64(slots.size - 1)
    slot = np.uint64(hashed) & mask
    while slots[slot] != ZERO:
        state = np.int64(slots[slot] & LOW_HALF)
        if (
            slots[slot] >> UPPER_HALF == np.uint64(hashed)
            and np.int64(cache.info[2 * state] >> UPPER_HALF) == accept
            and same(cache.members, cache.state_end[state - 1], cache.state_end[state], work.members, 0, members)
        ):
            return state | final
        slot = (slot + ONE) & mask
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
    cache.info[2 * state] = np.uint64(accept) << UPPER_HALF
    if final != 0:  # a state that no word can change is its own default successor
        cache.info[2 * state] |= np.uint64(state | final)
    cache.info[2 * state + 1] = np.uint64(work.counts[LITERAL_FILTER])
    enter_set(slots, slot, hashed, state)
    meta[MEMBERS] = start + members
    meta[STATES] = state + 1
    return state | final
