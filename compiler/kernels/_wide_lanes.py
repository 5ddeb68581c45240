"""Vectors of eight numbers where the processor has no masks of bits, which came with AVX-512: for processors with AVX2.

LLVM has a comparison of eight numbers end in eight bits, and keeps these in 16 bits each where there are no masks: each comparison is packed, each
choice unpacked again, which takes more instructions than what is compared. So here a choice is eight numbers that are all ones or 0, as the processor's
own comparisons say it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from compiler.kernels._gathering_lanes import GATHERING, GatheringLanes
from compiler.kernels._lanes import BYTE, EIGHT_NARROW, INT, LANES, NARROW, VECTOR, Lanes, features, processor

__all__ = ["lanes"]

FOUR, FOUR_DOUBLES = ir.VectorType(INT, 4), ir.VectorType(ir.DoubleType(), 4)
"""What a register of AVX2 holds, and the same for instructions that were made for floating point, and move bits."""
HALVES = [0, 1, 2, 3], [4, 5, 6, 7]


def lanes(builder: Any) -> Lanes:
    """Return what writes vectors for the processor that is compiled for."""
    found = features()
    if "+avx512f" in found:
        return (GatheringLanes if processor() in GATHERING else Lanes)(builder)
    return (WideLanes if "+avx2" in found else Lanes)(builder)


class WideLanes(Lanes):
    """Writes vector instructions in which a choice of lanes is eight numbers, each all ones or 0."""

    def equal(self, a: Any, b: Any) -> Any:
        """Compare eight numbers with eight; return the choice of the lanes whose numbers are the same."""
        return self._choice(super().equal(a, b))

    def less(self, a: Any, b: Any) -> Any:
        """Return the choice of the lanes where a is less than b; both are numbers with signs."""
        return self._choice(super().less(a, b))

    def odd(self, values: Any) -> Any:
        """Return the choice of the lanes whose numbers are odd."""
        return self._choice(super().odd(values))

    def select(self, choice: Any, a: Any, b: Any) -> Any:
        """Return the numbers of a in the lanes that are in a choice, and those of b in the others."""
        kind = ir.FunctionType(FOUR_DOUBLES, [FOUR_DOUBLES] * 3)
        blend = self.function(kind, "llvm.x86.avx.blendv.pd.256")
        halves = zip(*(self._halves(values, FOUR_DOUBLES) for values in (b, a, choice)), strict=True)
        return self._joined([self.builder.bitcast(self.builder.call(blend, half), FOUR) for half in halves])

    def kept(self, choice: Any, values: Any) -> Any:
        """Return the numbers in the lanes that are in a choice, and 0 in the others."""
        return self.builder.and_(choice, values)

    def mask(self, choice: Any) -> Any:
        """Return a choice as one number, the first lane's bit lowest."""
        b = self.builder
        signs = self.function(ir.FunctionType(NARROW, [FOUR_DOUBLES]), "llvm.x86.avx.movmsk.pd.256")
        lower, upper = (b.zext(b.call(signs, [half]), INT) for half in self._halves(choice, FOUR_DOUBLES))
        return b.or_(lower, b.shl(upper, INT(4)))

    def any(self, values: Any) -> Any:
        """Return a number that is 0 if eight numbers are."""
        together = self.function(ir.FunctionType(INT, [VECTOR]), "llvm.vector.reduce.or.v8i64")
        return self.builder.zext(self.builder.icmp_unsigned("!=", self.builder.call(together, [values]), INT(0)), INT)

    def packed(self, values: Any, choice: Any) -> Any:
        """Move the numbers, below 2^32, of the lanes that are in a choice to the first lanes, in order; what the other lanes get means nothing."""
        b = self.builder
        permute = self.function(ir.FunctionType(EIGHT_NARROW, [EIGHT_NARROW] * 2), "llvm.x86.avx2.permd")
        order = b.zext(self._order(choice), EIGHT_NARROW)
        return b.zext(b.call(permute, [b.trunc(values, EIGHT_NARROW), order]), VECTOR)

    def places_of(self, choice: Any, first: Any) -> Any:
        """Return the numbers of the lanes that are in a choice, counted from ``first``, in the first lanes; what the other lanes get means nothing."""
        return self.builder.add(self.builder.zext(self._order(choice), VECTOR), self.spread(first))

    def _choice(self, bits: Any) -> Any:
        """Return numbers for the bits of a comparison. An empty instruction keeps LLVM from making bits of them again."""
        keep = ir.InlineAsm(ir.FunctionType(FOUR, [FOUR]), "", "=x,0")
        whole = self._halves(self.builder.sext(bits, VECTOR), FOUR)
        return self._joined([self.builder.call(keep, [half]) for half in whole])

    def _halves(self, values: Any, kind: Any) -> list[Any]:
        return [self.builder.bitcast(self.shuffled(values, values, half), kind) for half in HALVES]

    def _order(self, choice: Any) -> Any:
        """Return the lanes that are in a choice, in order, as bytes: from a table of all masks."""
        b, name, module = self.builder, "dfa_router_lanes_of_masks", self.builder.module
        if name not in module.globals:
            each = [[lane for lane in range(LANES) if mask >> lane & 1] for mask in range(1 << LANES)]
            kind = ir.ArrayType(INT, len(each))
            table = ir.GlobalVariable(module, kind, name)
            table.linkage, table.global_constant = "internal", True
            table.initializer = kind([sum(lane << 8 * i for i, lane in enumerate(of_mask)) for of_mask in each])
        place = b.gep(module.globals[name], [INT(0), self.mask(choice)])
        return b.load(b.bitcast(place, ir.VectorType(BYTE, LANES).as_pointer()), align=8)
