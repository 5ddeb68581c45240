"""Sealed tables that are small, written out as rows of successors when they are first walked.

See :mod:`compiler.kernels.walk_rows` for what that is good for.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from compiler.kernels.seal_tables import ENDED, Seal
from compiler.kernels.tables import (
    FINAL,
    META,
    START,
    START_RESERVED,
    TARGET,
    WORDS,
    Int32s,
    Keys,
    Program,
    Uint64s,
    frozen,
)
from compiler.kernels.work import SAMPLE_ROW, Work

__all__ = ["SealedRows"]

STATE_BYTES = 16
"""What is kept for each row beside its successors."""


class SealedRows:
    """One walker's rows of its sealed tables."""

    def __init__(self, program: Program, seal: Seal, most_bytes: int) -> None:
        """Begin without rows; they take ``most_bytes`` at most."""
        self._program = program
        self._seal = seal
        self._bits = max(1, (len(program.word_offsets) - 1).bit_length())
        """A row has 2 to this power successors: room for every literal word and for all others."""
        self._rows: tuple[npt.NDArray[np.uint32], Uint64s] | None = None
        self._meta = np.zeros(META, np.int64)
        self._numbers = np.zeros(0, np.int32)
        self._most_bytes = most_bytes
        self._count = len(seal.state_end)
        if self.wanted <= most_bytes:
            from compiler.kernels.sealed_rows import mark_references  # as late as all kernels

            marks = np.zeros(2 * len(seal.set_end), np.int32)
            mark_references(seal, marks)
            for start in seal.meta[[START, START_RESERVED]].tolist():  # which no record need lead to
                if start & (FINAL | ENDED):
                    marks[2 * (start & TARGET) + (start & FINAL > 0)] = 1
            used = np.flatnonzero(marks)
            marks[used] = self._count + np.arange(len(used))
            self._numbers = frozen(marks)
            self._count += len(used)

    @property
    def wanted(self) -> int:
        """The bytes that the rows take, or fewer if they are too many."""
        return self._count * ((1 << self._bits + 2) + STATE_BYTES)

    def fitting(self, room: int) -> int:
        """Return the bytes that rows take; 0 where they would not lie near the processor, or not fit into ``room`` bytes."""
        return self.wanted if self.wanted <= min(self._most_bytes, room) else 0

    @property
    def nbytes(self) -> int:
        """Bytes of the rows, as far as they are made."""
        return 0 if self._rows is None else sum(array.nbytes for array in self._rows)

    @property
    def words(self) -> int:
        """The words that were read by rows."""
        return int(self._meta[WORDS])

    def drop(self) -> None:
        """Give the rows up, until they are walked again."""
        self._rows = None

    def walk(self, work: Work, column: Keys, row: int, stop: int, out: Int32s) -> int:
        """Match keys ``row`` to ``stop`` by rows; return ``stop``, or the first row of a block in which a successor is missing."""
        from compiler.kernels.calling import direct  # as late as all kernels
        from compiler.kernels.walk_rows import walk_dense_rows

        if self._rows is None:
            self._rows = self._filled()
        table, info = self._rows
        work.sample_counts[SAMPLE_ROW] = (
            stop  # none is sampled: that is for those that the cache behind the tables gets
        )
        where = self._bits, column, row, stop, 0, out
        return int(direct(walk_dense_rows, self._program, self._meta, info, work, table, *where))

    def _filled(self) -> tuple[npt.NDArray[np.uint32], Uint64s]:
        """Return the rows, and of each its accept set as a cache has it."""
        from compiler.kernels.sealed_rows import fill_sealed_rows, row_of_reference

        for start in (START, START_RESERVED):
            self._meta[start] = row_of_reference(self._seal, self._numbers, int(self._seal.meta[start]))
        table, info = np.zeros(self._count << self._bits, np.uint32), np.zeros(2 * self._count, np.uint64)
        fill_sealed_rows(self._program, self._seal, self._numbers, table, info, self._bits)
        return table, frozen(info)
