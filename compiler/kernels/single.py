"""One key through the lazy DFA as it is: no building, no block, few arguments.

Handing a kernel the forty arrays of the general walk takes longer than walking a key. This one takes the few that
reading needs; where a transition is missing it says so, and the general walk does the key again and builds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import kernel
from compiler.kernels.follow import MISSING as NO_STATE
from compiler.kernels.follow import follow_key
from compiler.kernels.words import begins_with
from compiler.tables import WORDS

__all__ = ["MISSING", "walk_one"]

MISSING = -1
TWO, HALF = np.uint64(2), np.uint64(32)


@kernel
def walk_one(
    data: Any,
    length: Any,
    words: Any,
    word_data: Any,
    word_offsets: Any,
    info: Any,
    transitions: Any,
    scalars: Any,
    meta: Any,
) -> Any:
    """Return the accept set of the key ``data[:length]``, or MISSING; ``scalars`` are those of ``Walker._arguments``."""
    first, end = np.uint64(0), np.uint64(length)
    state, read = follow_key(
        data,
        first,
        end,
        np.uint64(scalars[7] if begins_with(data, first, end, scalars[6]) else scalars[5]),
        np.uint8(scalars[0]),
        words,
        word_data,
        word_offsets,
        np.uint64(scalars[1]),
        info,
        transitions,
        np.uint64(scalars[2]),
        np.uint64(scalars[3]),
        np.uint64(scalars[4]),
    )
    if state == NO_STATE:
        return MISSING
    meta[WORDS] += np.int64(read)
    return np.int64(info[TWO * state] >> HALF)
