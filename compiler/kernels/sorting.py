"""Sorting of a few numbers or of many: by insertion if they are few, else as a heap (Williams 1964), which needs no memory, or by merging.

Accept tags are runs, one for each position that has any, and each run ascends. To merge neighbours until one run is left (a natural merge sort,
Knuth 1973) takes 3 ns for each of 200 tags in two runs, 6 in four and 26 in 200, where a heap takes 29 to 42.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels.tables import Int32s, Signed, Unsigned
from compiler.kernels.unsigned import ONE, ZERO

__all__ = ["merge_runs", "sort"]

SHORT, SHORT_RUNS = 48, 24
"""The most numbers that are sorted by insertion, and the most where the alternative is to merge runs."""


@kernel
def sort(values: Int32s, n: Signed) -> None:
    """Sort ``values[:n]`` in place: by insertion if it is short, else as a heap."""
    if n > SHORT:
        for root in range(n // 2 - 1, -1, -1):
            _sift(values, np.int64(root), n)
        for last in range(n - 1, 0, -1):
            values[0], values[last] = values[last], values[0]
            _sift(values, np.int64(0), np.int64(last))
        return
    _insert(values, n)


@kernel
def merge_runs(values: Int32s, n: Signed, spare: Int32s) -> None:
    """Sort ``values[:n]``, which have few runs, with as much ``spare`` room."""
    if n <= SHORT_RUNS:
        _insert(values, n)
        return
    last = np.uint64(n)
    source, target = values, spare
    aside = False
    runs: Unsigned = last
    while runs > ONE:
        runs = begin = ZERO
        while begin < last:
            middle = _end_of_run(source, begin, last)
            end = _end_of_run(source, middle, last)
            _merge(source, target, begin, middle, end)
            begin = end
            runs += ONE
        source, target = target, source
        aside = not aside
    if aside:
        for i in range(ZERO, last):
            values[i] = spare[i]


@inlined
def _end_of_run(values: Int32s, begin: Unsigned, last: Unsigned) -> Unsigned:
    """Return where the run that begins at ``begin`` ends: at ``last``, if not before."""
    end = begin + ONE
    while end < last and values[end - ONE] <= values[end]:
        end += ONE
    return min(end, last)


@inlined
def _merge(source: Int32s, target: Int32s, begin: Unsigned, middle: Unsigned, end: Unsigned) -> None:
    """Merge ``source[begin:middle]`` and ``source[middle:end]`` into ``target[begin:end]``; the second may be empty."""
    i, j, at = begin, middle, begin
    while i < middle and j < end:
        # Without a branch, as nobody can guess.
        low, high = source[i], source[j]
        first = np.uint64(low <= high)
        target[at] = low if first else high
        i += first
        j += ONE - first
        at += ONE
    while i < middle:
        target[at] = source[i]
        i += ONE
        at += ONE
    while j < end:
        target[at] = source[j]
        j += ONE
        at += ONE


@inlined
def _insert(values: Int32s, n: Signed) -> None:
    """Sort ``values[:n]`` by insertion."""
    for i in range(1, n):
        value = values[i]
        j = i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@kernel
def _sift(values: Int32s, root: Signed, n: Signed) -> None:
    """Let the value at ``root`` sink in the heap ``values[:n]`` until none below it is larger."""
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
