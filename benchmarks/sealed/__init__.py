"""Sealed tables beside the cache that they were made of: keys on one thread and two, opening a file, and memory that is shared."""

from __future__ import annotations

from benchmarks.sealed.figures import Figure, run
from benchmarks.sealed.page import write

__all__ = ["Figure", "run", "write"]
