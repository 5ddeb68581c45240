"""What matching keys one by one needs beside the cache: a frame for the kernel, a buffer for the key, and known answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels.seal_tables import Seal
from compiler.kernels.store_tables import Exact
from compiler.kernels.tables import MISSING, PADDING, Cache, Program

__all__ = ["ONE_BYTES", "SingleKeys"]

ONE_BYTES = 4096
"""The longest key that is matched by itself; a longer one goes the way of columns, which takes 40 us instead of 1. AMQP
has keys of up to 255 bytes, NATS of 4,096."""
MOST_TAGS = 1 << 16
"""Accept tags that are kept as tuples, at most: about 2 MB of Python's numbers."""


class SingleKeys:
    """One walker's; its attributes are read by :meth:`compiler.machine.walker.Walker.match`, which spares a call."""

    def __init__(self, program: Program, exact: Exact | None, capacity: int) -> None:
        """Begin without a cache; ``capacity`` is the cache's, and bounds the answers that are kept to a sixteenth of it.

        Keys are looked up among ``exact`` ones before they are walked.
        """
        self._program, self._exact = program, exact
        if exact is not None:
            self._records, self._record_tags = memoryview(exact.records.data), exact.records.data.cast("B").cast("i")
        self._room = min(MOST_TAGS, capacity // 64)
        self.cache: Cache | None = None
        """The cache that ``frame`` was made of: the frame has its arrays' addresses, this keeps the arrays. None where it is
        not needed any more, and would keep memory from being given back."""
        self.seal: Seal | None = None
        """The sealed tables that it was made of instead."""
        self.frame: Any = None
        self.walk: Any = None
        """The kernel: from the frame and the length of the key in the buffer to its accept set, or MISSING, or what stands for a record."""
        self.key = memoryview(bytearray(ONE_BYTES + PADDING))
        """Where a key is put to be read: that takes 0.1 us, a new array around the key 0.4."""
        self.tags: dict[int, tuple[int, ...]] = {}
        """The accept sets that were asked for, by what the kernel calls them."""
        self._kept = 0

    def prepare(self, cache: Cache | None) -> None:
        """Make ready for keys, as long as the cache is this one."""
        self.cache = None
        if cache is not None:
            from compiler.kernels.calling import entry  # as late as all kernels
            from compiler.kernels.single import make_frame, walk_one

            self.frame = make_frame(self._program, cache, self._exact, np.frombuffer(self.key, np.uint8))
            self.walk = entry(walk_one, self.frame, 0)
        self.cache = cache

    def prepare_sealed(self, seal: Seal) -> None:
        """Make ready for keys, of which sealed tables are asked."""
        from compiler.kernels.calling import entry  # as late as all kernels
        from compiler.kernels.single_sealed import make_frame, walk_one_sealed

        self.frame = make_frame(self._program, seal, self._exact, np.frombuffer(self.key, np.uint8))
        self.walk = entry(walk_one_sealed, self.frame, 0)
        self.seal = seal

    def tags_of(self, cache: Cache | Seal, accept: int) -> tuple[int, ...]:
        """Return the tags of an accept set, and keep them if there is room."""
        if accept < MISSING:
            place = MISSING - accept
            size, count = divmod(self._records[place], 1 << 32)
            first = 2 * (place + 1 + (size + 7 >> 3))
            tags = tuple(self._record_tags[first : first + count])  # 0.7 us; by slices of an array 1.3
        else:
            tags = tuple(cache.tags[cache.set_end[accept - 1] : cache.set_end[accept]].tolist())
        if self._kept + len(tags) <= self._room:
            self._kept += len(tags)
            self.tags[accept] = tags
        return tags

    def forget(self) -> None:
        """Forget the answers: the cache was cleared, and numbers its sets anew."""
        self.tags.clear()
        self._kept = 0
