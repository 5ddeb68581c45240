"""Where columns of keys are cut."""

from __future__ import annotations

import numpy as np
import pytest

from compiler.machine.columns import end_of_bytes


@pytest.mark.parametrize("behind", [[], [0, 3, 1], [999, 999]])
def test_a_stretch_of_keys_ends_within_the_batch_whatever_offsets_stand_behind_it(behind: list[int]) -> None:
    """Room for keys that is used again has offsets of earlier batches there, which do not ascend."""
    offsets = np.array([0, 10, 30, 35, 35, 60, 90, *behind, *[7] * 40], np.int32)
    for most, ends in ((0, [1, 2, 3, 4, 5, 6]), (25, [2, 3, 5, 5, 5, 6]), (60, [5, 6, 6, 6, 6, 6]), (90, [6] * 6)):
        assert [end_of_bytes(offsets, first, 6, most) for first in range(6)] == ends
