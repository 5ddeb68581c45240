"""How a record of sealed tables is read; :mod:`compiler.kernels.seal_tables` says what is in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, ones
from compiler.kernels.seal_tables import (
    ACCEPT_SHIFT,
    CHOICE_SHIFT,
    CHOICES,
    COMPLETE,
    ENDED,
    FIRST_HASH,
    MOST_BUCKETS,
    NEXT_HASH,
    OVERFLOWED,
    PAIRS,
    REFERENCE_BITS,
    SIZE_SHIFT,
    Seal,
)
from compiler.kernels.tables import FINAL, Uint64s, Unsigned
from compiler.kernels.unsigned import GOLDEN, NONE, ONE, STATE_MASK, TWO, UPPER_HALF, ZERO

__all__ = [
    "COMPLETE_BIT",
    "NO_RECORD",
    "OVERFLOW",
    "REFERENCE_MASK",
    "accept_of",
    "bucket_of",
    "buckets_of",
    "find_entry",
    "pair_of",
    "state_of",
]

REFERENCE_MASK, NO_RECORD = np.uint64((1 << REFERENCE_BITS) - 1), np.uint64(FINAL | ENDED)
"""The mask of a reference; and its bits of which one is set if what it refers to has no record."""
ACCEPT, SIZE = np.uint64(ACCEPT_SHIFT), np.uint64(SIZE_SHIFT)
BUCKET_BITS, CHOICE, CHOICE_BITS = np.uint64(MOST_BUCKETS), np.uint64(CHOICE_SHIFT), np.uint64(CHOICES - 1)
COMPLETE_BIT, OVERFLOW = np.uint64(COMPLETE), np.uint64(OVERFLOWED)
FIRST_SHIFT, NEXT_SHIFT = np.uint64(FIRST_HASH), np.uint64(NEXT_HASH)
WORD_PAIRS = np.uint64(PAIRS)


@inlined
def pair_of(reference: Unsigned) -> Unsigned:
    """Return the pair with which a record begins; 0, where words lead nowhere, for a reference to an accept set."""
    return reference if reference & NO_RECORD == ZERO else ZERO


@inlined
def accept_of(records: Uint64s, reference: Unsigned) -> Unsigned:
    """Return the accept set of what a reference refers to."""
    head = records[TWO * pair_of(reference)] >> ACCEPT
    return (reference if reference & NO_RECORD != ZERO else head) & STATE_MASK


@inlined
def bucket_of(head: Unsigned, symbol: Unsigned) -> Unsigned:
    """Return the number of the bucket, in a record that begins with this number, that a symbol is hashed to."""
    size = head >> SIZE
    hashed = symbol * GOLDEN >> FIRST_SHIFT + (size >> CHOICE & CHOICE_BITS) * NEXT_SHIFT
    return hashed & (ONE << (size & BUCKET_BITS)) - ONE


@inlined
def buckets_of(head: Unsigned, literals: Unsigned) -> Unsigned:
    """Return how many buckets a record has that begins with these two numbers: none if the state has no literals."""
    return ONE << (head >> SIZE & BUCKET_BITS) if literals != ZERO else ZERO


@inlined
def find_entry(records: Uint64s, pair: Unsigned, symbol: Unsigned) -> Unsigned:
    """Return the reference of a symbol in the record at a pair, 0 if nobody has met it there, or NONE if it has no entry.

    The record has buckets.
    """
    head = records[TWO * pair]
    last = (ONE << (head >> SIZE & BUCKET_BITS)) - ONE
    bucket = bucket_of(head, symbol)
    for _ in range(last + ONE):
        at = TWO * (pair + ONE + bucket)
        first, second = records[at], records[at + ONE]
        if first >> UPPER_HALF == symbol:
            return first & REFERENCE_MASK
        if second >> UPPER_HALF == symbol:
            return second & REFERENCE_MASK
        if second & OVERFLOW == ZERO:
            break
        bucket = bucket + ONE & last
    return NONE


@inlined
def state_of(seal: Seal | Any, reference: Unsigned) -> Unsigned:
    """Return the number of the state whose record begins where a reference says, or 0 if none begins there.

    ``seal`` may be any tuple that has ``starts`` and ``before``.
    """
    word, bit = reference // WORD_PAIRS, ONE << reference % WORD_PAIRS
    if word >= np.uint64(seal.starts.size) or seal.starts[word] & bit == ZERO:
        return ZERO
    return np.uint64(seal.before[word]) + ones(seal.starts[word] & bit - ONE) + ONE
