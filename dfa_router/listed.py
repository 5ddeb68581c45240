"""Sequences that make what is in them when it is asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

__all__ = ["Listed"]

T_co = TypeVar("T_co", covariant=True)


class Listed(Sequence[T_co]):
    """A sequence by its length and what is :meth:`at` each position; a slice is a tuple, as that of a tuple is."""

    __slots__ = ()

    @abstractmethod
    def at(self, position: int) -> T_co:
        """Return what is at a position, which is at least zero and under the length."""

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T_co, ...]: ...
    def __getitem__(self, index: int | slice) -> T_co | tuple[T_co, ...]:
        positions = range(len(self))[index]
        return self.at(positions) if isinstance(positions, int) else tuple(map(self.at, positions))
