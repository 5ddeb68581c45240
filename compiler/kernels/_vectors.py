"""The steps of a walk for eight keys at a time, in vectors.

Each function here takes arrays of a :class:`compiler.kernels.work.Work` and works on its keys ``first`` to ``first`` + 7, one
in each lane. It is an intrinsic: Python that writes LLVM's instructions, a few dozen where the processor has AVX-512. LLVM splits
them into narrower ones where it has not. A step of one key by itself takes twice as long (``python -m benchmarks ablations``). How words are
found and named says :mod:`compiler.kernels._word_vectors`.

Where keys differ, the result is a mask with a bit for each lane, and the keys that plain code must look at are written to a list
without gaps. :mod:`compiler.kernels._plain` says the same without vectors: read that first.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import intrinsic

from compiler.kernels._lanes import INT, LANES, NARROW, VECTOR, Lanes, opened
from compiler.kernels._wide_lanes import lanes
from compiler.kernels.tables import (
    FILTER_WORD,
    FINAL,
    FIRST_MARK,
    LAST_MARK,
    MARK,
    SCRAMBLE,
    SECOND_MARK,
    TARGET,
    WIDE,
)

__all__ = [
    "ask_eight",
    "end_of_step",
    "may_be_literal",
    "shift_eight",
    "step_eight",
    "step_eight_in_rows",
]


def _ask_eight(
    _: Any, info: Any, filters: Any, states: Any, symbols: Any, symbol_bits: Any, key_shift: Any, mixed: Any, defaults: Any,
    first: Any, transitions: Any, shift: Any,
) -> Any:  # fmt: skip
    """Write the default successors of eight keys' states into ``defaults``, and into ``mixed`` what to look their words up by.

    That is state and symbol, scrambled (:func:`compiler.kernels.transitions.mix`), or 0 if the word cannot be a literal of the state:
    then the transition table need not be read. Home slots are asked for here: a warm key of `stock` took 1.12 times as long when
    a loop of its own did that.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        of_all = opened(context, builder, signature, arguments)
        info, filters, states, symbols, symbol_bits, key_shift, mixed, defaults, first, transitions, shift = of_all
        v, b = lanes(builder), builder
        state, symbol = v.load(states, first), v.load(symbols, first)
        default, literals = v.gather_pairs(info, v.load_each(states, first))
        v.store(b.and_(default, v.all(0xFFFFFFFF)), defaults, first)
        key = b.or_(b.shl(state, v.spread(symbol_bits)), symbol)
        key = b.xor(key, b.lshr(key, v.spread(b.lshr(b.sub(INT(65), key_shift), INT(1)))))
        key = b.mul(b.shl(key, v.spread(key_shift)), v.all(SCRAMBLE))
        key = v.kept(may_be_literal(v, filters, literals, symbol), key)
        v.store(key, mixed, first)
        v.prefetch(transitions, v.each(v.home(key, shift)))
        return context.get_dummy_value()

    kinds = (info, filters, states, symbols, symbol_bits, key_shift, mixed, defaults, first, transitions, shift)
    return types.void(*kinds), generate


def may_be_literal(v: Lanes, filters: Any, literals: Any, symbol: Any) -> Any:
    """Tell which of eight words pass the filters of their states, as :func:`compiler.kernels.filters.may_be_literal` does."""
    b = v.builder
    hashed = b.mul(symbol, v.all(SCRAMBLE))
    bits = b.lshr(hashed, v.all(FIRST_MARK)), b.and_(b.lshr(hashed, v.all(SECOND_MARK)), v.all(MARK))
    # A load of a place that depends on another load is dear, so wide filters are asked only where there is one among the eight.
    wide = v.less(literals, v.all(0))
    narrow = b.block
    with b.if_then(b.icmp_unsigned("!=", v.mask(wide), INT(0))):
        begin = b.lshr(b.and_(literals, v.all(WIDE - 1)), v.all(32))
        place = b.add(begin, b.and_(b.lshr(hashed, v.all(FILTER_WORD)), b.and_(literals, v.all(0xFFFFFFFF))))
        found = v.gather(filters, v.each(v.kept(wide, place)))
        chosen = v.select(wide, found, literals)
        asked = b.block
    filters_of = b.phi(VECTOR)
    filters_of.add_incoming(literals, narrow)
    filters_of.add_incoming(chosen, asked)
    marked = v.odd(b.and_(*(b.lshr(filters_of, v.least(bit, LAST_MARK)) for bit in bits)))
    return v.without(marked, v.equal(symbol, v.all(0)))


