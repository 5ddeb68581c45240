"""Which patterns of a large set cover a pattern, found by reading the pattern as if it were a key.

A literal of the pattern is read as a word, ``*`` as a word that is no literal, and ``#`` stays where a ``#`` loops. Whatever
accepts then covers the pattern *token by token*: each token of it is taken by one token of the other. One walk through the
shared trie asks all patterns at once, as :func:`compiler.automata.pattern.covers` asks one.

What this leaves out: a pattern that several others cover only together, as ``a`` and ``a.*.#`` cover ``a.#``. Such a union
is for :func:`compiler.automata.proofs.escape` to find; :func:`probes` says cheaply of most patterns that there is none.
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.automata.keyspace import Word
from compiler.automata.nfa import OTHER, ROOT
from compiler.automata.pattern import Pattern, Wildcard, normalize
from compiler.automata.positions import Positions, Side, States

__all__ = ["accepting_at", "covering", "overlapping", "probes"]


def covering(machine: Positions, pattern: Pattern, everything: Side) -> States:
    """Return the positions where patterns end that cover the pattern token by token.

    ``everything`` is the side of the patterns that are asked about. Every pattern that ends there covers it for certain.
    """
    tokens = normalize(pattern)
    states = machine.begin(_root(machine, tokens[0] if tokens else None), everything)
    for token in tokens:
        if token is Wildcard.MANY:
            states = frozenset(position for position in states if machine.loops(position))
        else:
            symbol = OTHER if isinstance(token, Wildcard) else machine.nfa.symbol_of.get(token, OTHER)
            states = machine.step_all(states, symbol, everything)
        if not states:
            break
    return states & everything.accepting


def probes(pattern: Pattern) -> Iterator[tuple[Word, ...]]:
    """Yield two keys of the pattern: with no word and with many words for each ``#``; None is a word that is no literal.

    Patterns that cover it match both. Few others do.

    >>> [len(key) for key in probes([b"a", Wildcard.MANY])]
    [1, 3]
    """
    tokens = normalize(pattern)
    for many in (0, len(tokens)):
        words: list[Word] = []
        for token in tokens:
            if isinstance(token, Wildcard):
                words += [None] * (many if token is Wildcard.MANY else 1)
            else:
                words.append(token)
        yield tuple(words)


def overlapping(machine: Positions, pattern: Pattern, side: Side) -> States:
    """Return the positions where patterns of a side end that share words with a pattern, and so perhaps keys."""
    tokens = normalize(pattern)
    agenda = [(0, position) for position in machine.begin(_root(machine, tokens[0] if tokens else None), side)]
    met = set(agenda)
    for at, position in agenda:  # it grows
        token = tokens[at] if at < len(tokens) else None
        after: list[tuple[int, int]] = []
        if isinstance(token, bytes):
            symbol = machine.nfa.symbol_of.get(token, OTHER)
            after = [(at + 1, target) for target in machine.step(position, symbol, side)]
        elif token is not None:
            symbols = [machine.symbol(child) for child in machine.literals(position)]
            targets = {to for symbol in (*symbols, OTHER) for to in machine.step(position, symbol, side)}
            after = [(at if token is Wildcard.MANY else at + 1, target) for target in targets]
            after += [(at + 1, position)] if token is Wildcard.MANY else []
        for pair in after:
            if pair not in met:
                met.add(pair)
                agenda.append(pair)
    return frozenset(position for at, position in met if at == len(tokens)) & side.accepting


def accepting_at(machine: Positions, words: tuple[Word, ...], side: Side) -> States:
    """Return the positions where patterns of a side end that match a key."""
    states = machine.begin(_root(machine, words[0] if words else None), side)
    for word in words:
        symbol = OTHER if word is None else machine.nfa.symbol_of.get(word, OTHER)
        states = machine.step_all(states, symbol, side)
    return states & side.accepting


def _root(machine: Positions, first: object) -> int:
    return machine.nfa.root(first) if isinstance(first, bytes) else ROOT
