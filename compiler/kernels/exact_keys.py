"""Keys that patterns without wildcards spell: how they are found among other keys.

Most keys may be none of them, which a filter tells without a look at the large tables: numbers of 64 bits, one of which has four bits
of each key. It takes 8 to 16 bits for each key, so that of a million keys lies in a second-level cache.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel, prefetch
from compiler.kernels.key_store import hash_key, is_stored, numbers_of, place_of, shift_of
from compiler.kernels.store_tables import EXACT_TOGETHER, Asked, Exact
from compiler.kernels.tables import Bools, Bytes, Int32s, Int64s, Keys, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import GOLDEN, KEYS_AHEAD, LOW_HALF, ONE, SEVEN, SIX, SIXTY_THREE, TWO, UPPER_HALF, ZERO
from compiler.kernels.work import NEXT_KEY, SETS_FOUND, SHARED_FROM, TAGS_WANTED, FoundSets

__all__ = ["RECORDS", "find_exact", "find_one", "find_places", "marks_of", "take_sets"]

RECORDS = 1 << 30
"""Numbers from here on are no sets, but say where the record of a key begins: at the number minus that."""
PROBES = np.uint64(4)
TOGETHER = np.uint64(EXACT_TOGETHER)
MOST_AT_ONCE = EXACT_TOGETHER * SHARED_FROM + 1
"""The tags of TOGETHER keys, and one that may be written behind them."""
TWELVE, EIGHTEEN = np.uint64(12), np.uint64(18)


@kernel
def find_exact(
    exact: Exact, asked: Asked, keys: Keys, row: Signed, stop: Signed, rows: Int64s, sets: FoundSets
) -> Signed:
    """Find keys ``row`` to ``stop`` that are stored; write their rows, and add their sets to ``sets``, one for each, in the same order.

    Returns how many these are. ``rows`` has room for all keys, and ``sets`` for so many sets. If its tags are too short, the
    keys up to ``sets.counts[NEXT_KEY]`` are done; else that is ``stop``.
    """
    records, offsets, tags, counts = exact.records, keys.offsets, sets.tags, sets.counts
    number = counts[SETS_FOUND]
    end = np.int64(sets.ends[number - 1]) if number > 0 else np.int64(0)
    found: Unsigned = ZERO
    first, last = np.uint64(row), np.uint64(stop)
    while first < last:
        if end + MOST_AT_ONCE > tags.size:
            counts[TAGS_WANTED] = end + MOST_AT_ONCE
            break
        following = min(first + TOGETHER, last)
        count = _find_together(exact, asked, keys, first, following)
        for j in range(count):
            key, place = np.uint64(asked.rows[j]), asked.hashes[j]
            end = _copy_tags(records, place, np.uint64(offsets[key + ONE]) - np.uint64(offsets[key]), tags, end)
            sets.ends[number] = end
            number += 1
            rows[found] = key
            found += ONE
        first = following
    counts[SETS_FOUND], counts[NEXT_KEY] = number, np.int64(first)
    return np.int64(found)


@kernel
def find_places(exact: Exact, asked: Asked, keys: Keys, out: Int32s, known: Bools) -> Signed:
    """Find keys that are stored, write RECORDS plus where their records begin to ``out``, and mark them as ``known``.

    Returns how many these are. Nothing is written for others.
    """
    found: Unsigned = ZERO
    first, last = ZERO, np.uint64(out.size)
    while first < last:
        following = min(first + TOGETHER, last)
        count = _find_together(exact, asked, keys, first, following)
        for j in range(count):
            out[asked.rows[j]] = np.int32(np.int64(asked.hashes[j]) + RECORDS)
            known[asked.rows[j]] = True
        found += count
        first = following
    return np.int64(found)


@inlined
def _find_together(exact: Exact, asked: Asked, keys: Keys, first: Unsigned, following: Unsigned) -> Unsigned:
    """Find keys of at most TOGETHER rows; write their rows, and where their records begin instead of hashes, to ``asked``; return how many these are."""
    index, records, marks, offsets, data = exact.slots, exact.records, exact.marks, keys.offsets, keys.data
    shift, mark_shift = shift_of(index), shift_of(marks)
    count: Unsigned = ZERO
    for at in range(first, following):
        begin = np.uint64(offsets[at])
        mixed = hash_key(data, begin, np.uint64(offsets[at + ONE]) - begin)
        prefetch(data, begin + KEYS_AHEAD)
        wanted = marks_of(mixed)
        asked.rows[count], asked.hashes[count] = at, mixed
        # Without a branch, as nobody can guess: so null keys are told later, as when it was here, a key of `fleet` took 1.3 times as long.
        count += ONE if marks[mixed >> mark_shift] & wanted == wanted else ZERO
    for j in range(count):
        prefetch(index, asked.hashes[j] >> shift)
    for j in range(count):
        place = place_of(index, shift, asked.hashes[j])
        asked.hashes[j] = place
        prefetch(records, place)
        # A line is compared wherever it begins, so two are asked for: else a key of `fleet` took 1.2 times as long.
        prefetch(records, place + SEVEN)
    found: Unsigned = ZERO
    for j in range(count):
        key, place = np.uint64(asked.rows[j]), asked.hashes[j]
        begin = np.uint64(offsets[key])
        valid = keys.valid.size == 0 or keys.valid[key]
        if valid and place != ZERO and is_stored(records, place, data, begin, np.uint64(offsets[key + ONE]) - begin):
            asked.rows[found], asked.hashes[found] = key, place
            found += ONE
    return found


@kernel
def take_sets(
    exact: Exact,
    asked: Asked,
    recent: Uint64s,
    out: Int32s,
    row: Signed,
    stop: Signed,
    first_number: Signed,
    sets: FoundSets,
) -> Signed:
    """Add the sets of those of rows ``row`` to ``stop`` of ``out`` that have a record's number, and write theirs: ``first_number`` minus each one's.

    ``recent``, a power of two of numbers, has the records whose sets were added last, each with its set's number. Returns the row to go on with: one before
    which the tags get too short, or ``stop``. There is room for a set for each row.
    """
    records, tags, counts, shift = exact.records, sets.tags, sets.counts, shift_of(recent)
    number = np.uint64(counts[SETS_FOUND])
    end = np.int64(sets.ends[number - ONE]) if number > ZERO else np.int64(0)
    first, last = np.uint64(row), np.uint64(stop)
    while first < last:
        if end + MOST_AT_ONCE > tags.size:
            counts[TAGS_WANTED] = end + MOST_AT_ONCE
            break
        following = min(first + TOGETHER, last)
        count: Unsigned = ZERO
        for at in range(first, following):
            asked.rows[count] = at
            count += ONE if out[at] >= RECORDS else ZERO  # without a branch, as nobody can guess
        for j in range(count):
            key = np.uint64(asked.rows[j])
            place = np.uint64(np.int64(out[key]) - RECORDS)
            slot = _recent_slot(recent, place * GOLDEN >> shift, place)
            known: Unsigned = recent[slot]
            if known >> UPPER_HALF != place:
                end = _copy_tags(records, place, records[place] >> UPPER_HALF, tags, end)
                sets.ends[number] = end
                known = place << UPPER_HALF | number
                recent[slot] = known
                number += ONE
            out[key] = np.int32(first_number - np.int64(known & LOW_HALF))
        first = following
    counts[SETS_FOUND] = np.int64(number)
    return np.int64(first)


@inlined
def _recent_slot(recent: Uint64s, home: Unsigned, place: Unsigned) -> Unsigned:
    """Return the slot, from its home on, that has this record or none; or its home, where others have the next ones."""
    mask = np.uint64(recent.size) - ONE
    for i in range(PROBES):
        slot = (home + i) & mask
        if recent[slot] == ZERO or recent[slot] >> UPPER_HALF == place:
            return slot
    return home


@inlined
def _copy_tags(records: Uint64s, place: Unsigned, length: Unsigned, tags: Int32s, end: Signed) -> Signed:
    """Copy the accept tags of a record to ``tags``, from ``end`` on; return where they end. Up to one more number is written."""
    count = records[place] & LOW_HALF
    at = place + ONE + numbers_of(length)
    i = ZERO
    while i < count:
        two = records[at]
        tags[end + np.int64(i)] = np.int32(two & LOW_HALF)
        tags[end + np.int64(i) + 1] = np.int32(two >> UPPER_HALF)
        at += ONE
        i += TWO
    return end + np.int64(count)


@inlined
def find_one(slots: Uint64s, records: Uint64s, marks: Uint64s, data: Bytes, length: Unsigned) -> Unsigned:
    """Return where the record of the key that ``data`` begins with, which has ``length`` bytes, begins, or 0 if it is not stored."""
    mixed = hash_key(data, ZERO, length)
    wanted = marks_of(mixed)
    place = ZERO
    if marks[mixed >> shift_of(marks)] & wanted == wanted:
        place = place_of(slots, shift_of(slots), mixed)
        if place != ZERO and not is_stored(records, place, data, ZERO, length):
            place = ZERO
    return place


@inlined
def marks_of(mixed: Unsigned) -> Unsigned:
    """Return the four bits of the filter that a key with such a hash has."""
    two = ONE << (mixed & SIXTY_THREE) | ONE << (mixed >> SIX & SIXTY_THREE)
    return two | ONE << (mixed >> TWELVE & SIXTY_THREE) | ONE << (mixed >> EIGHTEEN & SIXTY_THREE)
