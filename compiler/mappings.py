"""Tables of their own mappings: what one of them takes is the system's again the moment that nobody has it any more.

A cache's tables grow by being replaced. malloc keeps the place of an outgrown table for later, where little that comes fits: of caches
within 4 MiB these were 3 MB, beside as much that was in use. So a table of some size asks the system itself for its pages. It takes them
one by one as they are written, so what has been reserved and not used takes none.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["in_huge_pages", "reserved", "zeros"]

MAPPED_FROM = 1 << 16
"""The smallest table that has a mapping, in bytes: to make one takes some microseconds, and of its last page half is lost on average."""
HUGE_FROM = 1 << 22
"""The smallest table that asks for huge pages, in bytes: NumPy's figure for its own arrays."""


def zeros(count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return so many zeros, in a mapping of their own if they are large.

    >>> table = zeros(1 << 20, np.int32)
    >>> len(table), table.dtype, table.flags.writeable, table.any()
    (1048576, dtype('int32'), True, np.False_)
    """
    size = count * np.dtype(dtype).itemsize
    room = _mapping(size) if size >= MAPPED_FROM else None
    if room is None:
        return np.zeros(count, dtype)
    if size >= HUGE_FROM:
        _advise(room, size)
    return np.frombuffer(room, dtype, count)


def reserved(size: int) -> npt.NDArray[np.uint64]:
    """Return zeros that take ``size`` bytes, about, but of the machine only what is written.

    For what grows where it lies: an array that is replaced by a larger one would be copied.
    """
    size = max(size, mmap.PAGESIZE)
    room = _mapping(size)
    return np.zeros(size // 8, np.uint64) if room is None else np.frombuffer(room, np.uint64, size // 8)


def in_huge_pages(array: npt.NDArray[Any], size: int) -> None:
    """Have the first ``size`` bytes of a reserved array in huge pages, as far as they fill some and have not been written yet.

    Without these, looking a key up among 380,000 took 1.2 times as long. No such page reaches beyond ``size``, so what is reserved and
    not in use takes nothing.
    """
    room = getattr(array.base, "obj", None)
    if isinstance(room, mmap.mmap):
        _advise(room, min(size, len(room)))


def _mapping(size: int) -> mmap.mmap | None:
    """Return a mapping, or None where the system has none, or none left: NumPy may find memory elsewhere, or says that there is none."""
    if not hasattr(mmap, "MAP_PRIVATE"):  # not a Unix
        return None
    with suppress(OSError):
        return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0))
    return None


def _advise(room: mmap.mmap, size: int) -> None:
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system without them
            room.madvise(mmap.MADV_HUGEPAGE, 0, size)
