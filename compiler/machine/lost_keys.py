"""Single keys that a cache does not know as it is: what is missing is built, or they are simulated, in one call of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from compiler.kernels.tables import CACHELESS, PADDING, Cache, Int32s, Int64s, Program, Uint64s
from compiler.kernels.work import Work
from compiler.machine.bit_program import BitProgram
from compiler.machine.cache import empty_cache
from compiler.machine.single_keys import ONE_BYTES

__all__ = ["LostKeys"]

SOON = 256
"""So many keys go the way of small batches before: fewer are not worth loading the kernel, which takes 30 ms, or compiling it, which takes
seconds. Those that are asked meanwhile go that way, too."""


class LostKeys:
    """One walker's; its attributes are read by :meth:`compiler.machine.small_batches.SmallBatchWalker.match`, which spares a call."""

    def __init__(self, program: Program, bits: BitProgram | None, work: Work, *, divided: bool) -> None:
        """Begin without a cache. Keys are simulated as ``bits`` where there are any; ``work`` is the walker's.

        Where the set is ``divided``, keys come here that were looked up whole in vain, or, without a cache, not at all.
        """
        self._program, self._bits, self._work, self._divided = program, bits, work, divided
        self._asked = 0
        self.cache: Cache | Literal["dropped"] | None = "dropped"
        """The cache that ``find`` reads and writes, which this keeps; None where there is none; dropped where it is not the walker's any more."""
        self.find: Callable[[str | bytes], tuple[int, ...] | None] = _nothing
        """From a key to its accept tags, ascending, or to None where it must go the way of small batches."""
        self._frame: Uint64s | None = None
        self._tables: Cache | None = None
        self._counts: Int64s | None = None
        self._before: Int32s | None = None
        self._key = np.frombuffer(bytearray(ONE_BYTES + PADDING), np.uint8)
        """What the kernel has addresses of, and room for a set and for a key."""

    def prepare(self, cache: Cache | None, counts: Int64s) -> None:
        """Make ready for keys, as long as the cache is this one, if that pays by now; ``counts`` are those of the walker's pace."""
        self._asked += 1
        if self._asked <= SOON or (self._divided and cache is None):
            return
        from compiler.kernels.single_frame import state_of_frame  # as late as all kernels
        from compiler.kernels.single_lost import make_lost_frame, match_lost, renewed_lost

        if not match_lost.ready():
            return
        counts[CACHELESS] = cache is None
        tables = empty_cache(self._program, 0) if cache is None else cache
        if self._frame is None or counts is not self._counts:
            self._counts, self._before = counts, np.empty_like(self._work.members)
            room = self._key, self._work, self._bits, self._before, counts
            self._frame = make_lost_frame(self._program, tables, *room)
        else:
            self._frame = renewed_lost(self._frame, tables)
        self._tables = tables
        self.find = match_lost.make(state_of_frame(self._frame, 0), "find")
        self.cache = cache

    def drop(self) -> None:
        """Forget the cache."""
        self.cache, self.find, self._tables = "dropped", _nothing, None


def _nothing(key: str | bytes) -> None:  # noqa: ARG001
    return None
