"""The automaton of a regular expression whose states are sets of its positions, made as texts need them.

Each place of an expression that takes a character is a position, and what a bounded quantifier repeats has positions for each time
(V. Glushkov, 1961). A set of positions is a whole number with a bit for each, so ``^.{1,255}$`` costs 256 bits a set, where the
complete automaton, which a library would make and reduce before the first text, takes minutes.

What this leaves out: states that mean the same are not found to be equal, but for those behind the end of a match.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["MOST", "Positions", "TooLargeError"]

MOST = 5_000
"""Positions of an expression. Twenty words of up to 255 bytes each are about as many."""


class TooLargeError(ValueError):
    """An expression has too many positions. Never leaves the package."""


class _Part(NamedTuple):
    """What a part of an expression begins and ends with, as sets of positions."""

    is_optional: bool
    first: int
    last: int


_EMPTY = _Part(True, 0, 0)


class Positions:
    """The positions of an expression, as the library ``greenery`` has parsed it."""

    def __init__(self, pattern: Any) -> None:
        """Raises :class:`TooLargeError`."""
        self._classes: list[Any] = [None]
        self._following = [0]
        part = self._any_of(pattern)
        self._following[0] = part.first
        self._last = part.last | part.is_optional
        self._taking: dict[Any, int] = {}
        """The positions that each class of characters is at."""
        for position, characters in enumerate(self._classes[1:], 1):
            self._taking[characters] = self._taking.get(characters, 0) | 1 << position

    @property
    def initial(self) -> int:
        """The state before a text."""
        return 1

    def taking(self, character: str) -> int:
        """Return the positions that take a character."""
        found = 0
        for characters, positions in self._taking.items():
            if characters.accepts(character):
                found |= positions
        return found

    def step(self, state: int, taking: int) -> int:
        """Return the state after a character that these positions take."""
        following = 0
        for position in _members(state):
            following |= self._following[position]
        return following & taking

    def is_final(self, state: int) -> bool:
        """Tell whether the whole expression matches what led to a state."""
        return state & self._last != 0

    def endless(self) -> int:
        """Return the positions at which the expression matches whatever follows, if their class takes it."""
        return sum(1 << one for one in _members(self._last) if one and self._following[one] == 1 << one)

    def _any_of(self, pattern: Any) -> _Part:
        parts = [self._sequence(one.mults) for one in pattern.concs]
        first = last = 0
        for part in parts:
            first, last = first | part.first, last | part.last
        return _Part(any(part.is_optional for part in parts), first, last)

    def _sequence(self, repeats: Any) -> _Part:
        whole = _EMPTY
        for one in repeats:
            whole = self._joined(whole, self._repeated(one.multiplicand, one.multiplier.min.v, one.multiplier.max.v))
        return whole

    def _repeated(self, inner: Any, least: int, most: int | None) -> _Part:
        if most == 0:
            return _EMPTY
        before = len(self._classes)
        copies = [self._once(inner)]
        if len(self._classes) == before:
            return copies[0]  # it takes no characters, however often
        copies += [self._once(inner) for _ in range(1, most or max(least, 1))]
        if most is None:
            self._lead(copies[-1].last, copies[-1].first)
        # a{1,3} is a(a(a)?)?: so each time leads to the next alone, and not to all that may be left out.
        whole = _EMPTY
        for number in range(len(copies) - 1, -1, -1):
            whole = self._joined(copies[number], whole)
            if number >= least:
                whole = whole._replace(is_optional=True)
        return whole

    def _once(self, inner: Any) -> _Part:
        if hasattr(inner, "concs"):
            return self._any_of(inner)
        if len(self._classes) > MOST:
            raise TooLargeError
        own = 1 << len(self._classes)
        self._classes.append(inner)
        self._following.append(0)
        return _Part(False, own, own)

    def _joined(self, part: _Part, other: _Part) -> _Part:
        self._lead(part.last, other.first)
        return _Part(
            part.is_optional and other.is_optional,
            part.first | (other.first if part.is_optional else 0),
            other.last | (part.last if other.is_optional else 0),
        )

    def _lead(self, last: int, first: int) -> None:
        for position in _members(last):
            self._following[position] |= first


def _members(positions: int) -> Iterator[int]:
    while positions:
        lowest = positions & -positions
        yield lowest.bit_length() - 1
        positions ^= lowest
