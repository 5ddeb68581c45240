"""One NFA for all bindings: a trie of tokens, read as a nondeterministic automaton.

Patterns are inserted into a trie whose edges are tokens, so bindings share their prefixes. Each trie node is a
*position* of the automaton. From a position, a word leads to the child of that literal word and to the ``ONE`` child;
the ``MANY`` child is reached by an epsilon move, without a word, and loops on every word. A binding's *accept tag* is
its number in the order given; it belongs to the position where the pattern ends. Patterns that differ never share their
end, because the answer names the bindings that matched (RabbitMQ's 2011 articles on topic routing draw the same
automaton).

::

    a.b.c, a.#.c     (0) --a--> (1) --ε--> (2 loops) --c--> (4) tag 1
                                 └---b---> (3) ----c-------> (5) tag 0

Some dialects reserve keys that begin with a certain byte, ``$`` in MQTT: a wildcard at the beginning of a pattern does
not match in them. Their automaton has a second root. These keys start there, and only patterns whose first word is a
literal that begins with the byte are inserted there. No other code needs to know the rule: only the start differs.

Positions are numbered level by level and, within a level, by parent and token. The rest of the compiler relies on three
consequences: the children of a position are consecutive numbers; the children of ascending positions ascend, so that
subset construction merges sorted lists and never sorts; and two arrays, ``labels`` and ``children``, are the whole trie.

Rejected: Thompson's construction with explicit epsilon positions (twice the positions for no gain, as our patterns have
no alternatives), and dictionaries of children (20 times the memory).
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from compiler.automata.dump import Row, dump, quoted
from compiler.automata.pattern import Pattern, Token, Wildcard, normalize
from compiler.notebook import mimebundle
from compiler.once import once
from compiler.values import Int32s

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["MANY", "ONE", "OTHER", "RESERVED", "ROOT", "Nfa", "build_nfa"]

ROOT = 0
"""The position where keys start."""
RESERVED = 1
"""The position where keys that begin with the reserved byte start, in an automaton that has such a byte."""
OTHER = 0
"""The symbol of every word that is not a literal of any pattern; literal words have symbols from 1 up."""
ONE = -1
"""The label of a position that any word enters."""
MANY = -2
"""The label of a position that an epsilon move enters and that loops on every word."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Symbols:
    """The literal words of all patterns: word ``s - 1`` has symbol ``s``."""

    data: npt.NDArray[np.uint8]
    """The bytes of all words."""
    offsets: Int32s
    """The word of symbol s is ``data[offsets[s - 1]:offsets[s]]``."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def word(self, symbol: int) -> bytes:
        """Return the word of a symbol, which is 1 or more."""
        return self.data[self.offsets[symbol - 1] : self.offsets[symbol]].tobytes()


@dataclass(frozen=True, kw_only=True, eq=False)
class Nfa:
    """A prefix-shared NFA with an accept tag per binding; made by :func:`build_nfa`."""

    symbols: Symbols
    labels: Int32s
    """How each position is entered: a symbol, ``ONE`` or ``MANY``; ``OTHER`` for a root, which nothing enters."""
    children: Int32s
    """The children of p are ``range(children[p], children[p + 1])``, ordered MANY, ONE, then by symbol."""
    tag_offsets: Int32s
    """Where the accept tags of each position begin in ``tags``, shape (positions + 1,)."""
    tags: Int32s
    """The accept tags of p are ``tags[tag_offsets[p]:tag_offsets[p + 1]]``, ascending."""
    reserved: bytes = b""
    """Keys that begin with this byte start at ``RESERVED``; empty if the automaton has one root."""

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"<Nfa: {len(self)} positions, {len(self.symbols)} literal words, {len(self.tags)} bindings>"

    def __str__(self) -> str:
        return self.dump(limit=200)

    def dump(self, limit: int | None = None) -> str:
        """Return the automaton as text, a line per position; with a ``limit``, that many lines and the number of the others."""
        heading = f"Nfa: {len(self)} positions, {len(self.symbols)} literal words, {len(self.tags)} bindings"
        return dump(heading, map(self._row, range(len(self))), len(self), limit, "positions")

    def _row(self, position: int) -> Row:
        moves = ["loops"] if self.loops(position) else []
        for child in self.successors(position):
            label = self.label(child)
            moves.append(f"{quoted(self.word(label), literal=label > OTHER)}->{child}")
        return Row(position, position in self.roots, moves, self.tags_of(position))

    @property
    def nbytes(self) -> int:
        """The size of all arrays in bytes."""
        arrays = (self.labels, self.children, self.tag_offsets, self.tags, self.symbols.data, self.symbols.offsets)
        return sum(a.nbytes for a in arrays)

    @once
    def symbol_of(self) -> dict[bytes, int]:
        """The symbol of each literal word; a word that is not in here is ``OTHER``."""
        return {self.symbols.word(symbol): symbol for symbol in range(1, len(self.symbols) + 1)}

    @property
    def roots(self) -> range:
        """The positions where keys start: one, or two with a reserved byte."""
        return range(int(self.children[0]))

    def root(self, key: bytes) -> int:
        """Return the position where a key starts; the key's first word is enough."""
        return RESERVED if self.reserved and key.startswith(self.reserved) else ROOT

    def successors(self, position: int) -> range:
        """Return the children of a position."""
        return range(int(self.children[position]), int(self.children[position + 1]))

    def label(self, position: int) -> int:
        """Return how a position is entered."""
        return int(self.labels[position])

    def tags_of(self, position: int) -> tuple[int, ...]:
        """Return the bindings whose patterns end at a position."""
        return tuple(self.tags[self.tag_offsets[position] : self.tag_offsets[position + 1]].tolist())

    def loops(self, position: int) -> bool:
        """Tell whether a position stays active on every word."""
        return self.label(position) == MANY

    def live(self, position: int) -> bool:
        """Tell whether any word leads on from a position; epsilon moves do not count."""
        return self.loops(position) or any(self.label(child) != MANY for child in self.successors(position))

    def word(self, label: int) -> str:
        """Return a label as text: the literal word, ``*`` for ONE, ``ε`` for MANY."""
        if label in (ONE, MANY):
            return "*" if label == ONE else "ε"
        return self.symbols.word(label).decode("utf-8", "backslashreplace")

    def to_networkx(self) -> nx.MultiDiGraph[int]:
        """Return the automaton as a graph.

        Nodes are positions with ``start`` (bool), ``loops`` (bool) and ``tags`` (tuple of int). Edges have ``kind``
        ("literal", "one", "epsilon" or "loop") and ``label`` (the text of :meth:`word`, or ``*`` on a loop).
        """
        import networkx as nx

        graph: nx.MultiDiGraph[int] = nx.MultiDiGraph(kind="nfa")
        for position in range(len(self)):
            graph.add_node(
                position, start=position in self.roots, loops=self.loops(position), tags=self.tags_of(position)
            )
        for position in range(len(self)):
            if self.loops(position):
                graph.add_edge(position, position, kind="loop", label="*")
            for child in self.successors(position):
                label = self.label(child)
                kind = {ONE: "one", MANY: "epsilon"}.get(label, "literal")
                graph.add_edge(position, child, kind=kind, label=self.word(label))
        return graph

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return mimebundle(self, str(self))


