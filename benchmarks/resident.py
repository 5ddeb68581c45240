"""How much memory a process needs, apart from what its allocators keep for later."""

from __future__ import annotations

import ctypes
import gc
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

__all__ = ["Memory", "give_back", "memory", "resident_bytes"]

_TOTALS = re.compile(rb'<(?:total type="(fast|rest|mmap)" count="\d+"|system type="(current)") size="(\d+)"/>')


class Memory(NamedTuple):
    """What a process holds: pages, and what in them is in use, which fragmentation does not change."""

    resident: int
    """Bytes in memory."""
    native: int
    """Bytes that the C library's and Arrow's allocators have handed out, to threads of any kind; 0 where that is not told."""
    objects: int
    """Blocks that Python's own allocator has handed out."""


def memory() -> Memory | None:
    """Return what this process holds once garbage is collected, or None where the system does not tell in this way."""
    resident = resident_bytes()
    if resident is None:
        return None
    return Memory(resident, _handed_out() + pa.total_allocated_bytes(), sys.getallocatedblocks())


def give_back() -> None:
    """Collect garbage, and have Arrow's and the C library's allocators return to the system what they hold for later."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # glibc has it, musl has not
        trim(0)


def resident_bytes() -> int | None:
    """Return the bytes of this process that are in memory after :func:`give_back`, or None where the system does not tell in this way."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return None
    give_back()
    return int(statm.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _handed_out() -> int:
    """Return the bytes that ``malloc`` has handed out, in all its arenas: what they have, less what is free in them.

    >>> before = _handed_out()
    >>> kept = bytearray(1 << 24)
    >>> before == 0 or _handed_out() - before > 1 << 23
    True
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "malloc_info"):
        return 0
    libc.fopen.restype = ctypes.c_void_p
    with tempfile.NamedTemporaryFile() as file:
        stream = ctypes.c_void_p(libc.fopen(file.name.encode(), b"w"))
        libc.malloc_info(0, stream)
        libc.fclose(stream)
        told = file.read()
    # The totals of all arenas stand behind those of each.
    sizes = {(kind or system).decode(): int(size) for kind, system, size in _TOTALS.findall(told)}
    return sizes["current"] + sizes["mmap"] - sizes["fast"] - sizes["rest"]
