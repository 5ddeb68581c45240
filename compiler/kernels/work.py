"""Scratch space of the kernels: one :class:`Work` for each walker, allocated once, as kernels allocate nothing.

What is in it means nothing between two calls of a kernel, with four exceptions: the deferred keys after a walk, which a caller reads; MOST_UNKNOWN, which one writes;
:class:`FoundSets`, which is what a simulation answers with; and the sample of keys.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compiler.kernels.tables import AHEAD, BLOCK, MOST_DEFERRED, MOST_LANES, Int32s, Int64s, Program, Uint64s

__all__ = [
    "FIRST_SAMPLE",
    "MOST_UNKNOWN",
    "SAMPLE_ASKED",
    "SAMPLE_BITS",
    "SAMPLE_COUNTS",
    "SAMPLE_HELD",
    "SAMPLE_KNOWN",
    "SAMPLE_MOST",
    "SAMPLE_ROW",
    "SAMPLE_SLOTS",
    "SAMPLING",
    "Begun",
    "FoundSets",
    "Work",
    "lines",
    "make_work",
    "simulated_block",
]


MEMBER_COUNT, TAG_COUNT, FINAL_FLAG, LITERAL_FILTER = range(4)
"""Slots of ``Work.counts`` when a set is complete: its members; its tags; FINAL if no word can change such a state, else 0; and
the filter of the members' literals."""
MOST_UNKNOWN = 4
"""Another slot, in which a caller writes how many keys that the key cache does not know, or some more, end a walk, as others have come; 0 for any number."""
LOOP_COUNT, ENTERED_COUNT = 0, 1
"""Slots of ``Work.counts`` before a set is complete: the entries of ``loops`` and of ``entered``."""
SAMPLING, SAMPLE_BITS, SAMPLE_ASKED, SAMPLE_KNOWN, SAMPLE_HELD, SAMPLE_ROW, SAMPLE_COUNTS = range(7)
"""Slots of ``Work.sample_counts``: 1 where keys are sampled; with how many zeros the hash of a key in the sample begins; how often such a key came, how
often one that had come before; how many the sample has; and the row before which keys of the column were sampled. And how many slots there are."""
SAMPLE_SLOTS, SAMPLE_MOST, FIRST_SAMPLE = 1 << 13, 1 << 12, 3
"""The slots of a sample, the most keys that it has, and its first SAMPLE_BITS."""


class Work(NamedTuple):
    """Scratch space of one walker.

    It is one flat tuple, although its fields fall into groups: with the groups as tuples of their own, each call of a kernel
    takes 1.4 us more.
    """

    # The block: the keys that are walked or simulated together. Entry i of each array is about key i of the block; there is
    # room for eight keys more than BLOCK, because vectors read and write eight at a time. Words of a key are *found* when
    # their ends are known; up to AHEAD of them are found at once, and then read one by one.

    rows: Uint64s
    """The key's row in the column."""
    begins: Uint64s
    """Where the first word begins that is not found yet: an index into the column's bytes, above ``ends`` if there is none."""
    ends: Uint64s
    """Where the key ends: an index into the column's bytes."""
    states: Uint64s
    """The key's state, without its FINAL bit."""
    words: Uint64s
    """How many words are found, at most AHEAD."""
    froms: Uint64s
    """Where the first of these words begins: an index into the column's bytes."""
    stops: Uint64s
    """Where each of these words ends, in bytes behind ``froms``: a byte for each word, the first one's lowest. The bytes behind mean nothing."""
    heads: Uint64s
    """The first eight bytes of these words, where the processor can permute bytes: BLOCK numbers for the keys' first words, BLOCK for their
    second words, and so on."""
    symbols: Uint64s
    """The symbol of the word that is read now; 0 if it is no literal of any pattern."""
    mixed: Uint64s
    """State and symbol, scrambled into one number (:func:`compiler.kernels.transitions.mix`); 0 if the word is no literal there. Or, in
    a walk through sealed tables, the pair with its bucket."""
    defaults: Uint64s
    """The default successor of the state, with its FINAL bit; 0 until it is built."""
    slots: Uint64s
    """Of the keys that the key cache does not know: their slots in it, times BLOCK, and their places among the block's rows."""
    late: Uint64s
    """A list of keys for which the vectors have no answer, so that plain code must look at them."""

    # The keys that a walk has deferred: entry i of each array is about the same key, ``meta[DEFERRED]`` says how many.

    deferred_rows: Uint64s
    """The key's row in the column."""
    deferred_begins: Uint64s
    """Where its next word begins: an index into the column's bytes."""
    deferred_states: Uint64s
    """The state that it is in."""

    # The sample of keys (:mod:`compiler.kernels.key_sample`), which is kept between calls.

    sample: Uint64s
    """The hashes of keys that were walked, by a hash table."""
    sample_counts: Int64s
    """SAMPLE_COUNTS numbers (SAMPLING and those beside it)."""

    # A step of subset construction: three sorted lists of positions, and the set that they are merged into.

    loops: Int32s
    """The members that stay active."""
    entered: Int32s
    """The children that the word enters."""
    epsilon: Int32s
    """The MANY children of ``entered``, which epsilon moves enter."""
    members: Int32s
    """The live positions of the new set."""
    tags: Int32s
    """Its accept tags; or those of a key that is looked up whole, which may be more than the automaton has."""
    spare_tags: Int32s
    """As much room, in which they are sorted."""
    counts: Int64s
    """How many entries are in these arrays (MEMBER_COUNT and the constants below it)."""

    # The simulation by pairs of a position and a key (:mod:`compiler.kernels.simulate_pairs`).

    pairs: Uint64s
    """The pairs before the word that is read."""
    next_pairs: Uint64s
    """The pairs behind it."""
    asking_pairs: Uint64s
    """The pairs whose position may have a child that this word leads to."""
    found_pairs: Uint64s
    """The pairs at which a key and a pattern end."""
    literals: Uint64s
    """For each key of the block, the bits of the word in filters, or all bits if it is no literal."""
    nested_entered: Uint64s
    """For each key of the block, :func:`lines` numbers with a bit for each NESTED position: whether the key has entered it."""
    places: Uint64s
    """For each key of the block, where the next tag of its set is to be written; or, in a walk through sealed tables, the pair at which
    its state's record begins."""

    # The bit-parallel simulation (:mod:`compiler.kernels.simulate_bits`).

    lanes: Uint64s
    """The active bits, key by key."""
    marks: Uint64s
    """A bit for each accept tag, by which a set is sorted."""


