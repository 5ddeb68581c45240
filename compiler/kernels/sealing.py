"""Sealing: the states of a cache written as records (:mod:`compiler.kernels.seal_tables`), in the order of their numbers.

First the cache's transitions are listed by state, then each state's record gets its size and its place, and then it is written.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels.records import bucket_of
from compiler.kernels.seal_tables import (
    ACCEPT_SHIFT,
    CHOICE_SHIFT,
    CHOICES,
    COMPLETE,
    ENDED,
    EVERY_WORD,
    MOST_BUCKETS,
    OVERFLOWED,
    PAIRS,
    SIZE_SHIFT,
)
from compiler.kernels.sorting import sort
from compiler.kernels.tables import (
    FINAL,
    START,
    START_RESERVED,
    TARGET,
    Bools,
    Bytes,
    Cache,
    Int32s,
    Int64s,
    Program,
    Signed,
    Uint64s,
    Unsigned,
)
from compiler.kernels.transitions import mixed_of, unmix
from compiler.kernels.unsigned import FINAL_BIT, LOW_HALF, ONE, STATE_MASK, TWO, UPPER_HALF, ZERO

__all__ = ["complete", "count_transitions", "lay_out", "list_transitions", "write_records"]

OVERFLOW = np.uint64(4)
"""The binary logarithm of how many entries may have one among them that is not in its own bucket."""
LARGER = 1
"""A record has up to 2 to this power times as many buckets as its entries would fill, to keep them in their own."""
MANY = np.uint64(4096)
"""For a record of more entries than that all hashes are about as good."""
COMPLETED = 4
"""A record of over two transitions is completed if it has at most so many times as many entries then; one of fewer, if they are two."""
LINE = np.uint64(4)
"""The pairs of a line of the processor's cache: no record that fits into one reaches across two."""
ENDED_BIT, WORD_PAIRS = np.uint64(ENDED), np.uint64(PAIRS)
EVERY, FULL = np.uint64(EVERY_WORD), np.uint64(OVERFLOWED)
COMPLETE_SIZE = np.uint64(COMPLETE >> SIZE_SHIFT)
BEGIN, SIZE = np.uint64(ACCEPT_SHIFT), np.uint64(SIZE_SHIFT)


@kernel
def count_transitions(cache: Cache, counts: Int64s, final: Bools) -> None:
    """Add to ``counts[s + 1]`` the transitions of each state s, and set ``final`` for those that no word can change."""
    transitions, shift, info = cache.transitions, np.uint64(cache.transition_shift), cache.info
    for start in (START, START_RESERVED):
        final[cache.meta[start] & TARGET] = cache.meta[start] & FINAL != 0
    for slot in range(np.uint64(transitions.size)):
        entry = transitions[slot]
        if entry != ZERO:
            counts[_state_of(cache, entry, slot, shift) + ONE] += 1
            if entry & FINAL_BIT != ZERO:
                final[entry & STATE_MASK] = True
    for state in range(ONE, np.uint64(cache.state_end.size)):
        default = info[TWO * state] & LOW_HALF
        if default & FINAL_BIT != ZERO:
            final[default & STATE_MASK] = True
    final[0] = False


@kernel
def list_transitions(cache: Cache, cursors: Int64s, symbols: Uint64s, targets: Uint64s) -> None:
    """List symbols and targets by state: those of state s begin at ``cursors[s]``, which ends up behind them."""
    transitions, shift = cache.transitions, np.uint64(cache.transition_shift)
    mask = (ONE << np.uint64(cache.symbol_bits)) - ONE
    for slot in range(np.uint64(transitions.size)):
        entry = transitions[slot]
        if entry != ZERO:
            key = unmix(mixed_of(entry, slot, shift), np.uint64(cache.key_shift))
            state = key >> np.uint64(cache.symbol_bits)
            at = cursors[state]
            symbols[at], targets[at] = key & mask, entry & (STATE_MASK | FINAL_BIT)
            cursors[state] = at + 1


