"""The vectors' steps against their plain twins, on arrays drawn at random; and what no window of 64 bytes may cut."""

from __future__ import annotations

import random
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest

from compiler import Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.kernels import _plain, _vectors, _word_vectors
from compiler.kernels._jit import inlined, kernel
from compiler.kernels._lanes import permutes_bytes
from compiler.kernels.reading import look_at
from compiler.kernels.tables import AHEAD, BLOCK, PADDING, SCRAMBLE, TARGET, WIDE
from compiler.kernels.words import fill_words
from compiler.machine.lazy import LazyDfa
from compiler.machine.simulator import Simulator
from tests.borders import LENGTHS, between
from tests.compiler.machines import answers, without_bits

Uint64s = npt.NDArray[np.uint64]

ZERO, ONE, EIGHT, DOT = np.uint64(0), np.uint64(1), np.uint64(8), np.uint8(46)
SHIFT, WORD_SHIFT = np.uint64(59), np.uint64(57)
WORDS = [
    b"",
    b"a",
    b"b",
    b"ab",
    b"seven77",
    b"eight888",
    b"\0" * 8,
    b"a\0\0\0\0\0\0\x07",
    b"nine99999",
    b"x" * 20,
    b"x" * 63,
]


@kernel
def look(data: Any, begins: Any, ends: Any, counts: Any, froms: Any, stops: Any, heads: Any) -> Any:
    beyond = _word_vectors.look_eight(data, begins, ends, ZERO, DOT, counts, froms, stops, heads)
    return _finished(beyond, data, begins, ends, counts, froms, stops, heads)


@kernel  # a kernel of its own, as it is compiled for a processor that cannot permute bytes
def count_out(data: Any, begins: Any, ends: Any, counts: Any, froms: Any, stops: Any, heads: Any) -> Any:
    beyond = _word_vectors.look_eight(data, begins, ends, ZERO, DOT, counts, froms, stops, heads)
    return _finished(beyond, data, begins, ends, counts, froms, stops, heads)


@kernel
def look_plainly(data: Any, begins: Any, ends: Any, counts: Any, froms: Any, stops: Any, heads: Any) -> Any:
    beyond = _plain.look_eight(data, begins, ends, ZERO, DOT, counts, froms, stops, heads)
    return _finished(beyond, data, begins, ends, counts, froms, stops, heads)


@inlined
def _finished(beyond: Any, data: Any, begins: Any, ends: Any, counts: Any, froms: Any, stops: Any, heads: Any) -> Any:
    for key in range(EIGHT):
        if beyond >> key & ONE != ZERO:
            counts[key] = look_at(data, begins, ends, DOT, froms, stops, heads, key)
    return beyond


@kernel
def read(
    data: Any, froms: Any, heads: Any, stops: Any, counts: Any, level: Any, table: Any, by: Any, symbols: Any, late: Any
) -> Any:
    return _word_vectors.read_eight(
        data, froms, heads, stops, counts, level, ZERO, table, WORD_SHIFT, by, symbols, late, ZERO
    )


@kernel  # a kernel of its own, as it is compiled for a processor that cannot permute bytes
def read_from_text(
    data: Any, froms: Any, heads: Any, stops: Any, counts: Any, level: Any, table: Any, by: Any, symbols: Any, late: Any
) -> Any:
    return _word_vectors.read_eight(
        data, froms, heads, stops, counts, level, ZERO, table, WORD_SHIFT, by, symbols, late, ZERO
    )


@kernel
def read_plainly(
    data: Any, froms: Any, heads: Any, stops: Any, counts: Any, level: Any, table: Any, by: Any, symbols: Any, late: Any
) -> Any:
    return _plain.read_eight(data, froms, heads, stops, counts, level, ZERO, table, WORD_SHIFT, by, symbols, late, ZERO)


@kernel
def step(
    info: Any,
    filters: Any,
    transitions: Any,
    states: Any,
    symbols: Any,
    mixed: Any,
    defaults: Any,
    words: Any,
    late: Any,
) -> Any:
    bits, key_shift = np.uint64(4), np.uint64(28)
    _vectors.ask_eight(info, filters, states, symbols, bits, key_shift, mixed, defaults, ZERO, transitions, SHIFT)
    return _vectors.step_eight(transitions, SHIFT, states, mixed, defaults, words, np.uint64(2), ZERO, late, ZERO, info)


@kernel
def step_plainly(
    info: Any,
    filters: Any,
    transitions: Any,
    states: Any,
    symbols: Any,
    mixed: Any,
    defaults: Any,
    words: Any,
    late: Any,
) -> Any:
    bits, key_shift = np.uint64(4), np.uint64(28)
    _plain.ask_eight(info, filters, states, symbols, bits, key_shift, mixed, defaults, ZERO, transitions, SHIFT)
    return _plain.step_eight(transitions, SHIFT, states, mixed, defaults, words, np.uint64(2), ZERO, late, ZERO, info)


