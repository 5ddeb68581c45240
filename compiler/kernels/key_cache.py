"""The key cache's table: from the bytes of a whole key to its accept set.

The table is direct-mapped: a hash of the key chooses its slot, and a new key takes the slot of the key that was there. Nothing
is searched, and no order of use is kept. A slot is a line of the processor's cache, eight numbers: the key's length << 32 | its
accept set, and then up to KEY_BYTES bytes of the key. Keys are compared whole, so a hit is exact. Longer keys never hit.

:mod:`compiler.machine.key_cache` decides when a stream of keys is worth it.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, load64, trailing_zeros
from compiler.kernels.tables import KEY_CACHE_BYTES, KEY_CACHE_FOLD, Bytes, Uint64s, Unsigned
from compiler.kernels.unsigned import EIGHT, GOLDEN, LOW_HALF, ONE, UPPER_HALF, ZERO
from compiler.kernels.words import below

__all__ = ["look_up", "remember", "slot_of", "slot_shift"]

KEY_BYTES, FOLD = np.uint64(KEY_CACHE_BYTES), np.uint64(KEY_CACHE_FOLD)
SLOT = EIGHT
"""The numbers of a slot."""


@inlined
def slot_shift(table: Uint64s) -> Unsigned:
    """Return 64 minus the binary logarithm of the table's slots, which is what :func:`slot_of` shifts a hash by."""
    return np.uint64(64 + 3) - trailing_zeros(np.uint64(table.size))  # a slot is 2^3 numbers


@inlined
def slot_of(data: Bytes, begin: Unsigned, length: Unsigned, shift: Unsigned) -> Unsigned:
    """Return where a key's slot begins in the table. A key that is too long gets a slot too, in which it never is."""
    mixed = length
    i = ZERO
    stop = min(length, KEY_BYTES)
    while i < stop:
        mixed = (mixed ^ (mixed >> FOLD) ^ _eight(data, begin + i, length - i)) * GOLDEN
        i += EIGHT
    return (mixed >> shift) * SLOT


@inlined
def look_up(table: Uint64s, slot: Unsigned, data: Bytes, begin: Unsigned, length: Unsigned) -> Unsigned:
    """Return the accept set of the key if it is in its slot, else 0."""
    entry = table[slot]
    if entry >> UPPER_HALF != length:
        return ZERO
    i = ZERO
    while i < length:
        slot += ONE
        if table[slot] != _eight(data, begin + i, length - i):
            return ZERO
        i += EIGHT
    return entry & LOW_HALF


@inlined
def remember(table: Uint64s, slot: Unsigned, data: Bytes, begin: Unsigned, length: Unsigned, accept: Unsigned) -> None:
    """Put a key and its accept set into its slot, unless the key is too long."""
    if length <= KEY_BYTES:
        table[slot] = length << UPPER_HALF | accept
        i = ZERO
        while i < length:
            slot += ONE
            table[slot] = _eight(data, begin + i, length - i)
            i += EIGHT


@inlined
def _eight(data: Bytes, at: Unsigned, left: Unsigned) -> Unsigned:
    """Load the next 8 bytes of a key that has ``left`` more, with zeros behind its end."""
    value = load64(data, at)
    return value if left >= EIGHT else value & below(EIGHT * left)
