"""Strays: words that pass a state's filter and are no literals of it.

They lead where all other words do, so nothing is built or stored for them. What a state takes is bounded by its own literals, not
by the words that pass by. When a state is met by strays again and again, its filter gets more bits: it is made *wide*
(:mod:`compiler.kernels.filters`). That goes through all of its literals, so the more it has, the more strays must have come.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, kernel, prefetch
from compiler.kernels.filters import marks, word_of
from compiler.kernels.tables import (
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
from compiler.kernels.transitions import child_of, mix
from compiler.kernels.unsigned import EIGHT, GOLDEN, ONE, TWO, UPPER_HALF, WIDE_FILTER, ZERO
from compiler.kernels.work import Work

__all__ = ["children_if_stray", "note_stray", "prefetch_members"]

BITS_FOR_EACH = 16
"""Bits of a wide filter for each literal, at least; at most twice as many. One stray in 70 passes then, or fewer."""
SMALLEST = 2
"""The numbers in a wide filter, at least."""
STRAYS_FOR_EACH = EIGHT
"""A state with so many literals has a wide filter after one stray, one with n times as many after n strays, on the average."""


@inlined
def children_if_stray(
    program: Program | Any, members: Int32s, first: Unsigned, last: Unsigned, symbol: Unsigned
) -> Unsigned:
    """Return 0 if a word is a literal of the state with ``members[first:last]``, else how many children its members have.

    ``program`` may be any tuple that has the fields of a Program that :func:`child_of` needs. The word has passed the state's
    filter, so there are children.
    """
    nodes, wanted = program.nodes, marks(symbol)
    children = ZERO
    for i in range(first, last):
        position = np.uint64(members[i])
        if nodes[TWO * position + ONE] & wanted == wanted and child_of(program, position, symbol) != ZERO:
            return ZERO
        children += (nodes[TWO * position + TWO] >> UPPER_HALF) - (nodes[TWO * position] >> UPPER_HALF)
    return children


@inlined
def note_stray(program: Program, cache: Cache, state: Unsigned, children: Unsigned) -> Signed:
    """Take note of a stray in a state with so many ``children``; return DONE, or GROW_FILTERS.

    The chance that the filter is made wide is drawn from the number of strays so far, so a run repeats exactly.
    """
    meta = cache.meta
    meta[STRAYS] += 1
    chance = np.uint64(meta[STRAYS]) * GOLDEN >> UPPER_HALF
    if (
        chance * children < STRAYS_FOR_EACH << UPPER_HALF
        and meta[FILTERS_FULL] == 0
        and cache.info[TWO * state + ONE] & WIDE_FILTER == ZERO
    ):
        return _widen(program, cache, state, np.int64(children))
    return np.int64(DONE)


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
def prefetch_members(program: Program, cache: Cache, work: Work, keys: Unsigned) -> None:
    """Ask for what :func:`children_if_stray` reads of the first member of each late key's state, one step after the other."""
    late, states, ends, members = work.late, work.states, cache.state_end, cache.members
    symbol_bits, key_shift = np.uint64(program.edge_symbol_bits), np.uint64(program.edge_key_shift)
    for j in range(keys):
        prefetch(ends, states[late[j]] - ONE)
    for j in range(keys):
        prefetch(members, np.uint64(ends[states[late[j]] - ONE]))
    for j in range(keys):
        prefetch(program.nodes, TWO * np.uint64(members[np.uint64(ends[states[late[j]] - ONE])]))
    for j in range(keys):
        position = np.uint64(members[np.uint64(ends[states[late[j]] - ONE])])
        mixed = mix(position, work.symbols[late[j]], symbol_bits, key_shift)
        prefetch(program.edges, mixed >> np.uint64(program.edge_shift))
