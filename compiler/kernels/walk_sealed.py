"""A column of keys through sealed tables: those of a lazy DFA that nobody changes any more, so that any number of threads reads them.

The walk is that of :func:`compiler.kernels.walk.walk`, whose comments explain the phases, but nothing is built. A key that
comes upon a transition which nobody has built is *lost*: it is left out, and another walker, with tables of its own, does it again
from its beginning.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel, ones
from compiler.kernels._record_vectors import ask_eight_records, step_eight_records
from compiler.kernels.key_cache import enter_unknown_keys, remember_keys
from compiler.kernels.leaving import clear_behind, close_up, has_further, worth_leaving
from compiler.kernels.reading import enter_keys, look_ahead, read_words
from compiler.kernels.records import COMPLETE_BIT, REFERENCE_MASK, accept_of, find_entry, pair_of, state_of
from compiler.kernels.seal_tables import Seal
from compiler.kernels.strays import children_if_stray
from compiler.kernels.tables import (
    BLOCK,
    KEY_CACHE_HITS,
    LOST,
    WORDS,
    Int32s,
    Keys,
    Program,
    Signed,
    Uint64s,
    Unsigned,
)
from compiler.kernels.unsigned import EIGHT, FINAL_BIT, LANE_MASK, NONE, ONE, ZERO
from compiler.kernels.work import Work

__all__ = ["walk_sealed", "walk_sealed_behind_keys"]


@kernel
def walk_sealed(program: Program, seal: Seal, work: Work, keys: Keys, row: Signed, stop: Signed, out: Int32s) -> Signed:
    """Match keys ``row`` to ``stop``: write their accept sets' numbers - 1 into ``out``, -1 for a null key, LOST for a lost one.

    Returns how many are lost. Of the seal only ``meta[WORDS]`` is written, to which the words of keys that are not lost are added,
    and those of lost ones up to where they were lost.
    """
    all_lost = ZERO
    while row < stop:
        where = np.uint64(row), np.uint64(stop), np.uint64(BLOCK)
        n, following = enter_keys(program, seal.meta, NONE, work, keys, *where, out)
        all_lost += _walk_block(program, seal, work, keys, n, out)
        row = np.int64(following)
    return np.int64(all_lost)


@kernel
def walk_sealed_behind_keys(
    program: Program, seal: Seal, work: Work, keys: Keys, row: Signed, stop: Signed, out: Int32s, key_table: Uint64s
) -> Signed:
    """Do as :func:`walk_sealed`, but answer the keys that a key cache knows, and keep the others in it; its hits are added up in ``meta``.

    ``key_table`` is the table of that key cache, which has numbers of sealed accept sets. It is a kernel of its own as the other
    would be slower with what it does not need: keys of four words of 8 to 36 bytes took 1.1 times as long, which is how the
    compiler uses registers where it names words.
    """
    all_lost = ZERO
    while row < stop:
        first, n = np.uint64(row), np.uint64(min(BLOCK, stop - row))
        n, hits = enter_unknown_keys(program, seal.meta, NONE, work, keys, first, n, 0, out, key_table)
        entered = n
        all_lost += _walk_block(program, seal, work, keys, n, out)
        remember_keys(keys, work.slots, first, entered, 0, out, key_table)
        seal.meta[KEY_CACHE_HITS] += np.int64(hits)
        row = min(row + BLOCK, stop)
    return np.int64(all_lost)


@inlined
def _walk_block(program: Program, seal: Seal, work: Work, keys: Keys, n: Unsigned, out: Int32s) -> Unsigned:
    """Match the ``n`` keys of a block, and count their words; return how many are lost."""
    records = seal.records
    read = lost = ZERO
    while n > ZERO:
        clear_behind(work.states, n)
        _find_places(work, n)
        most = look_ahead(keys.data, work, n, program.separator)
        level = waiting = ZERO
        while level < most:
            read_words(program, keys.data, work, n, level)
            stepped, lates = _step(seal, work, n, level)
            read += stepped
            for j in range(lates):
                key = work.late[j]
                target = _late_target(program, seal, work, key)
                if target == ZERO:
                    # The rest of the key is not read, and what it gets with the others is written over.
                    work.deferred_rows[lost] = work.rows[key]
                    work.words[key], work.begins[key] = ZERO, work.ends[key] + ONE
                    lost += ONE
                    read -= ONE
                else:
                    work.states[key] = target
                    work.places[key] = pair_of(target)
            level += ONE
            leaves, waiting = worth_leaving(work, n, stepped, waiting, level, most)
            if leaves:
                n = _leave_early(records, work, n, level, most, out)
        n = _leave(records, work, n, out)
    for j in range(lost):
        out[work.deferred_rows[j]] = LOST
    seal.meta[WORDS] += np.int64(read)
    return lost


@inlined
def _step(seal: Seal, work: Work, n: Unsigned, level: Unsigned) -> tuple[Unsigned, Unsigned]:
    """Give each key its successor, as :func:`compiler.kernels.steps.step` does."""
    records = seal.records
    lane = ZERO
    while lane < n:
        ask_eight_records(records, seal.filters, work.places, work.symbols, work.mixed, work.defaults, lane)
        lane += EIGHT
    lane = lates = read = ZERO
    while lane < n:
        found = step_eight_records(
            records,
            work.states,
            work.symbols,
            work.mixed,
            work.defaults,
            work.words,
            level,
            lane,
            work.late,
            lates,
            work.places,
        )
        read += ones(found & LANE_MASK)
        lates += ones(found >> EIGHT)
        lane += EIGHT
    return read, lates


@inlined
def _late_target(program: Program, seal: Seal, work: Work, key: Unsigned) -> Unsigned:
    """Return a reference to the successor of a key that the vectors have found none for, or 0 if it is lost."""
    state, symbol = work.states[key], work.symbols[key]
    if work.mixed[key] == ZERO:  # a default successor
        return ZERO
    target = find_entry(seal.records, state, symbol)
    if target == NONE and (
        work.defaults[key] & COMPLETE_BIT != ZERO
        or children_if_stray(program, seal.members, seal.state_end, state_of(seal, state), symbol) != ZERO
    ):
        return work.defaults[key] & REFERENCE_MASK
    return target if target != NONE else ZERO


@inlined
def _leave(records: Uint64s, work: Work, n: Unsigned, out: Int32s) -> Unsigned:
    """Write answers and keep keys that are not read to their ends, as :func:`compiler.kernels.leaving.leave` does."""
    rows, begins, ends, states = work.rows, work.begins, work.ends, work.states
    unread = ZERO
    for i in range(n):
        out[rows[i]] = np.int64(accept_of(records, states[i])) - 1
        unread += np.uint64(begins[i] <= ends[i])
    if unread == ZERO:
        return ZERO
    m = ZERO
    for i in range(n):
        if begins[i] <= ends[i] and states[i] & FINAL_BIT == ZERO:
            rows[m], begins[m], ends[m], states[m] = rows[i], begins[i], ends[i], states[i]
            m += ONE
    return m


@inlined
def _leave_early(records: Uint64s, work: Work, n: Unsigned, level: Unsigned, most: Unsigned, out: Int32s) -> Unsigned:
    """Do as :func:`compiler.kernels.leaving.leave_early`."""
    rows, states, late = work.rows, work.states, work.late
    m = ZERO
    for i in range(n):
        out[rows[i]] = np.int64(accept_of(records, states[i])) - 1
        late[m] = i
        m += has_further(work, i, level) & np.uint64(states[i] & FINAL_BIT == ZERO)
    close_up(work, m, level, most)
    _find_places(work, m)
    return m


@inlined
def _find_places(work: Work, n: Unsigned) -> None:
    """Write where the records of the states of the keys begin, and of the zeros behind them."""
    for i in range(n + EIGHT):
        work.places[i] = pair_of(work.states[i])