@kernel
def step_in_rows(rows: Any, states: Any, symbols: Any, words: Any) -> Any:
    return _vectors.step_eight_in_rows(rows, np.uint64(3), states, symbols, words, np.uint64(1), ZERO)


@kernel
def step_in_rows_plainly(rows: Any, states: Any, symbols: Any, words: Any) -> Any:
    return _plain.step_eight_in_rows(rows, np.uint64(3), states, symbols, words, np.uint64(1), ZERO)


@kernel
def shift(now: Any, accepts: Any, loops: Any) -> Any:
    return _vectors.shift_eight(now, EIGHT, accepts, np.uint64(16), loops, EIGHT)


@kernel
def shift_plainly(now: Any, accepts: Any, loops: Any) -> Any:
    return _plain.shift_eight(now, EIGHT, accepts, np.uint64(16), loops, EIGHT)


def block(rows: int = 1) -> Uint64s:
    return np.zeros(rows * BLOCK + 8, np.uint64)


def seen(
    rng: random.Random, looking: Any, *, cut: bool = True
) -> tuple[npt.NDArray[np.uint8], list[Uint64s], int, int]:
    """Look at eight random keys in vectors and plainly; return the keys, what the latter wrote, and which lanes each left over.

    Words are ``cut`` out by the vectors, or only found.
    """
    keys = [rng.choice([b"", b".".join(rng.choices(WORDS, k=rng.randrange(1, 12)))]) for _ in range(8)]
    data = np.frombuffer(b"".join(keys) + b"." * PADDING, np.uint8)
    ends = np.cumsum([len(key) for key in keys]).astype(np.uint64)
    begins = ends - np.array([len(key) for key in keys], np.uint64)
    begins += np.array([rng.randrange(2) for _ in keys], np.uint64)
    told = []
    for function in (looking, look_plainly):
        counts, froms, stops, heads = block(), block(), block(), block(AHEAD)
        at = begins.copy()
        told.append(([at, counts, froms, stops, heads], int(function(data, at, ends, counts, froms, stops, heads))))
    (left, mask), (right, plainly) = told
    for key in range(8):
        assert left[0][key] == right[0][key], keys
        assert left[1][key] == right[1][key], keys
        begin = 0
        for word in range(int(left[1][key])):
            assert left[2][key] == right[2][key], keys
            stop = int(left[3][key]) >> 8 * word & 0xFF
            assert stop == int(right[3][key]) >> 8 * word & 0xFF, keys
            own = 2 ** (8 * min(8, stop - begin)) - 1  # bytes behind the word mean nothing
            assert (
                not cut
                or stop == 0xFF
                or not (int(left[4][word * BLOCK + key]) ^ int(right[4][word * BLOCK + key])) & own
            ), keys
            begin = stop + 1
    return data, right, mask, plainly


PERMUTING = pytest.mark.parametrize("permuting", [False, *([True] if permutes_bytes() else [])])


def compiled_for(permuting: bool) -> AbstractContextManager[Any]:
    """Compile kernels that run first in here for a processor that can permute bytes, as this one does, or for one that cannot."""
    return nullcontext() if permuting else patch.object(_word_vectors, "permutes_bytes", return_value=False)


@PERMUTING
def test_words_are_found_as_the_plain_twin_does(permuting: bool) -> None:
    """Also where the processor cannot permute bytes: what has more than 63 left then need not be left over."""
    rng = random.Random(5)
    with compiled_for(permuting):
        found = [seen(rng, look if permuting else count_out, cut=permuting)[2:] for _ in range(2000)]
    assert all(mask & ~plainly == 0 for mask, plainly in found)
    assert all(mask == plainly for mask, plainly in found) is permuting
    assert any(mask for mask, _ in found)


@PERMUTING
def test_words_are_read_as_the_plain_twin_does(permuting: bool) -> None:
    rng = random.Random(7)
    literals = [b"", b"a", b"ab", b"seven77", b"eight888", b"nine99999", *(b"w%d" % i for i in range(40))]
    offsets = np.cumsum([0, *(len(word) for word in literals)]).astype(np.int32)
    word_data = np.frombuffer(b"".join(literals) + bytes(PADDING), np.uint8)
    table = np.zeros(2 * 128, np.uint64)
    multiplier = np.uint64(SCRAMBLE)
    assert fill_words(table, np.int64(WORD_SHIFT), multiplier, word_data, offsets)
    lates = found = 0
    for _ in range(2000):
        data, (_, counts, froms, stops, heads), *_ = seen(rng, look_plainly)
        for level in map(np.uint64, range(AHEAD)):
            told = []
            for function in (read if permuting else read_from_text, read_plainly):
                symbols, late = block(), block()
                given = data, froms, heads, stops, counts, level, table, multiplier, symbols, late
                with compiled_for(permuting):
                    mask = int(function(*given))
                told.append((mask, symbols[:8].tolist(), late[: mask.bit_count()].tolist()))
            # What the vectors write for late keys is written over.
            assert told[0][0] == told[1][0]
            assert told[0][1:] == told[1][1:]
            lates += told[0][0].bit_count()
            found += sum(symbol != 0 for symbol in told[0][1])
    assert lates > 1000
    assert found > 1000


