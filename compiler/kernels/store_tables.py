"""The flat tables of the key store: keys that were matched, whole, with their accept sets.

The *index* is a hash table with linear probing, of entries of 64 bits: the upper half of a key's hash << 32 | where its record
begins, and 0 where there is none. The home slot is the top bits of the hash, so the index grows without reading a key.

A *record* is the key's length << 32 | its accept set, and then its bytes, eight in a number, with zeros behind its end. Records lie one
behind the other, in the order in which they came. Record 0 belongs to no key.

Of two keys whose hashes have the same upper half only the first one is ever found: one in 10^4 of a million keys.

Several threads may look keys up while one of them stores others, as kernels release the interpreter's lock. So a reader's tuple says
how many numbers of records there were when it was made, and what lies behind these is unknown to him, whatever the index says of it
meanwhile. Records are never changed, and an index only gets more entries: one that is outgrown stays as it is for those who still
have it.
"""

from __future__ import annotations

from typing import NamedTuple

from compiler.kernels.tables import Int64s, Uint64s

__all__ = ["RECORDS_BEHIND", "STORED", "STORED_BYTES", "STORED_NUMBERS", "TOGETHER", "Asked", "Store"]

STORED, STORED_NUMBERS = range(2)
"""Slots of ``Store.counts``: the keys that are stored, and how many numbers their records take, record 0 among them."""
RECORDS_BEHIND = 7
"""Numbers behind the last record: records are read eight numbers at a time."""
STORED_BYTES = 1024
"""The bytes of the longest key that is stored."""


TOGETHER = 48
"""How many keys are looked up together. With 128 and with 24, a key among 380,000 took 1.15 times as long."""


class Store(NamedTuple):
    """The keys that are stored."""

    slots: Uint64s
    """The index: 2^b slots, of which at most half are in use."""
    records: Uint64s
    counts: Int64s
    """See STORED and the constant beside it. Those who look keys up do not read them."""
    known: int
    """How many numbers the records take that are looked up: those of all calls of the storing kernel that had returned."""


class Asked(NamedTuple):
    """Scratch space: keys of some rows that are not in the store. It has room for as many rows as are asked for at once, and TOGETHER more."""

    rows: Int64s
    hashes: Uint64s
    places: Uint64s
    """Where the records of keys that are looked up together begin, TOGETHER long."""
