"""The NFA simulated directly: the active positions of each key are carried from word to word, and nothing is kept.

Its cost is bounded for every binding set, so the lazy DFA falls back on it where building states does not pay. A block of keys
is taken word by word, as in :mod:`compiler.kernels.walk`. What is carried is one list of pairs of a position and a key, for all
keys of the block. A step takes each pair by itself: no set is sorted or merged, and what the step will read of memory is known
one step before and prefetched. A word takes 40 ns on `stock`, and twice that when keys are simulated one by one
(``python -m benchmarks ablations``).

A pair must not be in the list twice. A position is entered from its parent alone: by a word, or, if it is a MANY, by an epsilon
move. So if parents are there once, children are. The exception is a MANY below another MANY: the upper one stays active and
leads to the lower one again, which is still active too. Such positions are numbered (``Program.nested``), and each key has a
bit for each, which tells whether it has entered it.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel, prefetch
from compiler.kernels.advance import ascend
from compiler.kernels.filters import marks
from compiler.kernels.interning import add_found_set
from compiler.kernels.reading import look_ahead, read_words, word_at
from compiler.kernels.tables import (
    BLOCK,
    CROWDED,
    DONE,
    FIRST_IS_MANY,
    HAS_ONE,
    HAS_TAGS,
    LOOPS,
    NESTED,
    Int32s,
    Keys,
    Program,
    Signed,
    Uint64s,
    Unsigned,
)
from compiler.kernels.transitions import child_of, mix
from compiler.kernels.unsigned import NONE, ONE, TWO, UPPER_HALF, ZERO
from compiler.kernels.words import begins_with
from compiler.kernels.work import NEXT_KEY, SETS_FOUND, SETS_SHARED, TAGS_WANTED, Begun, FoundSets, Work

__all__ = ["GROW_ANSWER", "simulate"]

GROW_ANSWER = 1
"""The answer's tags or its hash table have no room: they must grow."""
HALVE = 2
"""The block has found so much at once that it is taken again in halves."""
MOST_TAGS = 1 << 20
"""The tags of a block of keys, 4 MB, as they lie side by side before equal sets are made one."""
STAYS, EPSILON, STAR, ENDS, AGAIN, CROWD = (
    np.uint64(flag) for flag in (LOOPS, FIRST_IS_MANY, HAS_ONE, HAS_TAGS, NESTED, CROWDED)
)
KEY, CLOSED, POSITION_SHIFT = np.uint64(127), np.uint64(128), np.uint64(8)
"""A pair is position << POSITION_SHIFT | CLOSED | key of the block. CLOSED is set if the epsilon closure of the position is in the
list, too."""
READ = NONE
"""The symbol of a key that has no further word."""


