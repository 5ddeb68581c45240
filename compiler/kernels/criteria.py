"""Demands on the fields of messages: which criteria a message meets, and which demands that satisfies.

Two steps, as in the second half of ZeroMQ's "High-speed message matching" whitepaper: a message's fields are looked up among the
*criteria* of all demands (a field is there; a field has a value), and in the bitmap of each criterion that is met the demands
are counted which have it. Messages that meet the same criteria are counted once: they have the same *combination*.

Where demands and fields are few there is a shorter way: of each field, the value rules out the demands that ask something else of it,
and what none rules out is satisfied. That is one bitmap for each field, and nothing is counted.

A counter per demand would be one addition for each bit. Here the counters of 64 demands stand upright, a bit of each in one
number, so a bitmap's word is added to 64 counters in two or three operations. A demand on all its criteria is satisfied where
its counter is equal to its need, one on any where it is not 0.

Numbers of criteria, combinations and demands count from 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compiler.kernels._jit import inlined, kernel, load64, trailing_zeros
from compiler.kernels.interning import hash_of, same
from compiler.kernels.sorting import sort
from compiler.kernels.tables import Bytes, Int32s, Int64s, Keys, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import EIGHT, GOLDEN, LENGTH_SHIFT, LOW_HALF, ONE, TWO, UPPER_HALF, ZERO
from compiler.kernels.words import find_symbol, name_word

__all__ = [
    "Bitmaps",
    "Combinations",
    "Criteria",
    "Fields",
    "combine_fields",
    "count_hits",
    "fill_values",
    "find_copies",
]

LOW_BITS = np.uint64(63)
CC, BCC = np.uint64(int.from_bytes(b"CC", "little")), np.uint64(int.from_bytes(b"BCC", "little"))
FARTHEST = 255
"""An entry may lie so many behind its home."""
TRIED = 8192
"""After so many messages it is decided whether combinations recur."""


class Fields(NamedTuple):
    """The fields of messages, those of one message after the other."""

    offsets: Int32s
    """Message i has the fields ``range(offsets[i], offsets[i + 1])``."""
    names: Keys
    values: Keys
    kinds: Bytes
    """What a value is, as criteria say it, too; 0 if there is none, so that only the presence counts."""


class Criteria(NamedTuple):
    """The hash tables of all criteria; immutable."""

    numbers: Uint64s
    """Shift and multiplier of the table of names (see :mod:`compiler.kernels.words`), and multiplier of that of values."""
    names: Uint64s
    name_data: Bytes
    name_offsets: Int32s
    presence: Int32s
    """For each name's symbol the criterion that it is there, or -1."""
    values: Uint64s
    """With linear probing, two numbers for each criterion on a value: the value as :func:`compiler.kernels.words.name_word` names it, and
    name's symbol << 40 | kind << 32 | criterion + 1."""
    value_data: Bytes
    value_offsets: Int32s
    """The value of criterion c is ``value_data[value_offsets[c]:value_offsets[c + 1]]``."""


class Combinations(NamedTuple):
    """What criteria messages meet, each combination once; filled by a kernel."""

    ends: Int32s
    """Combination c is ``members[ends[c]:ends[c + 1]]``, ascending."""
    members: Int32s
    slots: Uint64s
    """The hash table of combinations: hash << 32 | combination + 1."""
    scratch: Int32s
    """Room for the criteria of one message."""
    before: Int64s
    """Room for three numbers on each of the first fields of the message before: where its name begins and ends, and its symbol."""


