"""The words of eight keys at a time, found and named in vectors.

:mod:`compiler.kernels._vectors` explains what intrinsics these are; :mod:`compiler.kernels._plain` says the same without vectors.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from compiler.kernels._lanes import BYTE, BYTES, EACH_BYTE, INT, LANES, NARROW, PAIR, VECTOR, opened, permutes_bytes
from compiler.kernels._wide_lanes import lanes
from compiler.kernels.tables import AHEAD, BLOCK

__all__ = ["look_eight", "read_eight"]


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

    :func:`compiler.kernels.reading.look_at` says what is written; ``heads`` only where the processor can permute bytes. Returns the mask of the
    lanes for which nothing is found though they have a word left: those whose next word, or the next but AHEAD, does not end within
    64 bytes; and, where the processor can permute bytes, all that have more than 63 left.
    """
    return types.uint64(data, begins, ends, first, separator, counts, froms, stops, heads), _looked


def _looked(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    # Decided where the instructions are written: numba keeps what an intrinsic was typed as, for all processors that a process compiles for.
    return (_cut_out if permutes_bytes() else _count_out)(context, builder, signature, arguments)


def _cut_out(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions for a processor that can permute bytes.

    One permutation of a key's next 64 bytes cuts out the first eight bytes of all its words, which makes a row for each key.
    The eight rows are transposed: into a row with the first words of all keys, one with their second words, and so on. A key of
    `stock` takes 1.3 times as long if words are cut out one by one, and 2.4 times if text is read byte by byte
    (``python -m benchmarks ablations``).
    """
    data, begins, ends, first, separator, counts, froms, stops, heads = opened(context, builder, signature, arguments)
    v, b = lanes(builder), builder
    at, end = v.load(begins, first), v.load(ends, first)
    none = v.less(end, at)
    left = b.sub(end, at)
    separators = v.spread(separator, BYTES)
    compress = v.function(ir.FunctionType(BYTES, [BYTES, EACH_BYTE, BYTES]), "llvm.experimental.vector.compress.v64i8")
    permute = v.function(ir.FunctionType(BYTES, [BYTES, BYTES]), "llvm.x86.avx512.permvar.qi.512")
    # For each key: a mask of its separators and its end, the positions of these as bytes (its words' stops), and its words.
    found, rows = VECTOR(ir.Undefined), []
    for lane, begin in enumerate(v.load_each(begins, first)):
        text, _, separated = _separators(b, data, begin, b.extract_element(left, NARROW(lane)), separators)
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
    fits = v.without(v.both(v.less(left, v.all(64)), v.less(count, v.all(AHEAD + 1))), none)
    v.store(v.kept(fits, count), counts, first)
    v.store(v.select(fits, b.add(end, v.all(1)), at), begins, first)
    v.store(at, froms, first)
    return v.mask(v.other_than(v.either(fits, none)))


def _count_out(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions for all other processors.

    The stops of words are counted out of the masks, as many of each key as of the one of the eight with the most words: how many a
    key has itself nobody can guess, and a branch that is guessed wrong takes as long as three words.
    """
    data, begins, ends, first, separator, counts, froms, stops, _ = opened(context, builder, signature, arguments)
    v, b = lanes(builder), builder
    count_ones = v.function(ir.FunctionType(INT, [INT]), "llvm.ctpop.i64")
    separators, window = v.spread(separator, BYTES), INT(64)
    masks, beyond, most = [], INT(0), INT(0)
    for lane in range(LANES):
        key = b.add(first, INT(lane))
        at, end = (b.load(b.gep(array.data, [key])) for array in (begins, ends))
        left, none = b.sub(end, at), b.icmp_unsigned(">", at, end)
        _, separated, ended = _separators(b, data, at, left, separators)
        mask = b.select(b.icmp_unsigned("<", left, window), ended, separated)
        mask = b.select(none, INT(0), mask)
        count = b.call(count_ones, [mask])
        fits = b.icmp_unsigned("<", b.sub(count, INT(1)), INT(AHEAD))
        behind = b.add(at, b.sub(window, b.ctlz(mask, ir.IntType(1)(0))))
        count = b.select(fits, count, INT(0))
        b.store(at, b.gep(froms.data, [key]))
        b.store(count, b.gep(counts.data, [key]))
        b.store(b.select(fits, behind, at), b.gep(begins.data, [key]))
        beyond = b.or_(beyond, b.shl(b.zext(b.not_(b.or_(fits, none)), INT), INT(lane)))
        most = b.select(b.icmp_unsigned(">", count, most), count, most)
        masks.append(mask)
    each = b.bitcast(b.gep(stops.data, [first]), BYTE.as_pointer())
    before, body, done = b.block, b.append_basic_block("count"), b.append_basic_block("counted")
    b.cbranch(b.icmp_unsigned("==", most, INT(0)), done, body)
    b.position_at_end(body)
    level, rest = b.phi(INT), [b.phi(INT) for _ in masks]
    for lane, mask in enumerate(rest):
        stop = b.trunc(b.cttz(mask, ir.IntType(1)(0)), BYTE)
        b.store(stop, b.gep(each, [b.add(level, INT(8 * lane))]))
        mask.add_incoming(masks[lane], before)
        mask.add_incoming(b.and_(mask, b.sub(mask, INT(1))), body)
    following = b.add(level, INT(1))
    level.add_incoming(INT(0), before)
    level.add_incoming(following, body)
    b.cbranch(b.icmp_unsigned("<", following, most), body, done)
    b.position_at_end(done)
    return beyond


def _separators(b: Any, data: Any, at: Any, left: Any, separators: Any) -> tuple[Any, Any, Any]:
    """Load 64 bytes of a key from ``at`` on, of which it has ``left``.

    Returns these, the mask of the separators among them, and the mask of those up to the key's end, which counts as one; the
    latter means something where it has no more than 63 left.
    """
    text = b.load(b.bitcast(b.gep(data.data, [at]), BYTES.as_pointer()), align=1)
    separated = b.bitcast(b.icmp_unsigned("==", text, separators), INT)
    last = b.shl(INT(1), b.and_(left, INT(63)))
    return text, separated, b.or_(b.and_(separated, b.sub(last, INT(1))), last)


def _read_eight(
    _: Any, data: Any, froms: Any, heads: Any, stops: Any, counts: Any, level: Any, first: Any, table: Any, shift: Any, multiplier: Any,
    symbols: Any, late: Any, lates: Any,
) -> Any:  # fmt: skip
    """Write the symbols of word ``level`` of eight keys; :mod:`compiler.kernels.words` says how words are named.

    The symbol is 0 if the word is no literal, or if the key has no such word. Keys whose word must be named by a hash, or may be
    in a slot behind its home slot, are written to ``late[lates:]``. Returns the mask of these.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        of_all = opened(context, builder, signature, arguments)
        data, froms, heads, stops, counts, level, first, table, shift, multiplier, symbols, late, lates = of_all
        v, b = lanes(builder), builder
        packed = v.load(stops, first)
        live = v.less(v.spread(level), v.load(counts, first))
        bit = v.spread(b.shl(level, INT(3)))
        stop = b.lshr(packed, bit)
        # The stop of the word before; of the first word it is -1, as a byte.
        before = b.lshr(b.or_(b.shl(packed, v.all(8)), v.all(0xFF)), bit)
        length = b.and_(b.sub(b.sub(stop, before), v.all(1)), v.all(0xFF))
        if permutes_bytes():
            head = v.load(heads, b.add(b.mul(level, INT(BLOCK)), first))
        else:  # a key without such a word has anything there, and no more than 64 bytes are read behind its end
            begin = b.and_(b.add(before, v.all(1)), v.all(63))
            head = v.gather(data, v.taken_apart(b.add(v.load(froms, first), begin)), align=1)
        # Words of 8 bytes or more keep all eight. Shifting by 64 or more bits, as their lengths would say, is undefined in LLVM.
        short = v.less(length, v.all(8))
        bits = v.kept(short, b.shl(length, v.all(3)))
        bytes_of_word = v.select(short, b.sub(b.shl(v.all(1), bits), v.all(1)), v.all(-1))
        name = b.or_(b.and_(head, bytes_of_word), v.kept(short, b.shl(length, v.all(56))))
        name = v.kept(live, name)
        unclear = v.less(b.lshr(name, v.all(56)), v.all(9))
        by_hash = v.either(v.less(v.all(8), length), v.without(unclear, short))
        scrambled = b.mul(name, v.spread(multiplier))
        known, symbol = v.gather_pairs_near(table, v.home(scrambled, shift))
        # An empty slot has symbol 0: such a word is no literal.
        same = v.without(v.equal(known, name), by_hash)
        v.store(v.kept(v.both(live, same), symbol), symbols, first)
        nothing = v.without(v.equal(symbol, v.all(0)), by_hash)
        more = v.without(live, v.either(same, nothing))
        v.store(v.places_of(more, first), late, lates)
        return v.mask(more)

    kinds = (data, froms, heads, stops, counts, level, first, table, shift, multiplier, symbols, late, lates)
    return types.uint64(*kinds), generate


look_eight: Any = intrinsic(_look_eight)
read_eight: Any = intrinsic(_read_eight)
