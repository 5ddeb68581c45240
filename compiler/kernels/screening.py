"""One pass over a column that finds the keys which match nothing by a rule of the dialect: see :mod:`compiler.machine.screen`."""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import kernel
from compiler.kernels.tables import Bools, Bytes, Keys
from compiler.kernels.unsigned import ONE
from compiler.kernels.words import word_end

__all__ = ["screen"]


@kernel
def screen(
    keys: Keys,
    separator: np.uint8,
    empty_text: bool,
    empty_words: bool,
    wrong: Bytes,
    prefix: Bytes,
    passing: Bools,
) -> None:
    """Write into ``passing`` whether each key may match; the rules are those of :class:`compiler.machine.screen.Screen`.

    A null key may get either answer.
    """
    offsets, data = keys.offsets, keys.data
    for i in range(passing.size):
        at, end = np.uint64(offsets[i]), np.uint64(offsets[i + 1])
        passes = at < end or empty_text
        for j in range(wrong.size):
            passes = passes and word_end(data, at, end, wrong[j]) == end
        if prefix.size > 0 and end - at >= np.uint64(prefix.size):
            same = True
            for j in range(prefix.size):
                same = same and data[at + np.uint64(j)] == prefix[j]
            passes = passes and not same
        if passes and not empty_words and at < end:
            while at <= end:
                behind = word_end(data, at, end, separator)
                if behind == at:
                    passes = False
                    break
                at = behind + ONE
        passing[i] = passes
