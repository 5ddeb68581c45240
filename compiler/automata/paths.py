"""The levels of the NFA's trie, and the way back from a position to its root, which the arrays of children do not give."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from compiler.automata.nfa import Nfa

__all__ = ["levels_of", "parents_of", "path_to"]


def parents_of(nfa: Nfa) -> npt.NDArray[np.int32]:
    """Return the parent of every position, shape (positions,); a root is its own parent."""
    roots = len(nfa.roots)
    parents = np.arange(len(nfa), dtype=np.int32)
    parents[roots:] = np.repeat(np.arange(len(nfa), dtype=np.int32), np.diff(nfa.children))
    return parents


def levels_of(nfa: Nfa) -> list[tuple[int, int]]:
    """Return where the levels of the trie begin and end, from the children of the roots down.

    >>> from compiler import Wildcard, build_nfa
    >>> levels_of(build_nfa([[b"a", b"b"], [b"a", Wildcard.MANY]]))
    [(1, 2), (2, 4)]
    """
    levels = []
    first, last = len(nfa.roots), int(nfa.children[len(nfa.roots)])
    while first < last:
        levels.append((first, last))
        first, last = last, int(nfa.children[last])
    return levels


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
