"""How keys leave a block: when they are read to their ends, or when no word can change the state that they are in.

All keys of a block read one word before any reads the next, so a key that is answered early takes as long as the others as long as it stays. Once
there are enough of these, the others *close up*: they move to the first places, with the words that are found of them and not read yet.
A key that no binding matches is often told by its first words: of 40 drawn families half read no more than 0.7 of the words of their keys. Walked without the key
cache and the store on an Emerald Rapids, thirteen of fourteen families with more words than are read took 0.61 to 0.97 of the time that they took when keys left only where the words that were
found had ended, and the other one 1.09; `fleet` 0.95.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined
from compiler.kernels.tables import Int32s, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import BLOCK_ROW, EIGHT, FINAL_BIT, LOW_HALF, ONE, TWO, UPPER_HALF, ZERO
from compiler.kernels.work import Work

__all__ = ["clear_behind", "close_up", "has_further", "leave", "leave_early", "worth_leaving"]


@inlined
def is_read(info: Uint64s, begin: Unsigned, end: Unsigned, state: Unsigned) -> bool:
    """Tell whether a key has no further word, or is in a state that no word can change."""
    return bool(begin > end or info[TWO * state] & LOW_HALF == state | FINAL_BIT)


@inlined
def leave(info: Uint64s, work: Work, n: Unsigned, base: Signed, out: Int32s) -> Unsigned:
    """Write the answers of keys that are read to their ends into ``out``; keep the other keys, and return how many these are.

    The words that were found are read.
    """
    rows, begins, ends, states = work.rows, work.begins, work.ends, work.states
    # Keys that go on get an answer too, which is written over later. Asking which they are would be a branch that the
    # processor cannot predict: a key of `stock` takes 1.2 times as long with it (``python -m benchmarks ablations``).
    unread = ZERO
    for i in range(n):
        out[rows[i]] = base + np.int64(info[TWO * states[i]] >> UPPER_HALF) - 1
        unread += np.uint64(begins[i] <= ends[i])
    if unread == ZERO:
        return ZERO
    m = ZERO
    for i in range(n):
        if not is_read(info, begins[i], ends[i], states[i]):
            rows[m], begins[m], ends[m], states[m] = rows[i], begins[i], ends[i], states[i]
            m += ONE
    return m


@inlined
def worth_leaving(
    work: Work, n: Unsigned, reading: Unsigned, waiting: Unsigned, level: Unsigned, most: Unsigned
) -> tuple[bool, Unsigned]:
    """Tell whether keys are to leave now, if ``reading`` of a block's n keys read the last word, and words ``level`` to ``most`` - 1 are to be read of some.

    That is where, of what the block would read further, half a word for each key is read for keys that are answered. (From a whole word on,
    and from two, the families above took as long as that or up to 1.08 and 1.2 times as long.) Returns also how many keys are *waiting*, as those
    have been told of last: they read no word, but cannot leave, as others of their words are not found yet.
    """
    words = most - level
    if TWO * n * words < n + TWO * (reading + waiting) * words:
        return False, waiting
    waiting = ZERO
    for i in range(n):
        waiting += np.uint64(work.words[i] <= level) & np.uint64(work.begins[i] <= work.ends[i])
    return bool(TWO * n * words >= n + TWO * (reading + waiting) * words), waiting


@inlined
def leave_early(
    info: Uint64s, work: Work, n: Unsigned, level: Unsigned, most: Unsigned, base: Signed, out: Int32s
) -> Unsigned:
    """Do as :func:`leave` with words ``level`` to ``most`` - 1 still to be read of some keys, which keep these."""
    rows, states, late = work.rows, work.states, work.late
    m = ZERO
    for i in range(n):
        of_state = info[TWO * states[i]]
        out[rows[i]] = base + np.int64(of_state >> UPPER_HALF) - 1
        late[m] = i
        m += has_further(work, i, level) & np.uint64(of_state & LOW_HALF != states[i] | FINAL_BIT)
    close_up(work, m, level, most)
    return m


@inlined
def has_further(work: Work, key: Unsigned, level: Unsigned) -> Unsigned:
    """Return 1 if a key has words from ``level`` on, found or not found yet, else 0."""
    return np.uint64(level < work.words[key]) | np.uint64(work.begins[key] <= work.ends[key])


@inlined
def close_up(work: Work, m: Unsigned, level: Unsigned, most: Unsigned) -> None:
    """Move the keys ``late[0]`` to ``late[m - 1]``, which ascend, to the first m places, with their words ``level`` to ``most`` - 1."""
    rows, begins, ends, states, words = work.rows, work.begins, work.ends, work.states, work.words
    froms, stops, heads, late = work.froms, work.stops, work.heads, work.late
    for j in range(m):
        i = late[j]
        rows[j], begins[j], ends[j], states[j] = rows[i], begins[i], ends[i], states[i]
        words[j], froms[j], stops[j] = words[i], froms[i], stops[i]
    for word in range(level, most):
        row = BLOCK_ROW * word
        for j in range(m):
            heads[row + j] = heads[row + late[j]]
    clear_behind(states, m)
    clear_behind(words, m)


@inlined
def clear_behind(numbers: Uint64s, n: Unsigned) -> None:
    """Write zeros behind the keys of a block: vectors load them, and use them as indices, but not what they find there."""
    for i in range(n, n + EIGHT):
        numbers[i] = ZERO
