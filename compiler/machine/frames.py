"""What a kernel did for a key, told word by word: the frames of a trace, from snapshots of the cache around each call.

A kernel reads one word after the other and builds what it misses on the way. So the key itself tells in which order the things
were built that a call has added, and at which word it stopped where a table was full: at the first whose transition is not there,
or of which a stray could not be kept (:mod:`compiler.kernels.strays`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from compiler.automata import powerset
from compiler.automata.nfa import OTHER, Nfa
from compiler.automata.powerset import State
from compiler.machine.cache import Snapshot
from compiler.machine.program import marks_of

__all__ = ["Entry", "Frame", "Pass", "frames_of"]

How = Literal["start", "cached", "built", "stray", "stopped", "cleared", "simulated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One step of reading a key."""

    word: int
    """How many words are read after it; 0 before the first word."""
    how: How
    """The beginning; a word whose transition was there, or was built; a *stray*, for which an entry was kept that says that it is
    no literal of the state; a word behind a state that no word can change, which is not read; the cache was full and is empty now;
    a word that was simulated on the NFA."""
    state: int | None
    """The state's number in the cache; None behind ``cleared`` and ``simulated``."""
    positions: tuple[int, ...]
    tags: tuple[int, ...]
    """The state itself: where the NFA may be, and what is accepted if the key ends here."""
    built: tuple[tuple[str | int, ...], ...] = ()
    """In order: ``("state", number)``, ``("default", state, target)``, ``("literal", state, symbol, target)``, ``("stray", state,
    symbol, target)``."""
    grown: tuple[str, ...] = ()
    """The tables that had to grow."""


class Pass(NamedTuple):
    """A call of the kernel."""

    before: Snapshot
    after: Snapshot
    keeping: list[int] | None
    """For each state its narrow filter: of a stray that passes it, an entry is kept. 0 for a state that keeps none. None where the
    key was read without building, so that nothing is kept at all."""


Entry = Pass | str
"""Of a diary: a call of the kernel; the name of a table that has grown; or what else happened."""


def frames_of(nfa: Nfa, words: Sequence[bytes], root: int, diary: Sequence[Entry]) -> Iterator[Frame]:
    """Yield the frames of a key by its diary."""
    told = _Told(nfa, words, root)
    for entry in diary:
        if entry == "cleared":
            yield told.cleared()
        elif entry == "simulated":
            for number, state in enumerate(_simulated(nfa, words, root)):
                yield Frame(word=number, how="simulated", state=None, positions=state.positions, tags=state.tags)
        elif isinstance(entry, str):
            told.grown.append(entry)
        else:
            yield from told.go_on(entry)


class _Told:
    """How far a key is told, and what of the next word has happened already."""

    def __init__(self, nfa: Nfa, words: Sequence[bytes], root: int) -> None:
        self._nfa = nfa
        self._words = words
        self._start = powerset.start(nfa, root)
        self._roots = len({powerset.start(nfa, each) for each in nfa.roots})
        self._begin()
        self.grown: list[str] = []

    def _begin(self) -> None:
        self._frames = 0
        self._built: list[tuple[str | int, ...]] = []
        self._noted: set[tuple[str | int, ...]] = set()

    def cleared(self) -> Frame:
        """Return the frame that tells of a clear; the key begins again behind it."""
        frame = Frame(word=self._frames, how="cleared", state=None, positions=(), tags=(), grown=tuple(self.grown))
        self._begin()
        self.grown = []
        return frame

    def go_on(self, walk: Pass) -> Iterator[Frame]:
        """Follow the key from its beginning through the cache, and yield the frames that were not told yet."""
        before, after, _ = walk
        self._seen, self._limit = len(before.states), len(after.states)
        if after.start is not None:
            if before.start is None:
                self._note_states(self._roots - 1)
            yield from self._follow(walk)
        self._note_states(self._limit - 1)  # interned, and then there was no room for the transition

    def _follow(self, walk: Pass) -> Iterator[Frame]:
        before, after, keeping = walk
        state = after.states.index(self._start)
        yield from self._tell(0, "start", after, state)
        for number, word in enumerate(self._words, 1):
            here = after.states[state]
            if powerset.is_final(self._nfa, here):
                yield from self._tell(number, "stopped", after, state)
                continue
            if state not in after.defaults:
                return
            how: How = "cached"
            target = after.defaults[state]
            if state not in before.defaults:
                how = self._note("default", state, target) or how
            symbol = self._nfa.symbol_of.get(word, OTHER)
            if symbol in powerset.literals(self._nfa, here):
                if (state, symbol) not in after.successors:
                    return
                target = after.successors[state, symbol]
                if (state, symbol) not in before.successors:
                    how = self._note("literal", state, symbol, target) or how
            elif (
                symbol != OTHER and how == "cached" and keeping is not None
            ):  # nothing is kept where the default was just built
                if (state, symbol) in after.successors:
                    if (state, symbol) not in before.successors and self._note("stray", state, symbol, target):
                        how = "stray"
                elif _passes(symbol, keeping[state]):
                    return  # there was no room to keep it
            state = target
            yield from self._tell(number, how, after, state)

    def _tell(self, word: int, how: How, after: Snapshot, state: int) -> Iterator[Frame]:
        if word < self._frames:
            return
        self._frames = word + 1
        if how == "cached" and any(kind != "stray" for kind, *_ in self._built):
            how = "built"  # by the pass before, which ended here
        built, grown = tuple(self._built), tuple(self.grown)
        self._built, self.grown = [], []
        positions, tags = after.states[state]
        yield Frame(word=word, how=how, state=state, positions=positions, tags=tags, built=built, grown=grown)

    def _note(self, kind: str, *what: int) -> Literal["built"] | None:
        """Note what was built; None if an earlier word of the key needed the same."""
        if (kind, *what) in self._noted:
            return None
        self._noted.add((kind, *what))
        self._note_states(what[-1])
        self._built.append((kind, *what))
        return "built"

    def _note_states(self, last: int) -> None:
        """Note the states up to this number that were not noted yet."""
        self._built += [("state", number) for number in range(self._seen, last + 1)]
        self._seen = max(self._seen, last + 1)


def _passes(symbol: int, filter_: int) -> bool:
    marks = int(marks_of(np.array([symbol], np.int32))[0])
    return filter_ & marks == marks


def _simulated(nfa: Nfa, words: Sequence[bytes], root: int) -> Iterator[State]:
    """Yield the sets that the simulation goes through, as the states that they would be."""
    state = powerset.start(nfa, root)
    yield state
    for word in words:
        state = powerset.successor(nfa, state, nfa.symbol_of.get(word, OTHER))
        yield state
