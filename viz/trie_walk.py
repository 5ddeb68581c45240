"""The walk that a DFA saves: a trie of words descended with backtracking, every step counted.

This is the search that RabbitMQ's 2011 articles describe and its brokers ran for twelve years after: at each node try
the literal child, then the ``*`` child, then the ``#`` child with every tail of the key. A node below a ``#`` is
entered once for every way to get there, so the count grows with the number of ``#`` as a power of the key's length.
The NFA's positions are the trie's nodes. The page's script holds the same walk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compiler.automata.nfa import MANY, ONE, OTHER, Nfa

__all__ = ["LIMIT", "TrieWalk", "trie_walk"]

LIMIT = 100_000
"""Visits after which the counting stops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrieWalk:
    """What the walk did."""

    visits: int
    """Nodes entered, the root included."""
    backtracks: int
    """How often the walk came to the end of a branch, and went back to try another."""
    reads: tuple[int, ...]
    """For each word how often it was looked up, where a DFA reads it once."""
    tags: tuple[int, ...]
    """The bindings found, ascending."""
    complete: bool
    """False if the walk was stopped at :data:`LIMIT`."""


def trie_walk(nfa: Nfa, words: Sequence[bytes], limit: int = LIMIT) -> TrieWalk:
    """Walk the trie for a key.

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
        # The literal is tried first, then the star, then the tails, the longest first: the last pushed is popped first.
        stack += sorted(here, key=lambda step: _rank(nfa, step[0]))
    return TrieWalk(
        visits=visits, backtracks=max(0, leaves - 1), reads=tuple(reads), tags=tuple(sorted(found)), complete=not stack
    )


def _rank(nfa: Nfa, child: int) -> int:
    return {MANY: 0, ONE: 1}.get(nfa.label(child), 2)
