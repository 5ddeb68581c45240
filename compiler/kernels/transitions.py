"""The transition table: how a (state, symbol) is scrambled, found, placed, and moved to a larger table.

:mod:`compiler.kernels.tables` says what an entry holds and why a hit is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels.tables import CROWDED, DISPLACEMENT_SHIFT, FINAL, PROBES, SCRAMBLE, TARGET, TRANSITIONS
from compiler.kernels.words import GOLDEN

__all__ = ["child_of", "fill_edges", "find", "mix", "mixed_of", "place", "rehash_transitions", "unmix"]

ONES = np.uint64(0xFFFFFFFF)
ONE, TWO, HALF, SIXTY_FIVE = (np.uint64(i) for i in (1, 2, 32, 65))
INVERSE = np.uint64(pow(SCRAMBLE, -1, 2**64))
MANY_CHILDREN = np.uint64(CROWDED)
PAYLOAD = np.uint64(TARGET | FINAL)
NEXT_SLOT = np.uint64(1 << DISPLACEMENT_SHIFT)


@inlined
def mix(state: Any, symbol: Any, symbol_bits: Any, key_shift: Any) -> Any:
    """Scramble (state, symbol) reversibly; the result's top bits are its home slot.

    The upper half of the bits is folded into the lower one first: numbers that ascend together, as the children of an NFA's
    positions do, would otherwise come to lie in rows.
    """
    key = state << symbol_bits | symbol
    return ((key ^ key >> (SIXTY_FIVE - key_shift >> ONE)) << key_shift) * GOLDEN


@inlined
def unmix(mixed: Any, key_shift: Any) -> Any:
    """Return the state << symbol_bits | symbol that was scrambled."""
    key = mixed * INVERSE >> key_shift
    return key ^ key >> (SIXTY_FIVE - key_shift >> ONE)  # folding over half the bits undoes itself


@inlined
def mixed_of(entry: Any, slot: Any, shift: Any) -> Any:
    """Return the mixed key of the entry in a slot: its home slot and its check together."""
    home = slot - ((entry & ONES) >> np.uint64(DISPLACEMENT_SHIFT))
    return home << shift | entry >> HALF << (shift - HALF)


@inlined
def find(transitions: Any, mixed: Any, shift: Any) -> Any:
    """Return the target that the table has for a mixed key, with its FINAL bit; 0 if it has none."""
    slot = mixed >> shift
    tag = mixed << (np.uint64(64) - shift) >> HALF << HALF
    for _ in range(PROBES):
        entry = transitions[slot]
        if entry & ~PAYLOAD == tag or entry == np.uint64(0):
            return entry & PAYLOAD
        slot += ONE
        tag += NEXT_SLOT
    return np.uint64(0)


@inlined
def place(transitions: Any, shift: Any, mixed: Any, target: Any, meta: Any) -> Any:
    """Enter a target, in the place of the key's last one if there is one; return False where the place is crowded."""
    slot = mixed >> np.uint64(shift)
    check = (mixed << np.uint64(64 - shift)) >> HALF
    for displacement in range(PROBES):
        at = slot + np.uint64(displacement)
        entry = transitions[at]
        tag = check << HALF | np.uint64(displacement) << np.uint64(DISPLACEMENT_SHIFT)
        if entry == np.uint64(0):
            meta[TRANSITIONS] += 1
        elif entry & ~PAYLOAD != tag:
            continue
        transitions[at] = tag | np.uint64(target)
        return True
    return False


@inlined
def child_of(
    labels: Any, nodes: Any, edges: Any, shift: Any, symbol_bits: Any, key_shift: Any, position: Any, symbol: Any
) -> Any:
    """Return the child of an NFA position that a literal word leads to, 0 if there is none."""
    node = nodes[TWO * position]
    if node & MANY_CHILDREN != np.uint64(0):
        return find(edges, mix(position, symbol, symbol_bits, key_shift), shift)
    for child in range(node >> HALF, nodes[TWO * position + TWO] >> HALF):
        if np.uint64(labels[child]) == symbol:
            return np.uint64(child)
    return np.uint64(0)


@kernel
def fill_edges(
    edges: Any, shift: Any, children: Any, parents: Any, symbols: Any, symbol_bits: Any, key_shift: Any, meta: Any
) -> Any:
    """Enter all (parent, symbol) -> child into an empty table; return False where a place is crowded."""
    bits, behind = np.uint64(symbol_bits), np.uint64(key_shift)
    for i in range(children.size):
        mixed = mix(np.uint64(parents[i]), np.uint64(symbols[i]), bits, behind)
        if not place(edges, shift, mixed, children[i], meta):
            return False
    return True


@kernel
def rehash_transitions(old: Any, old_shift: Any, new: Any, new_shift: Any, meta: Any) -> Any:
    """Enter all transitions into an empty larger table; home slot and check together give back the mixed key."""
    meta[TRANSITIONS] = 0
    for at in range(old.size):
        entry = old[at]
        if entry != np.uint64(0):
            mixed = mixed_of(entry, np.uint64(at), np.uint64(old_shift))
            if not place(new, new_shift, mixed, entry & PAYLOAD, meta):
                return False
    return True