@kernel
def complete(
    program: Program,
    cache: Cache,
    completed: Signed,
    final: Bools,
    begins: Int64s,
    symbols: Uint64s,
    targets: Uint64s,
    room: Int32s,
    all_begins: Int64s,
    all_symbols: Uint64s,
    all_targets: Uint64s,
    sizes: Bytes,
) -> None:
    """List transitions again, and for states that get a complete record all literals, those that nobody has met with target 0.

    No record has over ``completed`` times as many entries then. The lists have room for so many, but two at least for each state, and
    ``room`` for those of one. ``sizes`` is set for complete records.
    """
    end = np.int64(0)
    for state in range(ONE, np.uint64(cache.state_end.size)):
        all_begins[state] = end
        first, last = begins[state], begins[state + ONE]
        count = np.int64(0)
        if not final[state] and cache.info[TWO * state + ONE] != ZERO:
            count = _literals(program, cache, state, _most_entries(last - first, completed), room)
        if count == 0:
            for i in range(first, last):
                all_symbols[end], all_targets[end] = symbols[i], targets[i]
                end += 1
            continue
        sizes[state] = COMPLETE_SIZE
        for i in range(count):
            all_symbols[end + i], all_targets[end + i] = np.uint64(room[i]), ZERO
        for i in range(first, last):
            low, high = np.int64(0), count
            while low < high:
                middle = low + high >> 1
                if np.uint64(room[middle]) < symbols[i]:
                    low = middle + 1
                else:
                    high = middle
            if low < count and np.uint64(room[low]) == symbols[i]:  # else it is a stray
                all_targets[end + low] = targets[i]
        end += count
    all_begins[cache.state_end.size] = end


@inlined
def _most_entries(count: Signed, completed: Signed) -> Signed:
    """Return how many entries a record of so many transitions may have when it is completed: 0 where none is."""
    return completed * count if count > 2 else np.int64(2) * np.int64(completed > 0)


@inlined
def _literals(program: Program, cache: Cache, state: Unsigned, most: Signed, room: Int32s) -> Signed:
    """Write the literals of a state to ``room``, ascending and once each; return how many these are, or 0 if they are over ``most``."""
    nodes, labels, members = program.nodes, program.labels, cache.members
    count = np.int64(0)
    for i in range(cache.state_end[state - ONE], cache.state_end[state]):
        at = TWO * np.uint64(members[i])
        for child in range(nodes[at] >> UPPER_HALF, nodes[at + TWO] >> UPPER_HALF):
            if labels[child] > 0:
                if count == most:
                    return np.int64(0)
                room[count] = labels[child]
                count += 1
    sort(room, count)
    kept = np.int64(0)
    for i in range(count):
        if i == 0 or room[i] != room[i - 1]:
            room[kept] = room[i]
            kept += 1
    return kept


@kernel
def lay_out(
    cache: Cache, begins: Int64s, symbols: Uint64s, final: Bools, room: Bytes, pairs: Uint64s, sizes: Bytes
) -> Unsigned:
    """Give each state s the pair with which its record begins, ``pairs[s]``, and its size; return how many pairs there are.

    ``sizes`` say which are complete. The symbols of state s are ``symbols[begins[s]:begins[s + 1]]``. It is left as it is for a state without a record. ``room`` has a byte for
    each bucket that a record may have.
    """
    end = ONE
    for state in range(ONE, np.uint64(cache.state_end.size)):
        if final[state] or cache.state_end[state - ONE] == cache.state_end[state]:
            continue
        first, last = np.uint64(begins[state]), np.uint64(begins[state + ONE])
        buckets = ZERO
        if cache.info[TWO * state + ONE] != ZERO:
            sizes[state] |= _size(symbols, first, last, room)
            buckets = ONE << (np.uint64(sizes[state]) & np.uint64(MOST_BUCKETS))
        length = ONE + buckets
        if length <= LINE and end % LINE + length > LINE:
            end += LINE - end % LINE
        pairs[state] = end
        end += length
    return end


