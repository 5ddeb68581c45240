"""The values that go into an engine and come out of it: columns of keys, sets of binding positions, cache counters.

They are shared by everything that matches whole columns: the machines of this package, and engines of other packages
that know nothing of automata.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

__all__ = [
    "FEW",
    "FEW_BYTES",
    "AtOnce",
    "CacheStats",
    "Int32s",
    "KeyColumn",
    "Lent",
    "Memory",
    "SetBatch",
    "key_by_key",
]

Int32s = npt.NDArray[np.int32]

FEW, FEW_BYTES = 1 << 10, 1 << 16
"""The most keys of a small batch, and the most bytes of all of them. (Batches of 300 to 1,024 keys take 0.1 to 0.4 of the time that they took as columns, whose
way costs 100 us more; in batches of 2,000 a large automaton whose keys recur took as long either way, as columns store these.)"""


class KeyColumn(NamedTuple):
    """A chunk of n routing keys as Arrow lays them out: key i is ``data[offsets[i]:offsets[i + 1]]``."""

    offsets: Int32s
    """Ascending byte offsets into ``data``, shape (n + 1,)."""
    data: npt.NDArray[np.uint8]
    """The bytes of all keys; only ``data[offsets[0]:offsets[n]]`` is read."""
    valid: npt.NDArray[np.bool_] | None
    """False where a key is null, shape (n,); None if no key is null."""

    def single_keys(self) -> Iterator[bytes | None]:
        """Yield the keys one by one, None for a null key."""
        base, end = int(self.offsets[0]), int(self.offsets[-1])
        data = self.data[base:end].tobytes()
        for row, (start, stop) in enumerate(pairwise((self.offsets - base).tolist())):
            yield data[start:stop] if self.valid is None or self.valid[row] else None


class Memory(Protocol):
    """Memory that something else keeps, such as a buffer of Arrow's."""

    @property
    def address(self) -> int:
        """Where it begins."""

    @property
    def size(self) -> int:
        """Its bytes."""


class SetBatch(NamedTuple):
    """The answer for a batch: a set number per key, and the sets as one table of binding positions (CSR layout)."""

    set_ids: Int32s
    """For each key the number of its set, or -1 for a null key."""
    offsets: Int32s
    """Set s is ``positions[offsets[s]:offsets[s + 1]]``. Equal sets may occur more than once."""
    positions: Int32s
    """Positions of matching bindings, ascending within a set. They are the automaton's accept tags: pattern i has tag i."""


class AtOnce(NamedTuple):
    """What a single key may be asked of while nothing is lent: see :mod:`compiler.kernels.remembered`."""

    loans: dict[int, Any]
    """What is lent now."""
    finders: list[Callable[[str | bytes], tuple[int, ...] | None] | None]
    """Three functions in C's terms, or None in their places, from a key to its accept tags, or to None."""
    counts: array[int]
    """How many keys each of them has answered so, which others count."""


class Lent(NamedTuple):
    """What a machine lends to a kernel that walks small batches itself, until it returns."""

    tables: tuple[Any, ...]
    """What :func:`compiler.kernels.walk.walk` takes before the keys: a program, a cache, and scratch space."""
    sets: int
    """How many sets there is room for."""
    numbering: object
    """A number stands for the same set as long as this is the same object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """What an engine's cache holds, and what happened to it; all zero for an engine without a cache, never negative."""

    states: int = 0
    """DFA states in the cache now."""
    transitions: int = 0
    """Transitions (including default successors) in the cache now."""
    accept_sets: int = 0
    """Distinct sets of bindings in the cache now."""
    bytes: int = 0
    """Bytes allocated for the cache now, at most ``capacity``; answers to single keys that are kept as Python's tuples are beside it."""
    capacity: int = 0
    """The bound on ``bytes``: ``cache_bytes`` of the router."""
    keys: int = 0
    """Keys matched since the router was made."""
    words: int = 0
    """Words of these keys that the DFA read."""
    hits: int = 0
    """Words whose transition was in the cache."""
    misses: int = 0
    """Words whose transition was not in the cache: it was built, or the key was simulated from there on."""
    clears: int = 0
    """How often the cache was full and was emptied."""
    closed: int = 0
    """Caches, one for each thread, that are full now and kept as they are: what they do not know is not built, but simulated."""
    fallbacks: int = 0
    """Keys that were simulated on the NFA, wholly or from some word on.

    Reasons: clearing or building cost more than simulating, the key alone did not fit the cache, the cache is closed, or a transition
    that it needed had not been requested often enough to be built.
    """
    key_cache_hits: int = 0
    """Keys that were answered without reading their words: they recur and were kept whole, or a pattern without wildcards spells them."""
    sealed_keys: int = 0
    """Keys that sealed tables answered."""
    sealed_states: int = 0
    """DFA states in the sealed tables that patterns lead on from, which are not among ``states``; their bytes are among ``bytes``."""

    def __add__(self, other: CacheStats) -> CacheStats:
        return CacheStats(**{one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)})


def key_by_key(positions: Callable[[bytes], tuple[int, ...]], columns: Iterable[KeyColumn]) -> SetBatch:
    """Match whole columns with a function that matches one key; equal sets get one number.

    >>> column = KeyColumn(np.array([0, 1, 3], np.int32), np.frombuffer(b"abb", np.uint8), None)
    >>> key_by_key(lambda key: (len(key),), [column, column])._asdict()
    {'set_ids': array([0, 1, 0, 1], dtype=int32), 'offsets': array([0, 1, 2], dtype=int32), 'positions': array([1, 2], dtype=int32)}
    """
    numbers: dict[tuple[int, ...], int] = {}
    set_ids = [
        -1 if key is None else numbers.setdefault(positions(key), len(numbers))
        for column in columns
        for key in column.single_keys()
    ]
    offsets = np.zeros(len(numbers) + 1, np.int32)
    np.cumsum([len(found) for found in numbers], out=offsets[1:])
    flat = np.fromiter((position for found in numbers for position in found), np.int32)
    return SetBatch(np.array(set_ids, np.int32), offsets, flat)
