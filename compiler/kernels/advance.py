"""One step of the NFA on sorted lists of positions: the kernels' twin of :mod:`compiler.automata.powerset`.

Children of ascending positions ascend (see :mod:`compiler.automata.nfa`), so what a step reaches comes as three sorted lists: the
loops that stay, the children that were entered by the word, and the MANY children of those. One merge gives the set;
nothing is sorted but accept tags.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels.tables import FINAL, FIRST_IS_MANY, HAS_ONE, HAS_TAGS, LEADS_ON, LOOPS
from compiler.kernels.transitions import child_of

__all__ = ["advance", "ascend", "begin", "close", "enter"]

END = np.int32(2**31 - 1)
ONE, TWO, HALF = np.uint64(1), np.uint64(2), np.uint64(32)
STAYS, MANY_FIRST, ONE_NEXT = np.uint64(LOOPS), np.uint64(FIRST_IS_MANY), np.uint64(HAS_ONE)
LIVE, TAGGED = np.uint64(LOOPS | LEADS_ON), np.uint64(HAS_TAGS)


@inlined
def begin(program: Any, root: Any, work: Any) -> Any:
    """Write the start set into ``work``: a root and what epsilon moves reach from it."""
    work.entered[0] = root
    work.counts[0], work.counts[1] = 0, 1
    close(program, work)


@inlined
def advance(program: Any, members: Any, first: Any, last: Any, symbol: Any, work: Any) -> Any:
    """Write the set that one word leads to from ``members[first:last]`` into ``work.members`` and ``work.tags``."""
    enter(program, members, first, last, symbol, work)
    close(program, work)


@inlined
def enter(program: Any, members: Any, first: Any, last: Any, symbol: Any, work: Any) -> Any:
    """Collect the loops that stay and the children that one word enters; return how many it enters as a literal."""
    nodes, stay, entering = program.nodes, work.loops, work.entered
    labels, edges, edge_shift = program.labels, program.edges, np.uint64(program.edge_shift)
    symbol_bits, key_shift = np.uint64(program.edge_symbol_bits), np.uint64(program.edge_key_shift)
    wanted = np.uint64(symbol != 0) << np.uint64(program.filter_bits[np.uint64(symbol)])
    loops = entered = literals = 0
    for i in range(first, last):
        position = members[np.uint64(i)]
        at = TWO * np.uint64(position)
        node = nodes[at]
        if node & STAYS:
            stay[loops] = position
            loops += 1
        if node & ONE_NEXT:
            entering[entered] = np.int32(node >> HALF) + np.int32((node & MANY_FIRST) != np.uint64(0))
            entered += 1
        if nodes[at + ONE] & wanted:
            child = child_of(
                labels, nodes, edges, edge_shift, symbol_bits, key_shift, np.uint64(position), np.uint64(symbol)
            )
            if child != np.uint64(0):
                entering[entered] = child
                entered += 1
                literals += 1
    work.counts[0] = loops
    work.counts[1] = entered
    return literals


@inlined
def close(program: Any, work: Any) -> Any:
    """Merge loops, entered positions and the MANY children of those: live positions into ``work.members``, all accept
    tags into ``work.tags``. ``counts`` says how many loops and entered positions there are, and then what was found.
    """
    nodes, tag_offsets, all_tags = program.nodes, program.tag_offsets, program.tags
    loops, entering, free, members, tags = work.loops, work.entered, work.epsilon, work.members, work.tags
    loop_count, entered = work.counts[0], work.counts[1]
    epsilon = 0
    for i in range(entered):
        node = nodes[TWO * np.uint64(entering[i])]
        if node & MANY_FIRST:
            free[epsilon] = np.int32(node >> HALF)
            epsilon += 1
    loops[loop_count] = END
    entering[entered] = END
    free[epsilon] = END
    a = b = c = n = found = own = 0
    last = np.int32(-1)
    ascending = final = True
    literals = np.uint64(0)
    while True:
        position = min(loops[a], entering[b], free[c])
        if position == END:
            break
        # A loop may stay and be entered anew; the word's children are never loops.
        a += loops[a] == position
        b += entering[b] == position
        c += free[c] == position
        at = TWO * np.uint64(position)
        node = nodes[at]
        only_loops = node & LIVE == STAYS
        if node & LIVE:
            members[n] = position
            n += 1
            literals |= nodes[at + ONE]
            final = final and only_loops
        if node & TAGGED:
            for i in range(tag_offsets[np.uint64(position)], tag_offsets[np.uint64(position) + ONE]):
                tag = all_tags[np.uint64(i)]
                ascending = ascending and tag > last
                tags[found] = last = tag
                found += 1
                own += only_loops
    if not ascending:
        sort(tags, np.int64(found))
    # All members only loop and nothing is accepted but by them: no word can change such a state.
    work.counts[0] = n
    work.counts[1] = found
    work.counts[2] = FINAL if final and own == found else 0
    work.counts[3] = np.int64(literals)


@inlined
def ascend(scratch: Any, tags: Any, begin: Any, end: Any) -> Any:
    """Sort ``tags[begin:end]``."""
    ascending = True
    for i in range(begin + 1, end):
        ascending = ascending and tags[i - 1] < tags[i]
    if not ascending:
        for i in range(end - begin):
            scratch[i] = tags[begin + i]
        sort(scratch, np.int64(end - begin))
        for i in range(end - begin):
            tags[begin + i] = scratch[i]


@kernel
def sort(values: Any, n: Any) -> Any:
    """Sort ``values[:n]`` in place: by insertion if short, else by heap."""
    if n > 48:
        for root in range(n // 2 - 1, -1, -1):
            _sift(values, np.int64(root), n)
        for last in range(n - 1, 0, -1):
            values[0], values[last] = values[last], values[0]
            _sift(values, np.int64(0), np.int64(last))
        return
    for i in range(1, n):
        value = values[i]
        j = i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@kernel
def _sift(values: Any, root: Any, n: Any) -> Any:
    value = values[root]
    while 2 * root + 1 < n:
        child = 2 * root + 1
        if child + 1 < n and values[child + 1] > values[child]:
            child += 1
        if values[child] <= value:
            break
        values[root] = values[child]
        root = child
    values[root] = value
