"""Patterns without wildcards, which match one key each, and what is left of an automaton without them.

Such a pattern needs no automaton: its key can be looked up whole. Of the trie only the paths stay that lead to the end of another
pattern, with their numbering as all else relies on it (:mod:`compiler.automata.nfa`): a position is kept with all above it, so
what is kept is ordered as before. Brokers that keep filters without wildcards out of their tries do the same
(EMQX's routes, in a table of their own).
"""

from __future__ import annotations

import numpy as np

from compiler.automata.nfa import Nfa, Symbols
from compiler.automata.paths import levels_of, parents_of
from compiler.values import Int32s

__all__ = ["exact_ends", "key_sizes", "without"]


def exact_ends(nfa: Nfa, separator: bytes) -> Int32s:
    """Return the positions where patterns without wildcards end, ascending, but for those that no joined key tells from others.

    These are the patterns of no bytes, as "" may have no word or an empty one, and those with the separator in a word.

    >>> from compiler import Wildcard, build_nfa
    >>> nfa = build_nfa([[b"a", b"b"], [b"a", Wildcard.MANY], [b"a"]])
    >>> [nfa.tags_of(end) for end in exact_ends(nfa, b".")]
    [(2,), (0,)]
    """
    unsafe = np.zeros(len(nfa.symbols) + 1, np.bool_)
    unsafe[0] = True
    within = np.flatnonzero(nfa.symbols.data == separator[0])
    unsafe[np.searchsorted(nfa.symbols.offsets, within, side="right")] = True
    plain = (nfa.labels > 0) & ~unsafe[np.maximum(nfa.labels, 0)]
    roots = len(nfa.roots)
    plain[:roots] = True
    parents = parents_of(nfa)
    for first, last in levels_of(nfa):
        plain[first:last] &= plain[parents[first:last]]
    plain[:roots] = False
    below = slice(roots, int(nfa.children[roots]))
    empty = np.append(False, np.diff(nfa.symbols.offsets) == 0)
    plain[below] &= ~empty[np.maximum(nfa.labels[below], 0)]
    ends: Int32s = np.flatnonzero(plain & (np.diff(nfa.tag_offsets) > 0)).astype(np.int32)
    return ends


def key_sizes(nfa: Nfa) -> Int32s:
    """Return, for each position that words alone lead to, the bytes of these words and of the separators between them."""
    words = np.zeros(len(nfa.symbols) + 1, np.int32)
    words[1:] = np.diff(nfa.symbols.offsets)
    sizes = words[np.maximum(nfa.labels, 0)]
    parents, roots = parents_of(nfa), len(nfa.roots)
    for first, last in levels_of(nfa):
        above = parents[first:last]
        sizes[first:last] += sizes[above] + (above >= roots)
    return sizes


def without(nfa: Nfa, ends: Int32s) -> tuple[Nfa, Int32s]:
    """Return the automaton without the patterns that end at these positions, and the positions of the old one that it has.

    The accept tags are the old ones, so they are not numbered from 0 on without gaps.

    >>> from compiler import Wildcard, build_nfa
    >>> rest, kept = without(build_nfa([[b"a", b"b"], [b"a", Wildcard.MANY], [b"a"]]), np.array([1, 3]))
    >>> print(rest)
    Nfa: 3 positions, 1 literal words, 1 bindings
    >0 a->1
     1 ε->2
     2 loops  tags 1
    >>> kept.tolist()
    [0, 1, 2]
    """
    left = np.diff(nfa.tag_offsets)
    left[ends] = 0
    keep = left > 0
    keep[: len(nfa.roots)] = True
    parents = parents_of(nfa)
    for first, last in reversed(levels_of(nfa)):
        keep[parents[first:last][keep[first:last]]] = True
    kept = np.flatnonzero(keep)
    numbers = np.concatenate(([0], np.cumsum(keep))).astype(np.int32)
    labels = nfa.labels[kept]
    words = np.zeros(len(nfa.symbols) + 1, np.bool_)
    words[labels[labels > 0]] = True
    sizes = np.diff(nfa.symbols.offsets)
    tag_offsets = np.concatenate(([0], np.cumsum(left[kept]))).astype(np.int32)
    rest = Nfa(
        symbols=Symbols(
            data=nfa.symbols.data[np.repeat(words[1:], sizes)],
            offsets=np.concatenate(([0], np.cumsum(sizes[words[1:]]))).astype(np.int32),
        ),
        labels=np.where(labels > 0, np.cumsum(words)[np.maximum(labels, 0)], labels).astype(np.int32),
        children=np.append(numbers[nfa.children[kept]], numbers[-1]),
        tag_offsets=tag_offsets,
        tags=nfa.tags[np.repeat(left > 0, np.diff(nfa.tag_offsets))],
        reserved=nfa.reserved,
    )
    return rest, kept.astype(np.int32)
