"""Which of eight keys are in a sample, in vectors; :mod:`compiler.kernels.key_sample` says what it does.

Of the keys that are asked about hardly any is: a sample of 4,096 among a million. One by one, telling took 3 ns a key, and takes 1 in vectors.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import intrinsic

from compiler.kernels._lanes import opened
from compiler.kernels._wide_lanes import lanes
from compiler.kernels.tables import SAMPLE_FACTORS, SCRAMBLE

__all__ = ["choose_eight"]


def _choose_eight(_: Any, data: Any, begins: Any, ends: Any, first: Any, shift: Any) -> Any:
    """Return the mask of those of eight keys, from ``first`` on, whose :func:`compiler.kernels.key_sample.choice` begins with 63 - ``shift`` zeros.

    An empty key, which begins behind its end, is not among them.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, begins, ends, first, shift = opened(context, builder, signature, arguments)
        v, b = lanes(builder), builder
        begin, end = v.load(begins, first), v.load(ends, first)
        length = b.sub(end, begin)
        last = v.kept(v.less(v.all(8), length), b.sub(length, v.all(8)))
        middle = b.lshr(last, v.all(1))
        bits = b.and_(b.shl(length, v.all(3)), v.all(63))
        short = v.select(v.less(length, v.all(8)), b.sub(b.shl(v.all(1), bits), v.all(1)), v.all(-1))
        mixed = length
        for place, factor in zip((v.all(0), middle, last), SAMPLE_FACTORS, strict=True):
            value = v.gather(data, v.taken_apart(b.add(begin, place)), align=1)
            mixed = b.add(mixed, b.mul(b.and_(value, short), v.all(factor)))
        mixed = b.mul(b.xor(mixed, b.lshr(mixed, v.all(32))), v.all(SCRAMBLE))
        chosen = v.equal(b.lshr(b.lshr(mixed, v.all(1)), v.spread(shift)), v.all(0))
        return v.mask(v.both(chosen, v.less(begin, end)))

    return types.uint64(data, begins, ends, first, shift), generate


choose_eight: Any = intrinsic(_choose_eight)
