"""Automata as text: for tests, for issues, and for reading without a picture.

The first line counts; then a line per position or state: ``>`` marks the start, transitions are ``word->target``, a
final ``!`` says that no further word can change the state.
"""

from __future__ import annotations

from compiler.dfa import Dfa
from compiler.nfa import Nfa

__all__ = ["dump_dfa", "dump_nfa"]


def dump_nfa(nfa: Nfa, limit: int | None = None) -> str:
    """Return the NFA, a line per position; with a limit, that many lines and a count of the others."""
    lines = [f"Nfa: {len(nfa)} positions, {len(nfa.symbols)} literal words, {len(nfa.tags)} bindings"]
    for position in range(len(nfa))[:limit]:
        moves = ["loops"] if nfa.loops(position) else []
        moves += [
            f"{_quoted(nfa.word(nfa.label(child)), nfa.label(child) > 0)}->{child}"
            for child in nfa.successors(position)
        ]
        lines.append(_line(position in nfa.roots, position, moves, nfa.tags_of(position)))
    return "\n".join([*lines, *_others(len(nfa), limit, "positions")])


def dump_dfa(dfa: Dfa, limit: int | None = None) -> str:
    """Return the DFA, a line per state with the NFA positions that it stands for; ``limit`` as in :func:`dump_nfa`.

    >>> from compiler import Wildcard, build_dfa, build_nfa
    >>> print(build_dfa(build_nfa([[b"a", Wildcard.ONE]])))
    Dfa: 4 states, 1 literal transitions
    >0 {0} a->2 *->1
     1 {} *->1!
     2 {1} *->3
     3 {} *->1  tags 0
    """
    lines = [f"Dfa: {len(dfa)} states, {sum(map(len, dfa.successors))} literal transitions"]
    for number, state in enumerate(dfa.states[:limit]):
        moves = ["{" + ",".join(map(str, state.positions)) + "}"]
        moves += [
            f"{_quoted(dfa.nfa.word(symbol), True)}->{target}" for symbol, target in dfa.successors[number].items()
        ]
        moves.append(f"*->{dfa.defaults[number]}" + "!" * dfa.is_final(number))
        lines.append(_line(number in dfa.starts, number, moves, state.tags))
    return "\n".join([*lines, *_others(len(dfa), limit, "states")])


def _others(count: int, limit: int | None, things: str) -> list[str]:
    return [] if limit is None or count <= limit else [f" ... and {count - limit} more {things}"]


def _line(first: bool, number: int, moves: list[str], tags: tuple[int, ...]) -> str:
    text = f"{'>' if first else ' '}{number} {' '.join(moves)}"
    return f"{text}  tags {','.join(map(str, tags))}" if tags else text.rstrip()


def _quoted(word: str, literal: bool) -> str:
    """Quote a literal word that could be mistaken for something else in a dump."""
    plain = word.isprintable() and word not in ("", "*", "ε", "loops") and not set(word) & set(' "->{}!')
    return word if plain or not literal else repr(word)