@kernel
def write_records(
    cache: Cache,
    begins: Int64s,
    symbols: Uint64s,
    targets: Uint64s,
    final: Bools,
    pairs: Uint64s,
    sizes: Bytes,
    nothing: Unsigned,
    records: Uint64s,
    starts: Uint64s,
) -> None:
    """Write the records, and which pairs they begin at; ``nothing`` is the number of the empty accept set.

    Afterwards the cache's start states in ``cache.meta``, which is a copy, are references.
    """
    info = cache.info
    records[0] = np.uint64(nothing) | FINAL_BIT
    for state in range(ONE, np.uint64(cache.state_end.size)):
        pair = pairs[state]
        if pair == ZERO:
            continue
        starts[pair // WORD_PAIRS] |= ONE << pair % WORD_PAIRS
        size = np.uint64(sizes[state])
        default = _reference(cache, final, pairs, info[TWO * state] & LOW_HALF)
        records[TWO * pair] = size << SIZE | info[TWO * state] >> UPPER_HALF << BEGIN | default
        records[TWO * pair + ONE] = info[TWO * state + ONE] if size < COMPLETE_SIZE else EVERY
        last = (ONE << (size & np.uint64(MOST_BUCKETS))) - ONE
        for i in range(begins[state], begins[state + ONE]):
            bucket = bucket_of(size << SIZE, symbols[i])
            at = TWO * (pair + ONE + bucket)
            while records[at + ONE] != ZERO:
                records[at + ONE] |= FULL
                bucket = bucket + ONE & last
                at = TWO * (pair + ONE + bucket)
            at += np.uint64(records[at] != ZERO)
            records[at] = symbols[i] << UPPER_HALF | _reference(cache, final, pairs, targets[i])
    for start in (START, START_RESERVED):
        cache.meta[start] = np.int64(_reference(cache, final, pairs, np.uint64(cache.meta[start])))


@inlined
def _state_of(cache: Cache, entry: Unsigned, slot: Unsigned, shift: Unsigned) -> Unsigned:
    return unmix(mixed_of(entry, slot, shift), np.uint64(cache.key_shift)) >> np.uint64(cache.symbol_bits)


@inlined
def _reference(cache: Cache, final: Bools, pairs: Uint64s, target: Unsigned) -> Unsigned:
    """Return the reference to a state, 0 if there is none; ``target`` may have a FINAL bit."""
    state = target & STATE_MASK
    accept = cache.info[TWO * state] >> UPPER_HALF
    if state == ZERO or pairs[state] != ZERO:
        return pairs[state]
    return accept | (FINAL_BIT if final[state] else ENDED_BIT)


@inlined
def _size(symbols: Uint64s, first: Unsigned, last: Unsigned, room: Bytes) -> Unsigned:
    """Return the size of a record with these symbols: few buckets, of which few overflow."""
    count, bits = last - first, ZERO
    while TWO << bits < count:
        bits += ONE
    if count > MANY:
        return bits + ONE
    best, least = bits, count
    for more in range(LARGER + 1):
        for choice in range(CHOICES):
            size = np.uint64(choice) << np.uint64(CHOICE_SHIFT) | bits + np.uint64(more)
            overflow = _overflow(symbols, first, last, size, room)
            if overflow < least or more + choice == 0:
                best, least = size, overflow
            if least <= count >> OVERFLOW:
                return best
    return best


@inlined
def _overflow(symbols: Uint64s, first: Unsigned, last: Unsigned, size: Unsigned, room: Bytes) -> Unsigned:
    """Return how many symbols find their bucket in a record of this size full."""
    over = ZERO
    if last - first > TWO:
        for bucket in range(ONE << (size & np.uint64(MOST_BUCKETS))):
            room[bucket] = 0
        for i in range(first, last):
            bucket = bucket_of(size << SIZE, symbols[i])
            over += np.uint64(room[bucket] > 1)
            room[bucket] += 1
    return over