def build_nfa(patterns: Iterable[Pattern], *, reserved: bytes = b"") -> Nfa:
    """Build the NFA of the patterns; the accept tag of pattern i is i.

    Where a ``reserved`` byte is given, keys that begin with it match no pattern that begins with a wildcard.

    A million five-word patterns take about three seconds, most of it for reading their tokens.

    >>> print(build_nfa([[b"a", b"b"], [b"a", Wildcard.MANY]]))
    Nfa: 4 positions, 2 literal words, 2 bindings
    >0 a->1
     1 ε->2 b->3
     2 loops  tags 1
     3   tags 0
    """
    # Looking up a new word gives it the next number, so the loop below runs no Python code per token.
    numbers: defaultdict[Token, int] = defaultdict(count(1).__next__, {Wildcard.ONE: ONE, Wildcard.MANY: MANY})
    number_of, without_many = numbers.__getitem__, frozenset([Wildcard.MANY]).isdisjoint
    codes = array("i")
    lengths = array("i")
    apart = array("i")
    for number, pattern in enumerate(patterns):
        tokens = pattern if without_many(pattern) else normalize(pattern)
        codes.extend(map(number_of, tokens))
        lengths.append(len(tokens))
        if reserved and tokens and isinstance(tokens[0], bytes) and tokens[0].startswith(reserved):
            apart.append(number)
    begins = np.zeros(len(lengths), np.int64)
    begins[np.asarray(apart, np.int64)] = RESERVED
    roots = 2 if reserved else 1
    labels, parents, ends = _grow(np.asarray(codes, np.int32), np.asarray(lengths, np.int64), begins, roots)
    children = (np.searchsorted(parents[roots:], np.arange(len(labels) + 1)) + roots).astype(np.int32)
    tag_offsets = np.zeros(len(labels) + 1, np.int32)
    np.cumsum(np.bincount(ends, minlength=len(labels)), out=tag_offsets[1:])
    return Nfa(
        symbols=_symbols([token for token in numbers if isinstance(token, bytes)]),
        labels=labels,
        children=children,
        tag_offsets=tag_offsets,
        tags=np.argsort(ends, kind="stable").astype(np.int32),
        reserved=reserved,
    )


def _grow(
    codes: Int32s, lengths: npt.NDArray[np.int64], at: npt.NDArray[np.int64], roots: int
) -> tuple[Int32s, Int32s, Int32s]:
    """Insert all patterns into the trie, one level after the other: return labels, parents and each pattern's last position.

    Pattern i starts at ``at[i]``, one of the roots.
    """
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1])) if len(lengths) else np.zeros(0, np.int64)
    labels = [np.full(roots, OTHER, np.int32)]
    parents = [np.full(roots, -1, np.int32)]
    positions = roots
    for level in range(int(lengths.max(initial=0))):
        rows = np.flatnonzero(lengths > level)
        # MANY and ONE are -2 and -1: adding 2 makes every code fit below its parent's number, and sort by it.
        edges, which = np.unique(
            (at[rows] << 32) | (codes[starts[rows] + level].astype(np.int64) + 2), return_inverse=True
        )
        labels.append(((edges & 0xFFFFFFFF) - 2).astype(np.int32))
        parents.append((edges >> 32).astype(np.int32))
        at[rows] = positions + which
        positions += len(edges)
    return np.concatenate(labels), np.concatenate(parents), at.astype(np.int32)


def _symbols(words: list[bytes]) -> Symbols:
    offsets = np.zeros(len(words) + 1, np.int32)
    np.cumsum([len(word) for word in words], out=offsets[1:])
    return Symbols(data=np.frombuffer(b"".join(words), np.uint8), offsets=offsets)
