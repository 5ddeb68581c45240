"""What matching keys one by one needs beside the cache: a frame for the kernel, and a buffer for the key."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from compiler.kernels.seal_tables import Seal
from compiler.kernels.store_tables import Exact
from compiler.kernels.tables import PADDING, Cache, Program, Uint64s

__all__ = ["ONE_BYTES", "SingleKeys", "answer_bytes"]

ONE_BYTES = 4096
"""The longest key that is matched by itself; a longer one goes the way of small batches, which takes 6 us instead of 1. AMQP
has keys of up to 255 bytes, NATS of 4,096."""
MOST_BYTES = 2 << 20
"""The bytes of answers that are kept as tuples, at most: some 50,000 accept tags, as Python's numbers."""
SHARE = 16
"""They take at most so large a part of a cache's capacity, beside it."""


def answer_bytes(capacity: int) -> int:
    """Return how many bytes the answers may take that are kept beside a cache of this capacity: a sixteenth of it, or 2 MiB.

    They are not within the capacity, as they come and go with single keys, and a table that has to grow cannot wait for them.
    """
    return max(0, min(MOST_BYTES, capacity // SHARE))


class SingleKeys:
    """One walker's; its attributes are read by :meth:`compiler.machine.walker.Walker.find`, which spares a call."""

    def __init__(self, program: Program, exact: Exact | None, most_bytes: int) -> None:
        """Begin without a cache; the answers that are kept will take ``most_bytes`` at most.

        Keys are looked up among ``exact`` ones before they are walked.
        """
        self._most_bytes = most_bytes
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
        self.drop()
        if cache is not None:
            from compiler.kernels.single import make_frame, match_one, renewed  # as late as all kernels
            from compiler.kernels.single_frame import state_of_frame

            if self._frame is None:
                self._frame = make_frame(self._program, cache, self._exact, self._key)
            else:
                self._frame = renewed(self._frame, cache)
            self.find = match_one.make(state_of_frame(self._frame, self._most_bytes), "find")
        self.cache = cache

    def drop(self) -> None:
        """Forget the cache, and the answers that are kept."""
        self.cache, self.find = None, _nothing

    def prepare_sealed(self, seal: Seal) -> None:
        """Make ready for keys, of which sealed tables are asked."""
        from compiler.kernels.single_sealed import make_frame  # as late as all kernels

        self._frame = make_frame(self._program, seal, self._exact, self._key)
        self._ask_sealed(self._frame)
        self.seal = seal

    def bound(self, most_bytes: int) -> None:
        """Bound the answers that are kept anew, forgetting those that there are."""
        self._most_bytes = most_bytes
        if self.seal is None or self._frame is None:
            self.drop()
        else:
            self._ask_sealed(self._frame)  # which has counted keys

    def _ask_sealed(self, frame: Uint64s) -> None:
        from compiler.kernels.single_frame import state_of_frame  # as late as all kernels
        from compiler.kernels.single_sealed import match_one_sealed

        self.find = match_one_sealed.make(state_of_frame(frame, self._most_bytes), "find")

    @property
    def found_whole(self) -> int:
        """How many keys were found whole since it was made ready."""
        from compiler.kernels.single_frame import FOUND_WHOLE

        return 0 if self._frame is None else int(self._frame[FOUND_WHOLE])


def _nothing(key: str | bytes) -> None:  # noqa: ARG001
    return None
