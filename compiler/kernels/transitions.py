"""The transition table: how a (state, symbol) is scrambled, found, placed, and moved to a larger table.

:mod:`compiler.kernels.tables` says what is in an entry, and why one with the right check is one of the right key. The same
kind of table holds the children of crowded NFA positions, by (position, symbol).
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel, trailing_zeros
from compiler.kernels.occupied import GROUP, occupied
from compiler.kernels.tables import (
    CROWDED,
    DISPLACEMENT_SHIFT,
    DONE,
    FINAL,
    GROW_TRANSITIONS,
    PROBES,
    SCRAMBLE,
    TARGET,
    TRANSITIONS,
    TRANSITIONS_FULL,
    Bools,
    Cache,
    Int32s,
    Int64s,
    Program,
    Signed,
    Uint64s,
    Unsigned,
)
from compiler.kernels.unsigned import EIGHT, GOLDEN, LOW_HALF, ONE, TWO, UPPER_HALF, WINDOW, ZERO

__all__ = [
    "child_of",
    "enter_transition",
    "fill_edges",
    "find",
    "is_sparse",
    "mix",
    "mixed_of",
    "place",
    "rehash_transitions",
    "supplant",
    "unmix",
]

SIXTY_FIVE = np.uint64(65)
INVERSE = np.uint64(pow(SCRAMBLE, -1, 2**64))
"""What undoes a multiplication by GOLDEN."""
MANY_CHILDREN = np.uint64(CROWDED)
PAYLOAD = np.uint64(TARGET | FINAL)
"""The mask of an entry's target with its FINAL bit; the other bits are the check and the displacement, its *tag*."""
SPARSE = 32
"""Slots for each transition with which a table is sparse. Only transitions that were chosen for it meet in a sparse table."""
HALF_EIGHTHS, FULL_EIGHTHS = 4, 5
"""How many eighths of the slots may be in use; and how many in a table that cannot grow for less, and whose crowded places are no reason
to: what finds no place there supplants another transition."""
NEXT_SLOT = np.uint64(1 << DISPLACEMENT_SHIFT)
"""What a tag grows by from a slot to the next."""


@inlined
def mix(state: Unsigned, symbol: Unsigned, symbol_bits: Unsigned, key_shift: Unsigned) -> Unsigned:
    """Scramble (state, symbol) reversibly into a number whose top bits are the home slot.

    The upper half of the key's bits is folded into the lower half before it is multiplied. Without that, numbers that ascend
    together, as the children of an NFA's positions do, would lie in the table in rows.
    """
    key = state << symbol_bits | symbol
    return ((key ^ key >> (SIXTY_FIVE - key_shift >> ONE)) << key_shift) * GOLDEN


@inlined
def unmix(mixed: Unsigned, key_shift: Unsigned) -> Unsigned:
    """Return the ``state << symbol_bits | symbol`` that was scrambled."""
    key = mixed * INVERSE >> key_shift
    return key ^ key >> (SIXTY_FIVE - key_shift >> ONE)  # folding over half the bits undoes itself


@inlined
def mixed_of(entry: Unsigned, slot: Unsigned, shift: Unsigned) -> Unsigned:
    """Return the scrambled key of the entry in a slot: its home slot and its check, side by side."""
    home = slot - ((entry & LOW_HALF) >> np.uint64(DISPLACEMENT_SHIFT))
    return home << shift | entry >> UPPER_HALF << (shift - UPPER_HALF)


@inlined
def find(transitions: Uint64s, mixed: Unsigned, shift: Unsigned) -> Unsigned:
    """Return the target of a scrambled key with its FINAL bit, or 0 if it is not in the table."""
    slot = mixed >> shift
    tag = mixed << (WINDOW - shift) >> UPPER_HALF << UPPER_HALF
    for _ in range(PROBES):
        entry = transitions[slot]
        if entry & ~PAYLOAD == tag or entry == ZERO:
            return entry & PAYLOAD
        slot += ONE
        tag += NEXT_SLOT
    return ZERO


@inlined
def place(transitions: Uint64s, shift: Signed, mixed: Unsigned, target: Unsigned, meta: Int64s) -> bool:
    """Enter the target of a scrambled key, over the one that it has if there is one.

    Returns False if the home slot and the 15 behind it are taken by other keys: the place is *crowded*.
    """
    slot = mixed >> np.uint64(shift)
    check = (mixed << np.uint64(64 - shift)) >> UPPER_HALF
    for displacement in range(PROBES):
        at = slot + np.uint64(displacement)
        entry = transitions[at]
        tag = check << UPPER_HALF | np.uint64(displacement) << np.uint64(DISPLACEMENT_SHIFT)
        if entry == ZERO:
            meta[TRANSITIONS] += 1
        elif entry & ~PAYLOAD != tag:
            continue
        transitions[at] = tag | np.uint64(target)
        return True
    return False


