"""The flat tables that kernels read and fill.

Two values: a :class:`Program`, made once from an NFA, immutable and shared; and a :class:`Cache`, the lazy DFA's states,
accept sets and transitions, owned by one walker at a time. Both are NamedTuples of arrays, which a kernel takes as one
argument and is compiled for once. :mod:`compiler.machine.cache` makes, grows and clears caches.

The transition table
    maps (state, symbol) to a state by open addressing in entries of 8 bytes. With S bits of symbol and T bits of state,
    the number ``state << S | symbol`` has its upper half folded into its lower one and is multiplied by an odd constant
    modulo 2^(S + T), which is a bijection. The top bits of the product are the home slot; the next 32 are kept in the entry
    as its check. As the table never has fewer than 2^(S + T - 32) slots, home and check together *are* the key: a hit is
    exact, although no key is stored. The entry's low half holds the displacement from the home slot (4 bits), FINAL (1
    bit) and the target (27 bits). In a table of twice the bytes, as larger entries would need, a key of `stock` takes 1.3
    times as long (``python -m benchmarks.ablations``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Cache", "Program", "Work", "frozen", "make_work", "simulated_block"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Uint64s = npt.NDArray[np.uint64]

# Slots of Cache.meta.
STATES, MEMBERS, SETS, TAGS, TRANSITIONS, DEFAULTS = range(6)
"""Entries in use of each growing table."""
ROW, WORDS, MISSES = 6, 7, 8
"""The row to resume at; words read; and words of these whose transition was not there: it was built, or the key deferred."""
WANTED = 9
"""How many entries the table that must grow needs free."""
START = 10
"""The start state with its FINAL bit, or 0 where it is not built yet."""
START_RESERVED = 11
"""The start state of keys that begin with the reserved byte."""
KEY_CACHE_HITS = 12
"""Keys whose answer the table of whole keys knew."""
DEFERRED = 13
"""Keys that the last walk has left to be simulated."""
SEEN = 14
"""Counters of the doorkeeper that are in use."""
BUILDS = 15
"""Transitions and default successors that were built."""
COUNTS = [WORDS, MISSES, BUILDS, KEY_CACHE_HITS]
"""The counters that survive a clear."""
META = 16

PADDING = 72
"""Bytes that must be readable behind the last key that a kernel is given."""
BLOCK = 128
"""Keys that are walked together. With 8, a key takes 1.5 to 3 times as long (``python -m benchmarks.ablations``)."""
AHEAD = 8
"""Words of each of these that are looked at together: a byte for each in a number that tells where they end, and a lane."""

DOORKEEPER_ASKS = 3
"""So often a transition is asked for in vain where there is a doorkeeper, before it is built; at most 3."""
MOST_DEFERRED = 16384
"""A walk stops to have keys simulated when there are so many."""

LANES = 64
"""Machine words that the bit-parallel simulation may take."""

# What a walk returns.
DONE = 0
GROW_STATES, GROW_MEMBERS, GROW_SETS, GROW_TAGS, GROW_TRANSITIONS = 1, 2, 3, 4, 5

SCRAMBLE = 0x9E3779B97F4A7C15
"""The odd multiplier of all hashing here: 2^64 over the golden ratio (Knuth's multiplicative hashing)."""
# Flags of a position.
LOOPS, FIRST_IS_MANY, HAS_ONE, LEADS_ON, HAS_TAGS, NESTED, CROWDED = 1, 2, 4, 8, 16, 32, 64
"""It stays on every word; its first child is MANY; it has a child ONE; a word leads to a child; a pattern ends here; it is MANY
below another MANY; so many words lead to children that they are looked up in a hash table."""

TARGET_BITS = 27
TARGET = (1 << TARGET_BITS) - 1
"""Mask of a state number."""
FINAL = 1 << TARGET_BITS
"""Set beside a state number if no further word can change that state."""
SYMBOL, FILTER_BIT = (1 << 58) - 1, 63 << 58
"""Masks of a word as it was read: its symbol, 0 for none, and the number of the bit that stands for it in filters."""
DISPLACEMENT_SHIFT = 28
PROBES = 16
"""An entry lies at most this many slots, less one, behind its home slot."""


class Program(NamedTuple):
    """An NFA as kernels read it."""

    separator: np.uint8
    reserved: np.int64
    """The byte whose keys begin at the second root; -1 where there is one root."""
    roots: np.int64
    labels: Int32s
    nodes: Uint64s
    """Two entries for each position, so that what a step asks of it is one access: its first child << 32 | flags; and its
    filter, in which the bit of each literal child is set. A sentinel ends the last one's children."""
    tag_offsets: Int32s
    tags: Int32s
    words: Uint64s
    """Hash table of the literal words: pairs (name, symbol)."""
    word_shift: np.int64
    """64 less the binary logarithm of the table's slots."""
    word_data: npt.NDArray[np.uint8]
    word_offsets: Int32s
    filter_bits: npt.NDArray[np.uint8]
    """For each symbol the bit that stands for it in filters."""
    edges: Uint64s
    """The children of crowded positions that literal words lead to, by (position, symbol): a table of the transition table's
    form."""
    edge_shift: np.int64
    edge_symbol_bits: np.int64
    edge_key_shift: np.int64
    nested: Int32s
    """Numbers from 1 for the MANY positions below another one, 0 for the others; empty where there are none."""
    nested_count: np.int64


class Cache(NamedTuple):
    """The lazy DFA. State and set numbers count from 1; entry 0 of each table is a sentinel."""

    meta: Int64s
    state_end: Int32s
    """The members of state s are ``members[state_end[s - 1]:state_end[s]]``."""
    info: Uint64s
    """Two entries for each state: its accept set << 32 | its default successor with FINAL bit, or 0 where that is not
    built yet; and its filter, in which the bit of each of its literals is set."""
    state_slots: Uint64s
    """Hash table of states by their members and accept set: hash << 32 | number. With the hash beside the number, looking
    for a state that is new touches no state, and growing the table reads and writes it in order."""
    members: Int32s
    set_end: Int32s
    """The accept tags of set s are ``tags[set_end[s - 1]:set_end[s]]``."""
    set_slots: Uint64s
    """The same for accept sets by their tags."""
    tags: Int32s
    transitions: Uint64s
    """2^b slots and PROBES - 1 more, so that probing never wraps."""
    transition_shift: np.int64
    """64 - b."""
    symbol_bits: np.int64
    key_shift: np.int64
    """64 - (bits of a symbol + bits of a state)."""
    state_limit: np.int64
    """The cache is full when it has this many states."""
    doorkeeper: Uint64s
    """The doorkeeper: two bits for each (state, symbol) that is not built, at the top bits of its mixed key, count how often
    it was asked for. Empty where a transition is built at once."""
    doorkeeper_shift: np.int64


class Work(NamedTuple):
    """Scratch space of one walker; its contents mean nothing between calls."""

    loops: Int32s
    entered: Int32s
    epsilon: Int32s
    members: Int32s
    tags: Int32s
    counts: Int64s
    """How many entries of ``members`` and of ``tags`` the last step wrote; FINAL if no word can change such a state; and
    the filter of the members' literals."""
    rows: Uint64s
    """Of each key of the block, its row;"""
    begins: Uint64s
    """where the first word begins that is not looked at yet;"""
    ends: Uint64s
    """where the key ends;"""
    states: Uint64s
    """its state;"""
    words: Uint64s
    """how many of its next words are looked at, up to AHEAD;"""
    slots: Uint64s
    """its slot in the table of whole keys;"""
    symbols: Uint64s
    """its next word as it was read (see SYMBOL);"""
    mixed: Uint64s
    """its state and that word scrambled (see :mod:`compiler.kernels.transitions`);"""
    froms: Uint64s
    stops: Uint64s
    """and where the first of the words begins that are looked at, and how far behind that each ends: a byte for each (see
    :func:`compiler.kernels.reading.look_at`)."""
    heads: Uint64s
    """The first eight bytes of these words: a row of BLOCK numbers for the first words, another for the second, and so on."""
    late: Uint64s
    """The keys that need more than one look."""
    literal: Uint64s
    """The bit of each key's next word in filters, 0 if it is no literal."""
    places: Uint64s
    """Where each key's answer is to be written."""
    deferred_rows: Uint64s
    deferred_begins: Uint64s
    deferred_states: Uint64s
    """Keys that are to be simulated: their rows, where their next words begin, and the states they are in."""
    pairs: Uint64s
    next_pairs: Uint64s
    asking_pairs: Uint64s
    found: Uint64s
    """The simulation's pairs of a position and a key: now, behind the next word, with an edge to look up, and at the end."""
    loops_entered: Uint64s
    """Which of the numbered loops each key has entered."""
    marks: Uint64s
    """Bits of accept tags."""
    lanes: Uint64s
    """The active bits of the bit-parallel simulation, key by key."""


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only, aligned, contiguous view, or a copy where there can be none.

    To numba, a read-only array is of another type than a writable one, and each costs a compilation: whatever a kernel
    only reads is handed to it like this, wherever it came from.
    """
    view = np.require(array, requirements=("C", "A")).view()
    view.flags.writeable = False
    return view


def lines(program: Program) -> int:
    """Return how many machine words a key needs to tell which of the numbered loops it has entered."""
    return int(program.nested_count + 63) >> 6


def simulated_block(program: Program) -> int:
    """Return how many keys are simulated together: fewer where they must remember many loops."""
    return max(1, min(BLOCK, 65536 // max(1, lines(program))))


def make_work(program: Program) -> Work:
    """Allocate scratch space; pages that are never used are never made resident."""
    positions = len(program.nodes) // 2

    def block(rows: int = 1) -> Uint64s:
        # Begins at a line of the processor's cache: 8 bytes behind, vectors reach across two, and a key of `stock` takes a
        # tenth more time (``python -m benchmarks.ablations``).
        size = BLOCK * rows + 8
        room = np.zeros(size + 8, np.uint64)
        first = -room.ctypes.data % 64 // 8
        return room[first : first + size]

    def pairs() -> Uint64s:
        # A key has each position at most twice in a list, and a block of one key must fit.
        return np.empty(max(1 << 14, 2 * positions + 64), np.uint64)

    return Work(
        loops=np.empty(positions, np.int32),
        entered=np.empty(positions, np.int32),
        epsilon=np.empty(positions, np.int32),
        members=np.empty(positions, np.int32),
        tags=np.empty(len(program.tags) + 1, np.int32),
        counts=np.zeros(4, np.int64),
        rows=block(),
        begins=block(),
        ends=block(),
        states=block(),
        words=block(),
        slots=block(),
        symbols=block(),
        mixed=block(),
        froms=block(),
        stops=block(),
        heads=block(AHEAD),
        late=block(),
        literal=block(),
        places=block(),
        deferred_rows=np.zeros(MOST_DEFERRED + BLOCK, np.uint64),
        deferred_begins=np.zeros(MOST_DEFERRED + BLOCK, np.uint64),
        deferred_states=np.zeros(MOST_DEFERRED + BLOCK, np.uint64),
        pairs=pairs(),
        next_pairs=pairs(),
        asking_pairs=pairs(),
        found=pairs(),
        loops_entered=np.empty(simulated_block(program) * lines(program), np.uint64),
        marks=np.zeros(LANES, np.uint64),
        lanes=np.empty(BLOCK * LANES, np.uint64),
    )
