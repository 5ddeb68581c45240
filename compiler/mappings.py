"""Tables of their own mappings: what one of them takes is the system's again the moment that nobody has it any more.

A cache's tables grow by being replaced. malloc keeps the place of an outgrown table for later, where little that comes fits: with caches
within 4 MiB it kept up to 3 MB, beside as much that was in use. So a table that is large beside its bound asks the system itself for
pages. It gets them one by one as they are written, so what has been reserved and not used takes none.

New pages take time, 0.4 ms for a megabyte, where malloc's old ones take a few microseconds. So tables that are small beside their bound
stay with malloc: together they keep little of it. So do all where the bound is large: within 64 MiB and more processes kept to it before.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["TIGHT", "in_huge_pages", "reserved", "zeros"]

MAPPED_FROM = 1 << 16
"""The smallest table that has a mapping, in bytes: to make one takes some microseconds, and half of its last page is lost on average."""
SHARE = 64
"""Nor has one that takes less than one part in so many of its bound."""
TIGHT = 1 << 25
"""Nor has any within a larger bound: only up to here is a bound so tight that it takes all this for a process to keep to it. Where routers of that kind follow each other in a process, the first pass over `stock` took 1.03 to 1.09
times as long with mappings."""
HUGE_FROM = 1 << 21
"""The smallest mapping that asks for huge pages, in bytes: a page of them. They are there in a fifth of the time of as many small ones."""


def zeros(count: int, dtype: npt.DTypeLike, capacity: int) -> npt.NDArray[Any]:
    """Return so many zeros, in a mapping of their own if they are large beside the ``capacity`` that they are a part of.

    >>> table = zeros(1 << 20, np.int32, 1 << 24)
    >>> len(table), table.dtype, table.flags.writeable, table.flags.owndata, int(table.max())
    (1048576, dtype('int32'), True, False, 0)
    >>> zeros(1 << 14, np.int32, 1 << 24).flags.owndata
    True
    """
    size = count * np.dtype(dtype).itemsize
    mapped = capacity <= TIGHT and size >= max(MAPPED_FROM, capacity // SHARE)
    room = _mapping(size) if mapped else None
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


def in_huge_pages(array: npt.NDArray[np.uint64], size: int) -> npt.NDArray[np.uint64]:
    """Have the first ``size`` bytes of a reserved array in huge pages, as far as they fill some and have not been written yet.

    Without these, looking a key up among 380,000 took 1.2 times as long. None reaches beyond ``size``, so what lies there takes nothing.
    """
    room = getattr(array.base, "obj", None)
    if isinstance(room, mmap.mmap):
        _advise(room, min(size, len(room)))
    return array


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
