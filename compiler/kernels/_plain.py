"""The steps of :mod:`compiler.kernels._vectors`, ``_word_vectors``, ``_record_vectors``, ``_key_vectors`` and ``_sample_vectors`` without vectors: a key at a time, and text byte by byte.

The engine does not use them. They say in plain code what the vectors do, tests hold the vectors to them, and the vectors are
measured against them (``python -m benchmarks ablations``). Arguments and results are the same.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from compiler.kernels._jit import inlined, load64, prefetch
from compiler.kernels.filters import may_be_literal
from compiler.kernels.key_cache import look_up, slot_of
from compiler.kernels.key_sample import choice
from compiler.kernels.records import COMPLETE_BIT, OVERFLOW, REFERENCE_MASK, bucket_of, pair_of
from compiler.kernels.tables import Bytes, Int32s, Signed, Uint64s, Unsigned
from compiler.kernels.transitions import mix
from compiler.kernels.unsigned import (
    BLOCK_ROW,
    EIGHT,
    FINAL_BIT,
    LANE_MASK,
    LENGTH_SHIFT,
    LOW_HALF,
    MOST_WORDS,
    ONE,
    STATE_MASK,
    TWO,
    UPPER_HALF,
    WINDOW,
    ZERO,
)

__all__ = [
    "ask_eight",
    "ask_eight_records",
    "choose_eight",
    "look_eight",
    "look_up_eight",
    "read_eight",
    "shift_eight",
    "step_eight",
    "step_eight_in_rows",
    "step_eight_records",
]


@inlined
def look_eight(
    data: Bytes,
    begins: Uint64s,
    ends: Uint64s,
    first: Unsigned,
    separator: np.uint8,
    counts: Uint64s,
    froms: Uint64s,
    stops: Uint64s,
    heads: Uint64s,
) -> Unsigned:
    """Find the next words of eight keys, up to AHEAD of each; return the mask of keys that have more bytes or words than that."""
    beyond = ZERO
    for lane in range(EIGHT):
        key = first + lane
        at, end = begins[key], ends[key]
        froms[key], counts[key] = at, ZERO
        if at > end:
            continue
        count = packed = begin = ZERO
        if end - at < WINDOW:
            for i in range(end - at + ONE):
                if at + i == end or data[at + i] == separator:
                    if count < MOST_WORDS:
                        packed |= i << EIGHT * count
                        heads[BLOCK_ROW * count + key] = load64(data, at + begin)
                    begin = i + ONE
                    count += ONE
        if ZERO < count <= MOST_WORDS:
            stops[key], counts[key], begins[key] = packed, count, end + ONE
        else:
            beyond |= ONE << lane
    return beyond


@inlined
def look_up_eight(
    offsets: Int32s,
    data: Bytes,
    row: Unsigned,
    table: Uint64s,
    shift: Unsigned,
    base: Signed,
    out: Int32s,
    rows: Uint64s,
    begins: Uint64s,
    ends: Uint64s,
    slots: Uint64s,
    n: Unsigned,
) -> Unsigned:
    """Answer those of eight keys that the key cache knows, and enter the others into a block; return the mask of these."""
    missing = ZERO
    for lane in range(EIGHT):
        begin, end = np.uint64(offsets[row + lane]), np.uint64(offsets[row + lane + ONE])
        slot = slot_of(data, begin, end - begin, shift)
        accept = look_up(table, slot, data, begin, end - begin)
        out[row + lane] = base + np.int64(accept) - 1
        if accept == ZERO:
            rows[n], ends[n], slots[n] = row + lane, end, slot
            begins[n] = begin + np.uint64(begin == end)
            n += ONE
            missing |= ONE << lane
    return missing


@inlined
def read_eight(
    data: Bytes,
    froms: Uint64s,
    heads: Uint64s,  # noqa: ARG001 - only of vectors, which may have cut these words out
    stops: Uint64s,
    counts: Uint64s,
    level: Unsigned,
    first: Unsigned,
    table: Uint64s,
    shift: Unsigned,
    multiplier: Unsigned,
    symbols: Uint64s,
    late: Uint64s,
    lates: Unsigned,
) -> Unsigned:
    """Write the symbols of word ``level`` of eight keys; return the mask of keys that plain code must look at."""
    more = ZERO
    for lane in range(EIGHT):
        key = first + lane
        symbols[key] = ZERO
        if level >= counts[key]:
            continue
        begin = ZERO
        if level != ZERO:
            begin = (stops[key] >> EIGHT * (level - ONE) & LANE_MASK) + ONE
        length = (stops[key] >> EIGHT * level & LANE_MASK) - begin
        name = load64(data, froms[key] + begin)
        if length < EIGHT:
            name = name & (ONE << EIGHT * length) - ONE | length << LENGTH_SHIFT
        elif length > EIGHT or name >> LENGTH_SHIFT <= EIGHT:
            late[lates] = key
            lates += ONE
            more |= ONE << lane
            continue
        slot = name * multiplier >> shift
        symbol = table[TWO * slot + ONE]
        if symbol == ZERO:
            continue
        if table[TWO * slot] == name:
            symbols[key] = symbol
        else:
            late[lates] = key
            lates += ONE
            more |= ONE << lane
    return more


@inlined
def ask_eight(
    info: Uint64s,
    filters: Uint64s,
    states: Uint64s,
    symbols: Uint64s,
    symbol_bits: Unsigned,
    key_shift: Unsigned,
    mixed: Uint64s,
    defaults: Uint64s,
    first: Unsigned,
    transitions: Uint64s,
    shift: Unsigned,
) -> None:
    """Write the default successors of eight keys' states, and what to look their words up by: 0 for words that are no literals."""
    for key in range(first, first + EIGHT):
        state, symbol = states[key], symbols[key]
        defaults[key], mixed[key] = info[TWO * state] & LOW_HALF, ZERO
        if may_be_literal(filters, info[TWO * state + ONE], symbol):
            mixed[key] = mix(state, symbol, symbol_bits, key_shift)
        prefetch(transitions, mixed[key] >> shift)