class Bitmaps(NamedTuple):
    """The demands of one matcher, by criteria; immutable. Demand d is bit d % 64 of word d // 64."""

    criteria: Int32s
    """The criteria that any of its demands has, ascending."""
    starts: Int64s
    """Criterion ``criteria[i]`` has the words ``range(starts[i], starts[i + 1])``; words without a bit are left out."""
    places: Int32s
    """Which word of the bitmap each of these is."""
    words: Uint64s
    needs: Uint64s
    """How many criteria a demand has, upright: bit p of the needs of word w is ``needs[p * width + w]``."""
    every: Uint64s
    """The demands on all of their criteria, of which there is at least one; others are on any."""
    always: Uint64s
    """The demands that every message satisfies."""
    certain: Uint64s
    """A bit for each word of ``always``: whether it has any."""
    own: Int32s
    """For each criterion of the vocabulary its place in ``criteria`` or -1; nothing where that would take too much room."""
    fields: Int32s
    """For each of ``criteria`` twice the number of its field's name, plus 1 if it asks for a value."""
    blocks: Uint64s
    """Whole bitmaps of the demands on all that cannot be satisfied: first for each of ``criteria`` those that demand something else
    of its field, then for each field those that demand anything of it, as where a message does not have it. Only where demands
    and fields are few; else nothing, and ``words`` is read."""
    hits: Uint64s
    """Likewise, the demands on any that each criterion satisfies, and none for fields that are not there."""


@kernel
def fill_values(labels: Uint64s, data: Bytes, offsets: Int32s, multiplier: Unsigned, values: Uint64s) -> bool:
    """Enter criterion i with the label name's symbol << 40 | kind << 32, unless that is 0; False if too many meet in one place."""
    mask = np.uint64((values.size >> 1) - 1)
    for i in range(labels.size):
        if labels[i] == ZERO:
            continue
        at = np.uint64(offsets[i])
        word = name_word(data, at, np.uint64(offsets[i + 1]) - at, multiplier)
        slot = _home(word, labels[i], multiplier) & mask
        passed = 0
        while values[TWO * slot + ONE] != ZERO:
            slot = (slot + ONE) & mask
            passed += 1
            if passed > FARTHEST:
                return False
        values[TWO * slot] = word
        values[TWO * slot + ONE] = labels[i] | np.uint64(i + 1)
    return True


@kernel
def find_copies(names: Keys) -> Signed:
    """Return the first name that is CC or BCC, or how many names there are."""
    for i in range(names.offsets.size - 1):
        at, end = np.uint64(names.offsets[i]), np.uint64(names.offsets[i + 1])
        if end - at - TWO <= ONE:
            word = load64(names.data, at)
            if (word & np.uint64(0xFFFF) == CC and end - at == TWO) or (
                word & np.uint64(0xFFFFFF) == BCC and end - at != TWO
            ):
                return i
    return np.int64(names.offsets.size - 1)


@kernel
def combine_fields(fields: Fields, criteria: Criteria, found: Combinations, ids: Int32s) -> Signed:
    """Write the combination of each message to ``ids``, and return how many there are.

    There is room for a combination for each message, and for two criteria for each field. Where nearly all of the first messages have
    combinations of their own, the others are not looked for, and each gets one.
    """
    ends, members, slots, scratch, before = found
    count = np.int64(0)
    names, values = fields.names, fields.values
    mask = np.uint64(slots.size - 1)
    rows = fields.offsets.size - 1
    looks: Signed = True
    for row in range(rows):
        met: Signed = 0
        begin = np.int64(fields.offsets[row])
        for i in range(begin, fields.offsets[row + 1]):
            name = _name(names, np.int64(i), np.int64(i) - begin, criteria, before)
            if name == ZERO:
                continue
            if criteria.presence[name] >= 0:
                scratch[met] = criteria.presence[name]
                met += 1
            kind = np.uint64(fields.kinds[i])
            if kind == ZERO:
                continue
            criterion = _value(values, np.int64(i), name << np.uint64(40) | kind << UPPER_HALF, criteria)
            if criterion >= 0:
                scratch[met] = criterion
                met += 1
        sort(scratch, np.int64(met))
        begin = end = np.int64(ends[count])
        for i in range(met):  # a field that comes twice counts once
            if i == 0 or scratch[i] != scratch[i - 1]:
                members[end] = scratch[i]
                end += 1
        number = np.int64(-1)
        if looks:
            hashed = np.uint64(hash_of(members, begin, end))
            slot = hashed & mask
            while slots[slot] != ZERO:
                if slots[slot] >> UPPER_HALF == hashed:
                    known = np.int64(slots[slot] & LOW_HALF) - 1
                    if same(members, np.int64(ends[known]), np.int64(ends[known + 1]), members, begin, end):
                        number = known
                        break
                slot = (slot + ONE) & mask
            if number < 0:
                slots[slot] = hashed << UPPER_HALF | np.uint64(count + 1)
            if row == TRIED:
                looks = 4 * count < 3 * TRIED
        if number < 0:
            number = count
            count += 1
            ends[count] = end
        ids[row] = number
    return count


