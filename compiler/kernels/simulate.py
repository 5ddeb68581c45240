"""The NFA simulated directly: the set of active positions is carried along each key, and nothing is remembered.

It needs no memory beyond one set and its cost is bounded for every binding set, which is why the lazy DFA falls back on
it when caching does not pay. Every key gets an accept set of its own in the output, unless it equals the previous one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.kernels._jit import kernel
from compiler.kernels.advance import advance, begin
from compiler.kernels.words import begins_with, name_word, symbol_of, word_end

__all__ = ["put_set", "simulate"]


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
    current = work.current
    while row < stop:
        if valid.size > 0 and not valid[row]:
            out[row] = -1
            row += 1
            continue
        at, end = np.int64(offsets[row]), np.int64(offsets[row + 1])
        begin(program, np.int64(begins_with(data, at, end, program.reserved)), work)
        n, found = work.counts[0], work.counts[1]
        _copy(work.members, n, current)
        more = at < end  # an empty key has no words
        while more:
            if n == 0:
                found = 0
                break
            word = np.uint64(at)
            length = word_end(data, word, np.uint64(end), program.separator) - word
            symbol = symbol_of(program, name_word(data, word, length), length, data, word)
            advance(program, current, np.int64(0), np.int64(n), np.int64(symbol), work)
            n, found = work.counts[0], work.counts[1]
            _copy(work.members, n, current)
            at += np.int64(length) + 1
            more = at <= end  # a separator at the very end is followed by one more word, the empty one
        number = put_set(work, np.int64(found), set_end, tags, counts)
        if number < 0:
            return row
        out[row] = base + number
        row += 1
    return row


@kernel
def put_set(work: Any, found: Any, set_end: Any, tags: Any, counts: Any) -> Any:
    """Write the first ``found`` tags in ``work`` as a set, unless they equal the last one; return the set's number.

    Returns -1 where ``tags`` has no room, with the room that is needed in ``counts[1]``.
    """
    number = counts[0]
    first = np.int64(set_end[number - 1]) if number > 0 else 0
    if number > 0:
        last = np.int64(set_end[number - 2]) if number > 1 else 0
        same = first - last == found
        for i in range(found):
            same = same and tags[last + i] == work.tags[i]
        if same:
            return number - 1
    if first + found > tags.size:
        counts[1] = first + found
        return -1
    for i in range(found):
        tags[first + i] = work.tags[i]
    set_end[number] = first + found
    counts[0] = number + 1
    return number


@kernel
def _copy(values: Any, n: Any, to: Any) -> Any:
    for i in range(n):
        to[i] = values[i]