@inlined
def is_sparse(transitions: Uint64s, meta: Int64s) -> bool:
    """Tell whether hardly a slot is in use, so that a crowded place is no reason for more of them."""
    return bool(SPARSE * (meta[TRANSITIONS] + 1) < transitions.size)


@inlined
def supplant(transitions: Uint64s, shift: Signed, mixed: Unsigned, target: Unsigned) -> None:
    """Enter the target of a scrambled key at the end of its crowded place; the transition that was there is forgotten."""
    at = (mixed >> np.uint64(shift)) + np.uint64(PROBES - 1)
    tag = (mixed << np.uint64(64 - shift)) >> UPPER_HALF << UPPER_HALF | np.uint64(PROBES - 1 << DISPLACEMENT_SHIFT)
    transitions[at] = tag | np.uint64(target)


@inlined
def enter_transition(cache: Cache, mixed: Unsigned, target: Unsigned) -> Signed:
    """Enter the target of a scrambled key into the transition table; return DONE, or GROW_TRANSITIONS."""
    transitions, shift, meta = cache.transitions, cache.transition_shift, cache.meta
    full = meta[TRANSITIONS_FULL] != 0
    most = FULL_EIGHTHS if full else HALF_EIGHTHS
    if 8 * (meta[TRANSITIONS] + 1) > most * (transitions.size - PROBES + 1):
        return np.int64(GROW_TRANSITIONS)
    if not place(transitions, shift, mixed, target, meta):
        if not (full or is_sparse(transitions, meta)):
            return np.int64(GROW_TRANSITIONS)
        supplant(transitions, shift, mixed, target)
    return np.int64(DONE)


@inlined
def child_of(program: Program, position: Unsigned, symbol: Unsigned) -> Unsigned:
    """Return the child of an NFA position that a literal word leads to, or 0 if there is none."""
    nodes = program.nodes
    node = nodes[TWO * position]
    if node & MANY_CHILDREN != ZERO:
        mixed = mix(position, symbol, np.uint64(program.edge_symbol_bits), np.uint64(program.edge_key_shift))
        return find(program.edges, mixed, np.uint64(program.edge_shift))
    first, last = node >> UPPER_HALF, nodes[TWO * position + TWO] >> UPPER_HALF
    while last - first > EIGHT:  # many children, which have no place in the table; their labels ascend
        middle = first + last >> ONE
        if np.int64(program.labels[middle]) <= np.int64(symbol):
            first = middle
        else:
            last = middle
    for child in range(first, last):
        if np.uint64(program.labels[child]) == symbol:
            return np.uint64(child)
    return ZERO


@kernel
def fill_edges(
    edges: Uint64s,
    shift: Signed,
    children: Int32s,
    parents: Int32s,
    symbols: Int32s,
    symbol_bits: Signed,
    key_shift: Signed,
    meta: Int64s,
    left_out: Bools,
) -> None:
    """Enter all (parent, symbol) -> child into an empty table, and set ``left_out`` for parents with a child that has no place."""
    bits, behind = np.uint64(symbol_bits), np.uint64(key_shift)
    for i in range(children.size):
        mixed = mix(np.uint64(parents[i]), np.uint64(symbols[i]), bits, behind)
        if not place(edges, shift, mixed, children[i], meta):
            left_out[parents[i]] = True


@kernel
def rehash_transitions(old: Uint64s, old_shift: Signed, new: Uint64s, new_shift: Signed, meta: Int64s) -> bool:
    """Enter all transitions into an empty larger table; return False if a place is crowded and the table not sparse."""
    sparse = is_sparse(new, meta)
    meta[TRANSITIONS] = 0
    size = np.uint64(old.size)
    for first in range(ZERO, size, GROUP):
        used = occupied(old, first, min(first + GROUP, size))
        while used != ZERO:
            at = first + trailing_zeros(used)
            entry = old[at]
            used &= used - ONE
            mixed = mixed_of(entry, at, np.uint64(old_shift))
            if not place(new, new_shift, mixed, entry & PAYLOAD, meta):
                if not sparse:
                    return False
                supplant(new, new_shift, mixed, entry & PAYLOAD)
    return True
