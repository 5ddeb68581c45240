"""The vectors' steps through records against their plain twins, on records drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels import _plain, _record_vectors
from compiler.kernels._jit import kernel
from compiler.kernels.seal_tables import COMPLETE, ENDED, EVERY_WORD, OVERFLOWED, SIZE_SHIFT
from compiler.kernels.tables import BLOCK, FINAL, WIDE

ZERO, LEVEL = np.uint64(0), np.uint64(2)
REFERENCES = [0, 1, 3, 5, FINAL | 2, ENDED | 4]
PAIRS = 64


@kernel
def step(
    records: Any, filters: Any, states: Any, pairs: Any, symbols: Any, places: Any, defaults: Any, words: Any, late: Any
) -> Any:
    _record_vectors.ask_eight_records(records, filters, pairs, symbols, places, defaults, ZERO)
    return _record_vectors.step_eight_records(
        records, states, symbols, places, defaults, words, LEVEL, ZERO, late, ZERO, pairs
    )


@kernel
def step_plainly(
    records: Any, filters: Any, states: Any, pairs: Any, symbols: Any, places: Any, defaults: Any, words: Any, late: Any
) -> Any:
    _plain.ask_eight_records(records, filters, pairs, symbols, places, defaults, ZERO)
    return _plain.step_eight_records(records, states, symbols, places, defaults, words, LEVEL, ZERO, late, ZERO, pairs)


def drawn_records(rng: np.random.Generator) -> Any:
    """Return records at pairs 0 to 15, whose buckets lie before pair 24: with any default, filter, size and entries."""
    entries = rng.integers(0, 6, 2 * PAIRS) << 32 | rng.choice([*REFERENCES, 3 | OVERFLOWED], 2 * PAIRS)
    records = np.where(rng.random(2 * PAIRS) < 0.8, entries, 0).astype(np.uint64)
    heads, filters = records[:32:2], records[1:32:2]
    sizes = rng.integers(0, 3, 16).astype(np.uint64) | rng.integers(0, 4, 16).astype(np.uint64) << 5
    heads[:] = sizes << SIZE_SHIFT | rng.choice(REFERENCES, 16).astype(np.uint64)
    heads |= np.where(rng.random(16) < 0.5, np.uint64(COMPLETE), ZERO)
    wide = WIDE | rng.integers(0, 32, 16, np.uint64) << 32 | rng.choice([1, 3, 15], 16).astype(np.uint64)
    narrow = rng.integers(0, 2**63, 16, np.uint64)
    filters[:] = np.choose(rng.integers(0, 3, 16), [wide, narrow, np.full(16, EVERY_WORD, np.uint64)])
    return records


def test_steps_through_records_are_those_of_the_plain_twin() -> None:
    rng = np.random.default_rng(17)
    late_keys = known_keys = 0
    for _ in range(2000):
        records, filters = drawn_records(rng), rng.integers(0, 2**63, 48, np.uint64)
        states, pairs, symbols, words = (np.zeros(BLOCK + 8, np.uint64) for _ in range(4))
        states[:8] = rng.choice([*range(16), FINAL | 2, ENDED | 4], 8)
        pairs[:8] = np.where(states[:8] < 16, states[:8], ZERO)
        symbols[:8], words[:8] = rng.integers(0, 6, 8), rng.integers(0, 5, 8)
        told = []
        for function in (step, step_plainly):
            after, at = states.copy(), pairs.copy()
            places, defaults, late = (np.zeros(BLOCK + 8, np.uint64) for _ in range(3))
            mask = int(function(records, filters, after, at, symbols, places, defaults, words, late))
            lists = after[:8], at[:8], places[:8], defaults[:8], late[: (mask >> 8).bit_count()]
            told.append((mask, [numbers.tolist() for numbers in lists]))
        assert told[0] == told[1]
        late_keys += (told[0][0] >> 8).bit_count()
        known_keys += (told[0][0] & 0xFF).bit_count()
    assert 500 < late_keys < known_keys / 2
