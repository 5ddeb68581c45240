"""Vectors of eight numbers, one in each *lane*, as LLVM has them: what the steps of a walk need. numba itself has none.

Where eight numbers are gathered from eight places, they are loaded one by one, and numbers that lie side by side as a pair. With the
processor's own instruction for gathering a key of `stock` takes 1.5 times as long on AMD's Zen 4 (``python -m benchmarks ablations``);
for processors where it is fast, :mod:`compiler.kernels._gathering_lanes` has it.
"""

from __future__ import annotations

from typing import Any, cast

from llvmlite import binding, ir
from numba.core import cgutils, codegen, config, types

__all__ = [
    "BYTE",
    "BYTES",
    "BITS",
    "EACH_BYTE",
    "EIGHT_NARROW",
    "INT",
    "LANES",
    "NARROW",
    "PAIR",
    "VECTOR",
    "Lanes",
    "features",
    "opened",
    "permutes_bytes",
    "processor",
]

LANES = 8
"""The numbers of a vector."""
# LLVM's types: numbers of 64 and 32 bits, eight of each, and eight bits; a byte, a pair of numbers, 64 bytes, and 64 bits.
INT, NARROW = ir.IntType(64), ir.IntType(32)
EIGHT_NARROW = ir.VectorType(NARROW, LANES)
VECTOR, BITS = ir.VectorType(INT, LANES), ir.VectorType(ir.IntType(1), LANES)
BYTE, PAIR = ir.IntType(8), ir.VectorType(INT, 2)
BYTES, EACH_BYTE = ir.VectorType(BYTE, 64), ir.VectorType(ir.IntType(1), 64)