@inlined
def _name(names: Keys, i: Signed, place: Signed, criteria: Criteria, before: Int64s) -> Unsigned:
    """Return the symbol of a field's name, 0 if no criterion has it: most often that of the same field of the message before."""
    at, end = np.uint64(names.offsets[i]), np.uint64(names.offsets[i + 1])
    length = end - at
    guess = 3 * place
    if guess < before.size and length <= EIGHT:
        known = np.uint64(before[guess])
        if np.uint64(before[guess + 1]) - known == length:
            kept = (TWO << (EIGHT * length - ONE & np.uint64(63))) - ONE
            if length == ZERO or (load64(names.data, at) ^ load64(names.data, known)) & kept == ZERO:
                return np.uint64(before[guess + 2])
    word = name_word(names.data, at, length, criteria.numbers[1])
    name = find_symbol(
        criteria.names, criteria.numbers[0], criteria.numbers[1], criteria.name_data, criteria.name_offsets, word, names.data, at, length
    )  # fmt: skip
    if guess < before.size:
        before[guess], before[guess + 1], before[guess + 2] = at, end, name
    return np.uint64(name)


@inlined
def _value(values: Keys, i: Signed, label: Unsigned, criteria: Criteria) -> Signed:
    """Return the criterion on a value, or -1."""
    table, multiplier = criteria.values, criteria.numbers[2]
    mask = np.uint64((table.size >> 1) - 1)
    at = np.uint64(values.offsets[i])
    length = np.uint64(values.offsets[i + 1]) - at
    word = name_word(values.data, at, length, multiplier)
    slot = _home(word, label, multiplier) & mask
    while True:
        entry = table[TWO * slot + ONE]
        if entry == ZERO:
            return np.int64(-1)
        if table[TWO * slot] == word and (entry ^ label) <= LOW_HALF:
            criterion = np.int64(entry & LOW_HALF) - 1
            if word >> LENGTH_SHIFT != EIGHT or _is_value(criteria, criterion, values, i):
                return criterion
        slot = (slot + ONE) & mask


@kernel
def _is_value(criteria: Criteria, criterion: Signed, values: Keys, i: Signed) -> bool:
    """Tell whether a criterion's value has the same bytes; only long ones are asked for."""
    at, other = np.int64(criteria.value_offsets[criterion]), np.int64(values.offsets[i])
    length = np.int64(values.offsets[i + 1]) - other
    if criteria.value_offsets[criterion + 1] - at != length:
        return False
    for k in range(length):
        if criteria.value_data[at + k] != values.data[other + k]:
            return False
    return True


@kernel
def count_hits(
    bitmaps: Bitmaps,
    ends: Int32s,
    members: Int32s,
    used: Int32s,
    first: Signed,
    counters: Uint64s,
    marks: Uint64s,
    chosen: Int64s,
    found_ends: Int32s,
    found: Int32s,
) -> Signed:
    """Write the demands that each of the combinations ``used[first:]`` satisfies to ``found``, and where they end.

    ``found_ends[0]`` is 0. ``counters``, a number for each in ``needs``, and ``marks``, a bit for each word, are 0, and are left
    so; ``chosen`` has a number for each field. Returns the place in ``used`` for which there is no room: ``found`` must have one for
    each demand.
    """
    width = np.int64(bitmaps.always.size)
    end: Signed = np.int64(0)
    for i in range(first, used.size):
        if end + 64 * width > found.size:
            return i
        low, high = np.int64(ends[used[i]]), np.int64(ends[used[i] + 1])
        if bitmaps.blocks.size > 0 and _choose(bitmaps, members, low, high, chosen):
            end = _unblocked(bitmaps, chosen, found, end)
        else:
            end = _counted(bitmaps, members, low, high, counters, marks, found, end)
        found_ends[i + 1 - first] = end
    return np.int64(used.size)


