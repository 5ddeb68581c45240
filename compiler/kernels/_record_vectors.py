"""The steps of a walk through sealed tables for eight keys at a time, in vectors.

:mod:`compiler.kernels._vectors` explains what intrinsics these are; :mod:`compiler.kernels._plain` says the same without vectors.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import intrinsic

from compiler.kernels._lanes import Lanes, opened
from compiler.kernels._vectors import end_of_step, may_be_literal
from compiler.kernels._wide_lanes import lanes
from compiler.kernels.seal_tables import (
    CHOICE_SHIFT,
    CHOICES,
    COMPLETE,
    ENDED,
    FIRST_HASH,
    MOST_BUCKETS,
    NEXT_HASH,
    OVERFLOWED,
    REFERENCE_BITS,
    SIZE_SHIFT,
)
from compiler.kernels.tables import FINAL, SCRAMBLE

__all__ = ["ask_eight_records", "step_eight_records"]


def _ask_eight_records(
    _: Any, records: Any, filters: Any, pairs: Any, symbols: Any, places: Any, defaults: Any, first: Any
) -> Any:
    """Write what eight keys' states say of their default successors into ``defaults``, with the bit COMPLETE, and into ``places`` the buckets of their words.

    ``pairs`` are those at which the states' records begin. The place is 0 if the word cannot be a literal of the state. Buckets are
    asked for here.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        records, filters, pairs, symbols, places, defaults, first = opened(context, builder, signature, arguments)
        v, b = lanes(builder), builder
        pair, symbol = v.load(pairs, first), v.load(symbols, first)
        head, literals = v.gather_pairs(records, v.load_each(pairs, first))
        v.store(b.and_(head, v.all(COMPLETE | (1 << REFERENCE_BITS) - 1)), defaults, first)
        size = b.lshr(head, v.all(SIZE_SHIFT))
        choice = b.and_(b.lshr(size, v.all(CHOICE_SHIFT)), v.all(CHOICES - 1))
        shift = b.add(b.mul(choice, v.all(NEXT_HASH)), v.all(FIRST_HASH))
        last = b.sub(b.shl(v.all(1), b.and_(size, v.all(MOST_BUCKETS))), v.all(1))
        bucket = b.and_(b.lshr(b.mul(symbol, v.all(SCRAMBLE)), shift), last)
        place = b.add(b.add(pair, v.all(1)), bucket)
        place = v.kept(may_be_literal(v, filters, literals, symbol), place)
        v.store(place, places, first)
        v.prefetch(records, v.each(b.shl(place, v.all(1))))
        return context.get_dummy_value()

    return types.void(records, filters, pairs, symbols, places, defaults, first), generate


def _step_eight_records(
    _: Any, records: Any, states: Any, symbols: Any, places: Any, defaults: Any, words: Any, level: Any, first: Any, late: Any,
    lates: Any, pairs: Any,
) -> Any:  # fmt: skip
    """Give eight keys their successors, and write into ``pairs`` where the records of these begin.

    Keys whose word passes the filter, and is not in its bucket, and keys whose default successor is not known keep their states and are
    written to ``late[lates:]``. The records of the new states are asked for. Returns two masks: in the low eight bits the keys
    that have read a word which could change their state, and in the next eight bits those among them that are late.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        records, states, symbols, places, defaults, words, level, first, late, lates, pairs = opened(
            context, builder, signature, arguments
        )
        v, b = lanes(builder), builder
        state, symbol = v.load(states, first), v.load(symbols, first)
        place, default = v.load(places, first), v.load(defaults, first)
        one, other = v.gather_pairs(records, v.load_each(places, first))
        half, nothing = v.all(32), v.all(0)
        # What is not in its bucket, nor in the next, is no literal if the record is complete.
        alone = v.equal(b.and_(other, v.all(OVERFLOWED)), nothing)
        complete = v.both(v.less(default, nothing), alone)
        target = v.kept(complete, default)
        target = v.select(v.equal(b.lshr(other, half), symbol), other, target)
        target = v.select(v.equal(b.lshr(one, half), symbol), one, target)
        target = v.select(v.equal(place, nothing), default, target)
        target = b.and_(target, v.all((1 << REFERENCE_BITS) - 1))
        live = v.less(v.spread(level), v.load(words, first))
        live = v.both(live, v.equal(b.and_(state, v.all(FINAL)), nothing))
        known = v.differ(target, nothing)
        after = v.select(v.both(live, known), target, state)
        pair = _pairs(v, after)
        v.store(pair, pairs, first)
        return end_of_step(v, after, states, first, records, pair, live, known, late, lates)

    kinds = (records, states, symbols, places, defaults, words, level, first, late, lates, pairs)
    return types.uint64(*kinds), generate


def _pairs(v: Lanes, references: Any) -> Any:
    """Return the pairs that references refer to, as :func:`compiler.kernels.records.pair_of` does."""
    b = v.builder
    return v.kept(v.equal(b.and_(references, v.all(FINAL | ENDED)), v.all(0)), references)


ask_eight_records: Any = intrinsic(_ask_eight_records)
step_eight_records: Any = intrinsic(_step_eight_records)
