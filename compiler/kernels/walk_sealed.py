"""A column of keys through sealed tables: those of a lazy DFA that nobody changes any more, so that any number of threads reads them.

The walk is that of :func:`compiler.kernels.walk.walk`, whose comments explain the phases, but nothing is built. A key that
comes upon a transition which nobody has built is *lost*: it is left out, and another walker, with tables of its own, does it again
from its beginning.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import kernel
from compiler.kernels.reading import clear_behind, enter_keys, leave, look_ahead, read_words
from compiler.kernels.steps import find_late, step
from compiler.kernels.strays import children_if_stray
from compiler.kernels.tables import BLOCK, WORDS, Bytes, Cache, Int32s, Int64s, Keys, Program, Signed
from compiler.kernels.unsigned import ONE, STATE_MASK, ZERO
from compiler.kernels.work import Work

__all__ = ["LOST", "gather_keys", "walk_sealed"]

LOST = -2
"""In place of the set number of a key that was lost; -1 is a null key's."""


@kernel
def walk_sealed(
    program: Program, seal: Cache, work: Work, keys: Keys, row: Signed, stop: Signed, out: Int32s
) -> Signed:
    """Match keys ``row`` to ``stop``: write their accept sets' numbers - 1 into ``out``, -1 for a null key, LOST for a lost one.

    Returns how many are lost. Of the seal only ``meta[WORDS]`` is written, to which the words of keys that are not lost are added,
    and those of lost ones up to where they were lost.
    """
    meta, info = seal.meta, seal.info
    all_lost = ZERO
    while row < stop:
        n = np.uint64(min(BLOCK, stop - row))
        n = enter_keys(program, meta, work, keys, np.uint64(row), n, out)
        read = lost = ZERO
        while n > ZERO:
            clear_behind(work.states, n)
            most = look_ahead(keys.data, work, n, program.separator)
            level = ZERO
            while level < most:
                read_words(program, keys.data, work, n, level)
                stepped, lates = step(seal, work, n, level)
                read += stepped
                lates = find_late(seal, work, lates)
                for j in range(lates):
                    key = work.late[j]
                    state, target = work.states[key], work.defaults[key]
                    if target == ZERO or (
                        children_if_stray(program, seal.members, seal.state_end, state, work.symbols[key]) == ZERO
                    ):
                        # The rest of the key is not read, and what it gets with the others is written over.
                        work.deferred_rows[lost] = work.rows[key]
                        work.words[key], work.begins[key] = ZERO, work.ends[key] + ONE
                        lost += ONE
                        read -= ONE
                    else:
                        work.states[key] = target & STATE_MASK
                level += ONE
            n = leave(info, work, n, 0, out)
        for j in range(lost):
            out[work.deferred_rows[j]] = LOST
        meta[WORDS] += np.int64(read)
        all_lost += lost
        row = min(row + BLOCK, stop)
    return np.int64(all_lost)


@kernel
def gather_keys(begins: Int32s, source: Bytes, rows: Int64s, offsets: Int32s, data: Bytes) -> None:
    """Copy the keys of some rows to ``data``, one after the other, where ``offsets`` say that they begin and end.

    Key i of the column is ``source[begins[i]:begins[i + 1]]``.
    """
    for i in range(rows.size):
        begin, to = begins[rows[i]], offsets[i]
        for at in range(offsets[i + 1] - to):
            data[to + at] = source[begin + at]
