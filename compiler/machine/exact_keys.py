"""Keys that patterns without wildcards spell: looked up whole, and answered with all that matches them.

Of a million bindings of devices nearly all may be of that kind. Each of their keys is read once or twice, so to build states and
transitions for it takes longer than it spares, and to keep them takes all memory there is. A table of these keys needs neither. A
key that is not found there matches no pattern without wildcards, so an automaton of the other patterns answers it
(:mod:`compiler.machine.parts`).

Nobody writes these tables once they are made, so all threads read one copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from compiler.kernels.store_tables import EXACT_TOGETHER, Exact, scratch
from compiler.kernels.tables import Bools, Int64s, Keys, Uint64s
from compiler.kernels.work import NEXT_KEY, SETS_FOUND, SHARED_FROM
from compiler.machine.collector import FIRST_SIMULATED, SimulatedSets
from compiler.once import once
from compiler.values import FEW, Int32s, SetBatch

__all__ = ["FOUND", "ROWS", "ExactFinder", "FoundKeys"]

MOST_RECENT = 1 << 16
"""The most keys whose sets are remembered while an answer grows: half a megabyte."""
NO_RECENT: Uint64s = np.empty(0, np.uint64)

ROWS = 1 << 15
"""Keys that are looked up at once."""
FOUND = 20.0
"""The nanoseconds that looking a key up takes, in the proportions of :mod:`compiler.machine.store_policy`."""


@dataclass(slots=True)
class FoundKeys:
    """Keys of some rows that were found, each with a set among those of simulated keys, one behind the other."""

    rows: Int64s
    number: int
    """The number of the first one's set, counted from 0."""

    def write(self, row: int, out: Int32s) -> int:
        """Write the numbers of those in rows before this one to ``out``, and forget them; return how many these are."""
        count = int(np.searchsorted(self.rows, row))
        first = FIRST_SIMULATED - self.number
        out[self.rows[:count]] = np.arange(first, first - count, -1, dtype=np.int32)
        self.rows, self.number = self.rows[count:], self.number + count
        return count


class ExactFinder:
    """One walker's scratch space to find keys."""

    def __init__(self, exact: Exact) -> None:
        """Look keys up in these tables."""
        self._exact = exact
        self._asked, self._rows = scratch(EXACT_TOGETHER), np.empty(ROWS, np.int64)
        self._recent = NO_RECENT
        """The records of keys whose sets the present answer has, as far as :meth:`take_sets` has added them; none where it has not been used."""
        self._few: FewExact | None = None
        self.answered = 0
        """The keys that were answered so, in columns and small batches; of those in :class:`FoundKeys` that is told by who has them written."""

    @once
    def most(self) -> int:
        """How many different keys can be found."""
        return int(np.count_nonzero(self._exact.slots))

    def find(self, keys: Keys, row: int, stop: int, sets: SimulatedSets) -> FoundKeys:
        """Find keys from ``row`` to ``stop``, at most ROWS, and add their sets."""
        from compiler.kernels.calling import direct
        from compiler.kernels.exact_keys import find_exact

        sets.reserve(stop - row)
        number, count = int(sets.found.counts[SETS_FOUND]), 0
        while row < stop:
            rows = self._rows[count:]
            count += int(direct(find_exact, self._exact, self._asked, keys, row, stop, rows, sets.found))
            row = int(sets.found.counts[NEXT_KEY])
            if row < stop:
                sets.grow()
        return FoundKeys(self._rows[:count].copy(), number)

    def begin_answer(self) -> None:
        """Forget the sets of the answer before."""
        self._recent = NO_RECENT

    def find_places(self, keys: Keys, out: Int32s) -> Bools:
        """Find keys, and write numbers that :meth:`take_sets` knows to ``out``; return which keys these are."""
        from compiler.kernels.calling import direct
        from compiler.kernels.exact_keys import find_places

        known = np.zeros(len(out), np.bool_)
        self.answered += int(direct(find_places, self._exact, self._asked, keys, out, known))
        return known

    def take_sets(self, out: Int32s, row: int, stop: int, sets: SimulatedSets) -> None:
        """Write the numbers of sets to rows ``row`` to ``stop`` of ``out`` instead of those that :meth:`find_places` has written; add these sets.

        A set that comes often is added once, or now and then.
        """
        from compiler.kernels.calling import direct
        from compiler.kernels.exact_keys import take_sets

        if not len(self._recent):
            self._recent = np.zeros(min(2 * len(self._exact.slots), MOST_RECENT), np.uint64)
        sets.reserve(stop - row)
        while row < stop:
            where = out, row, stop, FIRST_SIMULATED
            row = int(direct(take_sets, self._exact, self._asked, self._recent, *where, sets.found))
            if row < stop:
                sets.grow()

    def put_few(self, keys: Keys, count: int, batch: SetBatch) -> SetBatch:
        """Return the answer for a small batch in which the keys that are found have their sets, whatever ``batch`` gives them."""
        if self._few is None:
            self._few = FewExact()  # the last step, as this may be broken off
        few = self._few
        few.sets.counts[SETS_FOUND] = 0
        found = int(few.find(self._exact, self._asked, keys, 0, count, self._rows, few.sets))
        self.answered += found
        return few.put(batch, self._rows, found) if found else batch


class FewExact:
    """Room for the sets of a small batch, and its answer."""

    def __init__(self) -> None:
        """Allocate 280 KB twice; pages that no batch needs never become resident."""
        from compiler.kernels.calling import direct  # as late as all kernels
        from compiler.kernels.exact_keys import find_exact
        from compiler.kernels.few_keys import add_sets

        few = SimulatedSets()
        few.reserve(FEW, FEW * SHARED_FROM + 1)
        self.sets = few.found
        self.find, self._add = partial(direct, find_exact), partial(direct, add_sets)
        self._answer = np.zeros(3 * FEW + FEW * SHARED_FROM, np.int32)

    def put(self, batch: SetBatch, rows: Int64s, found: int) -> SetBatch:
        """Return an answer with the sets that were found in so many ``rows``."""
        set_ids, offsets, positions = batch
        ends, tags = self.sets.ends, self.sets.tags
        end = self._add(set_ids, offsets, positions, rows, found, ends, tags, self._answer)
        if end >= 0:
            answer, of_keys = self._answer[:end].copy(), len(set_ids)
            of_sets = of_keys + len(offsets) + found
            return SetBatch(answer[:of_keys], answer[of_keys:of_sets], answer[of_sets:])
        first, ends = len(offsets) - 1, ends[:found]
        set_ids[rows[:found]] = np.arange(first, first + found, dtype=np.int32)
        return SetBatch(
            set_ids, np.concatenate((offsets, offsets[-1] + ends)), np.concatenate((positions, tags[: ends[-1]]))
        )
