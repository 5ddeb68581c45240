"""Keys that sealed tables leave to the cache behind them: where they are in a column, and a column of them alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from compiler.machine.columns import gathered
from compiler.machine.walker import CHUNK, CHUNK_BYTES
from compiler.values import Int32s, KeyColumn

__all__ = ["LeftKeys", "Rows", "cut"]

Rows = slice | npt.NDArray[np.int64]
"""Rows of a column: a run of them, or any, ascending."""


@dataclass(frozen=True, slots=True)
class LeftKeys:
    """Keys of a column."""

    whole: KeyColumn
    """The column that they are in."""
    set_ids: Int32s
    """Where the set numbers of that column belong."""
    rows: Rows
    """The keys' rows in it."""

    def __len__(self) -> int:
        return self.rows.stop - self.rows.start if isinstance(self.rows, slice) else len(self.rows)

    def column(self) -> KeyColumn:
        """Return a column of these keys: a slice where they are a run, or else a copy, for which none of them may be null."""
        offsets, data, valid = self.whole
        rows = self.rows
        if isinstance(rows, slice):
            return KeyColumn(offsets[rows.start : rows.stop + 1], data, None if valid is None else valid[rows])
        return gathered(offsets, data, rows)


def cut(column: KeyColumn, rows: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    """Cut rows into parts whose keys are worth gathering together: CHUNK of them, and about CHUNK_BYTES."""
    sizes = column.offsets[rows + 1] - column.offsets[rows]
    ends = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    first = 0
    while first < len(rows):
        last = int(np.searchsorted(ends, ends[first] + CHUNK_BYTES))
        last = min(max(last, first + 1), first + CHUNK, len(rows))
        yield rows[first:last]
        first = last
