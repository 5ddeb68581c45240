"""Patterns of a dialect as one automaton that proofs are made about, and witnesses as keys that a broker would carry.

A :class:`Question` holds the patterns of all sides; its methods are those of :mod:`compiler.automata`, with texts instead of
tokens and words. Witnesses are written in words of the bindings where any word would do: ``stock.nyse`` says more than
``stock.x``.

What this leaves out: limits on length. A witness may be longer than the protocol carries; then no shorter one exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from compiler import PatternError, Token
from compiler.automata.covering import accepting_at
from compiler.automata.keyspace import Word
from compiler.automata.positions import Budget, Positions, Side, positions_of
from compiler.automata.proofs import Witness, escape, meeting
from compiler.automata.separation import separations
from compiler.once import once
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.language.rules import key_space, tokens
from dfa_router.language.validity import pattern_problem
from dfa_router.whole_numbers import whole_number

__all__ = ["BUDGET", "Question", "begins_reserved", "budget_of", "checked_patterns", "listed", "tokens_of"]

BUDGET = 1_000_000
"""Steps of a proof, a few microseconds each."""
_TRIES = 24
"""The most literal words that are tried in place of a fresh one."""

Chosen = Iterable[int] | Side
"""Some patterns of a question: their numbers, or the side that was made of them."""


def listed(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return several patterns as a tuple; raises :class:`PatternError` for one alone, whose characters would be taken for patterns."""
    if isinstance(patterns, str | bytes) or not isinstance(patterns, Iterable):
        raise PatternError(f"patterns is {patterns!r}: expected patterns as text in a list, such as ['a.*', 'a.#']")
    return tuple(patterns)


def checked_patterns(patterns: str | Iterable[str], dialect: Dialect) -> tuple[str, ...]:
    """Return one pattern or several as a tuple; raises :class:`PatternError` for one that the dialect refuses."""
    several = (patterns,) if isinstance(patterns, str) else listed(patterns)
    for position, pattern in enumerate(several):
        if not isinstance(pattern, str):
            raise PatternError(f"pattern {position} is {pattern!r} ({type(pattern).__name__}): expected str")
        problem = pattern_problem(pattern, dialect)
        if problem is not None:
            raise PatternError(f"the pattern {pattern[:60]!r} is no pattern of {dialect.name}: {problem}")
    return several


def tokens_of(pattern: str, dialect: Dialect) -> list[Token]:
    """Return the compiler's tokens of a pattern."""
    return tokens(pattern.encode(), dialect)


def begins_reserved(pattern: Sequence[Token], reserved: bytes | None) -> bool:
    """Tell whether the keys of a pattern begin with the reserved byte, if the dialect has one: its first word does.

    >>> begins_reserved([b"$a", b"b"], b"$"), begins_reserved([b""], b"")
    (True, False)
    """
    first = pattern[0] if pattern else None
    return bool(reserved) and isinstance(first, bytes) and first[:1] == reserved


def budget_of(steps: int) -> Budget:
    """Return a budget; raises :class:`OptionError` for what is no number of steps."""
    return Budget(whole_number("budget", steps, 0, f"a number of steps, such as {BUDGET}"))


class Question:
    """Some patterns, asked about by their numbers.

    >>> question = Question(["a.#", "a.*"], "amqp")
    >>> question.escape([0], [1]), question.escape([1], [0]), question.meeting([0], [1])
    ('a', None, 'a.a')
    """

    def __init__(self, patterns: Sequence[str], dialect: str | Dialect, budget: int = BUDGET) -> None:
        self.dialect = dialect_named(dialect)
        self.patterns = checked_patterns(patterns, self.dialect)
        self.tokens = [tokens_of(pattern, self.dialect) for pattern in self.patterns]
        self.machine: Positions = positions_of(self.tokens, key_space(self.dialect))
        self.budget = budget_of(budget)
        self._tried: dict[int, list[bytes]] = {}
        """The literal words that are tried at a place: each witness asks, and finding them takes a look at every pattern."""

    @once
    def literals(self) -> frozenset[bytes]:
        """The literal words of all patterns."""
        return frozenset(token for pattern in self.tokens for token in pattern if isinstance(token, bytes))

    def side(self, chosen: Chosen) -> Side:
        """Return some of the patterns as a side. One of many patterns that is asked about again is better kept by the caller."""
        return chosen if isinstance(chosen, Side) else self.machine.side(chosen)

    def escape(self, left: Chosen, right: Chosen) -> str | None:
        """Return a shortest key that a pattern of ``left`` matches and none of ``right``, or None."""
        one, other = self.side(left), self.side(right)
        found = escape(self.machine, one, other, self.budget)
        return None if found is None else self.text(found, (one,), (other,))

    def meeting(self, left: Chosen, right: Chosen) -> str | None:
        """Return a shortest key that both sides match, or None."""
        one, other = self.side(left), self.side(right)
        found = meeting(self.machine, one, other, self.budget)
        return None if found is None else self.text(found, (one, other), ())

    def separations(self, left: Chosen, right: Chosen, most: int) -> tuple[str, ...]:
        """Return up to ``most`` of the shortest keys that a pattern of ``left`` matches and none of ``right``."""
        one, other = self.side(left), self.side(right)
        found = separations(self.machine, one, other, most, self.budget)
        return tuple(dict.fromkeys(self.text(witness, (one,), (other,)) for witness in found))

    def text(self, witness: Witness, matching: Sequence[Side], missing: Sequence[Side]) -> str:
        """Return a witness as text, with literals in place of fresh words where it stays one: a key that matches all of the
        first sides and none of the others.
        """
        space, words = self.machine.space, list(witness.words)
        for place, word in enumerate(words):
            if word is not None:
                continue
            for literal in self._candidates(place):
                words[place] = literal
                if space.is_key(words) and self._holds(tuple(words), matching, missing):
                    break
                words[place] = None
        filled = space.filled(words, self.literals, witness.start)
        return self.dialect.separator.join(filled).decode()

    def _holds(self, words: tuple[Word, ...], matching: Sequence[Side], missing: Sequence[Side]) -> bool:
        return all(accepting_at(self.machine, words, side) for side in matching) and not any(
            accepting_at(self.machine, words, side) for side in missing
        )

    def _candidates(self, place: int) -> list[bytes]:
        """Return literal words for a place: those that patterns have just there first."""
        if place not in self._tried:
            there = (pattern[place] for pattern in self.tokens if len(pattern) > place)
            words = (word for word in (*there, *sorted(self.literals)) if isinstance(word, bytes) and word)
            self._tried[place] = list(islice(dict.fromkeys(words), _TRIES))
        return self._tried[place]
