"""The steps of a walk for eight keys at a time, in vectors.

Each function here takes arrays of a :class:`compiler.kernels.work.Work` and works on its keys ``first`` to ``first`` + 7, one
in each lane. It is an intrinsic: Python that writes LLVM's instructions, a few dozen where the processor has AVX-512. LLVM splits
them into narrower ones where it has not. Only looking ahead is left to plain code where the processor cannot permute bytes.
A step of one key by itself takes twice as long (``python -m benchmarks ablations``).

Where keys differ, the result is a mask with a bit for each lane, and the keys that plain code must look at are written to a list
without gaps. :mod:`compiler.kernels._plain` says the same without vectors: read that first.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from compiler.kernels._lanes import (
    BITS,
    BYTE,
    BYTES,
    EACH_BYTE,
    INT,
    LANES,
    NARROW,
    PAIR,
    VECTOR,
    Lanes,
    opened,
    permutes_bytes,
)
from compiler.kernels.tables import (
    AHEAD,
    BLOCK,
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
    "look_eight",
    "may_be_literal",
    "read_eight",
    "shift_eight",
    "step_eight",
    "step_eight_in_rows",
]


def _look_eight(
    _: Any,
    data: Any,
    begins: Any,
    ends: Any,
    first: Any,
    separator: Any,
    counts: Any,
    froms: Any,
    stops: Any,
    heads: Any,
) -> Any:
    """Find the next words of eight keys, up to AHEAD of each.

    :func:`compiler.kernels.reading.look_at` says what is written. Returns the mask of the lanes for which nothing is found:
    keys that have more than 63 bytes or AHEAD words left; and, if the processor cannot permute bytes, all keys that have words.

    One permutation of a key's next 64 bytes cuts out the first eight bytes of all its words, which makes a row for each key.
    The eight rows are transposed: into a row with the first words of all keys, one with their second words, and so on. A key of
    `stock` takes 1.3 times as long if words are cut out one by one, and 2.4 times if text is read byte by byte
    (``python -m benchmarks ablations``).
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, begins, ends, first, separator, counts, froms, stops, heads = opened(
            context, builder, signature, arguments
        )
        v, b = Lanes(builder), builder
        at, end = v.load(begins, first), v.load(ends, first)
        none = b.icmp_unsigned(">", at, end)
        if not permutes_bytes():
            v.store(v.all(0), counts, first)
            return v.mask(b.not_(none))
        left = b.sub(end, at)
        separators = v.spread(separator, BYTES)
        compress = v.function(
            ir.FunctionType(BYTES, [BYTES, EACH_BYTE, BYTES]), "llvm.experimental.vector.compress.v64i8"
        )
        permute = v.function(ir.FunctionType(BYTES, [BYTES, BYTES]), "llvm.x86.avx512.permvar.qi.512")
        # For each key: a mask of its separators and its end, the positions of these as bytes (its words' stops), and its words.
        found, rows = VECTOR(ir.Undefined), []
        for lane, begin in enumerate(v.load_each(begins, first)):
            here = b.gep(data.data, [begin])
            text = b.load(b.bitcast(here, BYTES.as_pointer()), align=1)
            last = b.shl(INT(1), b.and_(b.extract_element(left, NARROW(lane)), INT(63)))
            separated = b.bitcast(b.icmp_unsigned("==", text, separators), INT)
            separated = b.or_(b.and_(separated, b.sub(last, INT(1))), last)
            found = b.insert_element(found, separated, NARROW(lane))
            word_stops = b.call(compress, [BYTES(list(range(64))), b.bitcast(separated, EACH_BYTE), BYTES([0] * 64)])
            word_stops = b.bitcast(v.shuffled(word_stops, word_stops, list(range(16))), PAIR)
            b.store(b.extract_element(word_stops, NARROW(0)), b.gep(stops.data, [b.add(first, INT(lane))]))
            starts = b.add(b.shl(word_stops, PAIR([8, 8])), PAIR([0x0101010101010100] * 2))
            starts = b.bitcast(starts, ir.VectorType(BYTE, 16))
            starts = v.shuffled(starts, starts, [word for word in range(AHEAD) for _ in range(8)])
            cut = b.call(permute, [text, b.add(starts, BYTES(list(range(8)) * 8))])
            rows.append(b.bitcast(cut, VECTOR))
        for level, row in enumerate(v.turned(rows)):
            v.store(row, heads, b.add(first, INT(level * BLOCK)))
        count = b.call(v.function(ir.FunctionType(VECTOR, [VECTOR]), "llvm.ctpop.v8i64"), [found])
        fits = b.and_(b.icmp_unsigned("<", left, v.all(64)), b.icmp_unsigned("<=", count, v.all(AHEAD)))
        v.store(b.select(fits, count, v.all(0)), counts, first)
        v.store(b.select(fits, b.add(end, v.all(1)), at), begins, first)
        v.store(at, froms, first)
        return v.mask(b.not_(b.or_(fits, none)))

    return types.uint64(data, begins, ends, first, separator, counts, froms, stops, heads), generate


