"""A column that is being matched, and how that fares: what a walker decides by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiler.kernels.tables import BLOCK, Bools, Keys, frozen
from compiler.machine.collector import Collector
from compiler.machine.exact_keys import ExactFinder, FoundKeys
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
    stretch_hits: int = 0
    """What the counters said when that stretch began."""
    stretch_fresh: int = 0
    """The keys of that stretch that were deferred for a transition that nobody had asked for."""

    known: FoundKeys | None = None
    """Keys that were found by looking them up whole, and are not answered yet."""
    known_to: int = 0
    """The row up to which keys were looked up so."""

    _others: Keys | None = None
    _valid: Bools | None = None

    @property
    def ahead(self) -> int:
        """The keys of the whole answer from the next one on."""
        return self.found.rows - self.first - self.row

    @property
    def others(self) -> Keys:
        """The keys, with nulls in place of those that were found."""
        return self.keys if self._others is None else self._others

    def find(self, finder: ExactFinder, stop: int) -> None:
        """Look keys up to row ``stop`` up whole; what was found before has been answered."""
        self.known, self.known_to = finder.find(self.keys, self.row, stop, self.found.simulated), stop
        if len(self.known.rows):
            if self._valid is None:
                valid = self.keys.valid
                self._valid = valid.copy() if len(valid) else np.ones(len(self), np.bool_)
                self._others = self.keys._replace(valid=frozen(self._valid))
            self._valid[self.known.rows] = False

    def forget_found(self) -> None:
        """Forget what was found of keys that are left, as others have been answered otherwise meanwhile: they are looked up again."""
        if self.known is not None and self._valid is not None:
            self._valid[self.known.rows] = True
        self.known, self.known_to = None, self.row

    def __len__(self) -> int:
        return len(self.out)