def test_steps_are_those_of_the_plain_twin() -> None:
    """States of random defaults and filters, and transitions in their home slots that are theirs, another's, or not there."""
    rng = np.random.default_rng(11)
    passed = 0
    for _ in range(2000):
        info = rng.integers(0, 2**64, 32, np.uint64)
        info[::2] = (
            rng.choice([0, 1, 3, 3 | TARGET + 1, 5, 5 | TARGET + 1], 16).astype(np.uint64) | info[::2] >> 32 << 32
        )
        wide = WIDE | rng.integers(0, 32, 16, np.uint64) << 32 | rng.choice([1, 3, 15], 16).astype(np.uint64)
        info[1::2] = np.where(rng.random(16) < rng.choice([0, 0.5]), wide, info[1::2] & WIDE - 1)
        filters = rng.integers(0, 2**63, 48, np.uint64)
        states, symbols, words = block(), block(), block()
        states[:8] = rng.integers(0, 16, 8)
        symbols[:8] = rng.integers(0, 16, 8).astype(np.uint64)
        words[:8] = rng.integers(0, 5, 8)
        transitions = rng.integers(0, 2**64, 32, np.uint64)
        for key in range(8):
            number = int(states[key]) << 4 | int(symbols[key]) & 15
            mixed = ((number ^ number >> 18) << 28) * SCRAMBLE % 2**64
            if rng.random() < 0.6:
                entry = (mixed << 5) % 2**64 >> 32 << 32 | int(rng.integers(0, 3)) << 27 | int(rng.integers(0, 9))
                transitions[mixed >> 59] = entry & ~(1 << 28)
        told = []
        for function in (step, step_plainly):
            after, mixed_, defaults, late = states.copy(), block(), block(), block()
            mask = int(function(info, filters, transitions, after, symbols, mixed_, defaults, words, late))
            lists = after[:8], mixed_[:8], defaults[:8], late[: (mask >> 8).bit_count()]
            told.append((mask, [numbers.tolist() for numbers in lists]))
            passed += int(np.count_nonzero(mixed_))
        assert told[0] == told[1]
    assert 2000 < passed < 30_000


def test_steps_in_rows_and_of_bits_are_those_of_the_plain_twin() -> None:
    rng = np.random.default_rng(13)
    for _ in range(500):
        rows = rng.choice([0, 1, 2, 9, TARGET + 1], 128).astype(np.uint32)
        states, symbols, words = block(), block(), block()
        states[:8], words[:8] = rng.integers(0, 16, 8), rng.integers(0, 3, 8)
        symbols[:8] = rng.integers(0, 8, 8)
        told = []
        for function in (step_in_rows, step_in_rows_plainly):
            after = states.copy()
            told.append((int(function(rows, after, symbols, words)), after.tolist()))
        assert told[0] == told[1]
        now, accepts, loops = (
            rng.integers(0, 2**64, 24, np.uint64) & rng.integers(0, 2**64, 24, np.uint64) for _ in "abc"
        )
        now *= rng.integers(0, 2, dtype=np.uint64)
        moved, moved_plainly = now.copy(), now.copy()
        assert (
            bool(shift(moved, accepts, loops))
            == bool(shift_plainly(moved_plainly, accepts, loops))
            == moved[8:16].any()
        )
        assert moved.tolist() == moved_plainly.tolist()


@pytest.mark.parametrize("length", between(LENGTHS, 54, 300))
def test_words_at_the_ends_of_windows(length: int) -> None:
    """Keys are looked at 64 bytes and 8 words at a time: words of every length around that, before and behind others."""
    rng = random.Random(length)
    long, longer = b"l" * length, b"l" * (length + 1)
    nfa = build_nfa(
        [
            [Wildcard.MANY, long],
            [b"a", long, Wildcard.MANY],
            [Wildcard.MANY, b"a", Wildcard.ONE, b"b"],
            [long, Wildcard.ONE, longer],
            [Wildcard.MANY, longer, b""],
        ]
    )
    words = [b"", b"a", b"b", b"cc", long, longer, b"m" * length]
    keys: list[bytes | None] = [b".".join(rng.choices(words, k=rng.randrange(1, 20))) for _ in range(400)]
    expected = answers(Twin(nfa, b".", 1 << 20), keys)
    assert sum(map(bool, expected)) > 20
    machine = without_bits(LazyDfa(nfa, b".", 1 << 20))
    for _ in range(2):
        assert answers(machine, keys) == expected
    assert [list(machine.match(key)) for key in keys if key is not None] == expected
    assert answers(Simulator(nfa, b"."), keys) == expected
    assert answers(without_bits(Simulator(nfa, b".")), keys) == expected
