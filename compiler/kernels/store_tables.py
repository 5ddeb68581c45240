"""The flat tables of the key store: keys that were matched, whole, with their accept sets.

The *index* is a hash table of entries of 64 bits: the upper half of a key's hash << 32 | where its record begins, and 0
where there is none. The home slot is the top bits of the hash, so the index grows without reading a key.

A *record* is the key's length << 32 | its accept set, and then its bytes, eight in a number, with zeros behind its end. Records lie one
behind the other, in the order in which they came. Record 0 belongs to no key.

Keys whose hashes have the same upper half, one in 10^4 of a million, are tried one after the other, and are told by their records; of more than
eight, which were chosen so, the others are not stored. Keys may also be chosen so that their hashes begin alike, and their homes lie together: so a block
of 256 slots takes 255 keys, all others are left out, and a search goes through one block at most.

Several threads may look keys up while one of them stores others, as kernels release the interpreter's lock. So a reader's tuple says
how many numbers of records there were when it was made, and what lies behind these is unknown to him, whatever the index says of it
meanwhile. Records are never changed, and an index only gets more entries: one that is outgrown stays as it is for those who still
have it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiler.kernels.tables import Int64s, Uint64s

__all__ = [
    "EXACT_TOGETHER",
    "PER_KEYS",
    "RECORDS_BEHIND",
    "STORED",
    "STORED_BYTES",
    "STORED_MOST",
    "STORED_NUMBERS",
    "SURPRISING",
    "TOGETHER",
    "Asked",
    "Exact",
    "Store",
    "scratch",
    "scratch_bytes",
]

STORED, STORED_NUMBERS, STORED_MOST = range(3)
"""Slots of ``Store.counts``: the keys that are stored, how many numbers their records take, record 0 among them, and how many keys the index may
have."""
RECORDS_BEHIND = 7
"""Numbers behind the last record: records are read eight numbers at a time."""
STORED_BYTES = 1024
"""The bytes of the longest key that is stored."""


TOGETHER = 32
"""How many keys go through a pass before others go through the next; a power of two, and at most 64. With 16, 24 and 48, a key of `stock` took about as long."""
PER_KEYS, SURPRISING = 1 << 16, 1024
"""Keys of which it is said how many are expected not to be stored, and how many more of any number mean that other keys have come."""
EXACT_TOGETHER = 256
"""How many keys are hashed before the first of them is looked for among exact ones; :class:`Asked` must have room for them."""


class Store(NamedTuple):
    """The keys that are stored."""

    slots: Uint64s
    """The index: 2^b slots, of which at most half are in use, or three quarters where there is no room for a larger one."""
    records: Uint64s
    counts: Int64s
    """See STORED and the constants beside it. Those who look keys up do not read them."""
    known: int
    """How many numbers the records take that are looked up: those of all calls of the storing kernel that had returned."""


class Exact(NamedTuple):
    """Keys that patterns without wildcards spell, each with the accept tags of all that matches it; nobody writes it."""

    slots: Uint64s
    """The index, as that of a :class:`Store`."""
    records: Uint64s
    """A record is a key's length << 32 | how many tags it has, then its bytes, as in a :class:`Store`, and then the tags, two in a number."""
    marks: Uint64s
    """A filter of all keys (:mod:`compiler.kernels.exact_keys`); a power of two of numbers, two at least."""


class Asked(NamedTuple):
    """Scratch space: keys of some rows that are not in the store. It has room for as many rows as are asked for at once."""

    rows: Int64s
    hashes: Uint64s
    mixes: Uint64s
    places: Uint64s
    """The hashes of keys that are on their way, and where their records begin: each 2 * TOGETHER long."""


def scratch(rows: int, empty: Any = None) -> Asked:
    """Return scratch space for so many rows, in arrays that ``empty`` makes of a length and a type, or NumPy.

    >>> sum(array.nbytes for array in scratch(100)) == scratch_bytes(100)
    True
    """
    ring, make = 2 * TOGETHER, empty or np.empty
    return Asked(make(rows, np.int64), make(rows, np.uint64), np.empty(ring, np.uint64), np.empty(ring, np.uint64))


def scratch_bytes(rows: int) -> int:
    """Return its bytes."""
    return 8 * (2 * rows + 4 * TOGETHER)
