"""The way back from a position of the NFA to its root, which the arrays of children do not give."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from compiler.automata.nfa import Nfa

__all__ = ["parents_of", "path_to"]


def parents_of(nfa: Nfa) -> npt.NDArray[np.int32]:
    """Return the parent of every position, shape (positions,); a root is its own parent."""
    roots = len(nfa.roots)
    parents = np.arange(len(nfa), dtype=np.int32)
    parents[roots:] = np.repeat(np.arange(len(nfa), dtype=np.int32), np.diff(nfa.children))
    return parents


def path_to(parents: npt.NDArray[np.int32], position: int) -> list[int]:
    """Return the positions from a root to a position, both included.

    >>> from compiler import Wildcard, build_nfa
    >>> nfa = build_nfa([[b"a", b"b"], [b"a", Wildcard.MANY]])
    >>> [nfa.word(nfa.label(position)) for position in path_to(parents_of(nfa), 3)[1:]]
    ['a', 'b']
    """
    path = [position]
    while (parent := int(parents[path[-1]])) != path[-1]:
        path.append(parent)
    return path[::-1]
