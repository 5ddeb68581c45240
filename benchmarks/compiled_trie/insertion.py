"""The kernels that insert patterns into the trie and copy its tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.compiled_trie.hashing import (
    DONE,
    DOT,
    GROW_NODES,
    GROW_WORDS,
    HASH,
    LOW,
    NOTHING,
    STAR,
    U0,
    U1,
    U2,
    U3,
    U4,
    U8,
    U32,
    U63,
    child_slot,
    find_word,
    name_of,
    word_slot,
)
from compiler.kernels._jit import kernel

__all__ = ["copy_words", "enter_edges", "insert"]


@kernel
def insert(
    data: Any,
    offsets: Any,
    words: Any,
    word_shift: Any,
    starts: Any,
    edges: Any,
    edge_shift: Any,
    nodes: Any,
    ends: Any,
    counts: Any,
) -> Any:
    """Insert patterns, from number ``counts[0]`` on; return DONE or what must grow.

    ``counts`` are the next pattern, and the numbers of symbols, of nodes, and of ``#`` nodes below another ``#``.
    ``starts[symbol]`` is where a literal word begins in ``data``; ``ends[i]`` becomes the node at which pattern i ends.
    Symbols 1 and 2 are ``*`` and ``#``, whose edges are in the table like the others.
    """
    while counts[0] < offsets.size - 1:
        i = counts[0]
        at, stop = np.uint64(offsets[i]), np.uint64(offsets[i + 1])
        tokens = np.int64(stop - at) + 2
        if 2 * (counts[1] + tokens) > words.size // 2 or counts[1] + tokens > starts.size:
            return GROW_WORDS
        if 2 * (counts[2] + tokens) > edges.size // 2 or 4 * (counts[2] + tokens) > nodes.size:
            return GROW_NODES
        node, loops, waiting = U0, U0, False
        more = at < stop
        while more:
            size = U0
            while at + size < stop and data[at + size] != DOT:
                size += U1
            # A run of wildcards is inserted as its "*" and then one "#": that matches the same, and no "#" follows another.
            if size == U1 and data[at] == HASH:
                waiting = True
            elif size == U1 and data[at] == STAR:
                node = _descend(edges, edge_shift, nodes, counts, node, U1)
            else:
                if waiting:
                    node = _descend_hash(edges, edge_shift, nodes, counts, node, loops)
                    waiting, loops = False, loops + U1
                name = name_of(data, at, size)
                slot = find_word(words, word_shift, data, starts, data, at, size, name)
                if words[U2 * slot + U1] == U0:
                    words[U2 * slot] = name
                    words[U2 * slot + U1] = size << U32 | np.uint64(counts[1])
                    starts[counts[1]] = at
                    counts[1] += 1
                node = _descend(edges, edge_shift, nodes, counts, node, words[U2 * slot + U1] & LOW)
            at += size + U1
            more = at <= stop
        if waiting:
            node = _descend_hash(edges, edge_shift, nodes, counts, node, loops)
        ends[i] = node
        counts[0] += 1
    return DONE


@kernel
def _descend(edges: Any, shift: Any, nodes: Any, counts: Any, node: Any, symbol: Any) -> Any:
    """Return the child of a node by a symbol, which is made if it is not there."""
    slot = child_slot(edges, shift, node, symbol)
    if edges[U2 * slot] == U0:
        child = np.uint64(counts[2])
        counts[2] += 1
        edges[U2 * slot] = node << U32 | symbol
        edges[U2 * slot + U1] = child
        nodes[U4 * child + U1] = NOTHING
        if symbol == U1:
            nodes[U4 * node] |= child
        elif symbol == U2:
            nodes[U4 * node] |= child << U32
        elif nodes[U4 * node + U1] == NOTHING and nodes[U4 * node + U2] == U0:
            nodes[U4 * node + U1] = symbol | child << U32
        else:
            single = nodes[U4 * node + U1]
            if single != NOTHING:
                nodes[U4 * node + U2] = U1 << (single & U63)
                nodes[U4 * node + U1] = NOTHING
            nodes[U4 * node + U2] |= U1 << (symbol & U63)
    return edges[U2 * slot + U1]


@kernel
def _descend_hash(edges: Any, shift: Any, nodes: Any, counts: Any, node: Any, loops: Any) -> Any:
    """Return the ``#`` child of a node, which is made if it is not there; ``loops`` is the number of ``#`` above it."""
    child = _descend(edges, shift, nodes, counts, node, U2)
    if nodes[U4 * child] == U0:
        nodes[U4 * child] = child
        if loops != U0:
            counts[3] += 1
            nodes[U4 * child + U3] = np.uint64(counts[3])
    return child


@kernel
def enter_edges(old: Any, nodes: Any, edges: Any, shift: Any, several_only: Any) -> Any:
    """Copy edges to another table: all, or only those of nodes with several literals; return their number.

    An empty ``edges`` only counts.
    """
    count = 0
    for slot in range(old.size // 2):
        key = old[2 * slot]
        if key == U0 or (several_only and (nodes[U4 * (key >> U32) + U2] == U0 or key & LOW < np.uint64(3))):
            continue
        count += 1
        if edges.size > 0:
            free = child_slot(edges, shift, key >> U32, key & LOW)
            edges[U2 * free] = key
            edges[U2 * free + U1] = old[2 * slot + 1]
    return count


@kernel
def copy_words(old: Any, words: Any, shift: Any, data: Any, starts: Any, text: Any) -> Any:
    """Copy words to another table, and the bytes of words over 8 bytes to ``text``; return the number of these bytes.

    ``starts`` then has their places in ``text``. With an empty ``text`` the bytes are counted and not copied.
    """
    used = np.int64(0)
    mask = np.uint64(words.size // 2 - 1)
    for i in range(old.size // 2):
        entry = old[2 * i + 1]
        if entry == U0:
            continue
        slot = word_slot(old[2 * i], entry >> U32, shift)
        while words[U2 * slot + U1] != U0:
            slot = (slot + U1) & mask
        words[U2 * slot] = old[2 * i]
        words[U2 * slot + U1] = entry
        if entry >> U32 > U8:
            size = np.int64(entry >> U32)
            if text.size > 0:
                start = starts[entry & LOW]
                for k in range(size):
                    text[used + k] = data[start + k]
                starts[entry & LOW] = used
            used += size
    return used
