"""One step of subset construction on sorted lists of positions: the kernels' twin of :mod:`compiler.automata.powerset`.

The children of ascending positions ascend (see :mod:`compiler.automata.nfa`). So a step finds what it reaches as three sorted
lists: the loops that stay active, the children that the word enters, and the MANY children of those, which epsilon moves
enter. One merge makes a sorted set of them; only accept tags may have to be sorted.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined
from compiler.kernels.filters import marks
from compiler.kernels.sorting import merge_runs
from compiler.kernels.tables import FINAL, FIRST_IS_MANY, HAS_ONE, HAS_TAGS, LEADS_ON, LOOPS, Int32s, Program, Signed
from compiler.kernels.transitions import child_of
from compiler.kernels.unsigned import ONE, TWO, UPPER_HALF, ZERO
from compiler.kernels.work import (
    ENTERED_COUNT,
    FINAL_FLAG,
    LITERAL_FILTER,
    LOOP_COUNT,
    MEMBER_COUNT,
    TAG_COUNT,
    Work,
)

__all__ = ["advance", "ascend", "begin", "close", "enter"]

END = np.int32(2**31 - 1)
"""Ends each of the three lists: above all positions."""
STAYS, MANY_FIRST, ONE_NEXT = np.uint64(LOOPS), np.uint64(FIRST_IS_MANY), np.uint64(HAS_ONE)
LIVE, TAGGED = np.uint64(LOOPS | LEADS_ON), np.uint64(HAS_TAGS)


@inlined
def begin(program: Program, root: Signed, work: Work) -> None:
    """Write into ``work`` a start set: a root and the epsilon closure of it."""
    work.entered[0] = root
    work.counts[LOOP_COUNT], work.counts[ENTERED_COUNT] = 0, 1
    close(program, work)


@inlined
def advance(program: Program, members: Int32s, first: Signed, last: Signed, symbol: Signed, work: Work) -> None:
    """Write into ``work`` the set that one word leads to from the positions ``members[first:last]``."""
    enter(program, members, first, last, symbol, work)
    close(program, work)


@inlined
def enter(program: Program, members: Int32s, first: Signed, last: Signed, symbol: Signed, work: Work) -> Signed:
    """Collect the loops that stay active and the children that one word enters.

    Returns how many children it enters because it is their literal. If that is 0, the word leads where words do that are no
    literals of the state: to the default successor.
    """
    nodes, loops, entered = program.nodes, work.loops, work.entered
    wanted = marks(np.uint64(symbol))
    loop_count = entered_count = literals = 0
    for i in range(first, last):
        position = members[np.uint64(i)]
        at = TWO * np.uint64(position)
        node = nodes[at]
        if node & STAYS:
            loops[loop_count] = position
            loop_count += 1
        if node & ONE_NEXT:
            entered[entered_count] = np.int32(node >> UPPER_HALF) + np.int32((node & MANY_FIRST) != ZERO)
            entered_count += 1
        if nodes[at + ONE] & wanted == wanted:
            child = child_of(program, np.uint64(position), np.uint64(symbol))
            if child != ZERO:
                entered[entered_count] = child
                entered_count += 1
                literals += 1
    work.counts[LOOP_COUNT] = loop_count
    work.counts[ENTERED_COUNT] = entered_count
    return literals


@inlined
def close(program: Program, work: Work) -> None:
    """Complete the set: add the epsilon closure of what was entered, and merge the three lists.

    ``work.members`` gets the positions from which a word leads on, ``work.tags`` the accept tags of all positions.
    """
    nodes, tag_offsets, all_tags = program.nodes, program.tag_offsets, program.tags
    loops, entered, epsilon, members, tags = work.loops, work.entered, work.epsilon, work.members, work.tags
    loop_count, entered_count = work.counts[LOOP_COUNT], work.counts[ENTERED_COUNT]
    epsilon_count = 0
    for i in range(entered_count):
        node = nodes[TWO * np.uint64(entered[i])]
        if node & MANY_FIRST:
            epsilon[epsilon_count] = np.int32(node >> UPPER_HALF)
            epsilon_count += 1
    loops[loop_count] = END
    entered[entered_count] = END
    epsilon[epsilon_count] = END
    a = b = c = member_count = tag_count = loop_tags = 0
    last = np.int32(-1)
    ascending = only_looping = True
    literals = ZERO
    while True:
        position = min(loops[a], entered[b], epsilon[c])
        if position == END:
            break
        # A loop that stays may be entered anew, so two lists may have it.
        a += loops[a] == position
        b += entered[b] == position
        c += epsilon[c] == position
        at = TWO * np.uint64(position)
        node = nodes[at]
        only_loops = node & LIVE == STAYS
        if node & LIVE:
            members[member_count] = position
            member_count += 1
            literals |= nodes[at + ONE]
            only_looping = only_looping and only_loops
        if node & TAGGED:
            for i in range(tag_offsets[np.uint64(position)], tag_offsets[np.uint64(position) + ONE]):
                tag = all_tags[np.uint64(i)]
                ascending = ascending and tag > last
                tags[tag_count] = last = tag
                tag_count += 1
                loop_tags += only_loops
    if not ascending:
        merge_runs(tags, np.int64(tag_count), work.spare_tags)
    work.counts[MEMBER_COUNT] = member_count
    work.counts[TAG_COUNT] = tag_count
    # No word can change a state in which all members only loop, and all accept tags are theirs.
    work.counts[FINAL_FLAG] = FINAL if only_looping and loop_tags == tag_count else 0
    work.counts[LITERAL_FILTER] = np.int64(literals)


@inlined
def ascend(work: Work, tags: Int32s, begin: Signed, end: Signed) -> None:
    """Sort ``tags[begin:end]``, with ``work.tags`` and ``work.spare_tags`` as scratch space."""
    ascending = True
    for i in range(begin + 1, end):
        ascending = ascending and tags[i - 1] < tags[i]
    if not ascending:
        scratch = work.tags
        for i in range(end - begin):
            scratch[i] = tags[begin + i]
        merge_runs(scratch, np.int64(end - begin), work.spare_tags)
        for i in range(end - begin):
            tags[begin + i] = scratch[i]
