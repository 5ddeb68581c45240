"""Where generators take their decisions from.

Every generator is written once, against :class:`Choices`. Campaigns feed it pseudo-random numbers, so that a round is a
pure function of its number and costs microseconds; Hypothesis feeds it its own draws, so that it can replay and shrink
them. Both treat 0 as the simplest choice: what a generator lists first is what shrunk examples show.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

__all__ = ["Choices", "DrawnChoices", "SeededChoices"]

T = TypeVar("T")


class Choices(Protocol):
    """A source of decisions."""

    def below(self, bound: int) -> int:
        """Return a number from 0 to ``bound - 1``; ``bound`` is at least 1."""

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options."""

    def once_in(self, times: int) -> bool:
        """Return True about once in so many times."""


class SeededChoices:
    """Pseudo-random decisions, the same for the same seed on every machine and Python.

    >>> choices = SeededChoices("7/0")
    >>> choices.below(10) == SeededChoices("7/0").below(10)
    True
    """

    __slots__ = ("_random",)

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random  # text is hashed by SHA-512: neighbouring numbers share nothing

    def below(self, bound: int) -> int:
        """Return a number from 0 to ``bound - 1``."""
        return int(self._random() * bound)  # a quarter of what randrange costs

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[int(self._random() * len(options))]

    def once_in(self, times: int) -> bool:
        """Return True about once in so many times."""
        return self._random() * times < 1.0


class DrawnChoices:
    """Decisions drawn by a property-testing library: ``integer(bound)`` gives a number from 0 to ``bound - 1``."""

    __slots__ = ("below",)

    def __init__(self, integer: Callable[[int], int]) -> None:
        self.below = integer

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options; the first is the simplest."""
        return options[self.below(len(options))]

    def once_in(self, times: int) -> bool:
        """Return True about once in so many times; False is the simpler choice."""
        return times <= 1 or self.below(times) == times - 1
