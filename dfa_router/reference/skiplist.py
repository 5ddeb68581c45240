"""A skip list from ascending numbers to values (William Pugh, "Skip Lists: A Probabilistic Alternative to Balanced
Trees").

A linked list with express lanes: each entry is in lane 0, and an entry of a lane is in the next one up with a chance of a
quarter. A search begins in the topmost lane, and goes down a lane where the next entry would be too far: O(log n) on average.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Generic, TypeVar

__all__ = ["SkipList"]

V = TypeVar("V")

LANES = 16
"""The highest number of lanes, enough for 4^16 entries."""


class Entry(Generic[V]):
    """A number, its value, and the next entry in each lane it is in."""

    __slots__ = ("next", "number", "value")

    def __init__(self, number: int, value: V, lanes: int) -> None:
        self.number = number
        self.value = value
        self.next: list[Entry[V] | None] = [None] * lanes


class SkipList(Generic[V]):
    """Values under ascending numbers, with gaps where some were removed; not safe under threads by itself.

    >>> names = SkipList[str]()
    >>> [names.append(name) for name in ("x", "y", "z")]
    [0, 1, 2]
    >>> names.remove(1), list(names.since(1))
    ('y', [(2, 'z')])
    """

    def __init__(self) -> None:
        self._first: list[Entry[V] | None] = [None] * LANES
        self._last: list[list[Entry[V] | None]] = [self._first] * LANES
        """For each lane the pointers of its last entry, in which the next one will be set."""
        self._length = 0
        self._next_number = 0
        self._chance = random.Random(0)

    def __len__(self) -> int:
        return self._length

    @property
    def next_number(self) -> int:
        """The number that the next value will have."""
        return self._next_number

    def append(self, value: V) -> int:
        """Add a value at the end and return its number."""
        lanes = 1
        while lanes < LANES and self._chance.random() < 0.25:
            lanes += 1
        entry = Entry(self._next_number, value, lanes)
        for lane in range(lanes):
            self._last[lane][lane] = entry
            self._last[lane] = entry.next
        self._next_number += 1
        self._length += 1
        return entry.number

    def remove(self, number: int) -> V:
        """Remove a value and return it; raises KeyError if the number has none."""
        before = self._before(number)
        entry = before[0][0]
        if entry is None or entry.number != number:
            raise KeyError(number)
        for lane, following in enumerate(entry.next):
            before[lane][lane] = following
            if self._last[lane] is entry.next:
                self._last[lane] = before[lane]
        self._length -= 1
        return entry.value

    def get(self, number: int) -> V:
        """Return the value of a number; raises KeyError if it has none."""
        entry = self._before(number)[0][0]
        if entry is None or entry.number != number:
            raise KeyError(number)
        return entry.value

    def since(self, number: int) -> Iterator[tuple[int, V]]:
        """Yield numbers and values from a number on, ascending."""
        entry = self._before(number)[0][0]
        while entry is not None:
            yield entry.number, entry.value
            entry = entry.next[0]

    def _before(self, number: int) -> list[list[Entry[V] | None]]:
        """Return for each lane the pointers of the last entry before a number."""
        pointers = self._first
        before = [pointers] * LANES
        for lane in range(LANES - 1, -1, -1):
            following = pointers[lane]
            while following is not None and following.number < number:
                pointers = following.next
                following = pointers[lane]
            before[lane] = pointers
        return before
