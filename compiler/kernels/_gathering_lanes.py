"""Vectors of eight numbers where one instruction loads from eight places in less time than eight loads take: from Intel's Sapphire Rapids on.

AMD's processors, and Intel's before, take longer for it. Here the symbols of words and the rows of small automata are loaded so. On an Emerald Rapids a warm key that is walked takes
0.83 of the time of eight loads for `throughput`, 0.92 for `fleet`, 0.89 for `hard`, 1.00 for `stock`, and 0.81 to 0.92 in four families. States and transitions are not: their tables are
larger, and asking for a state's default successor and filter took 1.4 times as long.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from compiler.kernels._lanes import BITS, INT, LANES, NARROW, Lanes

__all__ = ["GATHERING", "GatheringLanes"]

GATHERING = {"sapphirerapids", "emeraldrapids", "graniterapids", "graniterapids-d", "diamondrapids"}
"""LLVM's names of these processors."""


class GatheringLanes(Lanes):
    """Writes vector instructions in which numbers of tables near the processor are loaded eight at once."""

    def gather_near(self, array: Any, indices: Any, *, kind: Any = INT, align: int = 8) -> Any:
        """Load the number at each of eight indices into a vector."""
        return self._load(self._places(array, indices, kind.width // 8), kind, align)

    def gather_pairs_near(self, array: Any, indices: Any) -> tuple[Any, Any]:
        """Load pair i of an array for each of eight indices i; return the first numbers and the second."""
        places = self._places(array, indices, 16)
        return self._load(places, INT, 8), self._load(self.builder.add(places, self.all(8)), INT, 8)

    def _places(self, array: Any, indices: Any, size: int) -> Any:
        """Return the addresses of items of so many bytes."""
        b = self.builder
        return b.add(self.spread(b.ptrtoint(array.data, INT)), b.mul(indices, self.all(size)))

    def _load(self, places: Any, kind: Any, align: int) -> Any:
        pointers, row = ir.VectorType(kind.as_pointer(), LANES), ir.VectorType(kind, LANES)
        name = f"llvm.masked.gather.v8i{kind.width}.v8p0"
        load = self.function(ir.FunctionType(row, [pointers, NARROW, BITS, row]), name)
        every, none = BITS([1] * LANES), row([0] * LANES)
        return self.builder.call(load, [self.builder.inttoptr(places, pointers), NARROW(align), every, none])
