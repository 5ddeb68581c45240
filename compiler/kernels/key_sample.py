"""A sample of the keys that are walked, by their hashes: how many of them came before, and how many different ones there are.

Of all different keys one in 2^b is in the sample, whenever it comes, as its hash begins with so many zeros. So what recurs among these recurs among
all, at any distance: the share of known keys is the one that a table of all keys would have. (Waldspurger et al. 2015 draw miss ratios of
caches from such samples.) When the sample is full, b grows by one, and half of the keys leave it.

:mod:`compiler.machine.key_sample` says when it is worth while. A block of keys that is walked again, as a table of the cache had to grow, is
counted once.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel, load64, trailing_zeros
from compiler.kernels._sample_vectors import choose_eight
from compiler.kernels.key_store import hash_key
from compiler.kernels.tables import SAMPLE_FACTORS, Bytes, Int64s, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import EIGHT, GOLDEN, LOW_HALF, NONE, ONE, SIXTY_THREE, UPPER_HALF, ZERO
from compiler.kernels.words import below
from compiler.kernels.work import (
    SAMPLE_ASKED,
    SAMPLE_BITS,
    SAMPLE_HELD,
    SAMPLE_KNOWN,
    SAMPLE_MOST,
    SAMPLE_ROW,
    SAMPLE_SLOTS,
    SAMPLING,
    Work,
)

__all__ = ["choice", "sample_block", "sample_keys"]

MASK, MOST = np.uint64(SAMPLE_SLOTS - 1), np.uint64(SAMPLE_MOST)
SLOT_SHIFT = np.uint64(20)
"""The slot of a key is not told by the first bits of its hash, which are zeros, nor by the last, which are mixed least."""
FIRST, MIDDLE, LAST = (np.uint64(factor) for factor in SAMPLE_FACTORS)
PROBES, MOST_BITS = np.uint64(32), 32
"""A key that is not within so many slots from its own is not in the sample, and more zeros than that are asked of no hash: only keys that were
chosen so need either."""


@inlined
def sample_block(work: Work, data: Bytes, n: Unsigned, row: Signed, following: Unsigned) -> None:
    """Count the n keys of a block in the sample, if there is one, and if the block, which has rows ``row`` to ``following`` - 1, does not begin again."""
    if work.sample_counts[SAMPLING] != 0 and row >= work.sample_counts[SAMPLE_ROW]:
        sample_keys(data, work.begins, work.ends, n, work.sample, work.sample_counts)
        work.sample_counts[SAMPLE_ROW] = np.int64(following)


@kernel
def sample_keys(data: Bytes, begins: Uint64s, ends: Uint64s, count: Unsigned, sample: Uint64s, counts: Int64s) -> None:
    """Count those of a block's keys that are in the sample, and those of them that came before.

    ``begins`` and ``ends`` say where the keys lie in the column's bytes, and have room for eight more; an empty key, which begins behind its end, is left out. ``sample`` has the
    hashes of keys that came: a hash table of SAMPLE_SLOTS numbers, and room for SAMPLE_MOST behind it. ``counts`` is what
    :class:`compiler.kernels.work.Work` says.
    """
    shift = SIXTY_THREE - np.uint64(counts[SAMPLE_BITS])
    for i in range(count, count + EIGHT):  # what is behind the last key is taken for empty keys
        begins[i], ends[i] = ONE, ZERO
    first = ZERO
    while first < count:
        chosen = choose_eight(data, begins, ends, first, shift)
        while chosen != ZERO:
            key = first + trailing_zeros(chosen)
            _enter(data, begins[key], ends[key], sample, counts)
            chosen &= chosen - ONE
        shift = SIXTY_THREE - np.uint64(counts[SAMPLE_BITS])
        first += EIGHT


@kernel
def _enter(data: Bytes, begin: Unsigned, end: Unsigned, sample: Uint64s, counts: Int64s) -> None:
    """Count a key that is in the sample, unless this has been halved since it was chosen."""
    mixed = choice(data, begin, end - begin)
    if mixed >> ONE >> SIXTY_THREE - np.uint64(counts[SAMPLE_BITS]) != ZERO:
        return
    mixed = mixed & ~LOW_HALF | hash_key(data, begin, end - begin) >> UPPER_HALF
    counts[SAMPLE_ASKED] += 1
    slot = _slot_of(sample, mixed)
    if slot == NONE:
        return
    if sample[slot] != ZERO:
        counts[SAMPLE_KNOWN] += 1
        return
    if np.uint64(counts[SAMPLE_HELD]) < MOST:
        sample[slot] = mixed
        counts[SAMPLE_HELD] += 1
    if np.uint64(counts[SAMPLE_HELD]) == MOST and counts[SAMPLE_BITS] < MOST_BITS:
        _halve(sample, counts)


@inlined
def choice(data: Bytes, begin: Unsigned, length: Unsigned) -> Unsigned:
    """Hash three times eight bytes of a key that is not empty, the first, middle and last ones: all of it up to 24 bytes.

    Longer keys that differ in other bytes only are in the sample together or not at all, which is as good in the mean. (To hash all bytes
    of keys of 68 took 7 ns.)
    """
    last = length - min(length, EIGHT)
    short = below(EIGHT * length) if length < EIGHT else NONE
    mixed = (load64(data, begin) & short) * FIRST + length
    mixed += (load64(data, begin + (last >> ONE)) & short) * MIDDLE
    mixed += (load64(data, begin + last) & short) * LAST
    return (mixed ^ mixed >> UPPER_HALF) * GOLDEN


@kernel
def _slot_of(sample: Uint64s, mixed: Unsigned) -> Unsigned:
    """Return the slot that has this hash, or the empty one where it would be, or NONE."""
    slot = mixed >> SLOT_SHIFT & MASK
    for _ in range(PROBES):
        if sample[slot] == ZERO or sample[slot] == mixed:
            return slot
        slot = (slot + ONE) & MASK
    return NONE


@kernel
def _halve(sample: Uint64s, counts: Int64s) -> None:
    """Keep those keys alone whose hash begins with one zero more."""
    counts[SAMPLE_BITS] += 1
    shift, kept = SIXTY_THREE - np.uint64(counts[SAMPLE_BITS]), ZERO
    for slot in range(MASK + ONE):
        mixed, sample[slot] = sample[slot], ZERO
        if mixed != ZERO and mixed >> ONE >> shift == ZERO:
            sample[MASK + ONE + kept] = mixed
            kept += ONE
    counts[SAMPLE_HELD] = 0
    for i in range(kept):
        mixed = sample[MASK + ONE + i]
        slot = _slot_of(sample, mixed)
        if slot != NONE:
            sample[slot] = mixed
            counts[SAMPLE_HELD] += 1
