"""Keys that patterns without wildcards spell: how they are found among other keys, and what they are made of.

Most keys may be none of them, which a filter tells without a look at the large tables: numbers of 64 bits, one of which has four bits
of each key. It takes 8 to 16 bits for each key, so that of a million keys lies in a second-level cache.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel, prefetch
from compiler.kernels.key_cache import write_key
from compiler.kernels.key_store import MOST_BYTES, hash_key, is_stored, numbers_of, place_of, shift_of, slot_of
from compiler.kernels.store_tables import EXACT_TOGETHER, Asked, Exact
from compiler.kernels.tables import Bools, Bytes, Int32s, Int64s, Keys, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import KEYS_AHEAD, LOW_HALF, ONE, SEVEN, SIX, SIXTY_THREE, TWO, UPPER_HALF, ZERO
from compiler.kernels.work import NEXT_KEY, SETS_FOUND, SHARED_FROM, TAGS_WANTED, FoundSets

__all__ = ["enter_exact", "find_exact", "find_one", "spell_keys", "unite_tags"]

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
    index, records, marks, offsets, data = exact.slots, exact.records, exact.marks, keys.offsets, keys.data
    mask, shift, mark_shift = np.uint64(index.size) - ONE, shift_of(index), shift_of(marks)
    tags, counts = sets.tags, sets.counts
    number = counts[SETS_FOUND]
    end = np.int64(sets.ends[number - 1]) if number > 0 else np.int64(0)
    found: Unsigned = ZERO
    first, last = np.uint64(row), np.uint64(stop)
    while first < last:
        if end + MOST_AT_ONCE > tags.size:
            counts[TAGS_WANTED] = end + MOST_AT_ONCE
            break
        following = min(first + TOGETHER, last)
        count: Unsigned = ZERO
        for at in range(first, following):
            begin = np.uint64(offsets[at])
            mixed = hash_key(data, begin, np.uint64(offsets[at + ONE]) - begin)
            prefetch(data, begin + KEYS_AHEAD)
            wanted = _marks_of(mixed)
            asked.rows[count], asked.hashes[count] = at, mixed
            # Without a branch, as nobody can guess: so null keys are told later, as when it was here, a key of `fleet` took 1.3 times as long.
            count += ONE if marks[mixed >> mark_shift] & wanted == wanted else ZERO
        for j in range(count):
            prefetch(index, asked.hashes[j] >> shift)
        for j in range(count):
            place = place_of(index, mask, shift, asked.hashes[j])
            asked.hashes[j] = place
            prefetch(records, place)
            # A line is compared wherever it begins, so two are asked for: else a key of `fleet` took 1.2 times as long.
            prefetch(records, place + SEVEN)
        for j in range(count):
            key, place = np.uint64(asked.rows[j]), asked.hashes[j]
            begin = np.uint64(offsets[key])
            length = np.uint64(offsets[key + ONE]) - begin
            valid = keys.valid.size == 0 or keys.valid[key]
            if valid and is_stored(records, place, data, begin, length):
                end = _copy_tags(records, place, length, tags, end)
                sets.ends[number] = end
                number += 1
                rows[found] = key
                found += ONE
        first = following
    counts[SETS_FOUND], counts[NEXT_KEY] = number, np.int64(first)
    return np.int64(found)


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


@kernel
def enter_exact(exact: Exact, keys: Keys, offsets: Int32s, tags: Int32s, left: Bools) -> None:
    """Store keys with their tags in tables that are empty, and have room for all of them.

    Those without tags are ``left`` out, and so are keys that are too long, or of whose hash another one has the upper half.
    """
    index, records, marks = exact.slots, exact.records, exact.marks
    mask, shift, mark_shift = np.uint64(index.size) - ONE, shift_of(index), shift_of(marks)
    at = ONE
    for i in range(np.uint64(left.size)):
        begin, count = np.uint64(keys.offsets[i]), np.uint64(offsets[i + ONE] - offsets[i])
        length = np.uint64(keys.offsets[i + ONE]) - begin
        mixed = hash_key(keys.data, begin, length)
        slot = slot_of(index, mask, mixed >> shift, mixed)
        if count == ZERO or length > MOST_BYTES or index[slot] != ZERO:
            left[i] = True
            continue
        marks[mixed >> mark_shift] |= _marks_of(mixed)
        index[slot] = mixed >> UPPER_HALF << UPPER_HALF | at
        records[at] = length << UPPER_HALF | count
        write_key(records, at + ONE, keys.data, begin, length)
        at += ONE + numbers_of(length)
        first, j = np.uint64(offsets[i]), ZERO
        while j < count:
            second = np.uint64(tags[first + j + ONE]) if j + ONE < count else ZERO
            records[at] = second << UPPER_HALF | np.uint64(tags[first + j])
            at += ONE
            j += TWO


@inlined
def find_one(slots: Uint64s, records: Uint64s, marks: Uint64s, data: Bytes, length: Unsigned) -> Unsigned:
    """Return where the record of the key that ``data`` begins with, which has ``length`` bytes, begins, or 0 if it is not stored."""
    mixed = hash_key(data, ZERO, length)
    wanted = _marks_of(mixed)
    place = ZERO
    if marks[mixed >> shift_of(marks)] & wanted == wanted:
        place = place_of(slots, np.uint64(slots.size) - ONE, shift_of(slots), mixed)
        if not is_stored(records, place, data, ZERO, length):
            place = ZERO
    return place


@inlined
def _marks_of(mixed: Unsigned) -> Unsigned:
    """Return the four bits of a key with such a hash."""
    two = ONE << (mixed & SIXTY_THREE) | ONE << (mixed >> SIX & SIXTY_THREE)
    return two | ONE << (mixed >> TWELVE & SIXTY_THREE) | ONE << (mixed >> EIGHTEEN & SIXTY_THREE)


@kernel
def spell_keys(
    labels: Int32s,
    parents: Int32s,
    word_data: Bytes,
    word_offsets: Int32s,
    separator: np.uint8,
    positions: Int32s,
    offsets: Int32s,
    data: Bytes,
) -> None:
    """Write the words that lead to some positions, with separators between them, to ``data`` where ``offsets`` say."""
    for i in range(positions.size):
        position, end = np.int64(positions[i]), np.int64(offsets[i + 1])
        while end > offsets[i]:
            symbol = np.int64(labels[position])
            first, last = np.int64(word_offsets[symbol - 1]), np.int64(word_offsets[symbol])
            while last > first:
                last -= 1
                end -= 1
                data[end] = word_data[last]
            position = np.int64(parents[position])
            if end > offsets[i]:
                end -= 1
                data[end] = separator


@kernel
def unite_tags(
    begins: Int32s,
    own: Int32s,
    ids: Int32s,
    offsets: Int32s,
    tags: Int32s,
    most: Signed,
    first: Signed,
    ends: Int32s,
    united: Int32s,
) -> Signed:
    """Write, for each key, its ``own`` tags from ``begins`` on and those of its set among ``tags``, ascending; return how many these are.

    ``ends`` says where those of each key end, if those of the first one begin at ``first``. A key with more than ``most`` tags gets none.
    """
    count = np.int64(0)
    for i in range(ids.size):
        a, b = np.int64(begins[i]), np.int64(offsets[ids[i]])
        last, end = np.int64(begins[i + 1]), np.int64(offsets[ids[i] + 1])
        if last - a + end - b <= most:
            while a < last or b < end:
                if b == end or (a < last and own[a] < tags[b]):
                    united[count] = own[a]
                    a += 1
                else:
                    united[count] = tags[b]
                    b += 1
                count += 1
        ends[i] = first + count
    return count
