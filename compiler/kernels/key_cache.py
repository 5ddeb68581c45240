"""The key cache's table: from the bytes of a whole key to its accept set.

The table is direct-mapped: a hash of the key chooses its slot, and a new key takes the slot of the key that was there. Nothing
is searched, and no order of use is kept. A slot is a line of the processor's cache, eight numbers: the key's length << 32 | its
accept set, and then up to KEY_BYTES bytes of the key. Keys are compared whole, so a hit is exact. Longer keys never hit.

:mod:`compiler.machine.key_cache` decides when a stream of keys is worth it.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, load64, ones, prefetch, trailing_zeros
from compiler.kernels._key_vectors import look_up_eight
from compiler.kernels.tables import (
    KEY_CACHE_BYTES,
    KEY_CACHE_FOLD,
    START,
    START_RESERVED,
    Bytes,
    Int32s,
    Int64s,
    Keys,
    Program,
    Signed,
    Uint64s,
    Unsigned,
)
from compiler.kernels.unsigned import BLOCK_ROW, EIGHT, GOLDEN, KEYS_AHEAD, LOW_HALF, ONE, UPPER_HALF, WINDOW, ZERO
from compiler.kernels.words import begins_with, below
from compiler.kernels.work import Work

__all__ = [
    "eight_of",
    "enter_unknown_keys",
    "look_up",
    "remember",
    "remember_keys",
    "slot_of",
    "slot_shift",
    "write_key",
]

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
        mixed = (mixed ^ (mixed >> FOLD) ^ eight_of(data, begin + i, length - i)) * GOLDEN
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
        if table[slot] != eight_of(data, begin + i, length - i):
            return ZERO
        i += EIGHT
    return entry & LOW_HALF


@inlined
def remember(table: Uint64s, slot: Unsigned, data: Bytes, begin: Unsigned, length: Unsigned, accept: Unsigned) -> None:
    """Put a key and its accept set into its slot, unless the key is too long."""
    if length <= KEY_BYTES:
        table[slot] = length << UPPER_HALF | accept
        write_key(table, slot + ONE, data, begin, length)


@inlined
def write_key(table: Uint64s, at: Unsigned, data: Bytes, begin: Unsigned, length: Unsigned) -> None:
    """Write the bytes of a key from number ``at`` of a table on, eight in a number, with zeros behind its end."""
    i = ZERO
    while i < length:
        table[at] = eight_of(data, begin + i, length - i)
        at += ONE
        i += EIGHT


@inlined
def enter_unknown_keys(
    program: Program,
    meta: Int64s,
    mask: Unsigned,
    work: Work,
    keys: Keys,
    row: Unsigned,
    count: Unsigned,
    base: Signed,
    out: Int32s,
    key_table: Uint64s,
) -> tuple[Unsigned, Unsigned]:
    """Do as :func:`compiler.kernels.reading.enter_keys`, but answer the keys that the table knows, and leave them out.

    Returns how many keys are in the block, and how many the table has answered. ``work.slots`` gets the slots of the former, and their
    places among these rows, for :func:`remember_keys`.
    """
    start, start_reserved = np.uint64(meta[START]) & mask, np.uint64(meta[START_RESERVED]) & mask
    shift = slot_shift(key_table)
    offsets, data = keys.offsets, keys.data
    rows, begins, ends, states, slots = work.rows, work.begins, work.ends, work.states, work.slots
    n, nulls, at, last = ZERO, ZERO, row, row + count
    if keys.valid.size == 0:
        while at + EIGHT <= last:
            ahead, behind = np.uint64(offsets[at]) + KEYS_AHEAD, np.uint64(offsets[at + EIGHT]) + KEYS_AHEAD
            while ahead < behind:
                prefetch(data, ahead)
                ahead += WINDOW
            missing = look_up_eight(offsets, data, at, key_table, shift, base, out, rows, begins, ends, slots, n)
            n += ones(missing)
            at += EIGHT
    while at < last:
        begin, end = np.uint64(offsets[at]), np.uint64(offsets[at + ONE])
        if keys.valid.size > 0 and not keys.valid[at]:
            out[at] = -1
            nulls += ONE
        else:
            slot = slot_of(data, begin, end - begin, shift)
            accept = look_up(key_table, slot, data, begin, end - begin)
            out[at] = base + np.int64(accept) - 1
            if accept == ZERO:
                rows[n], ends[n], slots[n] = at, end, slot
                begins[n] = begin + np.uint64(begin == end)  # an empty key has no words
                n += ONE
        at += ONE
    for i in range(n):
        reserved = begins_with(data, begins[i], ends[i], program.reserved)
        states[i] = start_reserved if reserved else start
        slots[i] = slots[i] * BLOCK_ROW + (rows[i] - row)
    return n, count - nulls - n


@inlined
def remember_keys(
    keys: Keys, slots: Uint64s, row: Unsigned, count: Unsigned, base: Signed, out: Int32s, key_table: Uint64s
) -> None:
    """Put the ``count`` keys that a block from ``row`` on was entered with into the table, with their answers in ``out``.

    A key whose answer is below 0 has none yet, and is left out.
    """
    for j in range(count):
        at = row + slots[j] % BLOCK_ROW
        accept = np.int64(out[at]) - base + 1
        if accept > 0:
            begin = np.uint64(keys.offsets[at])
            length = np.uint64(keys.offsets[at + ONE]) - begin
            remember(key_table, slots[j] // BLOCK_ROW, keys.data, begin, length, np.uint64(accept))


@inlined
def eight_of(data: Bytes, at: Unsigned, left: Unsigned) -> Unsigned:
    """Load the next 8 bytes of a key that has ``left`` more, with zeros behind its end."""
    value = load64(data, at)
    return value if left >= EIGHT else value & below(EIGHT * left)
