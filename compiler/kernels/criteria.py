"""Demands on the fields of messages: which criteria a message meets. Which demands that satisfies is in ``satisfying``.

Two steps, as in the second half of ZeroMQ's "High-speed message matching" whitepaper: a message's fields are looked up among the
*criteria* of all demands (a field is there; a field has a value), and in the bitmap of each criterion that is met the demands
are counted which have it. Messages that meet the same criteria are counted once: they have the same *combination*.

Numbers of criteria, combinations and demands count from 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compiler.kernels._jit import inlined, kernel, load64
from compiler.kernels.interning import enter_set, hash_of, same
from compiler.kernels.sorting import sort
from compiler.kernels.tables import Bytes, Int32s, Int64s, Keys, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import EIGHT, GOLDEN, LENGTH_SHIFT, LOW_HALF, ONE, TWO, UPPER_HALF, ZERO
from compiler.kernels.words import enter_pair, find_symbol, name_word

__all__ = [
    "Combinations",
    "Criteria",
    "Fields",
    "combine_fields",
    "fill_values",
    "find_copies",
]

CC, BCC = np.uint64(int.from_bytes(b"CC", "little")), np.uint64(int.from_bytes(b"BCC", "little"))
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


@kernel
def fill_values(labels: Uint64s, data: Bytes, offsets: Int32s, multiplier: Unsigned, values: Uint64s) -> bool:
    """Enter criterion i with the label name's symbol << 40 | kind << 32, unless that is 0; False if too many meet in one place."""
    mask = np.uint64((values.size >> 1) - 1)
    for i in range(labels.size):
        if labels[i] == ZERO:
            continue
        at = np.uint64(offsets[i])
        word = name_word(data, at, np.uint64(offsets[i + 1]) - at, multiplier)
        if not enter_pair(values, _home(word, labels[i], multiplier) & mask, word, labels[i] | np.uint64(i + 1)):
            return False
    return True


@kernel
def find_copies(names: Keys) -> Signed:
    """Return the first name that is CC or BCC, or how many names there are."""
    short = False
    for i in range(names.offsets.size - 1):  # in vectors, a fifth of the time of what follows
        length = np.int32(names.offsets[np.uint64(i) + ONE] - names.offsets[np.uint64(i)])
        short |= (length == np.int32(2)) | (length == np.int32(3))
    if not short:
        return np.int64(names.offsets.size - 1)
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
                enter_set(slots, slot, hashed, count + 1)
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


@inlined
def _home(word: Unsigned, label: Unsigned, multiplier: Unsigned) -> Unsigned:
    """Mix a value's name and a label; the low bits are used."""
    mixed = (word ^ (label >> UPPER_HALF) * GOLDEN) * multiplier
    return mixed ^ mixed >> UPPER_HALF
