"""One pass over a column of keys that finds those that may match nothing: see :mod:`compiler.machine.screen`."""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import kernel
from compiler.kernels.words import word_end

__all__ = ["screen"]


@kernel
def screen(
    offsets: Any,
    data: Any,
    separator: Any,
    empty_text: Any,
    empty_words: Any,
    wrong: Any,
    prefix: Any,
    passing: Any,
) -> Any:
    """Write into ``passing`` which of the keys pass."""
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
                at = behind + np.uint64(1)
        passing[i] = passes
