"""Which bindings' positions were in the most different sets of positions, of an automaton's states.

What a state holds of a binding is a set of positions on one way through the trie, no two of which are equally deep: some bits, by
depth. So all states are looked at by columns. Sets of Python's for each state and binding took most of the time of
:func:`~dfa_router.analysis.costs.growth`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from compiler.automata.paths import parents_of, path_to
from compiler.automata.positions import States
from dfa_router.analysis.questions import Question

__all__ = ["most_parts"]

_AT_ONCE = 1 << 18
"""Positions of states that are looked at together: these take some 100 bytes each and owner."""
_BITS = 64


def most_parts(question: Question, met: Sequence[States], most: int) -> tuple[tuple[int, int], ...]:
    """Return the bindings of which most different parts are in these states, and how many; no more than ``most`` of them.

    Of bindings that share a beginning, the first few stand for all.
    """
    parents = parents_of(question.machine.nfa)
    owners: defaultdict[int, list[int]] = defaultdict(list)
    depths = np.zeros(len(parents), np.int64)
    for number in range(len(question.patterns)):
        for depth, position in enumerate(path_to(parents, question.machine.end_of(number))):
            depths[position] = depth
            if len(owners[position]) < most:
                owners[position].append(number)
    counts = np.array([len(owners[position]) for position in range(len(parents))], np.int64)
    listed = np.array([owner for position in range(len(parents)) for owner in owners[position]], np.int64)
    begins = np.cumsum(counts) - counts
    ends = np.cumsum([len(states) for states in met], dtype=np.int64)
    positions = np.fromiter(chain.from_iterable(met), np.int32, ends[-1] if len(met) else 0)
    appeared: dict[int, None] = {}
    """The owners by when they appear first, which decides between those of as many parts."""
    found: list[list[npt.NDArray[np.uint64]]] = []
    first = 0
    while first < len(met):
        done = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + _AT_ONCE, side="right")))
        some = positions[done : ends[last - 1]]
        state = np.repeat(np.arange(last - first), np.diff(ends[first:last], prepend=done))
        pairs = np.repeat(np.arange(len(some)), counts[some])
        within = np.arange(len(pairs)) - np.repeat(np.cumsum(counts[some]) - counts[some], counts[some])
        owner = listed[begins[some][pairs] + within]
        numbers, at = np.unique(owner, return_index=True)
        appeared.update(dict.fromkeys(numbers[np.argsort(at)].tolist()))
        found.append(_parts(owner, state[pairs], depths[some][pairs], int(depths.max()) // _BITS + 1))
        first = last
    if not found:
        return ()
    distinct = _distinct([np.concatenate(columns) for columns in zip(*found, strict=True)])
    parts = np.bincount(distinct[0].astype(np.int64))
    return tuple(Counter({owner: int(parts[owner]) for owner in appeared}).most_common(most))


def _parts(
    owner: npt.NDArray[np.int64], state: npt.NDArray[np.int64], depth: npt.NDArray[np.int64], words: int
) -> list[npt.NDArray[np.uint64]]:
    """Return the distinct parts: the owner of each, and its bits in so many words."""
    if not len(owner):
        return [np.zeros(0, np.uint64)] * (words + 1)
    order = np.argsort(owner * (state[-1] + 1) + state, kind="stable")
    owner, state, depth = owner[order], state[order], depth[order]
    starts = np.flatnonzero(np.r_[True, (np.diff(owner) != 0) | (np.diff(state) != 0)])
    bit = np.uint64(1) << (depth % _BITS).astype(np.uint64)
    masks = [
        np.bitwise_or.reduceat(np.where(depth // _BITS == word, bit, np.uint64(0)), starts) for word in range(words)
    ]
    return _distinct([owner[starts].astype(np.uint64), *masks])


def _distinct(columns: Sequence[npt.NDArray[np.uint64]]) -> list[npt.NDArray[np.uint64]]:
    """Return columns without rows that stand there before."""
    order = np.lexsort(columns)
    ordered = [column[order] for column in columns]
    kept = np.ones(len(order), np.bool_)
    kept[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in ordered])
    return [column[kept] for column in ordered]
