"""An NFA read a position at a time, for proofs: where a word leads from one position, and from a set of them.

:mod:`compiler.automata.powerset` steps sets of positions, tags and all, which is what matching needs. A proof of inclusion
follows *single* positions of one side and sets of the other, and asks only whether a side can still accept. So the arrays
are read as lists here, and a :class:`Side` has the positions where it accepts and those from which it still can.

All patterns of a question stand in one NFA, so both sides number the same words by the same symbols; the tags tell them apart.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from compiler.automata.keyspace import KeySpace, Word
from compiler.automata.nfa import MANY, ONE, OTHER, Nfa, build_nfa
from compiler.automata.paths import parents_of
from compiler.automata.pattern import Pattern
from compiler.errors import CapacityError

__all__ = ["Budget", "Positions", "Side", "positions_of"]

States = frozenset[int]


class Budget:
    """The most steps that a proof may take. An exponential question ends with an error instead of never."""

    def __init__(self, steps: int) -> None:
        self.steps = self.left = steps

    def spend(self, steps: int = 1) -> None:
        """Count steps; raises :class:`CapacityError` when there are none left."""
        self.left -= steps
        if self.left < 0:
            raise CapacityError(
                f"the question takes over {self.steps:,} steps: give a larger budget, or ask about fewer patterns; those "
                "with several wildcards behind a zero-or-more wildcard cost the most"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Some of the patterns of an NFA."""

    accepting: States
    """The positions where one of them ends."""
    useful: set[int]
    """The positions at or above which one of them ends. A set, as most sides are one pattern of a hundred thousand."""


class Positions:
    """The transitions of an NFA by single positions, with the keys that there are."""

    def __init__(self, nfa: Nfa, space: KeySpace) -> None:
        self.nfa = nfa
        self.space = space
        self._labels: list[int] = nfa.labels.tolist()
        self._children: list[int] = nfa.children.tolist()
        self._parents: list[int] = parents_of(nfa).tolist()
        self._end_of: list[int] = _ends(nfa)
        self._words = [None, *(nfa.symbols.word(symbol) for symbol in range(1, len(nfa.symbols) + 1))]

    def side(self, tags: Iterable[int]) -> Side:
        """Return the patterns of these tags as a side."""
        ends = {self._end_of[tag] for tag in tags}
        useful: set[int] = set()
        for position in ends:
            at = position
            while at not in useful:
                useful.add(at)
                at = self._parents[at]
        return Side(frozenset(ends), useful)

    def end_of(self, tag: int) -> int:
        """Return the position where a pattern ends; equal patterns end at one."""
        return self._end_of[tag]

    def ends_below(self, position: int, side: Side) -> States:
        """Return the positions at or below a position where patterns of a side end."""
        found, agenda = set(), [position]
        for at in agenda:  # it grows
            if at in side.accepting:
                found.add(at)
            agenda += (child for child in range(self._children[at], self._children[at + 1]) if child in side.useful)
        return frozenset(found)

    def word(self, symbol: int) -> Word:
        """Return the word of a symbol, None for OTHER."""
        return self._words[symbol]

    def begin(self, root: int, side: Side) -> States:
        """Return where a side is before the first word of a key that starts at this root."""
        return frozenset(self._closed((root,), side))

    def literals(self, position: int) -> range:
        """Return the children of a position that literal words enter; their symbols ascend."""
        first, last = self._children[position], self._children[position + 1]
        while first < last and self._labels[first] < OTHER:
            first += 1
        return range(first, last)

    def symbol(self, child: int) -> int:
        """Return the symbol of the word that enters a position."""
        return self._labels[child]

    def loops(self, position: int) -> bool:
        """Tell whether a position stays on every word."""
        return self._labels[position] == MANY

    def wild(self, position: int) -> bool:
        """Tell whether any word at all leads on from a position."""
        return self._labels[position] == MANY or self._one(position) is not None

    def step(self, position: int, symbol: int, side: Side) -> Iterable[int]:
        """Return where a side is after a word at one position; ``OTHER`` is any word that is no literal."""
        return self._closed(self._moved(position, symbol), side)

    def step_all(self, states: States, symbol: int, side: Side) -> States:
        """Return where a side is after a word at any of these positions."""
        return frozenset(self._closed([to for position in states for to in self._moved(position, symbol)], side))

    def symbols(self, states: Iterable[int], side: Side) -> list[int]:
        """Return the literal symbols on which a position of these leads on by itself, ascending."""
        useful = side.useful
        return sorted({self._labels[c] for p in states for c in self.literals(p) if c in useful})

    def _one(self, position: int) -> int | None:
        first, last = self._children[position], self._children[position + 1]
        while first < last and self._labels[first] < OTHER:
            if self._labels[first] == ONE:
                return first
            first += 1
        return None

    def _moved(self, position: int, symbol: int) -> Iterator[int]:
        if self._labels[position] == MANY:
            yield position
        one = self._one(position)
        if one is not None:
            yield one
        if symbol != OTHER:
            first, last = self._children[position], self._children[position + 1]
            at = bisect_left(self._labels, symbol, first, last)
            if at < last and self._labels[at] == symbol:
                yield at

    def _closed(self, positions: Sequence[int] | Iterator[int], side: Side) -> set[int]:
        reached = set()
        for position in positions:
            if position in side.useful:
                reached.add(position)
                child = self._children[position]  # no MANY has a MANY child, so one round is enough
                if child < self._children[position + 1] and self._labels[child] == MANY and child in side.useful:
                    reached.add(child)
        return reached


def _ends(nfa: Nfa) -> list[int]:
    """Return the position where each pattern ends."""
    ends = np.zeros(len(nfa.tags), np.int64)
    ends[nfa.tags] = np.repeat(np.arange(len(nfa)), np.diff(nfa.tag_offsets))
    return ends.tolist()


def positions_of(patterns: Iterable[Pattern], space: KeySpace) -> Positions:
    """Build the NFA of all patterns of a question; the tag of pattern i is i."""
    return Positions(build_nfa(patterns, reserved=space.reserved), space)
