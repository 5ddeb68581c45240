"""How much memory a process needs, apart from what its allocators keep for later."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path

import pyarrow as pa

__all__ = ["resident_bytes"]


def resident_bytes() -> int | None:
    """Return the bytes of this process that are in memory, or None where the system does not tell in this way.

    Before that, garbage is collected, and Arrow's and the C library's allocators return to the system what they hold for later:
    after rounds of the soak of very different sizes that is a third of all, and it grows while nothing else does.
    """
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return None
    gc.collect()
    pa.default_memory_pool().release_unused()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # glibc has it, musl has not
        trim(0)
    return int(statm.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
