"""The fair opponent of the engine: a trie whose walk is compiled by numba, written with the same care.

It shares no matching code with the engine. What it imports of the compiler is :mod:`compiler.kernels._jit`: the decorators
that call numba, and machine instructions (loading eight bytes, comparing 64 bytes with one, prefetching, counting zeros).

Words are interned. A node is four numbers, half a cache line, and the edges of nodes with several literal children are in one
hash table. A block of keys is walked level by level, in passes: the next word of every key is named; its symbol is looked up;
every (key, node) pair takes a step; and the pairs that need the edge table look there. Each pass prefetches what the next one
reads. ``#`` may stand anywhere and any number of times: a key that has entered a ``#`` node stays there, and enters one
below another ``#`` once only. A key ends where it has no node left, and a ``#`` that ends a pattern accepts when it is
entered.

What was tried, in nanoseconds of processor time per key on the workloads of ``python -m benchmarks engine`` (400,000 keys of
each, medians of rounds in which all took turns, on a machine that was busy with other work: compare columns by ratios)::

    design                                                     stock  throughput  rabbit2011  nservicebus  fleet
    depth first, a key at a time, a stack of nodes               407          53         268          543    791
    a block of keys level by level, each push behind a branch    316         109         290         1118    205
    ... pushes without branches: written always, counted if due  294         128         298         1240    257
    ... only requests to the edge table without branches         296         127         319          874    245
    ... and nodes begin at cache lines: this one                 306         108         290          898    172
    this one without the filter of literals                      401         110         418         1088
    ... and without single edges in the nodes                    524         106         530         1054

Depth first is up to twice as fast where a few nodes fit into the first-level cache, and takes four times as long where the
tables outgrow the second: the cache misses of one key wait for each other. Its figure for rabbit2011 is too good, as that
version entered nodes below a second ``#`` more than once. Of stock's nodes with literal children nine in ten have a single
one, and keep that edge themselves; for the others a filter of 64 bits saves most requests to the table. Blocks of 32 to 256
keys differ by less than a tenth.

Left out: null keys, threads, and an order within an answer, which the comparison of answers does not need.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.compiled_trie.hashing import DONE, GROW_PAIRS
from benchmarks.compiled_trie.tables import PADDING, Trie, aligned, build
from benchmarks.compiled_trie.walking import BLOCK, walk

__all__ = ["CompiledTrie", "Found"]

Uint64s = npt.NDArray[np.uint64]


class Found(NamedTuple):
    """Who matches each key: positions ``positions[offsets[i]:offsets[i + 1]]`` for key i, in no order."""

    offsets: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int32]


class Work(NamedTuple):
    """Scratch space of the walk; a pair is ``node << 8 | key``, the key by its number in the block."""

    block: np.int64
    """Keys that are walked together."""
    counts: npt.NDArray[np.int64]
    """The row to go on at, and the size that ``out`` needs."""
    keys: Uint64s
    """Eight numbers for each key of the block; see :mod:`~benchmarks.compiled_trie.walking`."""
    live: Uint64s
    """Where the eight numbers of each key begin that still has a node."""
    entered: Uint64s
    """For each key a bit for every ``#`` node below another ``#``: whether the key has entered it."""
    sizes: Uint64s
    """For each key the number of its bindings, later where they are written next."""
    pairs: Uint64s
    """The pairs of this level."""
    pairs_next: Uint64s
    """The pairs of the next level."""
    asking: Uint64s
    """The pairs that must be looked up in the edge table."""
    found: Uint64s
    """The pairs whose node has bindings that match the key."""


class CompiledTrie:
    """AMQP patterns as a trie that matches columns of keys; a binding's number is its position among the patterns.

    >>> trie = CompiledTrie(["stock.#", "*.nyse", "#.ibm"])
    >>> found = trie.match(pa.array(["stock.nyse", "weather", "stock.nyse.ibm"]))
    >>> found.offsets.tolist(), sorted(found.positions[2:].tolist())
    ([0, 2, 2, 4], [0, 2])
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._trie = build(patterns)
        self._work = _work(self._trie, pairs=8192)

    @property
    def nbytes(self) -> int:
        """Bytes of the trie's tables, scratch space not counted."""
        return sum(table.nbytes for table in self._trie)

    def match(self, keys: pa.Array) -> Found:
        """Match a column of strings; raises TypeError for other types, and for nulls."""
        if keys.null_count or keys.type != pa.string():
            raise TypeError(f"keys is an Arrow column of {keys.type} with {keys.null_count} nulls: expected strings")
        _, starts, text = keys.buffers()
        rows = len(keys)
        offsets = np.frombuffer(starts, np.int32, rows + 1, 4 * keys.offset) if rows else np.zeros(1, np.int32)
        data = np.frombuffer(text, np.uint8) if text is not None and text.size else np.empty(0, np.uint8)
        out_offsets, out = np.zeros(rows + 1, np.int64), np.empty(max(1024, rows), np.int32)
        # The walk reads up to PADDING bytes beyond a key, so the last keys are copied in front of that many zeros.
        safe = int(np.searchsorted(offsets[1:], len(data) - PADDING, side="right"))
        out = self._walk(offsets, data, 0, safe, out_offsets, out)
        if safe < rows:
            begin = offsets[safe]
            tail = np.zeros(int(offsets[-1] - begin) + PADDING, np.uint8)
            tail[:-PADDING] = data[begin : offsets[-1]]
            out = self._walk(offsets[safe:] - begin, tail, 0, rows - safe, out_offsets[safe:], out)
        return Found(out_offsets, out[: out_offsets[-1]])

    def _walk(
        self, offsets: Any, data: Any, row: int, stop: int, out_offsets: npt.NDArray[np.int64], out: Any
    ) -> npt.NDArray[np.int32]:
        offsets.flags.writeable = data.flags.writeable = (
            False  # numba compiles once for each type, and this is part of it
        )
        while True:
            status = walk(self._trie, self._work, offsets, data, row, stop, out_offsets, out)
            row = int(self._work.counts[0])
            if status == DONE:
                return out  # type: ignore[no-any-return]
            if status == GROW_PAIRS:
                self._work = _work(self._trie, pairs=2 * len(self._work.pairs))
            else:
                larger = np.empty(max(2 * len(out), int(self._work.counts[1])), np.int32)
                larger[: len(out)] = out
                out = larger


def _work(trie: Trie, *, pairs: int) -> Work:
    block = BLOCK
    while block > 1 and block * int(trie.nested) > 1 << 20:  # at most 8 MB of bits for entered nodes
        block //= 2
    sizes = (8 * block, block, max(1, block * int(trie.nested)), block, pairs, pairs, pairs, pairs)
    return Work(np.int64(block), np.zeros(2, np.int64), *(aligned(size) for size in sizes))
