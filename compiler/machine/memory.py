"""How many bytes a cache may take where nobody has said: as its automaton needs, and as the machine has.

A small automaton's cache is served well with 64 MiB. That of a large one may hold states and transitions in proportion to its
positions, and one that is too small is cleared again and again, which is slower than no cache. On the other hand nobody who
compiles a set of bindings expects an eighth of the machine to be gone.

There is no least size that is taken whatever is free. Where a process's own memory is near its limit, a cache of even a few MiB may
have it killed, and keys that are simulated only take longer. So it holds always that the default is an eighth at most.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["LEAST", "available_memory", "default_capacity"]

LEAST = 64 << 20
"""The default where the automaton is small and memory is not: room for about a million transitions."""
SHARE = 8
"""The default is at most so large a part of the memory that is available."""

_MEMINFO, _GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def default_capacity(automaton_bytes: int) -> int:
    """Return the automaton's own bytes and 64 MiB, but at most an eighth of the memory that is available now."""
    wanted, free = LEAST + automaton_bytes, available_memory()
    return wanted if free is None else min(wanted, free // SHARE)


def available_memory() -> int | None:
    """Return the bytes of memory that this process may still take, or None where the system does not tell.

    That is what the machine has without swapping, or, if that is less, what the control group of this process (as that of
    a container) leaves. Page cache counts as available in both: who has just read a large log has not less room for that.
    """
    found = [size for size in (_machine(), _group()) if size is not None]
    return min(found, default=None)


def _machine() -> int | None:
    with suppress(OSError, ValueError):
        for line in _MEMINFO.read_text("ascii").splitlines():
            name, _, rest = line.partition(":")
            if name == "MemAvailable":
                return int(rest.split()[0]) << 10
    with suppress(OSError, ValueError, AttributeError):  # not Linux: what the machine has in all, if it tells
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _group() -> int | None:
    """Return what the control group's limit leaves, by the files of version 2 and those of version 1."""
    for limit, used, details, prefix in (
        ("memory.max", "memory.current", "memory.stat", ""),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_"),
    ):
        with suppress(OSError, ValueError):  # no such group, or the word "max"
            most, taken = (int((_GROUP / name).read_text("ascii")) for name in (limit, used))
            return max(0, most - max(0, taken - _page_cache(_GROUP / details, prefix)))
    return None


def _page_cache(details: Path, prefix: str) -> int:
    """Return the bytes of files that a control group counts as used and would give up for others; 0 where it does not tell.

    Shared memory is not among them: the kernel lists it with what processes have for themselves.
    """
    names, found = (f"{prefix}inactive_file", f"{prefix}active_file"), 0
    with suppress(OSError, ValueError):
        for line in details.read_text("ascii").splitlines():
            name, _, size = line.partition(" ")
            if name in names:
                found += int(size)
    return found
