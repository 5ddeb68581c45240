"""What automata can prove of two sets of patterns: inclusion and overlap, each with a shortest witness.

**Inclusion** by antichains (De Wulf, Doyen, Henzinger and Raskin, CAV 2006): :func:`escape` looks for a key that the left
side matches and the right side does not, breadth first, over pairs of *one* position of the left and the *set* of positions
of the right. A pair is passed over if a pair with the same position and a smaller set was met before: whatever escapes the
larger set escapes the smaller one, in as few words. So the left is never determinised, and of the right only what matters.

Where the left may read any word, it reads a fresh one: a literal could only add positions to the right. That is why a proof
looks at few words, however large the vocabulary is.

**Overlap** by the product: :func:`meeting` walks pairs of positions, at most as many as one side has times the other.

Both give words; ``None`` is any word that occurs in no pattern. What this leaves out: complements as automata. A complement
is never needed by itself, only what one side has and another has not, and that is what :func:`escape` walks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from compiler.automata.keyspace import Word
from compiler.automata.nfa import OTHER
from compiler.automata.positions import Budget, Positions, Side, States

__all__ = ["Witness", "escape", "meeting"]


class Witness(NamedTuple):
    """A key that proves something."""

    words: tuple[Word, ...]
    start: int
    """The phase at which the key starts, which says what its first word begins with."""


def escape(machine: Positions, one: Side, other: Side, budget: Budget) -> Witness | None:
    """Return a shortest key that one side matches and the other does not, or None if there is none.

    Raises :class:`CapacityError` when the budget is spent.
    """
    agenda: deque[tuple[int, States, int, _Path]] = deque()
    met: dict[tuple[int, int], list[States]] = {}

    def add(position: int, states: States, phase: int, path: _Path) -> None:
        budget.spend()
        known = met.setdefault((position, phase), [])
        if not any(smaller <= states for smaller in known):
            budget.spend(len(known) // 8)
            known[:] = [larger for larger in known if not states <= larger]
            known.append(states)
            agenda.append((position, states, phase, path))

    for root, phase in enumerate(machine.space.starts()):
        states = machine.begin(root, other)
        for position in sorted(machine.begin(root, one)):
            add(position, states, phase, _Path(None, None, phase))
    while agenda:
        position, states, phase, path = agenda.popleft()
        if position in one.accepting and machine.space.ends(phase) and other.accepting.isdisjoint(states):
            return path.witness()
        steps: dict[int, tuple[States, int]] = {}
        for symbol in _symbols(machine, position, one):
            word = machine.word(symbol)
            after = machine.space.step(phase, word)
            if after is None:
                continue
            if symbol not in steps:
                steps[symbol] = machine.step_all(states, symbol, other), after
            further = path.then(word)
            for target in sorted(machine.step(position, symbol, one)):
                add(target, *steps[symbol], further)
    return None


def meeting(machine: Positions, one: Side, other: Side, budget: Budget) -> Witness | None:
    """Return a shortest key that both sides match, or None if there is none."""
    agenda: deque[tuple[int, int, int, _Path]] = deque()
    met: set[tuple[int, int, int]] = set()

    def add(p: int, q: int, phase: int, path: _Path) -> None:
        if (p, q, phase) not in met:
            budget.spend()
            met.add((p, q, phase))
            agenda.append((p, q, phase, path))

    for root, phase in enumerate(machine.space.starts()):
        for p in sorted(machine.begin(root, one)):
            for q in sorted(machine.begin(root, other)):
                add(p, q, phase, _Path(None, None, phase))
    while agenda:
        p, q, phase, path = agenda.popleft()
        if p in one.accepting and q in other.accepting and machine.space.ends(phase):
            return path.witness()
        symbols = sorted({*machine.symbols([p], one), *machine.symbols([q], other)})
        if machine.wild(p) and machine.wild(q):
            symbols.append(OTHER)
        for symbol in symbols:
            word = machine.word(symbol)
            after = machine.space.step(phase, word)
            if after is None:
                continue
            targets = sorted(machine.step(q, symbol, other))
            for target in sorted(machine.step(p, symbol, one)) if targets else ():
                for partner in targets:
                    add(target, partner, after, path.then(word))
    return None


def _symbols(machine: Positions, position: int, side: Side) -> Iterator[int]:
    """Yield the words that lead on from a position: its literals, and any other word if it takes that."""
    yield from machine.symbols([position], side)
    if machine.wild(position):
        yield OTHER


class _Path:
    """The words that led somewhere, as a list that shares its beginning with others."""

    __slots__ = ("before", "start", "word")

    def __init__(self, before: _Path | None, word: Word, start: int) -> None:
        self.before, self.word, self.start = before, word, start

    def then(self, word: Word) -> _Path:
        return _Path(self, word, self.start)

    def witness(self) -> Witness:
        words: list[Word] = []
        at = self
        while at.before is not None:
            words.append(at.word)
            at = at.before
        return Witness(tuple(reversed(words)), self.start)
