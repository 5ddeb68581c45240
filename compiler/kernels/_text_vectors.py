"""Texts, and where they end, in vectors: copied, hashed and compared as lines of 64 bytes.

Whoever copies so has as much room behind both ends as a vector is long, and 64 bytes from where a text begins are read of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from compiler.kernels._lanes import BYTES, EACH_BYTE, EIGHT_NARROW, INT, LANES, NARROW, VECTOR, Lanes, opened

__all__ = ["FACTORS", "copy_eight_ends", "copy_line", "hash_line", "same_line"]

FACTORS = (
    np.uint64(0x7AB2851D20C8CBFD),
    np.uint64(0xE828AAC8D5038755),
    np.uint64(0x16317305C684C753),
    np.uint64(0xB10478AF3AF475A7),
    np.uint64(0x6E9A75DFB2347539),
    np.uint64(0xA3634E0A10ADB333),
    np.uint64(0x564DBE553878998F),
    np.uint64(0x5D705F9B94666F3D),
)
"""What the eight numbers of a line are multiplied by: any odd numbers that have nothing to do with each other."""


def _copy_line(_: Any, source: Any, begin: Any, target: Any, at: Any) -> Any:
    """Copy 64 bytes, from any index to any index."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, begin, target, at = opened(context, builder, signature, arguments)
        line = builder.load(_place(builder, source, begin, BYTES), align=1)
        builder.store(line, _place(builder, target, at, BYTES), align=1)
        return context.get_dummy_value()

    return types.void(source, begin, target, at), generate


def _copy_eight_ends(_: Any, source: Any, begin: Any, target: Any, at: Any, shift: Any) -> Any:
    """Copy eight numbers of 32 bits, each plus ``shift``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, begin, target, at, shift = opened(context, builder, signature, arguments)
        more = Lanes(builder).spread(builder.trunc(shift, NARROW), EIGHT_NARROW)
        ends = builder.load(_place(builder, source, begin, EIGHT_NARROW), align=4)
        builder.store(builder.add(ends, more), _place(builder, target, at, EIGHT_NARROW), align=4)
        return context.get_dummy_value()

    return types.void(source, begin, target, at, shift), generate


def _hash_line(_: Any, data: Any, begin: Any, length: Any) -> Any:
    """Return the sum of the eight numbers that a text's first 64 bytes are, with zeros behind its end, each times its factor.

    Before, the upper half of each is folded into its lower half: else the last of eight bytes would count for the uppermost eight bits alone.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, begin, length = opened(context, builder, signature, arguments)
        line = builder.load(_place(builder, data, begin, BYTES), align=1)
        short = builder.icmp_unsigned("<", length, INT(64))
        mask = builder.select(short, _ones_below(builder, length), INT(-1))
        line = builder.select(builder.bitcast(mask, EACH_BYTE), line, BYTES([0] * 64))
        numbers = builder.bitcast(line, VECTOR)
        folded = builder.xor(numbers, builder.lshr(numbers, VECTOR([32] * LANES)))
        products = builder.mul(folded, VECTOR([int(one) for one in FACTORS]))
        add = Lanes(builder).function(ir.FunctionType(INT, [VECTOR]), "llvm.vector.reduce.add.v8i64")
        return builder.call(add, [products])

    return types.uint64(data, begin, length), generate


def _same_line(_: Any, table: Any, slot: Any, data: Any, begin: Any, length: Any) -> Any:
    """Tell whether the ``length`` bytes, below 64, of a text are those that stand behind ``table[slot]``, which has seven numbers more."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, slot, data, begin, length = opened(context, builder, signature, arguments)
        v = Lanes(builder)
        entry = builder.load(_place(builder, table, slot, VECTOR), align=8)
        known = builder.bitcast(v.shuffled(entry, entry, [*range(1, LANES), 0]), BYTES)
        line = builder.load(_place(builder, data, begin, BYTES), align=1)
        differs = builder.bitcast(builder.icmp_unsigned("!=", known, line), INT)
        return builder.icmp_unsigned("==", builder.and_(differs, _ones_below(builder, length)), INT(0))

    return types.boolean(table, slot, data, begin, length), generate


def _ones_below(builder: Any, bit: Any) -> Any:
    """Return a mask of the bits below one of 64."""
    return builder.sub(builder.shl(INT(1), builder.and_(bit, INT(63))), INT(1))


def _place(builder: Any, array: Any, index: Any, kind: Any) -> Any:
    """Return the address of an array's element as that of a vector."""
    return builder.bitcast(builder.gep(array.data, [index]), kind.as_pointer())


copy_eight_ends: Any = intrinsic(_copy_eight_ends)
copy_line: Any = intrinsic(_copy_line)
hash_line: Any = intrinsic(_hash_line)
same_line: Any = intrinsic(_same_line)
