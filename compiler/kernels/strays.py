"""Strays: words that pass a state's filter and are no literals of it.

They lead where all other words do. A stray is kept as a transition that says so, which is the fastest to find; but a state that
has met about as many strays as it has literals gets a filter with more bits instead, a *wide* one
(:mod:`compiler.kernels.filters`), which hardly any stray passes, and from then on keeps none. So what a state takes is bounded
by its own literals, not by the words that pass by. Wide filters are not given at once as asking them takes time: with wide filters
after an eighth as many strays a key of `stock` takes 1.15 times as long when warm, and 0.92 times in the first pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, kernel, prefetch
from compiler.kernels.doorkeeper import prefetch_counter
from compiler.kernels.filters import marks, word_of
from compiler.kernels.tables import (
    CLOSED,
    DONE,
    FILTERS,
    FILTERS_FULL,
    GROW_FILTERS,
    STRAYS,
    WANTED,
    Cache,
    Int32s,
    Program,
    Signed,
    Unsigned,
)
from compiler.kernels.transitions import child_of, enter_transition, mix
from compiler.kernels.unsigned import EIGHT, GOLDEN, LOW_HALF, ONE, TWO, UPPER_HALF, WIDE_FILTER, ZERO
from compiler.kernels.work import Work

__all__ = ["children_if_stray", "keep_stray", "prefetch_missing"]

BITS_FOR_EACH = 16
"""Bits of a wide filter for each literal, at least; at most twice as many. One stray in 70 passes then, or fewer."""
SMALLEST = 2
"""The numbers in a wide filter, at least."""
SOONER = EIGHT
"""Where tables are so large that there is a doorkeeper, filters are made wide so many times sooner, and strays are not kept."""


@inlined
def children_if_stray(
    program: Program | Any, members: Int32s, state_end: Int32s, state: Unsigned, symbol: Unsigned
) -> Unsigned:
    """Return 0 if a word is a literal of a state, else how many children its members have.

    ``program`` may be any tuple that has the fields of a Program that :func:`child_of` needs. The word has passed the state's
    filter, so there are children.
    """
    nodes, wanted = program.nodes, marks(symbol)
    children = ZERO
    for i in range(np.uint64(state_end[state - ONE]), np.uint64(state_end[state])):
        position = np.uint64(members[i])
        if nodes[TWO * position + ONE] & wanted == wanted and child_of(program, position, symbol) != ZERO:
            return ZERO
        children += (nodes[TWO * position + TWO] >> UPPER_HALF) - (nodes[TWO * position] >> UPPER_HALF)
    return children


@inlined
def keep_stray(program: Program, cache: Cache, state: Unsigned, mixed: Unsigned, children: Unsigned) -> Signed:
    """Keep a stray as a transition to the default successor, or give its state, which has so many ``children``, a wide filter.

    Returns DONE, or the number of the table that must grow. The choice is drawn from the number of strays so far, so that a run
    repeats exactly.
    """
    meta, info = cache.meta, cache.info
    if info[TWO * state + ONE] & WIDE_FILTER != ZERO or meta[FILTERS_FULL] != 0 or meta[CLOSED] != 0:
        return np.int64(DONE)
    far = cache.doorkeeper.size > 0
    chance = np.uint64(meta[STRAYS] + 1) * GOLDEN >> UPPER_HALF
    status = np.int64(DONE)
    if chance * children < (SOONER if far else ONE) << UPPER_HALF:
        status = _widen(program, cache, state, np.int64(children))
    elif not far:
        status = enter_transition(cache, mixed, info[TWO * state] & LOW_HALF)
    meta[STRAYS] += status == DONE
    return status


@kernel
def _widen(program: Program, cache: Cache, state: Unsigned, children: Signed) -> Signed:
    """Give a state a wide filter; return DONE, or GROW_FILTERS."""
    meta, filters, members = cache.meta, cache.filters, cache.members
    size = SMALLEST
    while 64 * size < BITS_FOR_EACH * children:
        size *= 2
    begin = meta[FILTERS]
    if begin + size > filters.size:
        meta[WANTED] = begin + size
        return GROW_FILTERS
    for i in range(begin, begin + size):
        filters[i] = ZERO
    literals = WIDE_FILTER | np.uint64(begin) << UPPER_HALF | np.uint64(size - 1)
    for i in range(cache.state_end[state - ONE], cache.state_end[state]):
        at = TWO * np.uint64(members[i])
        for child in range(program.nodes[at] >> UPPER_HALF, program.nodes[at + TWO] >> UPPER_HALF):
            label = program.labels[child]
            if label > 0:
                filters[word_of(literals, np.uint64(label))] |= marks(np.uint64(label))
    cache.info[TWO * state + ONE] = literals
    meta[FILTERS] = begin + size
    return DONE


@inlined
def prefetch_missing(program: Program, cache: Cache, work: Work, missing: Unsigned) -> None:
    """Ask for what is needed of all keys whose transition is missing, before it is used of the first.

    That is the doorkeeper's counter, and what :func:`children_if_stray` reads of the first member of the key's state, one step
    after the other. The first pass over `stock` takes 0.94 to 0.97 of the time with it on an Intel Xeon, and 0.97 to 1.01 on a Zen 5.
    """
    late, states, ends, members = work.late, work.states, cache.state_end, cache.members
    symbol_bits, key_shift = np.uint64(program.edge_symbol_bits), np.uint64(program.edge_key_shift)
    for j in range(missing):
        if cache.doorkeeper.size > 0:
            prefetch_counter(cache, work.mixed[late[j]])
        prefetch(ends, states[late[j]] - ONE)
    for j in range(missing):
        prefetch(members, np.uint64(ends[states[late[j]] - ONE]))
    for j in range(missing):
        prefetch(program.nodes, TWO * _first_member(cache, states[late[j]]))
    for j in range(missing):
        mixed = mix(_first_member(cache, states[late[j]]), work.symbols[late[j]], symbol_bits, key_shift)
        prefetch(program.edges, mixed >> np.uint64(program.edge_shift))


@inlined
def _first_member(cache: Cache, state: Unsigned) -> Unsigned:
    """Return the first member of a state, or any number in place of it if there is none."""
    at = np.uint64(cache.state_end[state - ONE])
    return np.uint64(cache.members[min(at, np.uint64(cache.members.size) - ONE)])
