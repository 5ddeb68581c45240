"""The NFA simulated directly: the set of active positions is carried along each key, and nothing is remembered.

It needs no memory beyond one set and its cost is bounded for every binding set, which is why the lazy DFA falls back on
it when caching does not pay. Every key gets an accept set of its own in the output, unless it equals the previous one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import kernel
from compiler.kernels.advance import advance, begin
from compiler.kernels.words import scan_word, symbol_at

__all__ = ["simulate"]


@kernel
def simulate(
    program: Any,
    work: Any,
    offsets: Any,
    data: Any,
    valid: Any,
    row: Any,
    stop: Any,
    base: Any,
    out: Any,
    set_end: Any,
    tags: Any,
    counts: Any,
) -> Any:
    """Match keys ``row`` to ``stop``: write ``base`` + set number into ``out``, -1 for a null key.

    Set s is written to ``tags[set_end[s - 1]:set_end[s]]``, from set ``counts[0]`` on; ``set_end`` has an entry for
    every key. Returns the row at which ``tags`` has no room for ``counts[1]`` tags, or ``stop``.
    """
    begin(program, work)
    members, accepted = work.counts[0], work.counts[1]
    start = work.members[:members].copy()
    start_tags = work.tags[:accepted].copy()
    current = work.current
    while row < stop:
        if valid.size > 0 and not valid[row]:
            out[row] = -1
            row += 1
            continue
        at, end = np.int64(offsets[row]), np.int64(offsets[row + 1])
        n = start.size
        current[:n] = start
        found = start_tags.size
        work.tags[:found] = start_tags
        more = at < end  # an empty key has no words
        while more:
            if n == 0:
                found = 0
                break
            name, length = scan_word(data, at, end, program.separator)
            symbol = symbol_at(
                program.words, program.word_shift, program.word_data, program.word_offsets, name, length, data, at
            )
            advance(program, current, 0, n, np.int64(symbol), work)
            n, found = work.counts[0], work.counts[1]
            current[:n] = work.members[:n]
            at += length + 1
            more = at <= end  # a separator at the very end is followed by one more word, the empty one
        number = counts[0]
        if not _equals_last(set_end, tags, number, work.tags, found):
            first = set_end[number - 1] if number > 0 else 0
            if first + found > tags.size:
                counts[1] = first + found
                return row
            tags[first : first + found] = work.tags[:found]
            set_end[number] = first + found
            counts[0] = number = number + 1
        out[row] = base + number - 1
        row += 1
    return row


@kernel
def _equals_last(set_end: Any, tags: Any, number: Any, values: Any, n: Any) -> Any:
    if number == 0:
        return False
    first = set_end[number - 2] if number > 1 else 0
    if set_end[number - 1] - first != n:
        return False
    for i in range(n):
        if tags[first + i] != values[i]:
            return False
    return True
