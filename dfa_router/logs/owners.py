"""Whether the process that made something, perhaps on another machine, has ended: by a mark that names it for all time.

A process number alone may be another process's by now, so its start stands beside it, and what numbers it: the system since it
was started, and the namespace of its processes, which containers on one machine have apart. Who reads a mark of another system
cannot tell; nor can anybody where there is no ``/proc``.

Rejected: times at which the owner says that it lives. Clocks of machines differ, and a process that is stopped for an hour lives.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

__all__ = ["has_ended", "mark"]

_PROC = Path("/proc")


def mark() -> str:
    """Return the mark of this process: letters, digits and hyphens.

    >>> has_ended(mark())
    False
    """
    return f"{_system() or 'unknown'}-{os.getpid()}-{_start(str(os.getpid())) or 0}"


def has_ended(mark: str) -> bool | None:
    """Tell whether the process of a mark has ended, or None where that cannot be told from here.

    >>> has_ended("of-another-system") is None
    True
    """
    system, _, process = mark.partition("-")
    number, _, start = process.partition("-")
    if system != _system() or not number.isdecimal():
        return None
    return _start(number) != start


def _system() -> str | None:
    try:
        started = (_PROC / "sys/kernel/random/boot_id").read_text()
        return hashlib.sha256((started + str((_PROC / "self/ns/pid").readlink())).encode()).hexdigest()[:16]
    except OSError:
        return None


def _start(number: str) -> str | None:
    """Return when a process was started, in ticks since the system was; None where there is no such process, or only its corpse."""
    try:
        state, *fields = (_PROC / number / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state == "Z" else fields[18]