@inlined
def step_eight(
    transitions: Uint64s,
    shift: Unsigned,
    states: Uint64s,
    mixed: Uint64s,
    defaults: Uint64s,
    words: Uint64s,
    level: Unsigned,
    first: Unsigned,
    late: Uint64s,
    lates: Unsigned,
    info: Uint64s,
) -> Unsigned:
    """Give eight keys their successors; return the mask of keys that read a word, and << 8 that of the late ones."""
    found = ZERO
    for lane in range(EIGHT):
        key = first + lane
        target = defaults[key]
        if level >= words[key] or target == states[key] | FINAL_BIT:
            continue
        found |= ONE << lane
        if mixed[key] != ZERO:
            entry = transitions[mixed[key] >> shift]
            tag = mixed[key] << WINDOW - shift >> UPPER_HALF << UPPER_HALF
            target = entry if entry & ~(STATE_MASK | FINAL_BIT) == tag else ZERO
        if target & STATE_MASK != ZERO:
            states[key] = target & STATE_MASK
            prefetch(info, TWO * states[key])
        else:
            late[lates] = key
            lates += ONE
            found |= ONE << EIGHT + lane
    return found


@inlined
def step_eight_in_rows(
    rows: npt.NDArray[np.uint32],
    bits: Unsigned,
    states: Uint64s,
    symbols: Uint64s,
    words: Uint64s,
    level: Unsigned,
    first: Unsigned,
) -> Unsigned:
    """Give eight keys the successors in ``rows``; return the mask of keys that read a word, and << 8 that of keys without one."""
    found = ZERO
    for lane in range(EIGHT):
        key = first + lane
        target = np.uint64(rows[states[key] << bits | symbols[key]])
        if level < words[key] and target & FINAL_BIT == ZERO:
            states[key] = target
            found |= ONE << lane
            if target == ZERO:
                found |= ONE << EIGHT + lane
    return found


@inlined
def ask_eight_records(
    records: Uint64s,
    filters: Uint64s,
    pairs: Uint64s,
    symbols: Uint64s,
    places: Uint64s,
    defaults: Uint64s,
    first: Unsigned,
) -> None:
    """Write what records say of eight keys' default successors, and the buckets of their words: 0 for words that are no literals."""
    for key in range(first, first + EIGHT):
        pair, symbol = pairs[key], symbols[key]
        head = records[TWO * pair]
        defaults[key], places[key] = head & (COMPLETE_BIT | REFERENCE_MASK), ZERO
        if may_be_literal(filters, records[TWO * pair + ONE], symbol):
            places[key] = pair + ONE + bucket_of(head, symbol)
        prefetch(records, TWO * places[key])


@inlined
def step_eight_records(
    records: Uint64s,
    states: Uint64s,
    symbols: Uint64s,
    places: Uint64s,
    defaults: Uint64s,
    words: Uint64s,
    level: Unsigned,
    first: Unsigned,
    late: Uint64s,
    lates: Unsigned,
    pairs: Uint64s,
) -> Unsigned:
    """Give eight keys their successors; return the mask of keys that read a word, and << 8 that of the late ones."""
    found = ZERO
    for lane in range(EIGHT):
        key = first + lane
        if level < words[key] and states[key] & FINAL_BIT == ZERO:
            found |= ONE << lane
            target = defaults[key]
            if places[key] != ZERO:
                one, other = records[TWO * places[key]], records[TWO * places[key] + ONE]
                if one >> UPPER_HALF == symbols[key]:
                    target = one
                elif other >> UPPER_HALF == symbols[key]:
                    target = other
                elif target & COMPLETE_BIT == ZERO or other & OVERFLOW != ZERO:
                    target = ZERO
            if target & REFERENCE_MASK != ZERO:
                states[key] = target & REFERENCE_MASK
            else:
                late[lates] = key
                lates += ONE
                found |= ONE << EIGHT + lane
        pairs[key] = pair_of(states[key])
        prefetch(records, TWO * pairs[key])
    return found


@inlined
def choose_eight(data: Bytes, begins: Uint64s, ends: Uint64s, first: Unsigned, shift: Unsigned) -> Unsigned:
    """Return the mask of those of eight keys whose choice begins with 63 - ``shift`` zeros; no empty key is among them."""
    chosen = ZERO
    for lane in range(EIGHT):
        begin, end = begins[first + lane], ends[first + lane]
        if begin < end and choice(data, begin, end - begin) >> ONE >> shift == ZERO:
            chosen |= ONE << lane
    return chosen


@inlined
def shift_eight(
    now: Uint64s, key: Unsigned, accepts: Uint64s, word: Unsigned, loops: Uint64s, lane: Unsigned
) -> Unsigned:
    """Move the patterns in eight machine words of one key by a word; return 0 if all of these are 0 then."""
    active = ZERO
    for i in range(EIGHT):
        stays = now[key + i] & loops[lane + i]
        moved = (now[key + i] & accepts[word + i]) << ONE | stays
        now[key + i] = moved | (moved & loops[lane + i]) << ONE
        active |= now[key + i]
    return active
