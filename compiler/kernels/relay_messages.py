"""Whole messages that a relay has sent before: from where a key begins, and its bytes, to where it got to.

The table is direct-mapped, as that of :mod:`compiler.kernels.key_cache` is: a hash of a message chooses its slot, and a new one takes the
slot of the message that was there. A slot is a line of the processor's cache, eight numbers: (itinerary that the key begins with << 8 |
length) << 32 | itinerary that it ends with, and then up to KEY_BYTES bytes of the key, which are compared whole. A message that goes by
more than its key, as it gets to a station that is asked, is never kept. :mod:`compiler.relay.plain_batches` decides when it pays to look
messages up.

Each key is hashed and compared as one line, without a branch on its length or on whether it is known: 6.3 ns a message of the demo. Eight keys
side by side, eight bytes of each at a time, took 8.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined
from compiler.kernels._text_vectors import ADDENDS, hash_line, same_line
from compiler.kernels.key_cache import slot_shift
from compiler.kernels.relay_tables import KEPT, KNOWN, LONGEST, Itineraries, Room
from compiler.kernels.tables import KEY_CACHE_BYTES, Bytes, Int32s, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import EIGHT, GOLDEN, LOW_HALF, ONE, UPPER_HALF, WINDOW, ZERO
from compiler.kernels.words import below

__all__ = ["hash_plainly", "keep_messages", "recall_messages", "same_plainly"]

KEY_BYTES, BESIDE_LENGTH = np.uint64(KEY_CACHE_BYTES), np.uint64(LONGEST.bit_length())
MOST = ONE << (UPPER_HALF - BESIDE_LENGTH)
"""Itineraries below this can be told apart."""
SLOT = EIGHT
"""The numbers of a slot."""


@inlined
def recall_messages(cache: Itineraries, room: Room, offsets: Int32s, data: Bytes, rows: Signed) -> None:
    """Give the rows whose messages are known their last itineraries, and note where the others belong.

    Keys have up to LONGEST bytes.
    """
    table, itineraries, begun, slots = cache.messages, room.itineraries, room.begun, room.slots
    shift, size = slot_shift(table), np.uint64(data.size)
    unknown = ZERO
    for row in range(np.uint64(rows)):
        begin, itinerary = np.uint64(offsets[row]), np.uint64(itineraries[row])
        length = np.uint64(offsets[row + ONE]) - begin
        name = length | itinerary << BESIDE_LENGTH
        if begin + WINDOW <= size:
            slot = _slot_of(hash_line(data, begin, length), name, shift)
            known = same_line(table, slot, data, begin, length)
        else:
            slot = _slot_of(hash_plainly(data, begin, length), name, shift)
            known = same_plainly(table, slot, data, begin, length)
        entry = table[slot]
        known &= entry >> UPPER_HALF == name
        begun[row], itineraries[row] = itinerary, entry & LOW_HALF if known else itinerary
        room.unknown[unknown], slots[unknown] = row, slot
        unknown += ZERO if known else ONE
    room.counts[KNOWN], room.counts[KEPT] = rows - np.int64(unknown), np.int64(unknown)


@inlined
def keep_messages(cache: Itineraries, room: Room, offsets: Int32s, data: Bytes) -> None:
    """Keep the messages that were not known, now that none waits; but not those that go by more than their keys."""
    table = cache.messages
    for place in range(np.uint64(room.counts[KEPT])):
        row, slot = np.uint64(room.unknown[place]), room.slots[place]
        begin, itinerary = np.uint64(offsets[row]), np.uint64(room.begun[row])
        length = np.uint64(offsets[row + ONE]) - begin
        if length <= KEY_BYTES and ZERO < itinerary < MOST and cache.waits[itinerary] >= 0:
            table[slot] = (length | itinerary << BESIDE_LENGTH) << UPPER_HALF | np.uint64(room.itineraries[row])
            for word in range(np.uint64((length + EIGHT - ONE) // EIGHT)):
                table[slot + ONE + word] = _eight(data, begin, EIGHT * word, length)


@inlined
def _slot_of(hashed: Unsigned, name: Unsigned, shift: Unsigned) -> Unsigned:
    """Return where a message's slot begins in the table; one that is too long gets a slot too, in which it never is."""
    hashed += name * GOLDEN
    return ((hashed ^ (hashed >> UPPER_HALF)) * GOLDEN >> shift) * SLOT


@inlined
def hash_plainly(data: Bytes, begin: Unsigned, length: Unsigned) -> Unsigned:
    """Do what :func:`compiler.kernels._text_vectors.hash_line` does, eight bytes after the other."""
    total, at = ZERO, ZERO
    while at < WINDOW:
        number, addend = _eight(data, begin, at, max(at, length)), ADDENDS[at // EIGHT]
        lower, upper = number + (addend & LOW_HALF), (number >> UPPER_HALF) + (addend >> UPPER_HALF)
        total += (lower & LOW_HALF) * (upper & LOW_HALF)
        at += EIGHT
    return total


@inlined
def same_plainly(table: Uint64s, slot: Unsigned, data: Bytes, begin: Unsigned, length: Unsigned) -> bool:
    """Do what :func:`compiler.kernels._text_vectors.same_line` does, likewise; of a text of over KEY_BYTES bytes it means nothing."""
    at = ZERO
    while at < min(length, KEY_BYTES):
        slot += ONE
        if table[slot] & _mask(at, length) != _eight(data, begin, at, length):
            return False
        at += EIGHT
    return True


@inlined
def _eight(data: Bytes, begin: Unsigned, at: Unsigned, length: Unsigned) -> Unsigned:
    """Return eight bytes of a key from ``at`` on, with zeros behind its end, of which nothing is read."""
    bits = ZERO
    for i in range(min(EIGHT, length - at)):
        bits |= np.uint64(data[begin + at + i]) << (EIGHT * i)
    return bits


@inlined
def _mask(at: Unsigned, length: Unsigned) -> Unsigned:
    """Return a mask of those of eight bytes from ``at`` on that are of a text of this length."""
    return below(EIGHT * (length - at)) if length - at < EIGHT else ~ZERO