def _step_eight(
    _: Any, transitions: Any, shift: Any, states: Any, mixed: Any, defaults: Any, words: Any, level: Any, first: Any,
    late: Any, lates: Any, info: Any,
) -> Any:  # fmt: skip
    """Give eight keys their successors.

    Keys whose successor is not in the cache, or not in the home slot, keep their states and are written to ``late[lates:]``. The new
    states are asked for in ``info``. Returns two masks: in the low eight bits the keys that have read a word which could change
    their state, and in the next eight bits those among them that are late.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        of_all = opened(context, builder, signature, arguments)
        transitions, shift, states, mixed, defaults, words, level, first, late, lates, info = of_all
        v, b = lanes(builder), builder
        state, key, default = v.load(states, first), v.load(mixed, first), v.load(defaults, first)
        # What the keys would take: the entry in the home slot, or the default successor, which is `state | FINAL` in a state that
        # no word can change.
        entry = v.gather(transitions, [b.lshr(one, shift) for one in v.load_each(mixed, first)])
        live = v.less(v.spread(level), v.load(words, first))
        live = v.without(live, v.equal(default, b.or_(state, v.all(FINAL))))
        # Is the entry the key's own? Its check must be right, and its displacement 0.
        check = b.shl(key, v.spread(b.sub(INT(64), shift)))
        tag = b.and_(check, v.all(0xFFFFFFFF << 32))
        same = v.equal(b.and_(entry, v.all(~(TARGET | FINAL))), tag)
        other = v.equal(key, v.all(0))
        target = b.and_(v.select(other, default, entry), v.all(TARGET))
        known = v.without(v.either(same, other), v.equal(target, v.all(0)))
        after = v.select(v.both(live, known), target, state)
        return end_of_step(v, after, states, first, info, after, live, known, late, lates)

    kinds = (transitions, shift, states, mixed, defaults, words, level, first, late, lates, info)
    return types.uint64(*kinds), generate


def end_of_step(
    v: Lanes,
    after: Any,
    states: Any,
    first: Any,
    table: Any,
    pairs: Any,
    live: Any,
    known: Any,
    late: Any,
    lates: Any,
) -> Any:
    """Store the states of eight keys, ask for their ``pairs`` in a table, and write those that have read a word and got no successor to
    ``late[lates:]``; return the masks of keys that have read a word and, from the ninth bit on, of these.
    """
    b = v.builder
    v.store(after, states, first)
    v.prefetch(table, v.each(b.shl(pairs, v.all(1))))
    misses = v.without(live, known)
    v.store(v.places_of(misses, first), late, lates)
    return b.or_(v.mask(live), b.shl(v.mask(misses), INT(LANES)))


def _step_eight_in_rows(
    _: Any, rows: Any, bits: Any, states: Any, symbols: Any, words: Any, level: Any, first: Any
) -> Any:
    """Give eight keys the successors that their states have in dense rows; a row has 2 to the power ``bits`` entries.

    Returns two masks: in the low eight bits the keys that have read a word which could change their state, and in the next
    eight bits those among them whose successor is not in the rows.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows, bits, states, symbols, words, level, first = opened(context, builder, signature, arguments)
        v, b = lanes(builder), builder
        state = v.load(states, first)
        place = b.or_(b.shl(state, v.spread(bits)), v.load(symbols, first))
        target = b.zext(v.gather_near(rows, place, kind=NARROW, align=4), VECTOR)
        live = v.less(v.spread(level), v.load(words, first))
        live = v.both(live, v.equal(b.and_(target, v.all(FINAL)), v.all(0)))
        v.store(v.select(live, target, state), states, first)
        missing = v.both(live, v.equal(target, v.all(0)))
        return b.or_(v.mask(live), b.shl(v.mask(missing), INT(LANES)))

    return types.uint64(rows, bits, states, symbols, words, level, first), generate


def _shift_eight(_: Any, now: Any, key: Any, accepts: Any, word: Any, loops: Any, lane: Any) -> Any:
    """Move the patterns in eight machine words of one key by a word; return 0 if all of these are 0 then, and else another number.

    :mod:`compiler.machine.bit_program` has the formula. The machine words are ``now[key:key + 8]``; ``accepts[word:word + 8]``
    and ``loops[lane:lane + 8]`` are the tables' for these.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        now, key, accepts, word, loops, lane = opened(context, builder, signature, arguments)
        v, b = lanes(builder), builder
        active, stays = v.load(now, key), v.load(loops, lane)
        moved = b.shl(b.and_(active, v.load(accepts, word)), v.all(1))
        moved = b.or_(moved, b.and_(active, stays))
        moved = b.or_(moved, b.shl(b.and_(moved, stays), v.all(1)))
        v.store(moved, now, key)
        return v.any(moved)

    return types.uint64(now, key, accepts, word, loops, lane), generate


ask_eight: Any = intrinsic(_ask_eight)
shift_eight: Any = intrinsic(_shift_eight)
step_eight: Any = intrinsic(_step_eight)
step_eight_in_rows: Any = intrinsic(_step_eight_in_rows)
