"""Keys that patterns without wildcards spell: what their tables are made of (:mod:`compiler.kernels.exact_keys` finds keys there)."""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import kernel
from compiler.kernels.exact_keys import RECORDS, marks_of
from compiler.kernels.key_cache import write_key
from compiler.kernels.key_store import MOST_BYTES, hash_key, leaves_room, numbers_of, shift_of, slot_of
from compiler.kernels.store_tables import Exact
from compiler.kernels.tables import Bools, Bytes, Int32s, Keys, Signed
from compiler.kernels.unsigned import ONE, TWO, UPPER_HALF, ZERO

__all__ = ["enter_exact", "spell_keys", "unite_tags"]

MOST_NUMBERS = np.uint64(RECORDS)


@kernel
def enter_exact(exact: Exact, keys: Keys, offsets: Int32s, tags: Int32s, left: Bools) -> None:
    """Store keys with their tags in tables that are empty, and have room for all of them.

    Those without tags are ``left`` out, and so are keys that are too long, of whose hash another one has the upper half, whose block of the
    index is full, or whose record no number tells (RECORDS).
    """
    index, records, marks = exact.slots, exact.records, exact.marks
    shift, mark_shift = shift_of(index), shift_of(marks)
    at = ONE
    for i in range(np.uint64(left.size)):
        begin, count = np.uint64(keys.offsets[i]), np.uint64(offsets[i + ONE] - offsets[i])
        length = np.uint64(keys.offsets[i + ONE]) - begin
        mixed = hash_key(keys.data, begin, length)
        home = mixed >> shift
        slot = slot_of(index, home, ZERO, mixed)
        stays = count == ZERO or length > MOST_BYTES or index[slot] != ZERO or at >= MOST_NUMBERS
        if stays or not leaves_room(index, home, slot):
            left[i] = True
            continue
        marks[mixed >> mark_shift] |= marks_of(mixed)
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
