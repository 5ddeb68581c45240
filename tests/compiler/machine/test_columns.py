"""Where columns of keys are cut."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from compiler.kernels.tables import PADDING
from compiler.machine.columns import COPIED, end_of_bytes, readable
from compiler.values import KeyColumn


@pytest.mark.parametrize("behind", [[], [0, 3, 1], [999, 999]])
def test_a_stretch_of_keys_ends_within_the_batch_whatever_offsets_stand_behind_it(behind: list[int]) -> None:
    """Room for keys that is used again has offsets of earlier batches there, which do not ascend."""
    offsets = np.array([0, 10, 30, 35, 35, 60, 90, *behind, *[7] * 40], np.int32)
    for most, ends in ((0, [1, 2, 3, 4, 5, 6]), (25, [2, 3, 5, 5, 5, 6]), (60, [5, 6, 6, 6, 6, 6]), (90, [6] * 6)):
        assert [end_of_bytes(offsets, first, 6, most) for first in range(6)] == ends


@pytest.mark.parametrize("size", [COPIED, COPIED + 1])
@pytest.mark.parametrize("padded", [True, False])
def test_few_bytes_are_one_part_and_many_are_cut_where_no_more_may_be_read(size: int, padded: bool) -> None:
    offsets = np.linspace(7, size + 7, 41).astype(np.int32)
    data = np.arange(size + 7 + PADDING * padded).astype(np.uint8)
    valid = np.arange(40) % 3 > 0
    parts = list(readable(KeyColumn(offsets, data, valid)))
    assert len(parts) == (1 if padded or size <= COPIED else 2)
    found = []
    for rows, keys in parts:
        assert keys.offsets[-1] + PADDING <= len(keys.data)
        assert keys.valid.tolist() == valid[rows].tolist()
        found += [keys.data[first:last].tolist() for first, last in pairwise(keys.offsets)]
    assert found == [data[first:last].tolist() for first, last in pairwise(offsets)]
