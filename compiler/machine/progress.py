"""A column that is being matched, and how that fares: what a walker decides by."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.kernels.tables import BLOCK, Keys
from compiler.machine.collector import Collector
from compiler.values import Int32s

__all__ = ["Progress"]


@dataclass(slots=True)
class Progress:
    """The column, and where in it the walker is."""

    keys: Keys
    out: Int32s
    """Where set numbers are written: row i is that of key i."""
    found: Collector
    first: int
    """The row of the first key in the whole answer."""
    row: int = 0
    """The next key."""
    block: int = BLOCK
    """Keys that are walked together: 1 where a whole block has outgrown an empty cache."""
    full_at: int = -1
    """The row at which the cache was full last."""
    unpaid: int = 0
    """Clears in a row that did not pay."""
    stretch_row: int = 0
    stretch_end: int = 0
    """The keys after which the pace is judged again begin and end here."""
    stretch_words: int = 0
    stretch_builds: int = 0
    """What the counters said when that stretch began."""
    stretch_fresh: int = 0
    """The keys of that stretch that were deferred for a transition that nobody had asked for."""

    def __len__(self) -> int:
        return len(self.out)
