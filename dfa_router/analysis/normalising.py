"""The shortest pattern that means the same, and whether one with fewer ``#`` can.

A pattern is literals with runs of wildcards between them, and in a run only two things count: how many ``*`` it has, and
whether it has a ``#``. Written that way (``#.*.#`` is ``*.#``) patterns that match the same keys are the same, so the
shortest is found by writing it so, without any search.

That no pattern with fewer ``#`` means the same is shown by keys (:class:`Proof`), which anybody can try on a broker: take
the pattern's shortest key, and the key with more words in each place of a ``#`` than the shortest key has at all. A pattern
that matches the first has at most so many literals and ``*``, so one of its ``#`` must take a word in each of these places.
If it has fewer ``#`` than there are places, one of them takes words in two neighbouring places and so everything between:
then it matches as well what the long key becomes with other words there, and the pattern in question does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from compiler import Token, Wildcard, normalize
from dfa_router.analysis.questions import Question, checked_patterns, tokens_of
from dfa_router.language.convert import convert
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.language.rules import key_space
from dfa_router.whole_numbers import whole_number

__all__ = ["Normalised", "Proof", "normalise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Keys that no pattern with fewer ``#`` can tell apart as the given one does."""

    matched: tuple[str, str]
    """Keys that the pattern matches: a shortest one, and one with many words for each ``#``."""
    unmatched: tuple[str, ...]
    """Keys that the pattern does not match. A pattern with fewer ``#`` that matches both others matches one of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalised:
    """An answer of :func:`normalise`."""

    pattern: str
    """The shortest pattern that matches the same keys; it has the fewest ``#``."""
    many: int
    """How many ``#`` it has."""
    accepted: bool
    """Whether those are at most as many as asked for."""
    proof: Proof | None
    """Why no equal pattern has fewer, if it is not accepted."""


def normalise(pattern: str, dialect: str | Dialect = "amqp", *, most: int = 2) -> Normalised:
    """Return the shortest equal pattern, and whether it has at most ``most`` zero-or-more wildcards, or why none can.

    RabbitMQ from 4.3.5 on refuses binding keys with more than two ``#``, hence the default.

    Raises :class:`PatternError` for a pattern that the dialect refuses, or that no key matches.

    >>> normalise("primary.#.#.#.#.#.X.#.#.#").pattern
    'primary.#.X.#'
    >>> refused = normalise("#.a.#.b.#")
    >>> refused.accepted, refused.proof.matched, refused.proof.unmatched
    (False, ('a.b', 'x.x.x.a.x.x.x.b.x.x.x'), ('x.x.x.x.x.x.x.b.x.x.x', 'x.x.x.a.x.x.x.x.x.x.x'))
    """
    most = whole_number("most", most, 0, "a number of wildcards from 0 up")
    language = dialect_named(dialect)
    (given,) = checked_patterns((pattern,), language)
    (shortest,) = convert(given, language, language)
    meant = normalize(tokens_of(shortest, language))
    many = meant.count(Wildcard.MANY)
    proof = _proof(shortest, language) if many > most else None
    return Normalised(pattern=shortest, many=many, accepted=many <= most, proof=proof)


def _proof(pattern: str, dialect: Dialect) -> Proof:
    question = Question((pattern,), dialect)
    meant = normalize(question.tokens[0])
    shortest = question.escape([0], ())
    if shortest is None:
        raise AssertionError(f"{pattern!r} matches nothing, and has an equal pattern of the dialect")
    (other,) = islice(key_space(dialect).fresh(question.literals), 1)
    separator = dialect.separator.decode()
    enough = len(shortest.split(separator)) + 1

    def long_key(tokens: Sequence[Token]) -> str:
        words: list[bytes] = []
        for token in tokens:
            if isinstance(token, Wildcard):
                words += [other] * (enough if token is Wildcard.MANY else 1)
            else:
                words.append(token)
        return separator.join(word.decode() for word in words)

    places = [place for place, token in enumerate(meant) if token is Wildcard.MANY]
    without = []
    for left, right in pairwise(places):
        between = (Wildcard.ONE,) * (right - left - 1)
        without.append(long_key((*meant[: left + 1], *between, *meant[right:])))
    return Proof(matched=(shortest, long_key(meant)), unmatched=tuple(without))
