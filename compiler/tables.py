"""The flat tables that kernels read and fill.

Two values: a :class:`Program`, made once from an NFA, immutable and shared; and a :class:`Cache`, the lazy DFA's states,
accept sets and transitions, owned by one walker at a time. Both are NamedTuples of arrays, which a kernel takes as one
argument and is compiled for once. :mod:`compiler.cache` makes, grows and clears caches.

The transition table
    maps (state, symbol) to a state by open addressing in entries of 8 bytes. With S bits of symbol and T bits of state,
    the number ``state << S | symbol`` is multiplied by an odd constant modulo 2^(S + T), which is a bijection. The top
    bits of the product are the home slot; the next 32 are kept in the entry as its check. As the table never has fewer
    than 2^(S + T - 32) slots, home and check together *are* the key: a hit is exact, although no key is stored.
    The entry's low half holds the displacement from the home slot (4 bits), FINAL (1 bit) and the target (27 bits).
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.nfa import MANY, ONE, Nfa

__all__ = ["Cache", "Program", "Work", "frozen", "make_program", "make_work"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Uint64s = npt.NDArray[np.uint64]

# Slots of Cache.meta.
STATES, MEMBERS, SETS, TAGS, TRANSITIONS, DEFAULTS = range(6)
"""Entries in use of each growing table."""
ROW, WORDS, MISSES = 6, 7, 8
"""The row to resume at, words read, and transitions built."""
WANTED = 9
"""How many entries the table that must grow needs free."""
START = 10
"""The start state with its FINAL bit, or 0 where it is not built yet."""
START_RESERVED = 11
"""The start state of keys that begin with the reserved byte."""
RECALLS = 12
"""Keys whose answer the table of whole keys knew."""
COUNTS = [WORDS, MISSES, RECALLS]
"""What counts on when a cache is cleared."""
META = 14

PADDING = 72
"""Bytes that must be readable behind the last key that a kernel is given."""
BLOCK = 128
"""Keys that are walked together."""
AHEAD = 8
"""Words of each of these that are looked at together."""

LANES = 64
"""Machine words that the bit-parallel simulation may take."""

# What a walk returns.
DONE = 0
GROW_STATES, GROW_MEMBERS, GROW_SETS, GROW_TAGS, GROW_TRANSITIONS = 1, 2, 3, 4, 5

SCRAMBLE = 0x9E3779B97F4A7C15
"""The odd multiplier of all hashing here: 2^64 over the golden ratio (Knuth's multiplicative hashing)."""
# Flags of a position.
LOOPS, FIRST_IS_MANY, HAS_ONE, LEADS_ON, HAS_TAGS, NESTED = 1, 2, 4, 8, 16, 32
"""It stays on every word; its first child is MANY; it has a child ONE; a word leads to a child; a pattern ends here; it is MANY
below another MANY."""

TARGET_BITS = 27
TARGET = (1 << TARGET_BITS) - 1
"""Mask of a state number."""
FINAL = 1 << TARGET_BITS
"""Set beside a state number if no further word can change that state."""
DISPLACEMENT_SHIFT = 28
PROBES = 16
"""An entry lies at most this many slots, less one, behind its home slot."""


class Program(NamedTuple):
    """An NFA as kernels read it."""

    separator: np.uint8
    reserved: np.int64
    """The byte whose keys begin at the second root; -1 where there is one root."""
    roots: np.int64
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
    """The children that literal words lead to, by (position, symbol): a table of the transition table's form."""
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


class Work(NamedTuple):
    """Scratch space of one walker; its contents mean nothing between calls."""

    current: Int32s
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
    names: Uint64s
    """and the name of its next word."""
    stops: Uint64s
    """Where words end: a row of BLOCK numbers for the word before, and for each of AHEAD words."""
    asking: Uint64s
    symbols: Uint64s
    """The keys whose next word may be a literal, and which it is."""
    ask_names: Uint64s
    ask_states: Uint64s
    late: Uint64s
    late_symbols: Uint64s
    """Which of these need more than one look."""
    lanes: Uint64s
    """The active bits of the bit-parallel simulation."""


def make_program(nfa: Nfa, separator: bytes) -> Program:
    """Lay an NFA out for kernels; its own arrays are shared, not copied."""
    from compiler.kernels.words import fill_words

    slots = 1 << max(3, (2 * len(nfa.symbols)).bit_length())
    words = np.zeros(2 * slots, np.uint64)
    shift = np.int64(64 - (slots.bit_length() - 1))
    word_data = np.concatenate((nfa.symbols.data, np.zeros(PADDING, np.uint8)))
    filter_bits = np.zeros(len(nfa.symbols) + 1, np.uint8)
    fill_words(words, shift, frozen(word_data), frozen(nfa.symbols.offsets), filter_bits)
    parents = np.repeat(np.arange(len(nfa), dtype=np.int32), np.diff(nfa.children))
    edges, edge_shift, symbol_bits, key_shift = _edges(nfa, parents)
    nested = _nested(nfa, parents)
    return Program(
        separator=np.uint8(separator[0]),
        reserved=np.int64(nfa.reserved[0] if nfa.reserved else -1),
        roots=np.int64(len(nfa.roots)),
        nodes=frozen(_nodes(nfa, filter_bits, nested)),
        tag_offsets=frozen(nfa.tag_offsets),
        tags=frozen(nfa.tags),
        words=frozen(words),
        word_shift=shift,
        word_data=frozen(word_data),
        word_offsets=frozen(nfa.symbols.offsets),
        filter_bits=frozen(filter_bits),
        edges=frozen(edges),
        edge_shift=np.int64(edge_shift),
        edge_symbol_bits=np.int64(symbol_bits),
        edge_key_shift=np.int64(key_shift),
        nested=frozen(nested),
        nested_count=np.int64(nested.max(initial=0)),
    )


def _nodes(nfa: Nfa, filter_bits: npt.NDArray[np.uint8], nested: Int32s) -> Uint64s:
    """Gather what a step asks of each position."""
    labels, first, count = nfa.labels, nfa.children[:-1], np.diff(nfa.children)
    has = np.flatnonzero(count)
    many = np.zeros(len(nfa), np.bool_)
    many[has] = labels[first[has]] == MANY
    one = np.zeros(len(nfa), np.bool_)
    beyond = np.flatnonzero(count > many)
    one[beyond] = labels[first[beyond] + many[beyond]] == ONE
    flags = np.where(labels == MANY, LOOPS, 0) | np.where(many, FIRST_IS_MANY, 0) | np.where(one, HAS_ONE, 0)
    flags |= np.where(count > many, LEADS_ON, 0) | np.where(np.diff(nfa.tag_offsets), HAS_TAGS, 0)
    if len(nested):
        flags |= np.where(nested, NESTED, 0)
    nodes = np.zeros(2 * len(nfa) + 2, np.uint64)
    nodes[0::2] = nfa.children.astype(np.uint64) << np.uint64(32)
    nodes[0:-2:2] |= flags.astype(np.uint64)
    bits = np.where(labels > 0, np.uint64(1) << filter_bits[np.maximum(labels, 0)].astype(np.uint64), np.uint64(0))
    if len(has):
        nodes[1:-2:2][has] = np.bitwise_or.reduceat(bits, first[has])
    return nodes


def _edges(nfa: Nfa, parents: Int32s) -> tuple[Uint64s, int, int, int]:
    """Enter all children that literal words lead to into a table; return also its shift and how its keys are made."""
    from compiler.kernels.transitions import fill_edges

    literal = np.flatnonzero(nfa.labels > 0).astype(np.int32)
    symbol_bits = max(1, len(nfa.symbols).bit_length())
    key_bits = symbol_bits + len(nfa).bit_length()
    slot_bits = max(4, key_bits - 32, (2 * len(literal)).bit_length())
    while True:
        edges = np.zeros((1 << slot_bits) + PROBES - 1, np.uint64)
        shift = 64 - slot_bits
        if fill_edges(
            edges, shift, literal, parents[literal - len(nfa.roots)], nfa.labels[literal], symbol_bits, 64 - key_bits,
            np.zeros(META, np.int64),
        ):  # fmt: skip
            return edges, shift, symbol_bits, 64 - key_bits
        slot_bits += 1  # a place is crowded


def _nested(nfa: Nfa, parents: Int32s) -> Int32s:
    """Number the MANY positions below another MANY, from 1 on, in an array of all positions; it is empty without any."""
    many = nfa.labels == MANY
    below = np.zeros(len(nfa), np.bool_)
    roots = len(nfa.roots)
    first, last = roots, int(nfa.children[roots])
    while first < last:  # a level, whose parents are done
        above = parents[first - roots : last - roots]
        below[first:last] = below[above] | many[above]
        first, last = last, int(nfa.children[last])
    found = np.flatnonzero(many & below)
    if not len(found):
        return np.zeros(0, np.int32)
    numbers = np.zeros(len(nfa), np.int32)
    numbers[found] = np.arange(1, len(found) + 1)
    return numbers


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only, aligned, contiguous view, or a copy where there can be none.

    To numba, a read-only array is of another type than a writable one, and each costs a compilation: whatever a kernel
    only reads is handed to it like this, wherever it came from.
    """
    view = np.require(array, requirements=("C", "A")).view()
    view.flags.writeable = False
    return view


def make_work(program: Program) -> Work:
    """Allocate scratch space; pages that are never used are never made resident."""
    positions = len(program.nodes) // 2
    block = partial(np.zeros, BLOCK + 8, np.uint64)
    return Work(
        current=np.empty(positions, np.int32),
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
        names=block(),
        stops=np.zeros(BLOCK * (AHEAD + 1), np.uint64),
        asking=block(),
        symbols=block(),
        ask_names=block(),
        ask_states=block(),
        late=block(),
        late_symbols=block(),
        lanes=np.zeros(LANES, np.uint64),
    )