@kernel
def _choose(bitmaps: Bitmaps, members: Int32s, low: Signed, high: Signed, chosen: Int64s) -> bool:
    """Write for each field where the bitmap of its value begins; False if a field has several values that are asked for.

    Of the criteria on one field that are met, that of a value comes behind that of presence, and rules out more.
    """
    width, absent = np.int64(bitmaps.always.size), np.int64(bitmaps.criteria.size)
    for field in range(chosen.size):
        chosen[field] = (absent + field) * width
    for j in range(low, high):
        own = _place(bitmaps, np.int64(members[j]))
        if own >= 0:
            of = np.int64(bitmaps.fields[own]) >> 1
            before = chosen[of] // width
            if before < absent and bitmaps.fields[before] & 1:
                return False
            chosen[of] = own * width
    return True


@kernel
def _unblocked(bitmaps: Bitmaps, chosen: Int64s, found: Int32s, end: Signed) -> Signed:
    """Write what a combination satisfies, by one whole bitmap for each field: what its value rules out."""
    width = np.uint64(bitmaps.always.size)
    for place in range(width):
        blocked, hit = ~bitmaps.every[place], ZERO
        for field in range(chosen.size):
            blocked |= bitmaps.blocks[np.uint64(chosen[field]) + np.uint64(place)]
        if bitmaps.hits.size > 0:
            for field in range(chosen.size):
                hit |= bitmaps.hits[np.uint64(chosen[field]) + np.uint64(place)]
        satisfied = ~blocked | hit | bitmaps.always[place]
        while satisfied != ZERO:
            found[end] = (np.int64(place) << 6) + np.int64(trailing_zeros(satisfied))
            satisfied &= satisfied - ONE
            end += 1
    return end


@kernel
def _counted(
    bitmaps: Bitmaps,
    members: Int32s,
    low: Signed,
    high: Signed,
    counters: Uint64s,
    marks: Uint64s,
    found: Int32s,
    end: Signed,
) -> Signed:
    """Write what a combination satisfies, by counting."""
    width = bitmaps.always.size
    planes = bitmaps.needs.size // width
    for j in range(low, high):
        own = _place(bitmaps, np.int64(members[j]))
        if own < 0:
            continue
        for k in range(bitmaps.starts[own], bitmaps.starts[own + 1]):
            place = np.int64(bitmaps.places[k])
            carried = bitmaps.words[k]
            marks[place >> 6] |= ONE << (np.uint64(place) & LOW_BITS)
            for plane in range(planes):
                if carried == ZERO:
                    break
                counter = plane * width + place
                before = counters[counter]
                counters[counter] = before ^ carried
                carried &= before
    for mark in range(marks.size):
        waiting = marks[mark] | bitmaps.certain[mark]
        marks[mark] = ZERO
        while waiting != ZERO:
            place = (mark << 6) + np.int64(trailing_zeros(waiting))
            waiting &= waiting - ONE
            any_hit, unequal = ZERO, ZERO
            for plane in range(planes):
                counter = plane * width + place
                any_hit |= counters[counter]
                unequal |= counters[counter] ^ bitmaps.needs[counter]
                counters[counter] = ZERO
            every = bitmaps.every[place]
            satisfied = (every & ~unequal) | (any_hit & ~every) | bitmaps.always[place]
            while satisfied != ZERO:
                found[end] = (place << 6) + np.int64(trailing_zeros(satisfied))
                satisfied &= satisfied - ONE
                end += 1
    return end


@inlined
def _place(bitmaps: Bitmaps, criterion: Signed) -> Signed:
    """Return the place of a criterion among those of the demands, or -1."""
    if bitmaps.own.size > 0:
        return np.int64(bitmaps.own[criterion])
    return _find(bitmaps.criteria, criterion)


@inlined
def _find(values: Int32s, value: Signed) -> Signed:
    """Return the place of a value among ascending ones, or -1."""
    low, high = np.int64(0), np.int64(values.size)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < values.size and values[low] == value else np.int64(-1)


@inlined
def _home(word: Unsigned, label: Unsigned, multiplier: Unsigned) -> Unsigned:
    """Mix a value's name and a label; the low bits are used."""
    mixed = (word ^ (label >> UPPER_HALF) * GOLDEN) * multiplier
    return mixed ^ mixed >> UPPER_HALF
