"""Building the compiled trie: patterns are inserted one by one; tables double when they are full, and are packed at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.compiled_trie.hashing import DONE, GROW_WORDS, NOTHING
from benchmarks.compiled_trie.insertion import copy_words, enter_edges, insert

__all__ = ["PADDING", "Trie", "aligned", "build"]

PADDING = 72
"""Bytes that a kernel may read beyond the last word that it is given."""
LINE = 64
"""Bytes of a cache line."""

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Uint64s = npt.NDArray[np.uint64]

NO_TEXT = np.zeros(0, np.uint8)


class Trie(NamedTuple):
    """The tables that the walk reads. A table of pairs is one array, so that a pair lies in one cache line."""

    words: Uint64s
    """Hash table of the literal words: pairs of (first 8 bytes or hash, length << 32 | symbol)."""
    word_shift: np.int64
    """The shift that makes a slot of a hash."""
    starts: Int64s
    """Where a symbol's word begins in ``text``, if it has over 8 bytes."""
    text: npt.NDArray[np.uint8]
    edges: Uint64s
    """Hash table of the edges of nodes with several literal children: pairs of (node << 32 | symbol, child)."""
    edge_shift: np.int64
    """The same for the edges."""
    nodes: Uint64s
    """Four numbers for each node; see :mod:`~benchmarks.compiled_trie.hashing`."""
    bindings: Int32s
    """The positions of the patterns, ordered by the nodes at which they end."""
    nested: np.int64
    """The size, in numbers of 64 bits, of a set of ``#`` nodes that have another ``#`` above them; 0 if there is none."""
    numbers: Int32s
    """For each node its number in such a set, counted from 1, or 0 if it is not such a node; empty if there is none."""


def build(patterns: Sequence[str]) -> Trie:
    """Build the trie of patterns; the position of a pattern is its binding's number."""
    column = pa.array(patterns, pa.string())
    _, starts_buffer, text_buffer = column.buffers()
    offsets = np.frombuffer(starts_buffer, np.int32, len(column) + 1).copy()
    bytes_of = np.frombuffer(text_buffer, np.uint8) if text_buffer is not None and text_buffer.size else NO_TEXT
    data = np.concatenate([bytes_of[: offsets[-1]], np.zeros(PADDING, np.uint8)])
    words, word_shift = _hash_table(1024)
    edges, edge_shift = _hash_table(1024)
    starts, nodes = np.zeros(1024, np.int64), np.zeros(4 * 1024, np.uint64)
    nodes[1] = NOTHING
    ends = np.zeros(len(column), np.int64)
    counts = np.array([0, 3, 1, 0], np.int64)
    while (status := insert(data, offsets, words, word_shift, starts, edges, edge_shift, nodes, ends, counts)) != DONE:
        if status == GROW_WORDS:
            old = words
            words, word_shift = _hash_table(len(old))
            copy_words(old, words, word_shift, data, starts, NO_TEXT)
            starts = np.concatenate([starts, np.zeros_like(starts)])
        else:
            old = edges
            edges, edge_shift = _hash_table(len(old))
            enter_edges(old, nodes, edges, edge_shift, False)
            nodes = np.concatenate([nodes, np.zeros_like(nodes)])
    old, (words, word_shift) = words, _hash_table(2 * int(counts[1]))
    text = np.zeros(copy_words(old, words, word_shift, data, starts, NO_TEXT) + 1, np.uint8)
    words[:] = 0
    copy_words(old, words, word_shift, data, starts, text)
    several = enter_edges(edges, nodes, edges[:0], edge_shift, True)
    old, (edges, edge_shift) = edges, _hash_table(2 * several)
    enter_edges(old, nodes, edges, edge_shift, True)
    packed = aligned(4 * int(counts[2]))
    packed[:] = nodes[: len(packed)]
    nested = int(counts[3]) // 64 + 1 if counts[3] else 0
    numbers = packed[3::4].astype(np.int32) if nested else np.zeros(0, np.int32)
    held = np.bincount(ends, minlength=len(packed) // 4)
    packed[3::4] = (np.cumsum(held) - held).astype(np.uint64) | held.astype(np.uint64) << np.uint64(32)
    return Trie(
        words=words,
        word_shift=word_shift,
        starts=starts[: counts[1]].copy(),
        text=text,
        edges=edges,
        edge_shift=edge_shift,
        nodes=packed,
        bindings=np.argsort(ends, kind="stable").astype(np.int32),
        nested=np.int64(nested),
        numbers=numbers,
    )


def aligned(size: int) -> Uint64s:
    """Return ``size`` zeros that begin at a cache line."""
    raw = np.zeros(8 * size + LINE, np.uint8)
    start = -raw.ctypes.data % LINE
    return raw[start : start + 8 * size].view(np.uint64)


def _hash_table(slots: int) -> tuple[Uint64s, np.int64]:
    """Return an empty table of at least ``slots`` pairs, and the shift that makes a slot of a hash."""
    bits = max(4, (slots - 1).bit_length())
    return aligned(2 << bits), np.int64(64 - bits)
