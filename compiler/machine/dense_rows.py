"""A cache that has not had to build anything for a while, written out as rows of successors if it is small.

See :mod:`compiler.kernels.walk_rows` for what that is good for.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from compiler.kernels.tables import BUILDS, STATES, Cache, Keys, Program, frozen, frozen_cache
from compiler.kernels.work import Work
from compiler.mappings import zeros

__all__ = ["QUIET_KEYS", "DenseRows"]

DENSE_BYTES = 4 << 20
"""Rows may take so many bytes: those that are read often should lie near the processor. With a quarter of that, one in eight families
of ``python -m benchmarks regret`` takes 1.1 to 1.7 times as long when warm; with twice that, some take 1.4 times as long in the second
pass, in which rows are made. Without any, a key of `throughput` takes 1.4 times as long (``python -m benchmarks ablations``)."""
QUIET_KEYS, MOST_TIMES = 1 << 12, 8
"""So many keys must have gone by without building, as rows are made anew after every transition that is built; and twice as many each time that
something was built before they had, or before rows had been good for as many, up to so many times as many. That spares rows, and the 50 us that a call
of a kernel takes besides: of 600,000 keys of two words, of which ever another one was new, the first pass took 0.74 to 0.89 of the time and one after
a change 0.74 to 0.79, with 3 and 4 sets of rows in place of 9 and 11."""
BYTES_PER_KEY = 64
"""And one for each so many bytes of the rows, which take a tenth of a nanosecond or two each to write."""


class DenseRows:
    """One walker's rows, and how long nothing has been built."""

    def __init__(self, program: Program, most_bytes: int, capacity: int) -> None:
        """Begin without rows; they take ``most_bytes`` at most, and are part of a cache's ``capacity``."""
        self._capacity = capacity
        self._most_bytes = most_bytes
        self._program = program
        self._bits = max(1, (len(program.word_offsets) - 1).bit_length())
        """A row has 2 to this power successors: room for every literal word and for all others."""
        self._rows: npt.NDArray[np.uint32] | None = None
        self._keys = self._by_rows = self.wanted = self._builds = 0
        self._times = 1
        """How many times QUIET_KEYS must go by, as it was in vain before."""

    @property
    def nbytes(self) -> int:
        """Bytes of the rows, as far as they are made."""
        return 0 if self._rows is None else self._rows.nbytes

    @property
    def long_enough(self) -> bool:
        """Whether nothing was built for so long that rows are worth making."""
        return self._rows is not None or self._keys >= self._needed

    @property
    def most_keys(self) -> int:
        """How many keys may go through the general walk at once, so that it is seen in time that nothing is built any more."""
        return max(QUIET_KEYS, self._needed - self._keys)

    @property
    def _needed(self) -> int:
        return max(self._times * QUIET_KEYS, self.wanted // BYTES_PER_KEY)

    def fitting(self, cache: Cache, room: int) -> int:
        """Return the bytes that rows would take; 0 where they would not lie near the processor, or not fit into ``room`` bytes.

        Rows are dropped if single keys or small batches have built something since.
        """
        meta = cache.meta.data
        if meta[BUILDS] != self._builds:
            self._builds = meta[BUILDS]
            self.note(0, built=True)
        self.wanted = meta[STATES] << self._bits + 2
        return self.wanted if self.wanted <= min(self._most_bytes, room) else 0

    def note(self, keys: int, *, built: bool) -> None:
        """Take note of keys that went through the general walk."""
        self._keys += keys
        if not built:
            return
        if self._rows is not None and self._by_rows >= self._needed:
            self._times = 1
        elif self._rows is not None or self._keys >= QUIET_KEYS:
            self._times = min(2 * self._times, MOST_TIMES)
        self._rows = None
        self._keys = self._by_rows = 0

    def walk(
        self, cache: Cache, work: Work, column: Keys, row: int, stop: int, base: int, out: npt.NDArray[np.int32]
    ) -> int:
        """Match keys ``row`` to ``stop`` by rows; return ``stop``, or the first row of a block in which a successor is missing.

        Then the general walk is to go on; if it builds the successor, :meth:`note` is to be told.
        """
        from compiler.kernels.calling import direct
        from compiler.kernels.walk_rows import fill_dense_rows, walk_dense_rows

        if self._rows is None:
            self._rows = zeros(int(cache.meta[STATES]) << self._bits, np.uint32, self._capacity)
            fill_dense_rows(self._program, frozen_cache(cache), self._rows, self._bits)
        where = self._bits, column, row, stop, base, out
        stopped = int(direct(walk_dense_rows, self._program, cache.meta, frozen(cache.info), work, self._rows, *where))
        self._by_rows += stopped - row
        return stopped
