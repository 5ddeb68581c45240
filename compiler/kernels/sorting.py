"""Sorting of a few numbers or of many, in place and without memory: by insertion if they are few, else as a heap (Williams 1964)."""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import kernel
from compiler.kernels.tables import Int32s, Signed

__all__ = ["sort"]

SHORT = 48
"""The most numbers that are sorted by insertion."""


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
