"""The stations of eight messages at a time, in vectors; :mod:`compiler.kernels.places` says what is looked up, and how.

What has up to sixteen bytes and stands in its first slot is found here, and that is nearly everything. One by one, a message of the demo
took 8.6 ns to find its exchange, and takes 5.6.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils as untyped
from numba.core import types
from numba.extending import intrinsic

from compiler.kernels._lanes import INT, VECTOR, Lanes, opened
from compiler.kernels._wide_lanes import lanes
from compiler.kernels.tables import SCRAMBLE

__all__ = ["stations_of_eight"]

cgutils: Any = untyped
LONGEST, ENTRY = 16, 6
"""The most bytes of a text that is compared by its ends alone, and the numbers of an entry."""


def _stations_of_eight(
    _: Any, several: Any, place_offsets: Any, places: Any, name_offsets: Any, names: Any, row: Any, table: Any, multiplier: Any, out: Any
) -> Any:  # fmt: skip
    """Look up eight rows, from ``row`` on: write the number of each row's place and name to ``out``, or -1 where it is not found here.

    Where there are not ``several`` places, the first one is that of all rows. Eight bytes from where any of these texts begins are read.
    """
    given = several, place_offsets, places, name_offsets, names, row, table, multiplier, out

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        several, place_offsets, places, name_offsets, names, row, table, multiplier, out = opened(
            context, builder, signature, arguments
        )
        v, b = lanes(builder), builder
        kept = [cgutils.alloca_once(b, VECTOR) for _ in range(3)]
        with b.if_else(b.icmp_unsigned("!=", several, several.type(0))) as (each, single):
            with each:
                _store_all(v, _ends_of_eight(v, place_offsets, places, row), kept)
            with single:
                _store_all(v, _ends_of_first(v, place_offsets, places), kept)
        first, last, length = (b.load(slot) for slot in kept)
        name_first, name_last, name_length = _ends_of_eight(v, name_offsets, names, row)
        lengths = b.or_(b.shl(length, v.all(32)), name_length)

        def factor(shift: int, golden: int) -> Any:
            return v.spread(b.xor(b.shl(multiplier, INT(shift)), INT(golden % 2**64)))

        mixed = b.mul(b.xor(first, lengths), v.spread(multiplier))
        mixed = b.add(mixed, b.mul(last, factor(0, SCRAMBLE << 1)))
        mixed = b.add(mixed, b.mul(name_first, factor(1, SCRAMBLE)))
        mixed = b.add(mixed, b.mul(name_last, factor(2, SCRAMBLE)))
        slots = b.udiv(table.nitems, INT(ENTRY))
        slot = b.and_(b.xor(mixed, b.lshr(mixed, v.all(32))), v.spread(b.sub(slots, INT(1))))
        at = v.taken_apart(b.mul(slot, v.all(ENTRY // 2)))
        entry = [
            number
            for pair in range(ENTRY // 2)
            for number in v.gather_pairs(table, [b.add(one, INT(pair)) for one in at])
        ]
        differs = v.either(*(v.less(v.all(LONGEST), one) for one in (length, name_length)))
        for known, wanted in zip(entry, (first, last, name_first, name_last, lengths), strict=False):
            differs = v.either(differs, v.differ(known, wanted))
        number = entry[ENTRY - 1]
        # An empty entry has the number 0, and all of its own are counted from 1.
        v.store_narrow(b.sub(v.kept(v.other_than(differs), number), v.all(1)), out, row)
        return context.get_dummy_value()

    return types.void(*given), generate


def _store_all(v: Lanes, values: Any, places: Any) -> None:
    for value, place in zip(values, places, strict=True):
        v.builder.store(value, place)


def _ends_of_eight(v: Lanes, offsets: Any, data: Any, row: Any) -> tuple[Any, Any, Any]:
    """Return of eight texts the first and the last eight bytes, and the lengths; a shorter text is all of both, with zeros behind it."""
    b = v.builder
    begins, ends = (v.load_narrow(offsets, at) for at in (row, b.add(row, INT(1))))
    length = b.sub(ends, begins)
    short = v.least(length, 8)
    part = b.sub(b.shl(v.all(1), b.and_(b.shl(short, v.all(3)), v.all(63))), v.all(1))
    mask = v.select(v.equal(short, v.all(8)), v.all(-1), part)
    first, last = (b.and_(v.gather(data, v.taken_apart(at), align=1), mask) for at in (begins, b.sub(ends, short)))
    return first, last, length


def _ends_of_first(v: Lanes, offsets: Any, data: Any) -> list[Any]:
    """Return the same of the first text, in all lanes."""
    b = v.builder
    begin, end = (b.zext(b.load(b.gep(offsets.data, [INT(at)]), align=4), INT) for at in (0, 1))
    length = b.sub(end, begin)
    short = b.select(b.icmp_unsigned("<", length, INT(8)), length, INT(8))
    part = b.sub(b.shl(INT(1), b.and_(b.shl(short, INT(3)), INT(63))), INT(1))
    mask = b.select(b.icmp_unsigned("==", short, INT(8)), INT(-1), part)
    loaded = [b.load(b.bitcast(b.gep(data.data, [at]), INT.as_pointer()), align=1) for at in (begin, b.sub(end, short))]
    return [v.spread(one) for one in (*(b.and_(one, mask) for one in loaded), length)]


stations_of_eight: Any = intrinsic(_stations_of_eight)
