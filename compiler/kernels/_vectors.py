"""Eight keys at a time: the steps of the walk in LLVM's vectors, which numba itself does not offer.

Each is a few dozen instructions where the processor has AVX-512, and LLVM takes it apart into narrower ones where it has
not. Nothing here branches: where lanes differ, the result is a mask with a bit per lane, and those that need another look
are written to a list, packed.
"""

from __future__ import annotations

from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from compiler.tables import BLOCK, FINAL, SCRAMBLE, TARGET

__all__ = ["find_eight", "name_eight", "shift_eight", "step_eight", "step_eight_in_rows", "symbols_of_eight"]

LANES = 8
INT, NARROW = ir.IntType(64), ir.IntType(32)
VECTOR, BITS = ir.VectorType(INT, LANES), ir.VectorType(ir.IntType(1), LANES)
POINTERS = ir.VectorType(INT.as_pointer(), LANES)
EVERY = BITS([1] * LANES)


class _Lanes:
    """Writes vector instructions."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def all(self, value: int) -> Any:
        """Return a constant in all lanes."""
        return VECTOR([value % 2**64] * LANES)

    def places(self) -> Any:
        """Return each lane's number."""
        return VECTOR(list(range(LANES)))

    def spread(self, value: Any) -> Any:
        """Return one number in all lanes."""
        one = self.builder.insert_element(VECTOR(ir.Undefined), value, NARROW(0))
        return self.builder.shuffle_vector(one, VECTOR(ir.Undefined), ir.VectorType(NARROW, LANES)([0] * LANES))

    def load(self, array: Any, index: Any) -> Any:
        """Load consecutive numbers."""
        return self.builder.load(self._vector(array, index), align=8)

    def store(self, values: Any, array: Any, index: Any) -> None:
        """Store consecutive numbers."""
        self.builder.store(values, self._vector(array, index), align=8)

    def gather(self, array: Any, indices: Any, *, only: Any = EVERY, size: int = 8) -> Any:
        """Load 64 bits at each index, 0 in lanes that are left out; ``size`` is that of an item, in bytes."""
        kind = ir.FunctionType(VECTOR, [POINTERS, NARROW, BITS, VECTOR])
        function = self._function(kind, "llvm.masked.gather.v8i64.v8p0")
        return self.builder.call(function, [self._places(array, indices, size), NARROW(size), only, self.all(0)])

    def gather_narrow(self, array: Any, indices: Any) -> Any:
        """Load 32 bits at each index."""
        numbers = ir.VectorType(NARROW, LANES)
        kind = ir.FunctionType(numbers, [POINTERS, NARROW, BITS, numbers])
        function = self._function(kind, "llvm.masked.gather.v8i32.v8p0")
        places = self._places(array, indices, 4)
        found = self.builder.call(function, [places, NARROW(4), EVERY, numbers([0] * LANES)])
        return self.builder.zext(found, VECTOR)

    def mask(self, bits: Any) -> Any:
        """Return a number with a bit per lane."""
        return self.builder.zext(self.builder.bitcast(bits, ir.IntType(LANES)), INT)

    def packed(self, values: Any, bits: Any) -> Any:
        """Return the numbers of some lanes in the first lanes, in order."""
        function = self._function(
            ir.FunctionType(VECTOR, [VECTOR, BITS, VECTOR]), "llvm.experimental.vector.compress.v8i64"
        )
        return self.builder.call(function, [values, bits, self.all(0)])

    def home(self, scrambled: Any, shift: Any) -> Any:
        """Return the top bits."""
        return self.builder.lshr(scrambled, self.spread(shift))

    def _vector(self, array: Any, index: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(array.data, [index]), VECTOR.as_pointer())

    def _places(self, array: Any, indices: Any, size: int) -> Any:
        base = self.spread(self.builder.ptrtoint(array.data, INT))
        return self.builder.inttoptr(self.builder.add(base, self.builder.mul(indices, self.all(size))), POINTERS)

    def _function(self, kind: Any, name: str) -> Any:
        return cast("Any", cgutils).get_or_insert_function(self.builder.module, kind, name)


