"""The search that a DFA makes unnecessary: a trie of words descended with backtracking, every step counted.

RabbitMQ's articles of 2011 describe this search, and its brokers used it for twelve years after. At each node it tries
the literal child, then the ``*`` child, then the ``#`` child with every tail of the key. A node below a ``#`` is
entered once for each way to reach it, so the count grows as a power of the key's length, whose exponent is the number
of ``#``. The positions of the NFA are the nodes of the trie. The page's script has the same search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compiler.automata.nfa import MANY, ONE, OTHER, Nfa

__all__ = ["LIMIT", "TrieWalk", "trie_walk"]

LIMIT = 100_000
"""Visits after which the walk stops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrieWalk:
    """What a walk found, and what it took."""

    visits: int
    """Nodes entered, the root included."""
    backtracks: int
    """How often the walk reached the end of a branch and went back to try another."""
    reads: tuple[int, ...]
    """For each word of the key how often it was looked up; a DFA reads it once."""
    tags: tuple[int, ...]
    """The accept tags found, ascending."""
    complete: bool
    """False if the walk was stopped at :data:`LIMIT`."""


def trie_walk(nfa: Nfa, words: Sequence[bytes], limit: int = LIMIT) -> TrieWalk:
    """Search the trie for the bindings that match a key, and stop after ``limit`` visits.

    >>> from viz.patterns import nfa_of
    >>> walk = trie_walk(nfa_of(["a.b.c", "a.*.b.c", "a.#.c", "b.b.c"]), [b"a", b"d", b"d", b"d", b"c"])
    >>> walk.visits, walk.backtracks, walk.reads, walk.tags
    (9, 5, (1, 2, 2, 1, 1), (2,))
    """
    visits = leaves = 0
    reads = [0] * len(words)
    found: set[int] = set()
    stack = [(nfa.root(words[0] if words else b""), 0)]
    while stack and visits < limit:
        node, read = stack.pop()
        visits += 1
        here: list[tuple[int, int]] = []
        symbol = nfa.symbol_of.get(words[read], OTHER) if read < len(words) else OTHER
        if read < len(words):
            reads[read] += 1
        else:
            found.update(nfa.tags_of(node))
        for child in nfa.successors(node):
            label = nfa.label(child)
            if label == MANY:
                here += [(child, tail) for tail in range(len(words), read - 1, -1)]
            elif read < len(words) and (label == ONE or (symbol != OTHER and label == symbol)):
                here.append((child, read + 1))
        leaves += not here
        # The last that is pushed is popped first: the literal, then ``*``, then ``#`` with the longest tail first.
        stack += sorted(here, key=lambda step: _rank(nfa, step[0]))
    return TrieWalk(
        visits=visits, backtracks=max(0, leaves - 1), reads=tuple(reads), tags=tuple(sorted(found)), complete=not stack
    )


def _rank(nfa: Nfa, child: int) -> int:
    return {MANY: 0, ONE: 1}.get(nfa.label(child), 2)
