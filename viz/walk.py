"""What happens while a key is read: the NFA's moves and the DFA's states, step by step.

Pictures of a path, the terminal drawing and the tests of the page's script read a match from here. The states come from
:mod:`compiler.automata.powerset`, one step of subset construction, to which tests also compare the engine's kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from compiler.automata import powerset
from compiler.automata.nfa import MANY, ONE, OTHER, Nfa
from compiler.automata.paths import parents_of, path_to
from compiler.automata.powerset import State

__all__ = ["Step", "accepted_moves", "ends", "failures", "members", "path_of", "steps"]

_parents = lru_cache(maxsize=8)(parents_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of reading a key: a word, or the beginning before the first word."""

    word: bytes | None
    """The word that was read; None for the beginning, before the first word."""
    symbol: int
    """The word's symbol if it is a literal of the state before; else ``OTHER``, for the default successor."""
    state: State
    """The DFA state after the word."""
    moves: tuple[tuple[int, int], ...]
    """The NFA's moves on the word, epsilon moves included, as pairs of positions."""
    final: bool
    """Whether no further word can change the state, so that an engine stops reading."""


def steps(nfa: Nfa, words: Sequence[bytes]) -> list[Step]:
    """Read a key: one step for the beginning and one for each word.

    >>> from viz.patterns import nfa_of
    >>> [step.state.positions for step in steps(nfa_of(["a.#.c"]), [b"a", b"x", b"c"])]
    [(0,), (2,), (2,), (2,)]
    """
    root = nfa.root(words[0] if words else b"")
    state = powerset.start(nfa, root)
    read = [
        Step(word=None, symbol=OTHER, state=state, moves=tuple(_free(nfa, root)), final=powerset.is_final(nfa, state))
    ]
    for word in words:
        symbol = nfa.symbol_of.get(word, OTHER)
        if symbol not in powerset.literals(nfa, state):
            symbol = OTHER
        moves = tuple(_moves(nfa, state, symbol))
        state = powerset.successor(nfa, state, symbol)
        read.append(Step(word=word, symbol=symbol, state=state, moves=moves, final=powerset.is_final(nfa, state)))
    return read


@lru_cache(maxsize=8)
def ends(nfa: Nfa) -> dict[int, int]:
    """Return for each accept tag the position where its pattern ends."""
    return {tag: position for position in range(len(nfa)) for tag in nfa.tags_of(position)}


def members(nfa: Nfa, state: State) -> tuple[int, ...]:
    """Return the NFA positions of a state as a picture shows them.

    These are the positions that can still move, which the state holds, and those where a pattern ends, instead of which
    it holds accept tags.
    """
    last = ends(nfa)
    return tuple(sorted({*state.positions, *(last[tag] for tag in state.tags)}))


def path_of(nfa: Nfa, tag: int) -> tuple[int, ...]:
    """Return the positions from a root to the end of a pattern."""
    return tuple(path_to(_parents(nfa), ends(nfa)[tag]))


def failures(nfa: Nfa, read: Sequence[Step]) -> dict[int, int]:
    """Return for each binding that does not match the number of the step at which that became certain.

    The word of that step is the one at which the pattern failed; a number one past the last step means that the key
    ended too soon.
    """
    failed = {}
    active = [{target for _, target in step.moves} | {*members(nfa, step.state)} for step in read]
    for tag in range(len(nfa.tags)):
        if tag not in read[-1].state.tags:
            path = set(path_of(nfa, tag))
            gone = (number for number, positions in enumerate(active) if not path & positions)
            failed[tag] = next(gone, len(read))
    return failed


def accepted_moves(nfa: Nfa, read: Sequence[Step]) -> list[set[tuple[int, int]]]:
    """Return for each step the moves that lie on an accepting run; all moves if no binding accepts."""
    wanted = {ends(nfa)[tag] for tag in read[-1].state.tags}
    if not wanted:
        return [set(step.moves) for step in read]
    kept: list[set[tuple[int, int]]] = []
    for step in reversed(read):
        free = {(p, q) for p, q in step.moves if q in wanted and nfa.label(q) == MANY and p != q}
        reading = {
            (p, q)
            for p, q in step.moves
            if (p, q) not in free and (q in wanted or any(q == before for before, _ in free))
        }
        kept.append(free | reading)
        wanted = {p for p, _ in reading}
    return kept[::-1]


def _moves(nfa: Nfa, state: State, symbol: int) -> list[tuple[int, int]]:
    moves = []
    for position in state.positions:
        if nfa.loops(position):
            moves.append((position, position))
        for child in nfa.successors(position):
            if nfa.label(child) == ONE or (symbol != OTHER and nfa.label(child) == symbol):
                moves.append((position, child))  # noqa: PERF401 - the loop appends in two places
    return [*moves, *(free for _, target in moves for free in _free(nfa, target))]


def _free(nfa: Nfa, position: int) -> list[tuple[int, int]]:
    return [(position, child) for child in nfa.successors(position) if nfa.label(child) == MANY]
