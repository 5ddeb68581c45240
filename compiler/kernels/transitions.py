"""The transition table: how a (state, symbol) is scrambled, found, placed, and moved to a larger table.

:mod:`compiler.tables` says what an entry holds and why a hit is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels.words import GOLDEN
from compiler.tables import DISPLACEMENT_SHIFT, FINAL, PROBES, TARGET, TRANSITIONS

__all__ = ["fill_edges", "find", "mix", "place", "rehash_transitions"]

ONES = np.uint64(0xFFFFFFFF)
ONE, HALF = np.uint64(1), np.uint64(32)
PAYLOAD = np.uint64(TARGET | FINAL)
NEXT_SLOT = np.uint64(1 << DISPLACEMENT_SHIFT)


@inlined
def mix(state: Any, symbol: Any, symbol_bits: Any, key_shift: Any) -> Any:
    """Scramble (state, symbol) reversibly; the result's top bits are its home slot."""
    return ((state << symbol_bits | symbol) << key_shift) * GOLDEN


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
            home = np.uint64(at) - ((entry & ONES) >> np.uint64(DISPLACEMENT_SHIFT))
            mixed = home << np.uint64(old_shift) | (entry >> np.uint64(32)) << np.uint64(old_shift - 32)
            if not place(new, new_shift, mixed, entry & PAYLOAD, meta):
                return False
    return True
