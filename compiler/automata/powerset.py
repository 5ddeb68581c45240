"""One step of subset construction, and nothing else.

A DFA state is the set of NFA positions that some words lead to. :func:`start` is where every key begins,
:func:`default_successor` is where any word leads that is no literal of the state, and :func:`successor` adds what a
literal word reaches. No cache is in sight: the eager DFA, the lazy cache, the pictures and the tests all call these
functions, and the kernels are held to them state for state.

What the plain definition of a state leaves out: a position from which no word leads on can only matter by its accept
tags, so it is dropped from the set and its tags are kept. Two states are equal when both parts are; this merges states
that differ in nothing but finished patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from compiler.automata.nfa import MANY, ONE, OTHER, ROOT, Nfa

__all__ = ["State", "default_successor", "is_final", "literal_successors", "literals", "start", "successor"]


class State(NamedTuple):
    """A DFA state: where the NFA may be, and what is accepted if the key ends here."""

    positions: tuple[int, ...]
    """Live NFA positions, ascending."""
    tags: tuple[int, ...]
    """Accept tags, ascending."""


def start(nfa: Nfa, root: int = ROOT) -> State:
    """Return the state before the first word of a key that begins at this root."""
    return _closure(nfa, [root])


def successor(nfa: Nfa, state: State, symbol: int) -> State:
    """Return the state after a word, given as its symbol; ``OTHER`` leads to the default successor."""
    return _closure(nfa, [*_any_word(nfa, state), *_literal(nfa, state, symbol)])


def default_successor(nfa: Nfa, state: State) -> State:
    """Return the state after a word that is no literal of the state."""
    return _closure(nfa, _any_word(nfa, state))


def literals(nfa: Nfa, state: State) -> tuple[int, ...]:
    """Return the symbols on which the state has a successor of its own, ascending."""
    found = {nfa.label(child) for position in state.positions for child in nfa.successors(position)}
    return tuple(sorted(found - {ONE, MANY}))


def literal_successors(nfa: Nfa, state: State) -> dict[int, State]:
    """Return every literal's successor by symbol, ascending: what :func:`successor` gives, in one pass over the children.

    A state with n literals costs n steps here and n^2 in n calls.
    """
    any_word = list(_any_word(nfa, state))
    children: dict[int, list[int]] = {}
    for position in state.positions:
        for child in nfa.successors(position):
            if nfa.label(child) not in (ONE, MANY):
                children.setdefault(nfa.label(child), []).append(child)
    return {symbol: _closure(nfa, [*any_word, *children[symbol]]) for symbol in sorted(children)}


def is_final(nfa: Nfa, state: State) -> bool:
    """Tell whether no further word can change the state: it is dead or saturated, and the key's rest need not be read."""
    return not literals(nfa, state) and default_successor(nfa, state) == state


def _any_word(nfa: Nfa, state: State) -> Iterator[int]:
    for position in state.positions:
        if nfa.loops(position):
            yield position
        yield from (child for child in nfa.successors(position) if nfa.label(child) == ONE)


def _literal(nfa: Nfa, state: State, symbol: int) -> Iterator[int]:
    if symbol != OTHER:
        for position in state.positions:
            yield from (child for child in nfa.successors(position) if nfa.label(child) == symbol)


def _closure(nfa: Nfa, positions: Iterable[int]) -> State:
    """Add what epsilon moves reach; one round is enough, as no MANY has a MANY child."""
    reached = set(positions)
    reached |= {child for position in reached for child in nfa.successors(position) if nfa.label(child) == MANY}
    tags = sorted(tag for position in reached for tag in nfa.tags_of(position))
    return State(tuple(sorted(position for position in reached if nfa.live(position))), tuple(tags))
