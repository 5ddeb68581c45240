"""The look-up of whole keys in the key store, which may take as much memory as the automaton leaves.

Unlike the key cache (:mod:`compiler.kernels.key_cache`), which should stay in the second-level cache and forgets a key for
another one, the store holds keys by the hundred thousand, and is read from memory. So keys go through three passes: each
key is hashed, and its slot of the index asked for; its record is found, and asked for; it is compared. Some keys are hashed, then those
before them found, and those before these compared, in turn, so the answers to what a pass asks for are there when the next one needs
them. With all three passes for some keys before the next ones are hashed, a key of `stock` and its variants took 1.04 to 1.09 times as long.

:mod:`compiler.machine.key_store` decides when a stream of keys is worth it. What is in the tables says
:mod:`compiler.kernels.store_tables`.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel, prefetch, trailing_zeros
from compiler.kernels._text_vectors import hash_line, same_line, write_line
from compiler.kernels.occupied import GROUP, occupied
from compiler.kernels.store_tables import (
    PER_KEYS,
    RECORDS_BEHIND,
    STORED,
    STORED_BYTES,
    STORED_MOST,
    STORED_NUMBERS,
    SURPRISING,
    TOGETHER,
    Asked,
    Store,
)
from compiler.kernels.tables import Bools, Bytes, Int32s, Keys, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import (
    EIGHT,
    GOLDEN,
    KEYS_AHEAD,
    LOW_HALF,
    ONE,
    SEVEN,
    SIX,
    SIXTY_THREE,
    THREE,
    TWO,
    UPPER_HALF,
    WINDOW,
    ZERO,
)

__all__ = [
    "ALIKE",
    "BLOCK",
    "MOST_BYTES",
    "count_different",
    "hash_key",
    "is_stored",
    "leaves_room",
    "look_up_stored",
    "numbers_of",
    "place_of",
    "rehash_stored",
    "shift_of",
    "slot_of",
    "store_keys",
]

MOST_BYTES, BEHIND = np.uint64(STORED_BYTES), np.uint64(RECORDS_BEHIND)
LINE = np.uint64(56)
"""So many bytes of a key are compared at once: with what stands in front of them these are eight numbers of its record."""
RING = np.uint64(2 * TOGETHER - 1)
"""The mask of a place in the scratch space for keys that are on their way."""
ALIKE = np.uint64(8)
"""So many keys whose hashes have the same upper half are stored: others were chosen so, and looking them up would take the longer the more they are."""
BLOCK = np.uint64(256)
"""Of so many slots, aligned, one stays empty at least, and there a search ends that began among them. Whoever chose keys for the first bits of their hashes would else have each
search go through all of them. Where three quarters of an index are in use, one key in eight million has no place for it; with blocks of 64, it would be one in a thousand."""
NOT_NEAR = np.uint64(2**64 - 1)
"""What :func:`_near_slot` returns where it cannot tell."""
AHEAD = np.uint64(8)
"""Keys before one that is stored, its slot and its bytes are asked for, and where these are as many before that."""


@kernel
def look_up_stored(
    store: Store,
    asked: Asked,
    keys: Keys,
    row: Signed,
    stop: Signed,
    base: Signed,
    out: Int32s,
    most: Signed,
    expected: Signed,
) -> Signed:
    """Look up keys ``row`` to ``stop``, and write ``base`` + accept set - 1 into ``out``, -1 for a null key.

    Stops when ``most`` keys or some more are not stored, or SURPRISING ones more than are ``expected`` of PER_KEYS. Returns how many these are, and in the
    upper half how many were looked up. Their rows and hashes are in ``asked``, and ``out`` has nothing that means anything for them. Another thread may store
    keys meanwhile, which may be read, but are not believed.
    """
    index, records, offsets, data = store.slots, store.records, keys.offsets, keys.data
    shift = shift_of(index)
    rows, hashes, mixes, places = asked.rows, asked.hashes, asked.mixes, asked.places
    behind = np.uint64(store.known) - ONE
    lost, longest, last = ZERO, ZERO, np.uint64(stop)
    compared = placed = hashed = np.uint64(row)
    while compared < last and np.int64(lost) < most:
        if (np.int64(lost) - SURPRISING) * PER_KEYS >= expected * np.int64(compared - np.uint64(row)):
            break
        first, unknown = compared, ZERO
        while compared < placed:
            place, begin = places[compared & RING], np.uint64(offsets[compared])
            length = np.uint64(offsets[compared + ONE]) - begin
            known = (place - ONE < behind) & is_stored(records, place, data, begin, length)  # if there is one
            out[compared] = base + np.int64(records[place] & LOW_HALF) - 1
            unknown |= np.uint64(not known) << (compared - first)  # without a branch, as nobody can guess
            compared += ONE
        if keys.valid.size > 0:
            unknown &= ~_nulls(keys.valid, first, compared, out)
        # Noted in a loop of their own, a key of `stock` that is known takes 0.89 of the time on a Xeon.
        while unknown != ZERO:
            at = first + trailing_zeros(unknown)
            rows[lost], hashes[lost] = at | np.uint64(places[at & RING] != ZERO) << SIXTY_THREE, mixes[at & RING]
            lost += ONE
            unknown &= unknown - ONE
        first = placed
        while placed < hashed:
            place = place_of(index, shift, mixes[placed & RING])
            places[placed & RING] = place
            # A line is compared wherever it begins, so its end is asked for, too: with the key's end instead, a key of `stock` took 1.25 times
            # as long on a Xeon.
            prefetch(records, place)
            prefetch(records, place + SEVEN)
            placed += ONE
        if longest > LINE:
            _ask_for_further(records, places, offsets, first, placed)
        longest = ZERO
        following = min(hashed + np.uint64(TOGETHER), last)
        while hashed < following:
            begin = np.uint64(offsets[hashed])
            length = np.uint64(offsets[hashed + ONE]) - begin
            mixed = hash_key(data, begin, length)
            mixes[hashed & RING] = mixed
            prefetch(index, mixed >> shift)
            prefetch(data, begin + KEYS_AHEAD)
            longest = max(longest, length)
            hashed += ONE
    return _still_lost(store, asked, keys, lost, base, out) | np.int64(compared - np.uint64(row)) << 32


@kernel
def store_keys(
    store: Store, asked: Asked, keys: Keys, first: Signed, count: Signed, base: Signed, ids: Int32s
) -> Signed:
    """Store the keys of ``asked`` from the one numbered ``first`` on, with their accept sets: ``ids`` minus ``base`` plus 1.

    A key whose number is below ``base`` has none, and is left out, as one is that is too long. Returns the number of the first key
    for which a table has no room, or ``count``.

    On a Xeon a key of a stock takes 33 ns, without larger tables, where it took 52: its bytes are asked for in advance and written a line at a time, and no branch
    depends on whether a slot is empty. (Least of fifteen processes' passes over 264,000 different keys, in turns.)
    """
    index, records, counts = store.slots, store.records, store.counts
    shift = shift_of(index)
    last = np.uint64(count) - ONE
    for j in range(np.uint64(first), np.uint64(count)):
        ahead = min(j + AHEAD, last)
        prefetch(index, asked.hashes[ahead] >> shift)
        ahead = np.uint64(keys.offsets[asked.rows[ahead]])
        prefetch(keys.data, ahead)
        prefetch(keys.data, ahead + SIXTY_THREE)
        prefetch(keys.offsets, np.uint64(asked.rows[min(j + TWO * AHEAD, last)]))
        row, accept = np.uint64(asked.rows[j]), np.int64(ids[j]) - base + 1
        begin = np.uint64(keys.offsets[row])
        length = np.uint64(keys.offsets[row + ONE]) - begin
        if accept <= 0 or length > MOST_BYTES:
            continue
        at = np.uint64(counts[STORED_NUMBERS])
        end = at + ONE + numbers_of(length)
        if end + BEHIND > np.uint64(records.size) or counts[STORED] >= counts[STORED_MOST]:
            return np.int64(j)
        mixed = asked.hashes[j]
        home = mixed >> shift
        slot = _near_slot(index, home, mixed)
        if slot == NOT_NEAR:
            slot = slot_of(index, home, ZERO, mixed)
            others = ZERO  # that have such a hash
            while (
                others < ALIKE
                and index[slot] != ZERO
                and not is_stored(records, index[slot] & LOW_HALF, keys.data, begin, length)
            ):
                slot = slot_of(index, home, (home ^ slot) + ONE, mixed)
                others += ONE
            # Too many have, or it came twice since it was looked up, or it lies among too many others.
            if others == ALIKE or index[slot] != ZERO or not leaves_room(index, home, slot):
                continue
        index[slot] = mixed >> UPPER_HALF << UPPER_HALF | at
        records[at] = length << UPPER_HALF | np.uint64(accept)
        i = ZERO
        while i < length:
            write_line(records, at + ONE + (i >> THREE), keys.data, begin + i, length - i)
            i += WINDOW
        counts[STORED] += 1
        counts[STORED_NUMBERS] = np.int64(end)
    return np.int64(count)


@kernel
def rehash_stored(old: Uint64s, new: Uint64s) -> None:
    """Enter all entries of an index into an empty larger one: those of one of its blocks go to several, so each has an empty slot as before."""
    shift, size = shift_of(new), np.uint64(old.size)
    for first in range(ZERO, size, GROUP):
        used = occupied(old, first, min(first + GROUP, size))
        while used != ZERO:
            entry = old[first + trailing_zeros(used)]
            used &= used - ONE
            home, tried = entry >> shift, ZERO
            while new[home ^ tried] != ZERO:
                tried += ONE
            new[home ^ tried] = entry


@kernel
def count_different(keys: Keys, row: Signed, stop: Signed, marks: Uint64s) -> Signed:
    """Return about how many different keys are among keys ``row`` to ``stop``: by a mark for each hash, of which ``marks`` has 64 in a number."""
    offsets, shift = keys.offsets, np.uint64(64) - trailing_zeros(np.uint64(64 * marks.size))
    for i in range(marks.size):
        marks[i] = ZERO
    count = 0
    for at in range(np.uint64(row), np.uint64(stop)):
        begin = np.uint64(offsets[at])
        mark = hash_key(keys.data, begin, np.uint64(offsets[at + ONE]) - begin) >> shift
        line, bit = mark >> SIX, ONE << (mark & SIXTY_THREE)
        count += marks[line] & bit == ZERO
        marks[line] |= bit
    return np.int64(count)


@inlined
def place_of(index: Uint64s, shift: Unsigned, mixed: Unsigned) -> Unsigned:
    """Return where the record of a key with such a hash begins, or 0. Most are in the first two slots, which lie in one line of the processor's cache.

    (Whether these are asked without a branch is for LLVM to decide. When the second one was that behind the first, and LLVM had none, a key of `stock` took 1.25 times
    as long on a Xeon, as one in eight waited for another line.)
    """
    home = mixed >> shift
    first, second = index[home], index[home ^ ONE]
    is_first, is_second = (first ^ mixed) >> UPPER_HALF == ZERO, (second ^ mixed) >> UPPER_HALF == ZERO
    entry = first if is_first else (second if is_second else ZERO)
    if not (is_first | is_second) and (first != ZERO) & (second != ZERO):
        entry = index[slot_of(index, home, TWO, mixed)]
    return entry & LOW_HALF


@inlined
def slot_of(index: Uint64s, home: Unsigned, tried: Unsigned, mixed: Unsigned) -> Unsigned:
    """Return the slot of an entry with the upper half of this hash, or the empty one in which it would be, when so many were ``tried``.

    Which slots are tried, and in which order, is that of a counter whose bits are flipped in the number of the home slot: each comes once, near ones first.
    """
    while index[home ^ tried] != ZERO and (index[home ^ tried] ^ mixed) >> UPPER_HALF != ZERO:
        tried += ONE
    return home ^ tried


@inlined
def _near_slot(index: Uint64s, home: Unsigned, mixed: Unsigned) -> Unsigned:
    """Return the empty slot in which the entry of a new hash would be, or NOT_NEAR where more than a look at eight slots must tell.

    It tells so itself of nearly all: that of these eight another one is empty, and none in front of it has the upper half of this hash.
    """
    empty = alike = ZERO
    if np.uint64(index.size) >= EIGHT:
        for tried in range(EIGHT):
            entry = index[home ^ tried]
            empty |= np.uint64(entry == ZERO) << tried
            alike |= np.uint64((entry ^ mixed) >> UPPER_HALF == ZERO) << tried
    later = empty & (empty - ONE)
    if later == ZERO or alike & ((empty ^ later) - ONE) != ZERO:
        return NOT_NEAR
    return home ^ trailing_zeros(empty)


@inlined
def leaves_room(index: Uint64s, home: Unsigned, slot: Unsigned) -> bool:
    """Tell whether the block of a home slot has another empty slot than this one, to which :func:`slot_of` has led. (No index has fewer than two.)

    It is for those who store to ask, so that who looks up need not count slots.
    """
    tried = (home ^ slot) + ONE
    while tried < BLOCK and index[home ^ tried] != ZERO:
        tried += ONE
    return bool(tried < BLOCK)


@inlined
def _nulls(valid: Bools, first: Unsigned, last: Unsigned, out: Int32s) -> Unsigned:
    """Write -1 for each null key of at most 64 rows; return a number that has their bits, the lowest for the first row."""
    nulls = ZERO
    for at in range(first, last):
        if not valid[at]:
            out[at] = -1
            nulls |= ONE << (at - first)
    return nulls


@inlined
def _ask_for_further(records: Uint64s, places: Uint64s, offsets: Int32s, first: Unsigned, last: Unsigned) -> None:
    """Ask for what records of these rows have behind their first line."""
    for at in range(first, last):
        place = places[at & RING]
        end = place + numbers_of(np.uint64(offsets[at + ONE]) - np.uint64(offsets[at]))
        place += EIGHT
        while place < end:
            prefetch(records, place)
            place += EIGHT


@inlined
def _still_lost(store: Store, asked: Asked, keys: Keys, lost: Unsigned, base: Signed, out: Int32s) -> Signed:
    """Look on for keys whose hash led to another one's record, of which ``asked.rows`` has the top bit; return how many keys are lost.

    Hardly any does, so this is apart: within the loop over all keys, a warm key of `stock` took 1.14 times as long.
    """
    rows, hashes, count = asked.rows, asked.hashes, ZERO
    for j in range(lost):
        row = np.uint64(rows[j])
        if row >> SIXTY_THREE != ZERO:
            row &= ~(ONE << SIXTY_THREE)
            place = _further(store, keys, row, hashes[j])
            if place != ZERO:
                out[row] = base + np.int64(store.records[place] & LOW_HALF) - 1
                continue
        rows[count], hashes[count] = row, hashes[j]
        count += ONE
    return np.int64(count)


@kernel
def _further(store: Store, keys: Keys, row: Unsigned, mixed: Unsigned) -> Unsigned:
    """Return where the record of the key of a row begins that is not the first one with the upper half of its hash, or 0 if there is none."""
    index, records = store.slots, store.records
    begin, home = np.uint64(keys.offsets[row]), mixed >> shift_of(index)
    length = np.uint64(keys.offsets[row + ONE]) - begin
    slot = slot_of(index, home, ZERO, mixed)
    while index[slot] != ZERO:
        place = index[slot] & LOW_HALF
        if place < np.uint64(store.known) and is_stored(records, place, keys.data, begin, length):
            return place
        slot = slot_of(index, home, (home ^ slot) + ONE, mixed)
    return ZERO


@inlined
def shift_of(index: Uint64s) -> Unsigned:
    """Return 64 minus the binary logarithm of the slots."""
    return np.uint64(64) - trailing_zeros(np.uint64(index.size))


@inlined
def is_stored(records: Uint64s, place: Unsigned, data: Bytes, begin: Unsigned, length: Unsigned) -> bool:
    """Tell whether a record, of those that there are, is that of a key. (The number 0, at which none is, has to be told by the caller.)"""
    known: bool = records[place] >> UPPER_HALF == length
    if length <= LINE:
        known &= same_line(records, place, data, begin, length)
        return known
    i = ZERO
    while known and i < length:
        known = same_line(records, place + (i >> THREE), data, begin + i, min(length - i, LINE))
        i += LINE
    return known


@inlined
def hash_key(data: Bytes, begin: Unsigned, length: Unsigned) -> Unsigned:
    """Hash a key, 64 bytes at a time."""
    mixed = hash_line(data, begin, length) + length * GOLDEN
    i = WINDOW
    while i < length:
        mixed = (mixed ^ (mixed >> UPPER_HALF)) * GOLDEN + hash_line(data, begin + i, length - i)
        i += WINDOW
    return (mixed ^ (mixed >> UPPER_HALF)) * GOLDEN


@inlined
def numbers_of(length: Unsigned) -> Unsigned:
    """Return how many numbers the bytes of a key take."""
    return (length + SEVEN) >> THREE
