"""What a machine is made of: an automaton as kernels read it and, beside a large one, keys that are looked up whole."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compiler.automata.nfa import Nfa
from compiler.kernels.store_tables import Exact
from compiler.kernels.tables import Program
from compiler.machine.bit_program import BitProgram
from compiler.machine.cache import Snapshot
from compiler.values import Int32s

__all__ = ["Parts"]


class Parts(NamedTuple):
    """A binding set as kernels read it."""

    program: Program
    """The automaton of all patterns, or of those that are not looked up; their accept tags are the same."""
    bits: BitProgram | None
    exact: Exact | None = None
    """The keys of the others."""
    kept: Int32s | None = None
    """The positions of the whole automaton that the smaller one has."""

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        exact = self.exact or ()
        return self.program.nbytes + sum(array.nbytes for array in exact)

    def in_whole(self, known: Snapshot, nfa: Nfa) -> Snapshot:
        """Return what a cache knows with the positions and symbols of the whole automaton."""
        if self.kept is None:
            return known
        symbols = np.zeros(len(self.program.word_offsets), np.int32)
        labels = self.program.labels
        symbols[labels[labels > 0]] = nfa.labels[self.kept[labels > 0]]
        return known._replace(
            states=tuple(
                one._replace(positions=tuple(self.kept[list(one.positions)].tolist())) for one in known.states
            ),
            successors={(state, int(symbols[symbol])): to for (state, symbol), to in known.successors.items()},
        )