@kernel
def simulate(
    program: Program,
    work: Work,
    members: Int32s,
    state_end: Int32s,
    keys: Keys,
    begun: Begun,
    first: Signed,
    last: Signed,
    block_size: Signed,
    base: Signed,
    out: Int32s,
    sets: FoundSets,
) -> Signed:
    """Match the keys ``first`` to ``last`` of ``begun``, and write ``base`` minus the number of a key's set at its row of ``out``.

    The positions of state s are ``members[state_end[s - 1]:state_end[s]]``, as in a cache. ``block_size`` is how many keys are
    simulated together, at most BLOCK; where a block's pairs have no room, smaller blocks are taken.

    Sets are added to ``sets`` from number ``counts[SETS_FOUND]`` on. Returns DONE, or GROW_ANSWER if ``sets.tags`` or
    ``sets.slots`` is too short: ``counts[TAGS_WANTED]`` is the length that the first one needs, and ``counts[NEXT_KEY]`` the
    key of ``begun`` to go on with.
    """
    while first < last:
        sets.counts[NEXT_KEY] = first
        if 2 * (sets.counts[SETS_SHARED] + BLOCK) > sets.slots.size:
            return GROW_ANSWER
        n = np.uint64(min(block_size, last - first))
        found = _simulate_block(program, work, members, state_end, keys, begun, first, n)
        if found < 0:  # the pairs have no room; those of a block of one key always have
            block_size = np.int64(max(n // TWO, ONE))
            continue
        status = _answer(program, work, begun.rows, first, n, np.uint64(found), base, out, sets)
        if status == GROW_ANSWER:
            return GROW_ANSWER
        if status == HALVE:
            block_size = np.int64(n // TWO)
            continue
        first += np.int64(n)
    return DONE


@inlined
def _simulate_block(
    program: Program,
    work: Work,
    members: Int32s,
    state_end: Int32s,
    keys: Keys,
    begun: Begun,
    first: Signed,
    n: Unsigned,
) -> Signed:
    """Leave in ``work.found_pairs`` the pairs at which keys and patterns end; return how many, or -1 if there is no room."""
    labels, nodes, edges, edge_shift = program.labels, program.nodes, program.edges, np.uint64(program.edge_shift)
    symbol_bits, key_shift = np.uint64(program.edge_symbol_bits), np.uint64(program.edge_key_shift)
    tag_offsets, nested = program.tag_offsets, program.nested
    data, at, ends, counts, symbols = keys.data, work.begins, work.ends, work.words, work.symbols
    now, then, asking, found = work.pairs, work.next_pairs, work.asking_pairs, work.found_pairs
    literals, entered = work.literals, work.nested_entered
    lines = np.uint64(program.nested_count + 63) >> np.uint64(6)
    room = np.uint64(now.size) - TWO

    # 1. Enter: the list begins with a root for each key that begins, and with the members of the others' states.
    for i in range(lines * n):
        entered[i] = ZERO
    pairs = ZERO
    for i in range(n):
        prefetch(state_end, np.uint64(begun.states[np.uint64(first) + i]))
    for i in range(n):
        state = np.uint64(begun.states[np.uint64(first) + i])
        prefetch(members, np.uint64(state_end[state - np.uint64(state != ZERO)]))
    for i in range(n):
        key = np.uint64(first) + i
        row, state = np.uint64(begun.rows[key]), np.uint64(begun.states[key])
        ends[i] = np.uint64(keys.offsets[row + ONE])
        at[i] = np.uint64(begun.begins[key])
        counts[i] = ZERO
        if state == ZERO:
            root = np.uint64(begins_with(data, at[i], ends[i], program.reserved))
            at[i] += np.uint64(at[i] == ends[i])  # an empty key has no words
            now[pairs] = root << POSITION_SHIFT | i
            pairs += ONE
            continue
        for j in range(np.uint64(state_end[state - ONE]), np.uint64(state_end[state])):
            position = np.uint64(members[j])
            prefetch(nodes, TWO * position)
            if pairs >= room:
                return np.int64(-1)
            now[pairs] = position << POSITION_SHIFT | CLOSED | i
            pairs += ONE
            if nested.size > 0:
                _enter(nested, entered, lines * i, position)

    level = most = found_count = ZERO
    while pairs > ZERO:
        # 2. Look ahead. All keys go on together, so a key of which not all words are found limits how many words are read
        # until the next look; words of other keys that are not read by then are found again.
        if level == most:
            for i in range(n):
                if counts[i] > level:
                    at[i], _ = word_at(work, level, i)
            most, level = look_ahead(data, work, n, program.separator), ZERO
            for i in range(n):
                most = min(most, counts[i]) if at[i] <= ends[i] else most

        # 3. Read the next word of each key.
        for i in range(n):
            symbols[i] = READ
        if most > ZERO:
            read_words(program, data, work, n, level)
        for i in range(n):
            symbols[i] = symbols[i] if level < counts[i] else READ
            literals[i] = marks(symbols[i]) if symbols[i] != READ else NONE

        # 4. Step each pair. The list grows while it is stepped: it gets the epsilon closure of what the last word entered.
        step = after = asked = ZERO
        while step < pairs:
            if pairs >= room or after >= room or asked >= room or found_count >= room:
                return np.int64(-1)
            pair = now[step]
            step += ONE
            position, key = pair >> POSITION_SHIFT, pair & KEY
            node, literal_filter = nodes[TWO * position], nodes[TWO * position + ONE]
            child = node >> UPPER_HALF
            if node & AGAIN != ZERO and pair & CLOSED == ZERO and not _enter(nested, entered, lines * key, position):
                continue
            if node & EPSILON != ZERO:
                if pair & CLOSED == ZERO:
                    prefetch(nodes, TWO * child)
                    now[pairs] = child << POSITION_SHIFT | key
                    pairs += ONE
                child += ONE
            if symbols[key] == READ:
                prefetch(tag_offsets, position)
                found[found_count] = pair
                found_count += np.uint64(node & ENDS != ZERO)
                continue
            # A pair is written in any case, and counted only if it is right: the processor could not predict a branch.
            then[after] = pair | CLOSED
            after += node & STAYS
            prefetch(nodes, TWO * child)
            then[after] = child << POSITION_SHIFT | key
            after += np.uint64(node & STAR != ZERO)
            if node & CROWD != ZERO:
                prefetch(edges, mix(position, symbols[key], symbol_bits, key_shift) >> edge_shift)
            else:
                prefetch(labels, child)
            asking[asked] = pair
            asked += np.uint64(literal_filter & literals[key] == literals[key])

        # 5. Look for the children that literals lead to; what this reads is prefetched by now.
        for j in range(asked):
            pair = asking[j]
            key = pair & KEY
            child = child_of(program, pair >> POSITION_SHIFT, symbols[key])
            prefetch(nodes, TWO * child)
            then[after] = child << POSITION_SHIFT | key
            after += np.uint64(child != ZERO)
            if after >= room:
                return np.int64(-1)
        now, then = then, now
        pairs = after
        level += ONE
    return np.int64(found_count)


@inlined
def _enter(nested: Int32s, entered: Uint64s, line: Unsigned, position: Unsigned) -> bool:
    """Note that a key, whose bits begin at ``entered[line]``, enters a position, if that is numbered.

    Returns True if the key enters it for the first time, or if the position is not numbered.
    """
    number = np.uint64(nested[position])
    at, bit = line + (number - ONE >> np.uint64(6)), ONE << (number - ONE & np.uint64(63))
    if number == ZERO:
        return True
    new = bool(entered[at] & bit == ZERO)
    entered[at] |= bit
    return new


@inlined
def _answer(
    program: Program,
    work: Work,
    rows: Uint64s,
    first: Signed,
    n: Unsigned,
    pairs: Unsigned,
    base: Signed,
    out: Int32s,
    sets: FoundSets,
) -> Signed:
    """Add the accept sets of a block's keys to ``sets``; return DONE, or GROW_ANSWER or HALVE, and then none has been added.

    The ``pairs`` in ``work.found_pairs`` are in no order of keys. So a first pass counts the tags of each key, which tells where
    each key's tags begin, and a second pass puts them there. Then the sets move together over those that are there already.
    """
    tag_offsets, all_tags = program.tag_offsets, program.tags
    found, places = work.found_pairs, work.places
    set_end, tags, counts = sets.ends, sets.tags, sets.counts
    start = np.int64(set_end[counts[SETS_FOUND] - 1]) if counts[SETS_FOUND] > 0 else np.int64(0)
    for i in range(n):
        places[i] = ZERO
    for j in range(pairs):
        position = found[j] >> POSITION_SHIFT
        places[found[j] & KEY] += np.uint64(tag_offsets[position + ONE] - tag_offsets[position])
        prefetch(all_tags, np.uint64(tag_offsets[position]))
    total = start
    for i in range(n):
        size = np.int64(places[i])
        places[i] = np.uint64(total)
        total += size
    if total - start > MOST_TAGS and n > ONE:
        return HALVE
    if total > tags.size:
        counts[TAGS_WANTED] = total
        return GROW_ANSWER
    for j in range(pairs):
        position, key = found[j] >> POSITION_SHIFT, found[j] & KEY
        for i in range(np.uint64(tag_offsets[position]), np.uint64(tag_offsets[position + ONE])):
            tags[places[key]] = all_tags[i]
            places[key] += ONE
    end = start
    for i in range(n):
        begin, end = end, np.int64(places[i])
        at = np.int64(set_end[counts[SETS_FOUND] - 1]) if counts[SETS_FOUND] > 0 else np.int64(0)
        if at != begin:
            for j in range(end - begin):
                tags[at + j] = tags[begin + j]
        last = at + end - begin
        ascend(work, tags, at, last)
        out[np.uint64(rows[np.uint64(first) + i])] = base - add_found_set(sets, last)
    return DONE
