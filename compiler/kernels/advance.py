"""One step of the NFA on sorted lists of positions: the kernels' twin of :mod:`compiler.powerset`.

Children of ascending positions ascend (see :mod:`compiler.nfa`), so what a step reaches comes as three sorted lists: the
loops that stay, the children that were entered by the word, and the MANY children of those. One merge gives the set;
nothing is sorted but accept tags.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.nfa import MANY, ONE

__all__ = ["advance", "begin", "close", "enter"]

END = np.int32(2**31 - 1)


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
    labels, children = program.labels, program.children
    loops = entered = literals = 0
    for i in range(first, last):
        position = members[i]
        if labels[position] == MANY:
            work.loops[loops] = position
            loops += 1
        low, high = children[position], children[position + 1]
        if low < high and labels[low] == MANY:
            low += 1
        if low < high and labels[low] == ONE:
            work.entered[entered] = low
            entered += 1
            low += 1
        if symbol != 0:
            child = _child(labels, low, high, symbol)
            if child >= 0:
                work.entered[entered] = child
                entered += 1
                literals += 1
    work.counts[0] = loops
    work.counts[1] = entered
    return literals


@inlined
def _child(labels: Any, low: Any, high: Any, symbol: Any) -> Any:
    """Return the child between ``low`` and ``high`` that the symbol enters, -1 if there is none."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if labels[middle] < symbol:
            low = middle + 1
        else:
            high = middle
    return low if low < end and labels[low] == symbol else np.int32(-1)


@inlined
def close(program: Any, work: Any) -> Any:
    """Merge loops, entered positions and the MANY children of those: live positions into ``work.members``, all accept
    tags into ``work.tags``. ``counts`` says how many loops and entered positions there are, and then how many of these.
    """
    labels, children, live = program.labels, program.children, program.live
    loops, entered = work.counts[0], work.counts[1]
    epsilon = 0
    for i in range(entered):
        child = children[work.entered[i]]
        if child < children[work.entered[i] + 1] and labels[child] == MANY:
            work.epsilon[epsilon] = child
            epsilon += 1
    work.loops[loops] = END
    work.entered[entered] = END
    work.epsilon[epsilon] = END
    a = b = c = members = tags = 0
    while True:
        position = min(work.loops[a], work.entered[b], work.epsilon[c])
        if position == END:
            break
        # A loop may stay and be entered anew; the word's children are never loops.
        a += work.loops[a] == position
        b += work.entered[b] == position
        c += work.epsilon[c] == position
        if live[position]:
            work.members[members] = position
            members += 1
        for i in range(program.tag_offsets[position], program.tag_offsets[position + 1]):
            work.tags[tags] = program.tags[i]
            tags += 1
    sort(work.tags, np.int64(tags))
    work.counts[0] = members
    work.counts[1] = tags


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
