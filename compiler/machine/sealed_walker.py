"""A walker that asks sealed tables first, and its own cache for the keys that they do not know.

All walkers of a machine read the same tables, which nobody writes. A key on known ground is answered from there, whichever
thread asks. A key that is lost there is gathered with others like it, and matched from its beginning by the cache of the walker.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from compiler.kernels.seal_tables import Seal
from compiler.kernels.tables import BLOCK, PADDING, WORDS, Keys, Program, frozen
from compiler.machine.bit_program import BitProgram
from compiler.machine.collector import Collector
from compiler.machine.columns import end_of_bytes, readable
from compiler.machine.few_keys import FewKeys
from compiler.machine.policy import Policy
from compiler.machine.sealed_rows import SealedRows
from compiler.machine.single_keys import ONE_BYTES, SingleKeys
from compiler.machine.small_batches import SmallBatchWalker
from compiler.machine.walker import CHUNK, CHUNK_BYTES, Halt, HaltedError
from compiler.values import CacheStats, Int32s, KeyColumn, SetBatch

__all__ = ["SealedWalker"]


class SealedWalker(SmallBatchWalker):
    """A bounded cache behind sealed tables."""

    def __init__(self, program: Program, bits: BitProgram | None, capacity: int, policy: Policy, seal: Seal) -> None:
        """Read ``seal``, whose counters are replaced by this walker's own; the cache has ``capacity`` bytes beside it."""
        self._seal = seal._replace(meta=seal.meta.copy())
        self._sealed_rows = SealedRows(program, seal, policy.row_bytes)
        super().__init__(program, bits, capacity - self._row_bytes(capacity), policy)
        self._sealed_keys = 0
        self._sealed_single = SingleKeys(program, capacity)

    def run(self, columns: Iterable[KeyColumn], set_ids: Int32s, halt: Halt) -> SetBatch:
        """Match every key of every column, as :meth:`compiler.machine.walker.Walker.run` does."""
        columns = list(columns)
        lost = [self._walk_sealed(column, ids, halt) for column, ids in _with_ids(columns, set_ids)]
        found = Collector(set_ids)
        found.add(self._seal.set_end, self._seal.tags, len(set_ids))
        begin = 0
        for column, rows in zip(columns, lost, strict=True):
            for part in _chunks(column, rows):
                gathered = _gathered(column, part)
                rest = super().run([gathered], np.empty(len(part), np.int32), halt)
                first = found.extend(rest.offsets, rest.positions)
                set_ids[begin + part] = np.where(rest.set_ids < 0, rest.set_ids, rest.set_ids + np.int32(first))
            begin += len(column.offsets) - 1
        return found.batch()

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the accept tags of a key, ascending."""
        single = self._sealed_single
        if single.seal is None:
            single.prepare_sealed(self._seal)
        length = len(key)
        if length <= ONE_BYTES:
            single.key[:length] = key
            accept = single.walk(single.frame, length)
            if accept >= 0:
                self._sealed_keys += 1
                tags = single.tags.get(accept)
                return single.tags_of(self._seal, accept) if tags is None else tags
        return super().match(key)

    def stats(self) -> CacheStats:
        """Describe the cache; the keys and words that the sealed tables answered count as hits."""
        found, words = super().stats(), int(self._seal.meta[WORDS]) + self._sealed_rows.words
        return replace(
            found,
            keys=found.keys + self._sealed_keys,
            sealed_keys=self._sealed_keys,
            bytes=found.bytes + self._sealed_rows.nbytes,
            words=found.words + words,
            hits=found.hits + words,
        )

    def bound(self, capacity: int) -> None:
        """Bound the cache anew, and the rows that the sealed tables are written out as."""
        self._sealed_rows.drop()
        super().bound(capacity - self._row_bytes(capacity))

    def _row_bytes(self, capacity: int) -> int:
        """Decide whether to have rows, which may take half of a capacity; return their bytes, 0 for none."""
        self._dense = self._sealed_rows.fits(capacity // 2)
        return self._sealed_rows.wanted if self._dense else 0

    def _run_few(self, few: FewKeys, keys: Keys, count: int) -> SetBatch:
        from compiler.kernels.calling import direct  # as late as all kernels
        from compiler.kernels.walk_sealed import walk_sealed

        if not direct(walk_sealed, self._program, self._seal, self._work, keys, 0, count, few.ids):
            found = few.answer(self._seal, count)
            if found is not None:
                self._sealed_keys += count
                return found
        return super()._run_few(few, keys, count)

    def _walk_sealed(self, column: KeyColumn, ids: Int32s, halt: Halt) -> npt.NDArray[np.int64]:
        """Match a column as far as it is known; return the rows of the keys that are lost."""
        from compiler.kernels.calling import direct  # as late as all kernels
        from compiler.kernels.walk_sealed import LOST, walk_sealed

        lost = 0
        for rows, keys in readable(column):
            row, out = 0, ids[rows]
            while row < len(out):
                if halt:
                    raise HaltedError
                stop = end_of_bytes(keys.offsets, row, min(len(out), row + CHUNK), CHUNK_BYTES)
                if self._dense:
                    # Up to the first block in which a successor is missing, which is left to the general walk.
                    row = self._sealed_rows.walk(self._work, keys, row, stop, out)
                    stop = min(row + BLOCK, stop)
                lost += direct(walk_sealed, self._program, self._seal, self._work, keys, row, stop, out)
                row = stop
        self._sealed_keys += len(ids) - lost
        return np.flatnonzero(ids == LOST) if lost else np.empty(0, np.int64)


def _with_ids(columns: Sequence[KeyColumn], set_ids: Int32s) -> Iterable[tuple[KeyColumn, Int32s]]:
    """Yield each column and its part of the answer."""
    begin = 0
    for column in columns:
        end = begin + len(column.offsets) - 1
        yield column, set_ids[begin:end]
        begin = end


def _chunks(column: KeyColumn, rows: npt.NDArray[np.int64]) -> Iterable[npt.NDArray[np.int64]]:
    """Cut rows into parts whose keys are worth gathering together: CHUNK of them, and about CHUNK_BYTES."""
    sizes = column.offsets[rows + 1] - column.offsets[rows]
    ends = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    first = 0
    while first < len(rows):
        last = int(np.searchsorted(ends, ends[first] + CHUNK_BYTES))
        last = min(max(last, first + 1), first + CHUNK, len(rows))
        yield rows[first:last]
        first = last


def _gathered(column: KeyColumn, rows: npt.NDArray[np.int64]) -> KeyColumn:
    """Return a column of the keys of these rows."""
    from compiler.kernels.walk_sealed import gather_keys  # as late as all kernels

    offsets = np.zeros(len(rows) + 1, np.int32)
    np.cumsum(column.offsets[rows + 1] - column.offsets[rows], out=offsets[1:])
    data = np.empty(int(offsets[-1]) + PADDING, np.uint8)
    gather_keys(frozen(column.offsets), frozen(column.data), rows, offsets, data)
    return KeyColumn(offsets, data, None)
