"""How many bindings one key can match at most: a bound that is read off the NFA, without building anything."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from compiler.automata.nfa import MANY, ONE, Nfa

__all__ = ["most_accepted"]

Counts = npt.NDArray[np.int64]


def most_accepted(nfa: Nfa) -> int:
    """Return a number that no key's accept tags exceed, in time that grows with the positions only.

    A word leads from a position to one literal child at most, and to the ``ONE`` child; below a ``MANY`` child all patterns are
    counted as if they matched at the same time, so the number may be too large.

    >>> from compiler import Wildcard, build_nfa
    >>> most_accepted(build_nfa([[b"a", b"x"], [b"a", b"y"], [Wildcard.ONE, b"x"]]))
    2
    """
    tags = np.diff(nfa.tag_offsets).astype(np.int64)
    everything, most = tags.copy(), tags.copy()
    # Positions are numbered level by level: the children of a level are the next one.
    levels = [(0, len(nfa.roots))]
    while levels[-1][0] < levels[-1][1]:
        first, last = levels[-1]
        levels.append((int(nfa.children[first]), int(nfa.children[last])))
    for (first, last), (child, end) in reversed(list(pairwise(levels))):
        if child == end:
            continue
        parents = np.arange(first, last)[np.diff(nfa.children[first : last + 1]) > 0]
        starts = nfa.children[parents] - child
        labels = nfa.labels[child:end]
        everything[parents] += np.add.reduceat(everything[child:end], starts)
        wild = np.where(labels == MANY, everything[child:end], np.where(labels == ONE, most[child:end], 0))
        literal = np.where(labels > 0, most[child:end], 0)
        most[parents] += np.add.reduceat(wild, starts) + np.maximum.reduceat(literal, starts)
    return int(most[: len(nfa.roots)].max())
