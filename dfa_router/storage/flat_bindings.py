"""Bindings as flat text: arrays of offsets and UTF-8 that are saved and mapped as they are.

The patterns are one array of text; the distinct destinations are another, with a number per binding. A binding is decoded
when it is asked for, so a router with a million bindings is loaded without making a million Python objects, and is saved
and pickled a hundred times faster than binding by binding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dfa_router.arrow.lists import joined
from dfa_router.language.bindings import Binding
from dfa_router.listed import Listed

__all__ = ["FlatBindings", "Texts", "flat"]

_FEW = 8
"""Of so many, numpy's arrays cost more than they spare."""


@dataclass(frozen=True, slots=True, eq=False)
class Texts(Listed[str]):
    """Many strings as UTF-8 in one array: text i is ``data[offsets[i]:offsets[i + 1]]``."""

    offsets: npt.NDArray[np.int64]
    """Ascending byte offsets into ``data``, shape (texts + 1,)."""
    data: npt.NDArray[np.uint8]
    """The bytes of all texts."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def at(self, position: int) -> str:
        """Return the text at a position."""
        return self.encoded(position).decode()

    def __iter__(self) -> Iterator[str]:
        data = self.data.tobytes()
        return (data[start:stop].decode() for start, stop in pairwise(self.offsets.tolist()))

    def several(self, positions: Sequence[int]) -> Iterator[str]:
        """Yield the texts at these positions, which for many takes a quarter of the time of :meth:`at`."""
        if len(positions) <= _FEW:
            return map(self.at, positions)
        numbers, data = np.asarray(positions, np.int64), self.data.data
        ends = zip(self.offsets[numbers].tolist(), self.offsets[numbers + 1].tolist(), strict=True)
        return (str(data[start:stop], "utf-8") for start, stop in ends)

    def encoded(self, index: int) -> bytes:
        """Return a text as its bytes."""
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()


@dataclass(frozen=True, slots=True, eq=False)
class FlatBindings(Listed[Binding]):
    """A binding set as flat text.

    >>> bindings = flat([Binding("a.*", "x"), Binding("#", "y"), Binding("b", "x")])
    >>> bindings[2], bindings.codes.tolist(), list(bindings.names)
    (Binding(pattern='b', destination='x'), [0, 1, 0], ['x', 'y'])
    """

    patterns: Texts
    """The pattern of each binding."""
    codes: npt.NDArray[np.int32]
    """The number of each binding's destination in ``names``, shape (bindings,)."""
    names: Texts
    """The distinct destinations in the order of their first binding."""

    def __len__(self) -> int:
        return len(self.codes)

    def at(self, position: int) -> Binding:
        """Return the binding at a position."""
        return Binding(self.patterns.at(position), self.names.at(int(self.codes[position])))

    def destinations_of(self, positions: Sequence[int]) -> tuple[str, ...]:
        """Return the destinations of the bindings at these positions, once each, in order of the first of them.

        >>> flat([Binding("a.*", "x"), Binding("#", "y"), Binding("b", "x")]).destinations_of((1, 2, 0))
        ('y', 'x')
        """
        codes = (
            [self.codes[one] for one in positions] if len(positions) <= _FEW else self.codes[list(positions)].tolist()
        )
        return tuple(self.names.several(list(dict.fromkeys(codes))))

    def __iter__(self) -> Iterator[Binding]:
        names = tuple(self.names)
        return (Binding(pattern, names[code]) for pattern, code in zip(self.patterns, self.codes.tolist(), strict=True))


def flat(bindings: Sequence[Binding]) -> FlatBindings:
    """Return bindings as flat text."""
    if isinstance(bindings, FlatBindings):
        return bindings
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(one.destination, len(numbers)) for one in bindings], np.int32)
    return FlatBindings(Texts(*joined(one.pattern for one in bindings)), codes, Texts(*joined(numbers)))