def _opened(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """Return the arguments, arrays as structures."""
    pairs = zip(signature.args, arguments, strict=True)
    return [context.make_array(k)(context, builder, v) if isinstance(k, types.Array) else v for k, v in pairs]


def _name_eight(_: Any, data: Any, stops: Any, words: Any, level: Any, names: Any, first: Any) -> Any:
    """Name word ``level`` of the keys from ``first`` on that have one; see :func:`compiler.kernels.words.name_word`.

    ``stops`` has a row of BLOCK numbers for each level: where the word before ends. Returns the lanes whose words must be
    named by hash. Keys that have no such word get the name 0, as nothing may be looked up where they end.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, stops, words, level, names, first = _opened(context, builder, signature, arguments)
        v, b = _Lanes(builder), builder
        at = b.add(b.mul(level, INT(BLOCK)), first)
        begins = b.add(v.load(stops, at), v.all(1))
        length = b.sub(v.load(stops, b.add(at, INT(BLOCK))), begins)
        live = b.icmp_unsigned("<", v.spread(level), v.load(words, first))
        name = v.gather(data, begins, only=live, size=1)
        # A word of 8 bytes or more keeps them all; a shift by 64, which its length asks for, would mean nothing.
        short = b.icmp_unsigned("<", length, v.all(8))
        bits = b.select(short, b.shl(length, v.all(3)), v.all(0))
        kept = b.select(short, b.sub(b.shl(v.all(1), bits), v.all(1)), v.all(-1))
        name = b.or_(b.and_(name, kept), b.select(short, b.shl(length, v.all(56)), v.all(0)))
        name = b.select(live, name, v.all(0))
        v.store(name, names, first)
        unclear = b.icmp_unsigned("<", name, v.all(9 << 56))
        hashed = b.or_(b.icmp_unsigned(">", length, v.all(8)), b.and_(unclear, b.not_(short)))
        return v.mask(b.and_(live, hashed))

    return types.uint64(data, stops, words, level, names, first), generate


def _step_eight(
    _: Any, info: Any, states: Any, words: Any, level: Any, names: Any, first: Any,
    asking: Any, ask_names: Any, ask_states: Any, asked: Any,
) -> Any:  # fmt: skip
    """Give the keys from ``first`` on their default successors, where the filter says that these are right.

    The others, whose next word may be a literal, are written to ``asking[asked:]``. Returns two masks of lanes: keys that
    have read a word that could change their state, and keys that ask, << 8.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        opened = _opened(context, builder, signature, arguments)
        info, states, words, level, names, first, asking, ask_names, ask_states, asked = opened
        v, b = _Lanes(builder), builder
        state, name = v.load(states, first), v.load(names, first)
        at = b.shl(state, v.all(1))
        default = b.and_(v.gather(info, at), v.all(0xFFFFFFFF))
        literals = v.gather(info, b.or_(at, v.all(1)))
        bit = b.lshr(b.mul(name, v.all(SCRAMBLE)), v.all(58))
        literal = b.trunc(b.lshr(literals, bit), BITS)
        live = b.icmp_unsigned("<", v.spread(level), v.load(words, first))
        live = b.and_(live, b.icmp_unsigned("!=", default, b.or_(state, v.all(FINAL))))
        ask = b.and_(live, b.or_(literal, b.icmp_unsigned("==", default, v.all(0))))
        goes = b.and_(live, b.not_(ask))
        v.store(b.select(goes, b.and_(default, v.all(TARGET)), state), states, first)
        v.store(v.packed(b.add(v.places(), v.spread(first)), ask), asking, asked)
        v.store(v.packed(name, ask), ask_names, asked)
        v.store(v.packed(b.or_(state, b.shl(default, v.all(32))), ask), ask_states, asked)
        return b.or_(v.mask(live), b.shl(v.mask(ask), INT(LANES)))

    return types.uint64(info, states, words, level, names, first, asking, ask_names, ask_states, asked), generate


def _step_eight_in_rows(
    _: Any, rows: Any, bits: Any, states: Any, symbols: Any, words: Any, level: Any, first: Any
) -> Any:
    """Give the keys from ``first`` on the successors that their states have in rows of 2 to the power ``bits``.

    Returns two masks of lanes: keys that have read a word that could change their state, and, << 8, keys whose successor is
    not known.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows, bits, states, symbols, words, level, first = _opened(context, builder, signature, arguments)
        v, b = _Lanes(builder), builder
        state = v.load(states, first)
        target = v.gather_narrow(rows, b.or_(b.shl(state, v.spread(bits)), v.load(symbols, first)))
        live = b.icmp_unsigned("<", v.spread(level), v.load(words, first))
        live = b.and_(live, b.icmp_unsigned("==", b.and_(target, v.all(FINAL)), v.all(0)))
        v.store(b.select(live, target, state), states, first)
        missing = b.and_(live, b.icmp_unsigned("==", target, v.all(0)))
        return b.or_(v.mask(live), b.shl(v.mask(missing), INT(LANES)))

    return types.uint64(rows, bits, states, symbols, words, level, first), generate


def _symbols_of_eight(
    _: Any, table: Any, shift: Any, names: Any, first: Any, count: Any, symbols: Any, late: Any, lates: Any
) -> Any:
    """Look ``names[first:first + 8]`` up; write ``symbols``, 0 for a word that is no literal.

    Where a word is not in its home slot, but may be behind it, its place among the first ``count`` names is written to
    ``late[lates:]``. Returns the mask of these.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        opened = _opened(context, builder, signature, arguments)
        table, shift, names, first, count, symbols, late, lates = opened
        v, b = _Lanes(builder), builder
        name = v.load(names, first)
        slot = b.shl(v.home(b.mul(name, v.all(SCRAMBLE)), shift), v.all(1))
        symbol = v.gather(table, b.or_(slot, v.all(1)))
        same = b.icmp_unsigned("==", v.gather(table, slot), name)
        exact = b.icmp_unsigned("!=", b.lshr(name, v.all(56)), v.all(8))
        found = b.and_(same, exact)
        v.store(b.select(found, symbol, v.all(0)), symbols, first)
        live = b.icmp_unsigned("<", b.add(v.places(), v.spread(first)), v.spread(count))
        more = b.and_(live, b.not_(b.or_(found, b.icmp_unsigned("==", symbol, v.all(0)))))
        v.store(v.packed(b.add(v.places(), v.spread(first)), more), late, lates)
        return v.mask(more)

    return types.uint64(table, shift, names, first, count, symbols, late, lates), generate


def _find_eight(
    _: Any, transitions: Any, shift: Any, symbol_bits: Any, key_shift: Any, ask_states: Any, symbols: Any,
    asking: Any, first: Any, count: Any, late: Any, late_symbols: Any, lates: Any,
) -> Any:  # fmt: skip
    """Find the successors of the keys ``asking[first:first + 8]`` that are in their home slots; put them into ``ask_states``.

    The others of the first ``count`` keep their states, and are written to ``late`` and ``late_symbols`` from ``lates`` on.
    Returns their mask.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        opened = _opened(context, builder, signature, arguments)
        (
            transitions,
            shift,
            symbol_bits,
            key_shift,
            ask_states,
            symbols,
            asking,
            first,
            count,
            late,
            late_symbols,
            lates,
        ) = opened
        v, b = _Lanes(builder), builder
        keys, symbol = v.load(asking, first), v.load(symbols, first)
        live = b.icmp_unsigned("<", b.add(v.places(), v.spread(first)), v.spread(count))
        both = v.load(ask_states, first)
        state = b.and_(both, v.all(TARGET))
        key = b.or_(b.shl(state, v.spread(symbol_bits)), symbol)  # as compiler.kernels.transitions.mix does it
        key = b.xor(key, b.lshr(key, v.spread(b.lshr(b.sub(INT(65), key_shift), INT(1)))))
        mixed = b.mul(b.shl(key, v.spread(key_shift)), v.all(SCRAMBLE))
        entry = v.gather(transitions, v.home(mixed, shift))
        check = b.shl(mixed, v.spread(b.sub(INT(64), shift)))
        tag = b.and_(check, v.all(0xFFFFFFFF << 32))
        same = b.icmp_unsigned("==", b.and_(entry, v.all(~(TARGET | FINAL))), tag)
        other = b.icmp_unsigned("==", symbol, v.all(0))
        default = b.lshr(both, v.all(32))
        target = b.and_(b.select(other, default, entry), v.all(TARGET))
        known = b.and_(b.or_(same, other), b.icmp_unsigned("!=", target, v.all(0)))
        v.store(b.select(known, target, state), ask_states, first)
        misses = b.and_(live, b.not_(known))
        v.store(v.packed(keys, misses), late, lates)
        v.store(v.packed(symbol, misses), late_symbols, lates)
        return v.mask(misses)

    types_ = (
        transitions, shift, symbol_bits, key_shift, ask_states, symbols, asking, first, count, late, late_symbols, lates
    )  # fmt: skip
    return types.uint64(*types_), generate


def _shift_eight(_: Any, now: Any, key: Any, accepts: Any, word: Any, loops: Any, lane: Any) -> Any:
    """Move all patterns in eight lanes of a key by one word; see :mod:`compiler.bits`. Returns which lanes are not empty."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        now, key, accepts, word, loops, lane = _opened(context, builder, signature, arguments)
        v, b = _Lanes(builder), builder
        active, stays = v.load(now, key), v.load(loops, lane)
        moved = b.shl(b.and_(active, v.load(accepts, word)), v.all(1))
        moved = b.or_(moved, b.and_(active, stays))
        moved = b.or_(moved, b.shl(b.and_(moved, stays), v.all(1)))
        v.store(moved, now, key)
        return v.mask(b.icmp_unsigned("!=", moved, v.all(0)))

    return types.uint64(now, key, accepts, word, loops, lane), generate


name_eight: Any = intrinsic(_name_eight)
shift_eight: Any = intrinsic(_shift_eight)
step_eight: Any = intrinsic(_step_eight)
step_eight_in_rows: Any = intrinsic(_step_eight_in_rows)
symbols_of_eight: Any = intrinsic(_symbols_of_eight)
find_eight: Any = intrinsic(_find_eight)
