"""What building and walking the trie share: the layout of a node, the names of words, and the two hash tables.

Numbers are unsigned: a signed index may be negative and count from the end, and testing for that costs instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import inlined, kernel, load64

__all__ = [
    "DONE",
    "DOT",
    "GROW_NODES",
    "GROW_OUT",
    "GROW_PAIRS",
    "GROW_WORDS",
    "HASH",
    "KEY",
    "LOW",
    "MIX",
    "MIX2",
    "NOTHING",
    "STAR",
    "U0",
    "U1",
    "U2",
    "U3",
    "U32",
    "U4",
    "U63",
    "U64",
    "U8",
    "child_slot",
    "edge_slot",
    "find_word",
    "name_of",
    "word_slot",
]

DONE, GROW_WORDS, GROW_NODES, GROW_PAIRS, GROW_OUT = range(5)
"""What a kernel returns: that it is done, or what must grow before it is called again."""

STAR, HASH, DOT = np.uint8(ord("*")), np.uint8(ord("#")), np.uint8(ord("."))
U0, U1, U2, U3, U4, U8 = (np.uint64(i) for i in (0, 1, 2, 3, 4, 8))
KEY = np.uint64(255)
U32, U63, U64 = np.uint64(32), np.uint64(63), np.uint64(64)
LOW = np.uint64(0xFFFFFFFF)
NOTHING = np.uint64(0xFFFFFFFF)
"""Stands for a symbol where there is none: in a node without exactly one literal child, in a key without a next word."""
MIX = np.uint64(0xBF58476D1CE4E5B9)  # splitmix64's multipliers, by Sebastiano Vigna
MIX2 = np.uint64(0x94D049BB133111EB)

# A node is 4 numbers, half a cache line:
# 0: its ``*`` child | its ``#`` child << 32, 0 where it has none; a ``#`` node is its own ``*`` child, so that keys stay there
# 1: if it has exactly one literal child: the symbol | the child << 32
# 2: if it has several: a filter with a bit for each literal, by the low six bits of its symbol
# 3: its bindings: where they begin | their number << 32


@inlined
def name_of(data: Any, at: Any, size: Any) -> Any:
    """Return a word's bytes as a number, or a hash of them if there are more than 8."""
    if size == U0:
        return U0
    name = load64(data, at)
    if size <= U8:
        return name << (U64 - U8 * size) >> (U64 - U8 * size)
    return _long_name(name, data, at, size)


@kernel
def _long_name(name: Any, data: Any, at: Any, size: Any) -> Any:
    last = at + size - U8  # the last 8 bytes may overlap the ones before: no load needs a mask
    at += U8
    while at < last:
        name = (name ^ load64(data, at)) * MIX
        name ^= name >> U32
        at += U8
    return (name ^ load64(data, last)) * MIX ^ name >> U32


@inlined
def word_slot(name: Any, size: Any, shift: Any) -> Any:
    """Return the first slot of a word in the table of words."""
    return (name ^ size << U32) * MIX2 >> shift


@kernel
def find_word(words: Any, shift: Any, text: Any, starts: Any, data: Any, at: Any, size: Any, name: Any) -> Any:
    """Return the slot of a word, or the free slot where it belongs."""
    mask = np.uint64(words.size // 2 - 1)
    slot = word_slot(name, size, shift)
    while True:
        entry = words[U2 * slot + U1]
        if entry == U0:
            return slot
        if words[U2 * slot] == name and entry >> U32 == size:
            start = np.uint64(starts[entry & LOW])
            i = U0 if size > U8 else size
            while i < size and text[start + i] == data[at + i]:
                i += U1
            if i == size:
                return slot
        slot = (slot + U1) & mask


@inlined
def edge_slot(node: Any, symbol: Any, shift: Any) -> Any:
    """Return the first slot of an edge in the table of edges."""
    return (node << U32 | symbol) * MIX >> shift


@kernel
def child_slot(edges: Any, shift: Any, node: Any, symbol: Any) -> Any:
    """Return the slot of the edge that leaves a node by a symbol, or the free slot where it belongs."""
    mask = np.uint64(edges.size // 2 - 1)
    slot = edge_slot(node, symbol, shift)
    while edges[U2 * slot] != U0 and edges[U2 * slot] != node << U32 | symbol:
        slot = (slot + U1) & mask
    return slot