def _read_eight(
    _: Any, heads: Any, stops: Any, counts: Any, level: Any, first: Any, table: Any, shift: Any, multiplier: Any,
    symbols: Any, late: Any, lates: Any,
) -> Any:  # fmt: skip
    """Write the symbols of word ``level`` of eight keys; :mod:`compiler.kernels.words` says how words are named.

    The symbol is 0 if the word is no literal, or if the key has no such word. Keys whose word must be named by a hash, or may be
    in a slot behind its home slot, are written to ``late[lates:]``. Returns the mask of these.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        of_all = opened(context, builder, signature, arguments)
        heads, stops, counts, level, first, table, shift, multiplier, symbols, late, lates = of_all
        v, b = Lanes(builder), builder
        head, packed = v.load(heads, b.add(b.mul(level, INT(BLOCK)), first)), v.load(stops, first)
        live = b.icmp_unsigned("<", v.spread(level), v.load(counts, first))
        bit = v.spread(b.shl(level, INT(3)))
        stop = b.and_(b.lshr(packed, bit), v.all(0xFF))
        # The stop of the word before; of the first word it is -1, as a byte.
        before = b.lshr(b.or_(b.shl(packed, v.all(8)), v.all(0xFF)), bit)
        length = b.sub(stop, b.and_(b.add(before, v.all(1)), v.all(0xFF)))
        # Words of 8 bytes or more keep all eight. Shifting by 64 or more bits, as their lengths would say, is undefined in LLVM.
        short = b.icmp_unsigned("<", length, v.all(8))
        bits = b.select(short, b.shl(length, v.all(3)), v.all(0))
        kept = b.select(short, b.sub(b.shl(v.all(1), bits), v.all(1)), v.all(-1))
        name = b.or_(b.and_(head, kept), b.select(short, b.shl(length, v.all(56)), v.all(0)))
        name = b.select(live, name, v.all(0))
        unclear = b.icmp_unsigned("<", name, v.all(9 << 56))
        by_hash = b.or_(b.icmp_unsigned(">", length, v.all(8)), b.and_(unclear, b.not_(short)))
        scrambled = b.mul(name, v.spread(multiplier))
        known, symbol = v.gather_pairs(table, v.each(v.home(scrambled, shift)))
        nothing = b.and_(b.icmp_unsigned("==", symbol, v.all(0)), b.not_(by_hash))
        same = b.and_(b.icmp_unsigned("==", known, name), b.not_(b.or_(by_hash, nothing)))
        same = b.and_(live, same)
        v.store(b.select(same, symbol, v.all(0)), symbols, first)
        more = b.and_(live, b.not_(b.or_(same, nothing)))
        v.store(v.packed(b.add(v.places(), v.spread(first)), more), late, lates)
        return v.mask(more)

    kinds = (heads, stops, counts, level, first, table, shift, multiplier, symbols, late, lates)
    return types.uint64(*kinds), generate


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
        v, b = Lanes(builder), builder
        state, symbol = v.load(states, first), v.load(symbols, first)
        default, literals = v.gather_pairs(info, v.load_each(states, first))
        v.store(b.and_(default, v.all(0xFFFFFFFF)), defaults, first)
        key = b.or_(b.shl(state, v.spread(symbol_bits)), symbol)
        key = b.xor(key, b.lshr(key, v.spread(b.lshr(b.sub(INT(65), key_shift), INT(1)))))
        key = b.mul(b.shl(key, v.spread(key_shift)), v.all(SCRAMBLE))
        key = b.select(may_be_literal(v, filters, literals, symbol), key, v.all(0))
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
    wide = b.icmp_signed("<", literals, v.all(0))
    narrow = b.block
    with b.if_then(b.icmp_unsigned("!=", v.mask(wide), INT(0))):
        begin = b.lshr(b.and_(literals, v.all(WIDE - 1)), v.all(32))
        place = b.add(begin, b.and_(b.lshr(hashed, v.all(FILTER_WORD)), b.and_(literals, v.all(0xFFFFFFFF))))
        found = v.gather(filters, v.each(b.select(wide, place, v.all(0))))
        chosen = b.select(wide, found, literals)
        asked = b.block
    filters_of = b.phi(VECTOR)
    filters_of.add_incoming(literals, narrow)
    filters_of.add_incoming(chosen, asked)
    passes = b.icmp_unsigned("!=", symbol, v.all(0))
    for bit in bits:
        within = b.select(b.icmp_unsigned("<", bit, v.all(LAST_MARK)), bit, v.all(LAST_MARK))
        passes = b.and_(passes, b.trunc(b.lshr(filters_of, within), BITS))
    return passes


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
        v, b = Lanes(builder), builder
        state, key, default = v.load(states, first), v.load(mixed, first), v.load(defaults, first)
        # What the keys would take: the entry in the home slot, or the default successor, which is `state | FINAL` in a state that
        # no word can change.
        entry = v.gather(transitions, [b.lshr(one, shift) for one in v.load_each(mixed, first)])
        live = b.icmp_unsigned("<", v.spread(level), v.load(words, first))
        live = b.and_(live, b.icmp_unsigned("!=", default, b.or_(state, v.all(FINAL))))
        # Is the entry the key's own? Its check must be right, and its displacement 0.
        check = b.shl(key, v.spread(b.sub(INT(64), shift)))
        tag = b.and_(check, v.all(0xFFFFFFFF << 32))
        same = b.icmp_unsigned("==", b.and_(entry, v.all(~(TARGET | FINAL))), tag)
        other = b.icmp_unsigned("==", key, v.all(0))
        target = b.and_(b.select(other, default, entry), v.all(TARGET))
        known = b.and_(b.or_(same, other), b.icmp_unsigned("!=", target, v.all(0)))
        after = b.select(b.and_(live, known), target, state)
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
    misses = b.and_(live, b.not_(known))
    v.store(v.packed(b.add(v.places(), v.spread(first)), misses), late, lates)
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
        v, b = Lanes(builder), builder
        state = v.load(states, first)
        place = b.or_(b.shl(state, v.spread(bits)), v.load(symbols, first))
        target = b.zext(v.gather(rows, v.each(place), kind=NARROW, align=4), VECTOR)
        live = b.icmp_unsigned("<", v.spread(level), v.load(words, first))
        live = b.and_(live, b.icmp_unsigned("==", b.and_(target, v.all(FINAL)), v.all(0)))
        v.store(b.select(live, target, state), states, first)
        missing = b.and_(live, b.icmp_unsigned("==", target, v.all(0)))
        return b.or_(v.mask(live), b.shl(v.mask(missing), INT(LANES)))

    return types.uint64(rows, bits, states, symbols, words, level, first), generate


def _shift_eight(_: Any, now: Any, key: Any, accepts: Any, word: Any, loops: Any, lane: Any) -> Any:
    """Move the patterns in eight machine words of one key by a word; return the mask of the machine words that are not 0.

    :mod:`compiler.machine.bit_program` has the formula. The machine words are ``now[key:key + 8]``; ``accepts[word:word + 8]``
    and ``loops[lane:lane + 8]`` are the tables' for these.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        now, key, accepts, word, loops, lane = opened(context, builder, signature, arguments)
        v, b = Lanes(builder), builder
        active, stays = v.load(now, key), v.load(loops, lane)
        moved = b.shl(b.and_(active, v.load(accepts, word)), v.all(1))
        moved = b.or_(moved, b.and_(active, stays))
        moved = b.or_(moved, b.shl(b.and_(moved, stays), v.all(1)))
        v.store(moved, now, key)
        return v.mask(b.icmp_unsigned("!=", moved, v.all(0)))

    return types.uint64(now, key, accepts, word, loops, lane), generate


ask_eight: Any = intrinsic(_ask_eight)
look_eight: Any = intrinsic(_look_eight)
read_eight: Any = intrinsic(_read_eight)
shift_eight: Any = intrinsic(_shift_eight)
step_eight: Any = intrinsic(_step_eight)
step_eight_in_rows: Any = intrinsic(_step_eight_in_rows)
