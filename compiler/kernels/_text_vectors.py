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

__all__ = ["ADDENDS", "copy_eight_ends", "copy_line", "hash_line", "same_line", "write_line", "zeros_of_line"]

HALVES = ir.VectorType(NARROW, 2 * LANES)

ADDENDS = (
    np.uint64(0xCBC16F01EAD50263),
    np.uint64(0x0A734D030727D4DB),
    np.uint64(0x86AD910108050A4F),
    np.uint64(0x27A0018B48740685),
    np.uint64(0x1B5D04FF064C8D99),
    np.uint64(0xB37301C70A6BF001),
    np.uint64(0x470B02AB0311B3B1),
    np.uint64(0x7CCAA901A802141B),
)
"""What is added to the halves of the eight numbers of a line before they are multiplied: 32 bits to each, drawn at random among those with which no text in UTF-8 gives 0,
as that would make its other half count for nothing."""


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
    """Return the sum of what the eight numbers that a text's first 64 bytes are, with zeros behind its end, give: of each, both halves are multiplied with each other.

    Before, something is added to each half, in 32 bits. (The hash NH of UMAC; a product of 32 bits takes a third of the instructions of one of 64, and a key 0.8 of the
    time to be hashed, on an Intel Xeon.)
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, begin, length = opened(context, builder, signature, arguments)
        line = _line(builder, data, begin, length)
        addends = [half for one in ADDENDS for half in (int(one) & 0xFFFFFFFF, int(one) >> 32)]
        halves = builder.add(builder.bitcast(line, HALVES), HALVES(addends))
        numbers = builder.bitcast(halves, VECTOR)
        lower, upper = builder.and_(numbers, VECTOR([0xFFFFFFFF] * LANES)), builder.lshr(numbers, VECTOR([32] * LANES))
        add = Lanes(builder).function(ir.FunctionType(INT, [VECTOR]), "llvm.vector.reduce.add.v8i64")
        return builder.call(add, [builder.mul(lower, upper)])

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


def _write_line(_: Any, table: Any, at: Any, data: Any, begin: Any, length: Any) -> Any:
    """Write the first 64 bytes of a text to eight numbers of a table, with zeros behind its end."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, at, data, begin, length = opened(context, builder, signature, arguments)
        builder.store(_line(builder, data, begin, length), _place(builder, table, at, BYTES), align=8)
        return context.get_dummy_value()

    return types.void(table, at, data, begin, length), generate


def _zeros_of_line(_: Any, data: Any, begin: Any) -> Any:
    """Return a number that has a bit for each zero among 64 bytes, the lowest for the first."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, begin = opened(context, builder, signature, arguments)
        line = builder.load(_place(builder, data, begin, BYTES), align=1)
        return builder.bitcast(builder.icmp_unsigned("==", line, BYTES([0] * 64)), INT)

    return types.uint64(data, begin), generate


def _line(builder: Any, data: Any, begin: Any, length: Any) -> Any:
    """Load the first 64 bytes of a text, with zeros behind its end."""
    line = builder.load(_place(builder, data, begin, BYTES), align=1)
    short = builder.icmp_unsigned("<", length, INT(64))
    mask = builder.select(short, _ones_below(builder, length), INT(-1))
    return builder.select(builder.bitcast(mask, EACH_BYTE), line, BYTES([0] * 64))


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
write_line: Any = intrinsic(_write_line)
zeros_of_line: Any = intrinsic(_zeros_of_line)
