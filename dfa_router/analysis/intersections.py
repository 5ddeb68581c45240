"""The keys that two patterns share, as patterns."""

from __future__ import annotations

from compiler import CapacityError, Token, Wildcard
from compiler.automata.covering import probes
from compiler.automata.pattern import intersection as common_tokens
from dfa_router.analysis.coverage import known_cover
from dfa_router.analysis.questions import begins_reserved, checked_patterns, tokens_of
from dfa_router.errors import ConversionError
from dfa_router.language.convert import spelled
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.language.rules import key_space
from dfa_router.whole_numbers import whole_number

__all__ = ["MOST", "intersection", "spelled_or_none"]

MOST = 1024
"""The most patterns of an intersection."""


def intersection(first: str, second: str, dialect: str | Dialect = "amqp", *, most: int = MOST) -> tuple[str, ...]:
    """Return patterns that together match the keys that both match; none if there is no such key.

    Two patterns can meet in several ways (``#.a`` and ``a.#`` in the key ``a``, and in all keys that begin and end with
    ``a``), exponentially many if both have several ``#``. None of them is covered by the others, as far as
    proofs of a small budget show it. A group of a shared
    subscription is left out. What both match together may take patterns that are longer than a broker takes, or have more wildcards.

    Raises :class:`PatternError` for a pattern that the dialect refuses, :class:`CapacityError` for over ``most`` ways, and
    :class:`ConversionError` where a dialect of your own has no patterns for these keys.

    >>> intersection("#.a", "a.#"), intersection("t/global/#", "t/+/1/+", "mqtt"), intersection("a.*", "b.#")
    (('a', 'a.#.a'), ('t/global/1/+',), ())
    """
    most = whole_number("most", most, 0, "a number of ways from 0 up")
    language = dialect_named(dialect)
    one, other = (tokens_of(pattern, language) for pattern in checked_patterns((first, second), language))
    if _apart(one, other, language) or _apart(other, one, language):
        return ()
    ways = common_tokens(one, other, most)
    if ways is None:
        raise CapacityError(
            f"{first!r} and {second!r} meet in over {most:,} ways: ask for a larger number, or for their relation, whose "
            "witness is one key of them"
        )
    wild = _wild(one) and _wild(other)
    found = [spelled_or_none(way, language) for way in ways if not (wild and begins_reserved(way, language.reserved))]
    # Token by token not all is seen: `.*.#.` covers `.#..`, whose `#` may take no word where the other has its `*`.
    return known_cover(tuple(dict.fromkeys(pattern for patterns in found for pattern in patterns)), language)


def spelled_or_none(meant: tuple[Token, ...], dialect: Dialect) -> tuple[str, ...]:
    """Return the patterns of these tokens, none if no key of the dialect can match them.

    Raises :class:`ConversionError` where keys can, and the dialect has no pattern for just these: one that has a wildcard for
    one or more words and none for one has no pattern for the keys of ``*.b``.
    """
    try:
        return spelled(meant, dialect)
    except ConversionError:
        if any(map(key_space(dialect).is_key, probes(meant))):
            raise
        return ()


def _wild(pattern: list[Token]) -> bool:
    return bool(pattern) and isinstance(pattern[0], Wildcard)


def _apart(one: list[Token], other: list[Token], dialect: Dialect) -> bool:
    """Tell whether only one of them can match keys that begin with the reserved byte, and the other only those."""
    return _wild(one) and begins_reserved(other, dialect.reserved)
