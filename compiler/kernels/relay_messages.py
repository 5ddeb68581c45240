"""Whole messages that a relay has sent before: from where a key begins, and its bytes, to where it got to.

The table is that of :mod:`compiler.kernels.key_cache`, with the itinerary that a key begins with as its context and the one that it ends
with in place of an accept set. A message that goes by more than its key, as it gets to a station that is asked, is never kept.
:mod:`compiler.relay.plain_batches` decides when it pays to look messages up.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, ones
from compiler.kernels._key_vectors import look_up_eight_in_contexts
from compiler.kernels.key_cache import CONTEXTS, KEY_BYTES, look_up, remember, slot_of, slot_shift
from compiler.kernels.relay_tables import KEPT, KNOWN, Itineraries, Room
from compiler.kernels.tables import Bytes, Int32s, Signed, Unsigned
from compiler.kernels.unsigned import EIGHT, ONE, WINDOW, ZERO

__all__ = ["keep_messages", "recall_messages"]


@inlined
def recall_messages(cache: Itineraries, room: Room, offsets: Int32s, data: Bytes, rows: Signed) -> None:
    """Give the rows whose messages are known their last itineraries, and note where the others are to be kept."""
    table, shift = cache.messages, slot_shift(cache.messages)
    count, size = np.uint64(rows), np.uint64(data.size)
    begun, itineraries = room.begun, room.itineraries
    for row in range(count):
        begun[row] = itineraries[row]
    at = unknown = kept = ZERO
    # Eight keys are read up to WINDOW bytes from where each begins.
    while at + EIGHT <= count and np.uint64(offsets[at + EIGHT]) + WINDOW <= size:
        missing = look_up_eight_in_contexts(
            offsets,
            data,
            at,
            table,
            shift,
            1,
            itineraries,
            room.missed,
            room.unread,
            room.unread,
            room.missed_at,
            ZERO,
            begun,
        )
        if missing != ZERO:
            for i in range(ones(missing)):
                kept += _note_unknown(cache, room, kept, room.missed[i], room.missed_at[i], offsets)
            unknown += ones(missing)
        at += EIGHT
    while at < count:
        begin, end = np.uint64(offsets[at]), np.uint64(offsets[at + ONE])
        if end + EIGHT <= size:  # up to seven bytes behind a key are read with it
            slot = slot_of(data, begin, end - begin, np.uint64(begun[at]), shift)
            last = look_up(table, slot, data, begin, end - begin, np.uint64(begun[at]))
            if last != ZERO:
                itineraries[at] = last
            else:
                kept += _note_unknown(cache, room, kept, at, slot, offsets)
                unknown += ONE
        else:
            unknown += ONE
        at += ONE
    room.counts[KNOWN], room.counts[KEPT] = np.int64(count - unknown), np.int64(kept)


@inlined
def _note_unknown(
    cache: Itineraries, room: Room, place: Unsigned, row: Unsigned, slot: Unsigned, offsets: Int32s
) -> Unsigned:
    """Note where the message of a row is to be kept, as number ``place`` of those; return 0 if it cannot be, else 1."""
    itinerary = np.uint64(room.begun[row])
    room.itineraries[row] = itinerary
    room.unknown[place], room.slots[place] = row, slot
    short = np.uint64(offsets[row + ONE]) - np.uint64(offsets[row]) <= KEY_BYTES
    return ONE if short and cache.waits[itinerary] >= 0 and itinerary < CONTEXTS else ZERO


@inlined
def keep_messages(cache: Itineraries, room: Room, offsets: Int32s, data: Bytes) -> None:
    """Keep the messages that were not known, now that none waits; but not those that go by more than their keys."""
    for place in range(np.uint64(room.counts[KEPT])):
        row = np.uint64(room.unknown[place])
        begun = np.uint64(room.begun[row])
        if begun != ZERO:
            begin = np.uint64(offsets[row])
            length = np.uint64(offsets[row + ONE]) - begin
            remember(cache.messages, room.slots[place], data, begin, length, begun, np.uint64(room.itineraries[row]))
