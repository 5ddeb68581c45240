"""The look-up in the key cache for eight keys at a time, in vectors; :mod:`compiler.kernels.key_cache` says what it does.

Keys are hashed and compared in rounds of eight bytes, as many as the longest of the eight keys needs. A warm key of `throughput`
took 1.5 times as long when keys were looked up one by one.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils as untyped
from numba.core import types
from numba.extending import intrinsic

from compiler.kernels._lanes import INT, LANES, VECTOR, Lanes, opened
from compiler.kernels._wide_lanes import lanes
from compiler.kernels.tables import KEY_CACHE_BYTES, KEY_CACHE_FOLD, SCRAMBLE

__all__ = ["look_up_eight"]

cgutils: Any = untyped
ROUNDS = KEY_CACHE_BYTES // 8


def _look_up_eight(
    _: Any, offsets: Any, data: Any, row: Any, table: Any, shift: Any, base: Any, out: Any, rows: Any, begins: Any, ends: Any,
    slots: Any, n: Any,
) -> Any:  # fmt: skip
    """Look up the keys of eight rows, from ``row`` on, and return the mask of those that are not in the cache.

    ``out`` gets ``base`` + accept set - 1 of each row, and nothing that means anything for rows that are not in the cache. These
    are entered into a block behind its ``n`` keys, in order: their rows, where they begin and end, and their slots.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        of_all = opened(context, builder, signature, arguments)
        offsets, data, row, table, shift, base, out, rows, begins, ends, slots, n = of_all
        v, b = lanes(builder), builder
        begin, end = (v.load_narrow(offsets, at) for at in (row, b.add(row, INT(1))))
        length = b.sub(end, begin)
        hashed = v.least(length, KEY_CACHE_BYTES)
        longest = b.call(v.function(ir.FunctionType(INT, [VECTOR]), "llvm.vector.reduce.umax.v8i64"), [hashed])
        rounds = b.lshr(b.add(longest, INT(7)), INT(3))

        def read(done: Any) -> Any:
            """Load the next eight bytes of each key behind ``done`` ones, zeros behind its end: there are PADDING bytes behind all keys."""
            value = v.gather(data, [b.add(at, done) for at in _each_offset(v, offsets, row)], align=1)
            left = b.sub(length, v.spread(done))
            bits = b.shl(v.kept(v.less(v.all(0), left), left), v.all(3))
            short = v.less(left, v.all(8))
            return b.and_(value, v.select(short, b.sub(b.shl(v.all(1), b.and_(bits, v.all(63))), v.all(1)), v.all(-1)))

        def mix(mixed: Any, value: Any) -> Any:
            return b.mul(b.xor(b.xor(mixed, b.lshr(mixed, v.all(KEY_CACHE_FOLD))), value), v.all(SCRAMBLE))

        words = cgutils.alloca_once(b, ir.ArrayType(VECTOR, ROUNDS))
        word = read(INT(0))
        mixed = cgutils.alloca_once_value(b, v.kept(v.differ(length, v.all(0)), mix(length, word)))
        with cgutils.for_range_slice(b, INT(1), rounds, INT(1), intp=INT, inc=True) as (place, _):
            done = b.shl(place, INT(3))
            value, before = read(done), b.load(mixed)
            b.store(value, b.gep(words, [INT(0), place]))
            live = v.less(v.spread(done), hashed)
            b.store(v.select(live, mix(before, value), before), mixed)
        slot = b.shl(v.home(b.load(mixed), shift), v.all(3))
        each = v.taken_apart(slot)
        entry, known = v.gather_pairs(table, [b.lshr(one, INT(1)) for one in each])
        accept = b.and_(entry, v.all(0xFFFFFFFF))
        equal = v.either(v.equal(known, word), v.equal(length, v.all(0)))
        first = v.both(v.equal(b.lshr(entry, v.all(32)), length), equal)
        same = cgutils.alloca_once_value(b, v.without(first, v.equal(accept, v.all(0))))
        with cgutils.for_range_slice(b, INT(1), rounds, INT(1), intp=INT, inc=True) as (place, _):
            beyond = v.other_than(v.less(v.spread(b.shl(place, INT(3))), hashed))
            known = v.gather(table, [b.add(one, b.add(place, INT(1))) for one in each])
            equal = v.equal(known, b.load(b.gep(words, [INT(0), place])))
            b.store(v.both(b.load(same), v.either(beyond, equal)), same)
        v.store_narrow(b.add(accept, v.spread(b.sub(base, INT(1)))), out, row)
        missing = v.other_than(b.load(same))
        found = v.mask(missing)
        with b.if_then(b.icmp_unsigned("!=", found, INT(0)), likely=False):
            v.store(v.places_of(missing, row), rows, n)
            # An empty key has no words.
            begin = v.select(v.equal(begin, end), b.add(begin, v.all(1)), begin)
            v.store(v.packed(begin, missing), begins, n)
            v.store(v.packed(end, missing), ends, n)
            v.store(v.packed(slot, missing), slots, n)
        return found

    kinds = (offsets, data, row, table, shift, base, out, rows, begins, ends, slots, n)
    return types.uint64(*kinds), generate


def _each_offset(v: Lanes, offsets: Any, index: Any) -> list[Any]:
    """Load the same one by one."""
    b = v.builder
    return [b.zext(b.load(b.gep(offsets.data, [b.add(index, INT(lane))]), align=4), INT) for lane in range(LANES)]


look_up_eight: Any = intrinsic(_look_up_eight)