class Begun(NamedTuple):
    """Keys that are to be simulated from some word on: entry i of each array is about the same key."""

    rows: Uint64s
    """The key's row in the column."""
    begins: Uint64s
    """Where its next word begins: an index into the column's bytes."""
    states: Uint64s
    """The state that it is in; 0 if nothing of it has been read."""


SETS_FOUND, TAGS_WANTED, EMPTY_SET, NEXT_KEY, SETS_SHARED = range(5)
"""Slots of ``FoundSets.counts``: the sets so far; if the kernel stopped because ``tags`` is too short, the length that it needs;
the number of the empty set, counted from 1, or 0 if there is none yet; the key to go on with; and the sets in ``slots``."""


SHARED_FROM = 64
"""Tags from which on a set is looked up in the answer before it is added, whether a simulation or a cleared cache has it. Smaller
ones take at most this much for each key; looking them up, too, makes simulating `hard` take 1.5 times as long."""


class FoundSets(NamedTuple):
    """The accept sets that a simulation finds: set s is ``tags[ends[s - 1]:ends[s]]``."""

    ends: Int32s
    """Has room for a set of each key."""
    tags: Int32s
    """May be too short: the kernel then stops, and goes on with a longer one."""
    slots: Uint64s
    """The hash table of sets that are not to be stored twice: hash << 32 | number, counted from 1. It has two slots for each, and
    for each key of a block, or the kernel stops, and goes on with a larger one."""
    counts: Int64s
    """Five numbers (SETS_FOUND and the constants beside it)."""


def lines(program: Program) -> int:
    """Return how many machine words hold a bit for each NESTED position."""
    return int(program.nested_count + 63) >> 6


def simulated_block(program: Program) -> int:
    """Return how many keys are simulated together: fewer where each needs many bits for NESTED positions."""
    return max(1, min(BLOCK, 65536 // max(1, lines(program))))


def make_work(program: Program) -> Work:
    """Allocate scratch space. Pages of memory that are never used never become resident."""
    positions = len(program.nodes) // 2

    def block(rows: int = 1) -> Uint64s:
        # Begins at a line of the processor's cache. 8 bytes behind that, a vector reaches across two lines, and a key of
        # `stock` takes a tenth more time (``python -m benchmarks ablations``).
        size = BLOCK * rows + 8
        room = np.zeros(size + 8, np.uint64)
        first = -room.ctypes.data % 64 // 8
        return room[first : first + size]

    def pairs() -> Uint64s:
        # A key has each position at most twice in a list, and a block of one key must fit.
        return np.empty(max(1 << 14, 2 * positions + 64), np.uint64)

    def tags() -> Int32s:
        return np.empty(max(len(program.tags), SHARED_FROM) + 1, np.int32)

    def deferred() -> Uint64s:
        # A walk stops after the block with which it reaches MOST_DEFERRED.
        return np.zeros(MOST_DEFERRED + BLOCK, np.uint64)

    return Work(
        rows=block(),
        begins=block(),
        ends=block(),
        states=block(),
        words=block(),
        froms=block(),
        stops=block(),
        heads=block(AHEAD),
        symbols=block(),
        mixed=block(),
        defaults=block(),
        slots=block(),
        late=block(),
        deferred_rows=deferred(),
        deferred_begins=deferred(),
        deferred_states=deferred(),
        sample=np.zeros(SAMPLE_SLOTS + SAMPLE_MOST, np.uint64),
        sample_counts=np.zeros(SAMPLE_COUNTS, np.int64),
        loops=np.empty(positions, np.int32),
        entered=np.empty(positions, np.int32),
        epsilon=np.empty(positions, np.int32),
        members=np.empty(positions, np.int32),
        tags=tags(),
        spare_tags=tags(),
        counts=np.zeros(5, np.int64),
        pairs=pairs(),
        next_pairs=pairs(),
        asking_pairs=pairs(),
        found_pairs=pairs(),
        literals=block(),
        nested_entered=np.empty(simulated_block(program) * lines(program), np.uint64),
        places=block(),
        lanes=np.empty(BLOCK * MOST_LANES, np.uint64),
        marks=np.zeros(MOST_LANES, np.uint64),
    )
