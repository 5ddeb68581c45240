"""Patterns as the compiler knows them: sequences of tokens, the same for every dialect.

A token is a literal word (``bytes``), :data:`Wildcard.ONE` for exactly one word or :data:`Wildcard.MANY` for zero or
more. A run of wildcards can be written in several ways that mean the same; :func:`normalize` chooses one of them, so
that patterns of equal meaning become equal automata and a wildcard never follows ``MANY``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import groupby

__all__ = ["Pattern", "Token", "Wildcard", "covers", "intersection", "normalize"]


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


def covers(one: Pattern, other: Pattern) -> bool:
    """Tell whether the first pattern matches every key that the second one matches, as far as its tokens show it.

    True is always right. False may be wrong where the tokens of the second pattern are covered only together.

    >>> covers([b"a", Wildcard.MANY], [b"a", Wildcard.ONE, b"c"]), covers([Wildcard.ONE], [Wildcard.MANY])
    (True, False)
    """
    reached = {0}  # how many tokens of `other` those of `one` so far may have used up
    for token in one:
        if token is Wildcard.MANY:
            reached = set(range(min(reached, default=len(other) + 1), len(other) + 1))
        else:
            taken = (Wildcard.MANY,) if token is Wildcard.ONE else ()
            reached = {
                at + 1
                for at in reached
                if at < len(other) and (other[at] == token or (taken and other[at] not in taken))
            }
    return len(other) in reached


def intersection(one: Pattern, other: Pattern, most: int) -> tuple[tuple[Token, ...], ...] | None:
    """Return patterns which together match the keys that both patterns match, or None if that takes over ``most``.

    Two patterns have as many ways to interleave what stands between their ``MANY``, so the answer can be exponential.

    >>> intersection([Wildcard.MANY, b"a"], [b"a", Wildcard.MANY], 4)
    ((b'a',), (b'a', #, b'a'))
    >>> intersection([b"a", Wildcard.ONE], [b"a"], 4)
    ()
    """
    first, second = normalize(one), normalize(other)
    if covers(first, second):
        return (second,)
    if covers(second, first):
        return (first,)
    found = _interleaved(first, second, most)
    if found is None:
        return None
    ordered = sorted({normalize(pattern) for pattern in found}, key=lambda pattern: (len(pattern), repr(pattern)))
    kept: list[tuple[Token, ...]] = []
    for pattern in ordered:
        if not any(covers(wider, pattern) for wider in kept):
            kept = [known for known in kept if not covers(pattern, known)] + [pattern]
    return tuple(kept)


def _interleaved(first: Sequence[Token], second: Sequence[Token], most: int) -> frozenset[tuple[Token, ...]] | None:
    """Return the ways in which both patterns can be met token by token; None for more than ``most`` from some point on.

    A point is how many tokens of each are behind it. Those that can be reached are found from the beginning on, and the ways
    from each of them from the end on, in loops: patterns can have more tokens than Python recurses.
    """
    reached: list[set[tuple[int, int]]] = [set() for _ in range(len(first) + len(second) + 1)]
    reached[0].add((0, 0))
    for points in reached:
        for point in points:
            for _, (i, j) in _steps(first, second, point):
                reached[i + j].add((i, j))
    end = (len(first), len(second))
    ways: dict[tuple[int, int], frozenset[tuple[Token, ...]]] = {}
    for behind in range(len(reached) - 1, -1, -1):
        # A step passes two tokens at most: what is farther off is asked for no more, and is long.
        ways = {point: found for point, found in ways.items() if sum(point) <= behind + 2}
        for point in reached[behind]:
            onwards = [_behind(token, ways[onward]) for token, onward in _steps(first, second, point)]
            found = frozenset([()] if point == end else []).union(*onwards)
            if len(found) > most:
                return None
            ways[point] = found
    return ways[0, 0]


def _steps(
    first: Sequence[Token], second: Sequence[Token], point: tuple[int, int]
) -> list[tuple[Token | None, tuple[int, int]]]:
    """Return the points that come next, each with the token that both patterns are met by, None where there is no need of one."""
    i, j = point
    one, other = (first[i] if i < len(first) else None), (second[j] if j < len(second) else None)
    if one is Wildcard.MANY and other is Wildcard.MANY:  # one of the two ends first
        return [(one, (i + 1, j)), (one, (i, j + 1))]
    if one is Wildcard.MANY:
        return [(None, (i + 1, j)), *([(other, (i, j + 1))] if other is not None else [])]
    if other is Wildcard.MANY:
        return [(None, (i, j + 1)), *([(one, (i + 1, j))] if one is not None else [])]
    if one is None or other is None or not (one == other or Wildcard.ONE in (one, other)):
        return []
    return [(other if one is Wildcard.ONE else one, (i + 1, j + 1))]


def _behind(token: Token | None, patterns: Iterable[tuple[Token, ...]]) -> frozenset[tuple[Token, ...]]:
    return frozenset(patterns if token is None else ((token, *pattern) for pattern in patterns))
