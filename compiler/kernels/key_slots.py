"""Whole keys in front of the automaton: a direct-mapped table from a key's bytes to its accept set.

A slot is a line of eight numbers: the key's length << 32 | its accept set, then its bytes. Keys of up to KEY_BYTES bytes
fit and are compared whole, so a hit is exact. A key that is new takes the slot of the one that had it: no order to
keep, nothing to search.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, load64
from compiler.kernels.words import GOLDEN, below

__all__ = ["look_up", "remember", "slot_of"]

KEY_BYTES = np.uint64(56)
SLOT = np.uint64(8)
EIGHT, ONE = np.uint64(8), np.uint64(1)
LOW_HALF = np.uint64(0xFFFFFFFF)


@inlined
def slot_of(data: Any, begin: Any, length: Any, shift: Any) -> Any:
    """Return where a key's slot begins; a key that is too long gets the slot of its first bytes, and never a hit."""
    mixed = length
    i = np.uint64(0)
    stop = min(length, KEY_BYTES)
    while i < stop:
        mixed = (mixed ^ (mixed >> np.uint64(29)) ^ _eight(data, begin + i, length - i)) * GOLDEN
        i += EIGHT
    return (mixed >> shift) * SLOT


@inlined
def look_up(table: Any, slot: Any, data: Any, begin: Any, length: Any) -> Any:
    """Return the accept set of the key in its slot, 0 if another key is there or none."""
    entry = table[slot]
    if entry >> np.uint64(32) != length:
        return np.uint64(0)
    i = np.uint64(0)
    while i < length:
        slot += ONE
        if table[slot] != _eight(data, begin + i, length - i):
            return np.uint64(0)
        i += EIGHT
    return entry & LOW_HALF


@inlined
def remember(table: Any, slot: Any, data: Any, begin: Any, length: Any, accept: Any) -> Any:
    """Put a key and its accept set into its slot, unless it is too long."""
    if length <= KEY_BYTES:
        table[slot] = length << np.uint64(32) | accept
        i = np.uint64(0)
        while i < length:
            slot += ONE
            table[slot] = _eight(data, begin + i, length - i)
            i += EIGHT


@inlined
def _eight(data: Any, at: Any, left: Any) -> Any:
    """Load the next 8 bytes of a key that has ``left`` more, with zeros behind its end."""
    value = load64(data, at)
    return value if left >= EIGHT else value & below(EIGHT * left)
