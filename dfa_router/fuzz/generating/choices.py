"""Where generators take their decisions from.

Every generator is written once, against :class:`Choices`. Campaigns give it pseudo-random numbers, so that a round is a
pure function of its number and costs microseconds. Hypothesis gives it its own draws, so that it can replay and shrink
them. 0 is the simplest choice: shrunk examples show what a generator lists first.
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
        """Return True about once in ``times`` calls."""


class SeededChoices:
    """Pseudo-random decisions, the same for the same seed on every machine and Python.

    >>> choices = SeededChoices("7/0")
    >>> choices.below(10) == SeededChoices("7/0").below(10)
    True
    """

    __slots__ = ("_random",)

    def __init__(self, seed: str) -> None:
        self._random = random.Random(
            seed
        ).random  # a text is hashed by SHA-512, so similar seeds give unrelated numbers

    def below(self, bound: int) -> int:
        """Return a number from 0 to ``bound - 1``."""
        return int(self._random() * bound)  # takes a quarter of randrange's time

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[int(self._random() * len(options))]

    def once_in(self, times: int) -> bool:
        """Return True about once in ``times`` calls."""
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
        """Return True about once in ``times`` calls; False is the simpler choice."""
        return times <= 1 or self.below(times) == times - 1