class Lanes:
    """Writes vector instructions into the function that an LLVM builder is building; values are LLVM's."""

    def __init__(self, builder: Any) -> None:
        """Write with this builder."""
        self.builder = builder

    def all(self, value: int) -> Any:
        """Return a vector with a constant in all lanes; a negative one is taken modulo 2^64."""
        return VECTOR([value % 2**64] * LANES)

    def spread(self, value: Any, kind: Any = VECTOR) -> Any:
        """Return a vector with one value in all lanes."""
        one = self.builder.insert_element(kind(ir.Undefined), value, NARROW(0))
        return self.shuffled(one, one, [0] * kind.count)

    def load(self, array: Any, index: Any) -> Any:
        """Load the eight numbers of an array from ``index`` on."""
        return self.builder.load(self._vector(array, index), align=8)

    def load_narrow(self, array: Any, index: Any) -> Any:
        """Load eight numbers of 32 bits, without a sign."""
        place = self.builder.bitcast(self.builder.gep(array.data, [index]), EIGHT_NARROW.as_pointer())
        return self.builder.zext(self.builder.load(place, align=4), VECTOR)

    def store_narrow(self, values: Any, array: Any, index: Any) -> None:
        """Store the lower halves of eight numbers, in 32 bits each."""
        place = self.builder.bitcast(self.builder.gep(array.data, [index]), EIGHT_NARROW.as_pointer())
        self.builder.store(self.builder.trunc(values, EIGHT_NARROW), place, align=4)

    def store(self, values: Any, array: Any, index: Any) -> None:
        """Store a vector into an array from ``index`` on."""
        self.builder.store(values, self._vector(array, index), align=8)

    def each(self, values: Any) -> list[Any]:
        """Return the eight numbers of a vector."""
        return [self.builder.extract_element(values, NARROW(lane)) for lane in range(LANES)]

    def taken_apart(self, values: Any) -> list[Any]:
        """Return the eight numbers of a vector by way of memory: for each of them to be an address, that takes a third of the time."""
        at = cast("Any", cgutils).alloca_once(self.builder, VECTOR)
        self.builder.store(values, at)
        numbers = self.builder.bitcast(at, INT.as_pointer())
        return [self.builder.load(self.builder.gep(numbers, [INT(lane)]), align=8) for lane in range(LANES)]

    def load_each(self, array: Any, index: Any) -> list[Any]:
        """Load eight consecutive numbers one by one, which is faster than loading a vector and taking it apart."""
        return [
            self.builder.load(self.builder.gep(array.data, [self.builder.add(index, INT(i))])) for i in range(LANES)
        ]

    def gather(self, array: Any, indices: list[Any], *, kind: Any = INT, align: int = 8) -> Any:
        """Load the number at each of eight indices into a vector. ``kind`` is the type of the numbers, ``align`` their bytes."""
        found = ir.VectorType(kind, LANES)(ir.Undefined)
        for lane, index in enumerate(indices):
            place = self.builder.bitcast(self.builder.gep(array.data, [index]), kind.as_pointer())
            found = self.builder.insert_element(found, self.builder.load(place, align=align), NARROW(lane))
        return found

    def gather_pairs(self, array: Any, indices: list[Any]) -> tuple[Any, Any]:
        """Load pair i of an array, its numbers 2i and 2i + 1, for each of eight indices i; return the first numbers and the second."""
        b, pairs = self.builder, []
        for index in indices:
            place = b.gep(array.data, [b.shl(index, INT(1))])
            pairs.append(b.load(b.bitcast(place, PAIR.as_pointer()), align=8))
        even, odd = self._joined(pairs[0::2]), self._joined(pairs[1::2])
        orders = [0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]
        return self.shuffled(even, odd, orders[0]), self.shuffled(even, odd, orders[1])

    def gather_near(self, array: Any, indices: Any, *, kind: Any = INT, align: int = 8) -> Any:
        """Do as :meth:`gather` with a vector of indices, in a table that lies near the processor."""
        return self.gather(array, self.each(indices), kind=kind, align=align)

    def gather_pairs_near(self, array: Any, indices: Any) -> tuple[Any, Any]:
        """Do as :meth:`gather_pairs` with a vector of indices, in a table that lies near the processor."""
        return self.gather_pairs(array, self.each(indices))

    def shuffled(self, a: Any, b: Any, order: list[int]) -> Any:
        """Return a vector of items of two vectors; ``order`` has their indices, the second vector's counted behind the first's."""
        return self.builder.shuffle_vector(a, b, ir.VectorType(NARROW, len(order))(order))

    def turned(self, rows: list[Any]) -> list[Any]:
        """Transpose a matrix of eight vectors: return its columns."""
        for width in (1, 2, 4):
            first = [i if not i & width else i - width + LANES for i in range(LANES)]
            second = [i + width if not i & width else i + LANES for i in range(LANES)]
            rows = [
                self.shuffled(rows[i & ~width], rows[i | width], second if i & width else first) for i in range(LANES)
            ]
        return rows

    def equal(self, a: Any, b: Any) -> Any:
        """Compare eight numbers with eight; return a *choice*, which has a bit for each lane."""
        return self.builder.icmp_unsigned("==", a, b)

    def differ(self, a: Any, b: Any) -> Any:
        """Return the choice of the lanes whose numbers are not the same."""
        return self.other_than(self.equal(a, b))

    def less(self, a: Any, b: Any) -> Any:
        """Return the choice of the lanes where a is less than b; both are numbers with signs."""
        return self.builder.icmp_signed("<", a, b)

    def least(self, values: Any, most: int) -> Any:
        """Return eight numbers without signs, or ``most`` in place of those that are more. (LLVM knows then how many there can be, and unrolls loops by that.)"""
        limit = self.all(most)
        return self.builder.select(self.builder.icmp_unsigned("<", values, limit), values, limit)

    def odd(self, values: Any) -> Any:
        """Return the choice of the lanes whose numbers are odd."""
        return self.builder.trunc(values, BITS)

    def both(self, one: Any, other: Any) -> Any:
        """Return the choice of the lanes that are in both choices."""
        return self.builder.and_(one, other)

    def either(self, one: Any, other: Any) -> Any:
        """Return the choice of the lanes that are in one of two choices."""
        return self.builder.or_(one, other)

    def without(self, one: Any, other: Any) -> Any:
        """Return the choice of the lanes that are in one choice and not in the other."""
        return self.builder.and_(one, self.builder.not_(other))

    def other_than(self, choice: Any) -> Any:
        """Return the choice of all other lanes."""
        return self.builder.not_(choice)

    def select(self, choice: Any, a: Any, b: Any) -> Any:
        """Return the numbers of a in the lanes that are in a choice, and those of b in the others."""
        return self.builder.select(choice, a, b)

    def kept(self, choice: Any, values: Any) -> Any:
        """Return the numbers in the lanes that are in a choice, and 0 in the others."""
        return self.select(choice, values, self.all(0))

    def mask(self, choice: Any) -> Any:
        """Return a choice as one number, the first lane's bit lowest."""
        return self.builder.zext(self.builder.bitcast(choice, ir.IntType(LANES)), INT)

    def any(self, values: Any) -> Any:
        """Return a number that is 0 if eight numbers are."""
        return self.mask(self.differ(values, self.all(0)))

    def packed(self, values: Any, choice: Any) -> Any:
        """Move the numbers, below 2^32, of the lanes that are in a choice to the first lanes, in order; what the other lanes get means nothing."""
        function = self.function(
            ir.FunctionType(VECTOR, [VECTOR, BITS, VECTOR]), "llvm.experimental.vector.compress.v8i64"
        )
        return self.builder.call(function, [values, choice, self.all(0)])

    def places_of(self, choice: Any, first: Any) -> Any:
        """Return the numbers of the lanes that are in a choice, counted from ``first``, in the first lanes; what the other lanes get means nothing."""
        return self.packed(self.builder.add(VECTOR(list(range(LANES))), self.spread(first)), choice)

    def prefetch(self, array: Any, indices: list[Any]) -> None:
        """Tell the processor to load numbers of an array into its cache."""
        b, place = self.builder, ir.IntType(8).as_pointer()
        function = self.function(ir.FunctionType(ir.VoidType(), [place, NARROW, NARROW, NARROW]), "llvm.prefetch.p0i8")
        for index in indices:
            at = b.bitcast(b.gep(array.data, [index]), place)
            b.call(function, [at, NARROW(0), NARROW(3), NARROW(1)])

    def home(self, scrambled: Any, shift: Any) -> Any:
        """Return the home slots in a hash table: the top bits of scrambled numbers."""
        return self.builder.lshr(scrambled, self.spread(shift))

    def function(self, kind: Any, name: str) -> Any:
        """Declare one of LLVM's own functions, and return it."""
        return cast("Any", cgutils).get_or_insert_function(self.builder.module, kind, name)

    def _joined(self, parts: list[Any]) -> Any:
        """Concatenate vectors; they are 2, 4 or 8."""
        while len(parts) > 1:
            size = 2 * parts[0].type.count
            parts = [self.shuffled(a, b, list(range(size))) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]

    def _vector(self, array: Any, index: Any) -> Any:
        """Return the address of an array's element as that of a vector."""
        return self.builder.bitcast(self.builder.gep(array.data, [index]), VECTOR.as_pointer())


def opened(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """Return the arguments of an intrinsic; arrays as structures, whose field ``data`` is the address of the first element."""
    pairs = zip(signature.args, arguments, strict=True)
    return [context.make_array(k)(context, builder, v) if isinstance(k, types.Array) else v for k, v in pairs]


def features() -> set[str]:
    """Return what the processor can do that is compiled for, each with a plus or, if it cannot, a minus."""
    named = cast("Any", config).CPU_FEATURES  # set where numba is told to compile for another processor
    return set((cast("Any", codegen).get_host_cpu_features() if named is None else named).split(","))


def processor() -> str:
    """Return LLVM's name of the processor that is compiled for."""
    named = cast("Any", config).CPU_NAME
    return str(binding.get_host_cpu_name() if named is None else named)


def permutes_bytes() -> bool:
    """Tell whether the processor that is compiled for can compress and permute the bytes of a vector (AVX-512 VBMI and VBMI2)."""
    return {"+avx512vbmi", "+avx512vbmi2"} <= features()
