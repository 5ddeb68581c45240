"""The fair opponent: a trie walk compiled by numba, with the care that the engine got, and none of the engine's code.

Words are interned, nodes are flat arrays of half a cache line each, edges lie in one hash table, and a block of keys is
walked level by level: the next word of every key is named, then looked up, then every (key, node) pair is stepped, then
the pairs that need the edge table ask it. Each pass prefetches what the next will read. ``#`` may stand anywhere and any
number of times: a ``#`` node that a key has entered stays, and one below another ``#`` is entered once per key. Keys stop
where no node is left, and a ``#`` that ends a pattern is answered when it is reached.

What was tried, in nanoseconds of processor time per key on the workloads of ``python -m benchmarks engine`` (400,000 keys of
each, medians of rounds in which all took turns, on a machine that was busy with other work: ratios hold, figures do not)::

    design                                                     stock  throughput  rabbit2011  nservicebus  fleet
    depth first, a key at a time, a stack of nodes               407          53         268          543    791
    a block of keys level by level, every push behind a branch   316         109         290         1118    205
    ... what may be pushed is written always, counted if right   294         128         298         1240    257
    ... only the question to the edge table is                   296         127         319          874    245
    ... and nodes begin at cache lines: this one                 306         108         290          898    172
    this one without the filter of literals                      401         110         418         1088
    ... and without single edges in the nodes                    524         106         530         1054

Depth first wins up to a half where a few nodes fit the first-level cache, and loses a factor of four where tables outgrow
the second: the misses of one key wait for each other. Its figure for rabbit2011 flatters it, as it was not made to enter a
node below a second ``#`` once only. Of stock's nodes with literal children nine in ten have a single one, and keep that
edge themselves; the others' filters of 64 bits spare most questions to the table. Blocks of 32 to 256 keys differ by
less than a tenth.

Left out: null keys, threads, and order within an answer, which sums do not need.
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
    """Scratch space of the walk."""

    block: np.int64
    counts: npt.NDArray[np.int64]
    keys: Uint64s
    live: Uint64s
    entered: Uint64s
    sizes: Uint64s
    pairs: Uint64s
    pairs_next: Uint64s
    asking: Uint64s
    found: Uint64s


class CompiledTrie:
    """Topic patterns of AMQP as a trie, for columns of keys.

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
        """Match a string column without nulls."""
        if keys.null_count or keys.type != pa.string():
            raise TypeError(f"keys is an Arrow column of {keys.type} with {keys.null_count} nulls: expected strings")
        _, starts, text = keys.buffers()
        rows = len(keys)
        offsets = np.frombuffer(starts, np.int32, rows + 1, 4 * keys.offset) if rows else np.zeros(1, np.int32)
        data = np.frombuffer(text, np.uint8) if text is not None and text.size else np.empty(0, np.uint8)
        out_offsets, out = np.zeros(rows + 1, np.int64), np.empty(max(1024, rows), np.int32)
        # The walk looks up to PADDING bytes beyond a key: the last ones are copied to where these are.
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
        offsets.flags.writeable = data.flags.writeable = False  # one type of arrays, one compilation
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
    while block > 1 and block * int(trie.nested) > 1 << 20:  # 8 MB of marks at most
        block //= 2
    sizes = (8 * block, block, max(1, block * int(trie.nested)), block, pairs, pairs, pairs, pairs)
    return Work(np.int64(block), np.zeros(2, np.int64), *(aligned(size) for size in sizes))
