"""The look-up of eight keys in the key cache against its plain twin, on tables and keys drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels import _key_vectors, _plain
from compiler.kernels._jit import kernel
from compiler.kernels.key_cache import remember, slot_of, slot_shift
from compiler.kernels.tables import BLOCK, PADDING
from tests.borders import LENGTHS

N = np.uint64(3)


@kernel
def look_up(
    offsets: Any, data: Any, row: Any, table: Any, out: Any, rows: Any, begins: Any, ends: Any, slots: Any
) -> Any:
    shift = slot_shift(table)
    return _key_vectors.look_up_eight(offsets, data, row, table, shift, 100, out, rows, begins, ends, slots, N)


@kernel
def look_up_plainly(
    offsets: Any, data: Any, row: Any, table: Any, out: Any, rows: Any, begins: Any, ends: Any, slots: Any
) -> Any:
    return _plain.look_up_eight(offsets, data, row, table, slot_shift(table), 100, out, rows, begins, ends, slots, N)


@kernel
def enter(table: Any, data: Any, begin: Any, length: Any, accept: Any) -> None:
    remember(table, slot_of(data, begin, length, slot_shift(table)), data, begin, length, accept)


def column(keys: list[bytes], behind: bytes) -> tuple[Any, Any]:
    return np.cumsum([0, *map(len, keys)]).astype(np.int32), np.frombuffer(b"".join(keys) + behind, np.uint8)


def drawn_keys(rng: np.random.Generator) -> list[bytes]:
    """Return nine keys of all lengths about the rounds of eight bytes, some of which differ in their last or first byte alone."""
    keys = []
    for length in rng.choice([*(size for size in LENGTHS if size < 80), 0, 5, 5, 5], 9).tolist():
        key = bytearray(b"abcdefgh" * 10)[:length]
        if length:
            key[int(rng.choice([0, length - 1]))] = int(rng.choice([97, 98, 0]))
        keys.append(bytes(key))
    return keys


def test_the_look_up_is_that_of_the_plain_twin() -> None:
    """Whatever stands in the slots: keys like those that are asked for, of which nothing but a byte or the length differs."""
    rng = np.random.default_rng(11)
    hits = 0
    for size in (2, 4, 16, 64) * 300:
        table = np.zeros(8 * size, np.uint64)
        for keys in (drawn_keys(rng), drawn_keys(rng)):
            offsets, data = column(keys, bytes(PADDING))
            for i in range(9):
                begin, end = (np.uint64(offset) for offset in offsets[i : i + 2])
                enter(table, data, begin, end - begin, np.uint64(rng.integers(1, 2**31)))
        # Behind the last key stands what no key has, and must not count.
        asked = [*keys[:4], *drawn_keys(rng)[:5]]
        offsets, data = column(asked, bytes([rng.integers(1, 256)]) * PADDING)
        told = []
        for function in (look_up, look_up_plainly):
            out = np.full(16, -7, np.int32)
            block = [np.zeros(BLOCK + 8, np.uint64) for _ in range(4)]
            missing = int(function(offsets, data, np.uint64(1), table, out, *block))
            filled = int(N) + missing.bit_count()
            known = [int(out[1 + lane]) for lane in range(8) if not missing >> lane & 1]
            told.append((missing, known, [numbers[:filled].tolist() for numbers in block], out[0], out[9:].tolist()))
        assert told[0] == told[1]
        hits += 8 - told[0][0].bit_count()
    assert 500 < hits < 9000
