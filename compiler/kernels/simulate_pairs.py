"""The NFA simulated directly: sets of active positions are carried along the keys, and nothing is remembered.

Its cost is bounded for every binding set, which is why the lazy DFA falls back on it where building states does not pay. A
block of keys is taken word by word, as in :mod:`compiler.kernels.walk`, and what is carried along is one list of pairs of a
position and a key. A step takes each pair by itself; there is no set to be sorted or merged. So all that a step will ask of
the memory is known one step before, and is on its way when it is asked for: 40 ns a word on `stock`, and twice that when keys
are simulated one by one (``python -m benchmarks.ablations``).

A pair must not come twice. A position is entered from its parent alone, one word after it, and a loop by an epsilon move at
the same word: if parents are there once, so are children. But a loop below another loop is entered again while it stays.
Such positions are numbered, and each key has a bit for each of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, kernel, prefetch
from compiler.kernels.advance import ascend
from compiler.kernels.reading import look_ahead, read_words, word_at
from compiler.kernels.tables import CROWDED, DONE, FIRST_IS_MANY, HAS_ONE, HAS_TAGS, LOOPS, NESTED, SYMBOL
from compiler.kernels.transitions import child_of, mix
from compiler.kernels.words import begins_with

__all__ = ["GROW_ANSWER", "simulate"]

GROW_ANSWER = 1
ZERO, ONE, TWO, HALF, BIT = (np.uint64(i) for i in (0, 1, 2, 32, 58))
LITERAL = np.uint64(SYMBOL)
STAYS, EPSILON, STAR, ENDS, AGAIN, CROWD = (
    np.uint64(flag) for flag in (LOOPS, FIRST_IS_MANY, HAS_ONE, HAS_TAGS, NESTED, CROWDED)
)
KEY, CLOSED, POSITION = np.uint64(127), np.uint64(128), np.uint64(8)
"""A pair: position << POSITION | CLOSED | key of the block. CLOSED: what epsilon moves reach from it has been entered."""
READ = np.uint64(2**64 - 1)
"""The symbol of a key that has no further word."""


@kernel
def simulate(
    program: Any,
    work: Any,
    members: Any,
    state_end: Any,
    offsets: Any,
    data: Any,
    rows: Any,
    begins: Any,
    states: Any,
    first: Any,
    last: Any,
    block: Any,
    base: Any,
    out: Any,
    set_end: Any,
    tags: Any,
    counts: Any,
) -> Any:
    """Match keys ``first`` to ``last`` of a list, and write into ``out``, at each key's row, ``base`` - its set's number.

    Key i is that of row ``rows[i]``. It is in state ``states[i]`` and goes on with the word at ``begins[i]``; state 0 is
    that of a key of which nothing has been read, and the members of others are in ``members`` and ``state_end``. ``block``
    is at most BLOCK.

    Set s is written to ``tags[set_end[s - 1]:set_end[s]]``, from set ``counts[0]`` on; ``set_end`` must have room for a set
    of each key. ``counts[2]`` is the number of the empty set, from 1, or 0 where there is none yet. Returns DONE, or, with
    the key to go on with in ``counts[3]``, GROW_ANSWER if ``tags`` has no room for ``counts[1]`` tags. It takes smaller
    blocks by itself where the pairs of one have no room.
    """
    while first < last:
        counts[3] = first
        n = np.uint64(min(block, last - first))
        used = _simulate_block(program, work, members, state_end, offsets, data, rows, begins, states, first, n)
        if used < 0:  # it has no room, which a block of one key has
            block = np.int64(max(n // TWO, ONE))
            continue
        if not _answer(program, work, rows, first, n, base, out, set_end, tags, counts):
            return GROW_ANSWER
        first += np.int64(n)
    return DONE


@inlined
def _simulate_block(
    program: Any, work: Any, members: Any, state_end: Any, offsets: Any, data: Any, rows: Any, begins: Any, states: Any,
    first: Any, n: Any,
) -> Any:  # fmt: skip
    """Leave in ``work.found`` the pairs at which keys end where patterns do; return their number, -1 if there is no room."""
    labels, nodes, edges, edge_shift = program.labels, program.nodes, program.edges, np.uint64(program.edge_shift)
    symbol_bits, key_shift = np.uint64(program.edge_symbol_bits), np.uint64(program.edge_key_shift)
    tag_offsets = program.tag_offsets
    separator, reserved, nested = program.separator, program.reserved, program.nested
    at, ends, counts = work.begins, work.ends, work.words
    froms, stops, heads = work.froms, work.stops, work.heads
    symbols, late, literal = work.symbols, work.late, work.literal
    now, then, asking, found, entered = work.pairs, work.next_pairs, work.asking_pairs, work.found, work.loops_entered
    lines = np.uint64(program.nested_count + 63) >> np.uint64(6)
    room = np.uint64(now.size) - TWO
    for i in range(lines * n):
        entered[i] = ZERO
    pairs = ZERO
    for i in range(n):
        prefetch(state_end, np.uint64(states[np.uint64(first) + i]))
    for i in range(n):
        state = np.uint64(states[np.uint64(first) + i])
        prefetch(members, np.uint64(state_end[state - np.uint64(state != ZERO)]))
    for i in range(n):
        key = np.uint64(first) + i
        row, state = np.uint64(rows[key]), np.uint64(states[key])
        ends[i] = np.uint64(offsets[row + ONE])
        at[i] = np.uint64(begins[key])
        counts[i] = ZERO
        if state == ZERO:
            root = np.uint64(begins_with(data, at[i], ends[i], reserved))
            at[i] += np.uint64(at[i] == ends[i])  # an empty key has no words, any other has one at its beginning
            now[pairs] = root << POSITION | i
            pairs += ONE
            continue
        for j in range(np.uint64(state_end[state - ONE]), np.uint64(state_end[state])):
            position = np.uint64(members[j])
            prefetch(nodes, TWO * position)
            if pairs >= room:
                return np.int64(-1)
            now[pairs] = position << POSITION | CLOSED | i
            pairs += ONE
            if nested.size > 0:
                _enter(nested, entered, lines * i, position)
    level = most = ends_found = ZERO
    while pairs > ZERO:
        if level == most:
            for i in range(n):
                if counts[i] > level:
                    at[i], _ = word_at(at, froms, stops, level, i)
            most, level = look_ahead(data, at, ends, counts, n, separator, froms, stops, heads), ZERO
            for i in range(n):  # all keys go on together, also where only a few words of one could be found
                most = min(most, counts[i]) if at[i] <= ends[i] else most
        for i in range(n):
            symbols[i] = READ
        if most > ZERO:
            read_words(program, data, at, froms, stops, heads, counts, n, level, symbols, late)
        for i in range(n):
            literal[i] = ONE << (symbols[i] >> BIT) if symbols[i] != ZERO else ZERO
            symbols[i] = symbols[i] & LITERAL if level < counts[i] else READ
        # Each pair of a position and a key.
        step = after = asked = ZERO
        while step < pairs:
            if pairs >= room or after >= room or asked >= room or ends_found >= room:
                return np.int64(-1)
            pair = now[step]
            step += ONE
            position, key = pair >> POSITION, pair & KEY
            node, literals = nodes[TWO * position], nodes[TWO * position + ONE]
            child = node >> HALF
            if node & AGAIN != ZERO and pair & CLOSED == ZERO and not _enter(nested, entered, lines * key, position):
                continue
            if node & EPSILON != ZERO:
                if pair & CLOSED == ZERO:
                    prefetch(nodes, TWO * child)
                    now[pairs] = child << POSITION | key
                    pairs += ONE
                child += ONE
            if symbols[key] == READ:
                prefetch(tag_offsets, position)
                found[ends_found] = pair
                ends_found += np.uint64(node & ENDS != ZERO)
                continue
            # What may be added is written in any case, and counted if it is right: nobody can guess.
            then[after] = pair | CLOSED
            after += node & STAYS
            prefetch(nodes, TWO * child)
            then[after] = child << POSITION | key
            after += np.uint64(node & STAR != ZERO)
            if node & CROWD != ZERO:
                prefetch(edges, mix(position, symbols[key], symbol_bits, key_shift) >> edge_shift)
            else:
                prefetch(labels, child)
            asking[asked] = pair
            asked += np.uint64(literals & literal[key] != ZERO)
        for j in range(asked):
            pair = asking[j]
            key = pair & KEY
            position, symbol = pair >> POSITION, symbols[key]
            child = child_of(labels, nodes, edges, edge_shift, symbol_bits, key_shift, position, symbol)
            prefetch(nodes, TWO * child)
            then[after] = child << POSITION | key
            after += np.uint64(child != ZERO)
            if after >= room:
                return np.int64(-1)
        now, then = then, now
        pairs = after
        level += ONE
    work.counts[0] = np.int64(ends_found)
    return np.int64(ends_found)


@inlined
def _enter(nested: Any, entered: Any, line: Any, position: Any) -> Any:
    """Note that a key enters a position, if that is numbered; tell whether it does so for the first time."""
    number = np.uint64(nested[position])
    at, bit = line + (number - ONE >> np.uint64(6)), ONE << (number - ONE & np.uint64(63))
    if number == ZERO:
        return True
    new = entered[at] & bit == ZERO
    entered[at] |= bit
    return new


@inlined
def _answer(
    program: Any, work: Any, rows: Any, first: Any, n: Any, base: Any, out: Any, set_end: Any, tags: Any, counts: Any
) -> Any:
    """Write the accept sets of a block's keys; return False where ``tags`` has no room for them."""
    tag_offsets, all_tags, found, places = program.tag_offsets, program.tags, work.found, work.places
    number = counts[0]
    start = np.int64(set_end[number - 1]) if number > 0 else np.int64(0)
    for i in range(n):
        places[i] = ZERO
    pairs = np.uint64(work.counts[0])
    for j in range(pairs):
        position = found[j] >> POSITION
        places[found[j] & KEY] += np.uint64(tag_offsets[position + ONE] - tag_offsets[position])
        prefetch(all_tags, np.uint64(tag_offsets[position]))
    total = start
    for i in range(n):
        size = np.int64(places[i])
        places[i] = np.uint64(total)
        total += size
    if total > tags.size:
        counts[1] = total
        return False
    for j in range(pairs):
        position, key = found[j] >> POSITION, found[j] & KEY
        for i in range(np.uint64(tag_offsets[position]), np.uint64(tag_offsets[position + ONE])):
            tags[places[key]] = all_tags[i]
            places[key] += ONE
    end = start
    for i in range(n):
        begin, end = end, np.int64(places[i])
        row = np.uint64(rows[np.uint64(first) + i])
        if begin == end and counts[2] != 0:
            out[row] = base - (counts[2] - 1)
            continue
        ascend(work.tags, tags, begin, end)
        set_end[number] = end
        out[row] = base - number
        number += 1
        if begin == end:
            counts[2] = number
    counts[0] = number
    return True
