"""LLVM's vectors of eight numbers, as far as the steps of a walk need them; numba itself has none.

Numbers are gathered one by one, and pairs of them together: with the processor's own instruction for eight, AMD's Zen 4 takes
1.5 times as long for a key of ``stock`` (``python -m benchmarks.ablations``).
"""

from __future__ import annotations

from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils, codegen, config, types

__all__ = [
    "BYTE",
    "BYTES",
    "BITS",
    "EACH_BYTE",
    "INT",
    "LANES",
    "NARROW",
    "PAIR",
    "VECTOR",
    "Lanes",
    "opened",
    "permutes_bytes",
]

LANES = 8
INT, NARROW = ir.IntType(64), ir.IntType(32)
VECTOR, BITS = ir.VectorType(INT, LANES), ir.VectorType(ir.IntType(1), LANES)
BYTE, PAIR = ir.IntType(8), ir.VectorType(INT, 2)
BYTES, EACH_BYTE = ir.VectorType(BYTE, 64), ir.VectorType(ir.IntType(1), 64)


class Lanes:
    """Writes vector instructions."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def all(self, value: int) -> Any:
        """Return a constant in all lanes."""
        return VECTOR([value % 2**64] * LANES)

    def places(self) -> Any:
        """Return each lane's number."""
        return VECTOR(list(range(LANES)))

    def spread(self, value: Any, kind: Any = VECTOR) -> Any:
        """Return a vector that has one number everywhere."""
        one = self.builder.insert_element(kind(ir.Undefined), value, NARROW(0))
        return self.shuffled(one, one, [0] * kind.count)

    def load(self, array: Any, index: Any) -> Any:
        """Load consecutive numbers."""
        return self.builder.load(self._vector(array, index), align=8)

    def store(self, values: Any, array: Any, index: Any) -> None:
        """Store consecutive numbers."""
        self.builder.store(values, self._vector(array, index), align=8)

    def each(self, values: Any) -> list[Any]:
        """Return the numbers of a vector."""
        return [self.builder.extract_element(values, NARROW(lane)) for lane in range(LANES)]

    def load_each(self, array: Any, index: Any) -> list[Any]:
        """Load consecutive numbers one by one, which is faster than to take a vector apart."""
        return [
            self.builder.load(self.builder.gep(array.data, [self.builder.add(index, INT(i))])) for i in range(LANES)
        ]

    def gather(self, array: Any, indices: list[Any], *, kind: Any = INT, align: int = 8) -> Any:
        """Load a number at each index."""
        found = ir.VectorType(kind, LANES)(ir.Undefined)
        for lane, index in enumerate(indices):
            place = self.builder.bitcast(self.builder.gep(array.data, [index]), kind.as_pointer())
            found = self.builder.insert_element(found, self.builder.load(place, align=align), NARROW(lane))
        return found

    def gather_pairs(self, array: Any, indices: list[Any]) -> tuple[Any, Any]:
        """Load two numbers at each index, which counts pairs; return the first ones and the second ones."""
        b, pairs = self.builder, []
        for index in indices:
            place = b.gep(array.data, [b.shl(index, INT(1))])
            pairs.append(b.load(b.bitcast(place, PAIR.as_pointer()), align=8))
        even, odd = self._joined(pairs[0::2]), self._joined(pairs[1::2])
        orders = [0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]
        return self.shuffled(even, odd, orders[0]), self.shuffled(even, odd, orders[1])

    def shuffled(self, a: Any, b: Any, order: list[int]) -> Any:
        """Return a vector with items of two, which are counted on from the first to the second."""
        return self.builder.shuffle_vector(a, b, ir.VectorType(NARROW, len(order))(order))

    def turned(self, rows: list[Any]) -> list[Any]:
        """Return the columns of a matrix of eight vectors."""
        for width in (1, 2, 4):
            first = [i if not i & width else i - width + LANES for i in range(LANES)]
            second = [i + width if not i & width else i + LANES for i in range(LANES)]
            rows = [
                self.shuffled(rows[i & ~width], rows[i | width], second if i & width else first) for i in range(LANES)
            ]
        return rows

    def mask(self, bits: Any) -> Any:
        """Return a number with a bit per lane."""
        return self.builder.zext(self.builder.bitcast(bits, ir.IntType(LANES)), INT)

    def packed(self, values: Any, bits: Any) -> Any:
        """Return the numbers of some lanes in the first lanes, in order."""
        function = self.function(
            ir.FunctionType(VECTOR, [VECTOR, BITS, VECTOR]), "llvm.experimental.vector.compress.v8i64"
        )
        return self.builder.call(function, [values, bits, self.all(0)])

    def home(self, scrambled: Any, shift: Any) -> Any:
        """Return the top bits."""
        return self.builder.lshr(scrambled, self.spread(shift))

    def function(self, kind: Any, name: str) -> Any:
        """Declare one of LLVM's own functions."""
        return cast("Any", cgutils).get_or_insert_function(self.builder.module, kind, name)

    def _joined(self, parts: list[Any]) -> Any:
        while len(parts) > 1:
            size = 2 * parts[0].type.count
            parts = [self.shuffled(a, b, list(range(size))) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]

    def _vector(self, array: Any, index: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(array.data, [index]), VECTOR.as_pointer())


def opened(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """Return the arguments, arrays as structures."""
    pairs = zip(signature.args, arguments, strict=True)
    return [context.make_array(k)(context, builder, v) if isinstance(k, types.Array) else v for k, v in pairs]


def permutes_bytes() -> bool:
    """Tell whether the processor that is compiled for can compress and permute the bytes of a vector."""
    features = cast("Any", config).CPU_FEATURES  # those of another one, where numba is told to compile for it
    if features is None:
        features = cast("Any", codegen).get_host_cpu_features()
    return {"+avx512vbmi", "+avx512vbmi2"} <= set(features.split(","))
