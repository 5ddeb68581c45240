"""What matching keys one by one needs beside the cache: a frame for the kernel, and a buffer for the key."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from compiler.kernels.seal_tables import Seal
from compiler.kernels.store_tables import Exact
from compiler.kernels.tables import PADDING, Cache, Program, Uint64s

__all__ = ["ONE_BYTES", "SingleKeys"]

ONE_BYTES = 4096
"""The longest key that is matched by itself; a longer one goes the way of columns, which takes 40 us instead of 1. AMQP
has keys of up to 255 bytes, NATS of 4,096."""
MOST_TAGS = 1 << 16
"""Accept tags that are kept as tuples, at most: about 2 MB of Python's numbers."""


class SingleKeys:
    """One walker's; its attributes are read by :meth:`compiler.machine.walker.Walker.find`, which spares a call."""

    def __init__(self, program: Program, exact: Exact | None, capacity: int) -> None:
        """Begin without a cache; ``capacity`` is the cache's, and bounds the answers that are kept to a sixteenth of it.

        Keys are looked up among ``exact`` ones before they are walked.
        """
        self._room = min(MOST_TAGS, capacity // 64)
        self._program, self._exact = program, exact
        self.cache: Cache | None = None
        """The cache that ``find`` reads: that one has its arrays' addresses, this keeps the arrays. None where it is
        not needed any more, and would keep memory from being given back, or was cleared, and numbers its sets anew."""
        self.seal: Seal | None = None
        """The sealed tables that it reads instead."""
        self.find: Callable[[str | bytes], tuple[int, ...] | None] = _nothing
        """From a key to its accept tags, ascending, or to None where it must go the way of columns."""
        self._frame: Uint64s | None = None
        self._key = np.frombuffer(bytearray(ONE_BYTES + PADDING), np.uint8)
        """Where a key is put to be read."""

    def prepare(self, cache: Cache | None) -> None:
        """Make ready for keys, as long as the cache is this one."""
        self.cache = None
        if cache is not None:
            from compiler.kernels.single import make_frame, match_one  # as late as all kernels
            from compiler.kernels.single_frame import state_of_frame

            self._frame = make_frame(self._program, cache, self._exact, self._key)
            self.find = match_one.make(state_of_frame(self._frame, self._room), "find")
        self.cache = cache

    def prepare_sealed(self, seal: Seal) -> None:
        """Make ready for keys, of which sealed tables are asked."""
        from compiler.kernels.single_frame import state_of_frame  # as late as all kernels
        from compiler.kernels.single_sealed import make_frame, match_one_sealed

        self._frame = make_frame(self._program, seal, self._exact, self._key)
        self.find = match_one_sealed.make(state_of_frame(self._frame, self._room), "find")
        self.seal = seal

    @property
    def found_whole(self) -> int:
        """How many keys were found whole since it was made ready."""
        from compiler.kernels.single_frame import FOUND_WHOLE

        return 0 if self._frame is None else int(self._frame[FOUND_WHOLE])


def _nothing(key: str | bytes) -> None:  # noqa: ARG001
    return None
