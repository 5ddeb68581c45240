"""Patterns as the compiler knows them: sequences of tokens, the same for every dialect.

A token is a literal word (``bytes``), :data:`Wildcard.ONE` for exactly one word or :data:`Wildcard.MANY` for zero or
more. A run of wildcards can be written in several ways that mean the same; :func:`normalize` chooses one of them, so
that patterns of equal meaning become equal automata and a wildcard never follows ``MANY``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import groupby

__all__ = ["Pattern", "Token", "Wildcard", "normalize"]


class Wildcard(Enum):
    """The two tokens that are not literal words."""

    ONE = "*"
    MANY = "#"

    def __repr__(self) -> str:
        return str(self.value)


Token = bytes | Wildcard
"""A literal word, or a wildcard."""
Pattern = Sequence[Token]
"""The tokens of a pattern; none is the pattern of the empty key."""


def normalize(pattern: Pattern) -> tuple[Token, ...]:
    """Return the pattern with every run of wildcards written as its ``ONE`` tokens, then at most one ``MANY``.

    ``#.#`` is ``#`` because zero or more twice is zero or more, and ``#.*`` is ``*.#`` because both say at least one.

    >>> normalize([Wildcard.MANY, Wildcard.ONE, Wildcard.MANY, b"a"])
    (*, #, b'a')
    """
    return tuple(_normalized(pattern))


def _normalized(pattern: Pattern) -> Iterator[Token]:
    for wild, run in groupby(pattern, key=lambda token: isinstance(token, Wildcard)):
        tokens = list(run)
        if wild:
            many = tokens.count(Wildcard.MANY)
            yield from [Wildcard.ONE] * (len(tokens) - many)
            if many:
                yield Wildcard.MANY
        else:
            yield from tokens
