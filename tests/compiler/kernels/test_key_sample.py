"""The kernel that samples keys, beside a set of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compiler.kernels import _plain, _sample_vectors
from compiler.kernels._jit import kernel
from compiler.kernels.key_sample import sample_keys
from compiler.kernels.tables import PADDING, Int64s, Uint64s
from compiler.kernels.work import (
    SAMPLE_ASKED,
    SAMPLE_BITS,
    SAMPLE_COUNTS,
    SAMPLE_HELD,
    SAMPLE_KNOWN,
    SAMPLE_MOST,
    SAMPLE_SLOTS,
    SAMPLING,
)
from compiler.prepare import jit_enabled

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled kernels")


@kernel
def chosen(data: Any, begins: Any, ends: Any, shift: Any) -> Any:
    return _sample_vectors.choose_eight(data, begins, ends, 0, shift)


@kernel
def chosen_plainly(data: Any, begins: Any, ends: Any, shift: Any) -> Any:
    return _plain.choose_eight(data, begins, ends, np.uint64(0), np.uint64(shift))


def begun(bits: int) -> tuple[Uint64s, Int64s]:
    counts = np.zeros(SAMPLE_COUNTS, np.int64)
    counts[SAMPLING], counts[SAMPLE_BITS] = 1, bits
    return np.zeros(SAMPLE_SLOTS + SAMPLE_MOST, np.uint64), counts


def sampled(keys: list[bytes], sample: Uint64s, counts: Int64s) -> Int64s:
    """Sample keys, as a block that they are entered into has them; return a copy of the counts."""
    ends = np.cumsum([len(key) for key in keys]).astype(np.uint64)
    begins = ends - np.array([len(key) for key in keys], np.uint64)
    begins[begins == ends] += np.uint64(1)
    begins, ends = (np.concatenate((places, np.full(8, 1 << 40, np.uint64))) for places in (begins, ends))
    data = np.frombuffer(b"".join(keys) + bytes(PADDING), np.uint8)
    sample_keys(data, begins, ends, len(keys), sample, counts)
    return counts.copy()


@pytest.mark.parametrize("bits", [0, 1, 3, 9])
def test_who_is_chosen_in_vectors_is_who_is_chosen_one_by_one(bits: int) -> None:
    rng = np.random.default_rng(bits)
    count = 0
    for _ in range(2000):
        lengths = rng.choice([0, 1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 64, 65, 200], 8)
        ends = np.cumsum(lengths).astype(np.uint64)
        begins = ends - lengths.astype(np.uint64) + (lengths == 0).astype(np.uint64)
        data = rng.integers(0, 256, int(ends[-1]) + PADDING).astype(np.uint8)
        expected = int(chosen_plainly(data, begins, ends, 63 - bits))
        assert int(chosen(data, begins, ends, 63 - bits)) == expected
        count += expected.bit_count()
    assert 0.7 < count / (16_000 * 14 / 15 / 2**bits) < 1.4


def test_with_all_keys_in_it_a_sample_counts_exactly() -> None:
    rng = np.random.default_rng(1)
    sample, counts = begun(0)
    keys = [b"k%d" % number * (1 + number % 40) for number in rng.integers(0, 1500, 6000).tolist()]
    seen: set[bytes] = set()
    known = 0
    for first in range(0, 6000, 128):
        some = keys[first : first + 128]
        for key in some:
            known += key in seen
            seen.add(key)
        found = sampled(some, sample, counts)
        assert found[[SAMPLE_ASKED, SAMPLE_KNOWN, SAMPLE_HELD]].tolist() == [first + len(some), known, len(seen)]


def test_an_empty_key_is_left_out() -> None:
    sample, counts = begun(0)
    found = sampled([b"", b"a", b"", b"a"], sample, counts)
    assert found[[SAMPLE_ASKED, SAMPLE_KNOWN, SAMPLE_HELD]].tolist() == [2, 1, 1]


@pytest.mark.parametrize("different", [3000, 30_000, 200_000])
def test_a_key_is_always_in_the_sample_or_never_however_many_there_are(different: int) -> None:
    sample, counts = begun(0)
    keys = [b"key.%d.of.some" % number for number in range(different)]
    first = sampled(keys, sample, counts)
    assert first[SAMPLE_KNOWN] == 0
    assert first[SAMPLE_HELD] < SAMPLE_MOST
    assert (first[SAMPLE_BITS] > 0) == (different >= SAMPLE_MOST)
    assert 0.9 < (first[SAMPLE_HELD] << first[SAMPLE_BITS]) / different < 1.1
    again = sampled(keys[::-1], sample, counts) - first
    assert again[SAMPLE_ASKED] == again[SAMPLE_KNOWN] == first[SAMPLE_HELD]
    assert again[SAMPLE_HELD] == again[SAMPLE_BITS] == 0


def test_a_full_sample_keeps_half_of_its_keys() -> None:
    sample, counts = begun(0)
    keys = [b"%d" % number for number in range(SAMPLE_MOST)]
    assert sampled(keys[:-1], sample, counts)[SAMPLE_HELD] == SAMPLE_MOST - 1
    found = sampled(keys[-1:], sample, counts)
    assert 0.45 < found[SAMPLE_HELD] / SAMPLE_MOST < 0.55
    assert found[SAMPLE_HELD] == np.count_nonzero(sample[:SAMPLE_SLOTS])


@pytest.mark.parametrize("slot", [5, SAMPLE_SLOTS - 3])
def test_keys_that_were_chosen_to_lie_in_one_place_take_no_longer(slot: int) -> None:
    """All slots are taken from there on: a key that would be there is not looked for further than some slots, and is not entered."""
    sample, counts = begun(0)
    sample[:SAMPLE_SLOTS] = np.uint64(1)
    sample[slot] = 0
    counts[SAMPLE_HELD] = 7
    found = sampled([b"%d" % number for number in range(5000)], sample, counts)
    assert found[SAMPLE_ASKED] == 5000
    assert 7 <= found[SAMPLE_HELD] <= 8
    assert found[SAMPLE_KNOWN] == 0


def test_keys_whose_hashes_all_begin_with_zeros_do_not_fill_the_table() -> None:
    """However often it is halved, all of them stay, and others leave it until hardly any is in it."""
    sample, counts = begun(0)
    chosen = np.arange(SAMPLE_MOST - 1, dtype=np.uint64) << np.uint64(20) | np.uint64(1)
    sample[: len(chosen)] = chosen
    counts[SAMPLE_HELD] = len(chosen)
    found = sampled([b"%d" % number for number in range(60_000)], sample, counts)
    assert np.isin(chosen, sample[:SAMPLE_SLOTS]).all()
    assert found[SAMPLE_BITS] > 10
    assert found[SAMPLE_HELD] == np.count_nonzero(sample[:SAMPLE_SLOTS]) <= SAMPLE_MOST
