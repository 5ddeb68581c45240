"""The lazy DFA over a column of keys: a block of keys at a time, word by word, eight keys at once.

A regex engine takes one text through its automaton byte by byte; each step must wait for the step before. Here the texts are
short and many, and a step takes a whole word. So all keys of a block take one word before any takes the next. This has two
effects. The cache misses of a step overlap in the memory system, which pays as soon as the tables outgrow the first-level
cache. And the keys do the same thing at the same time, so eight of them do it at once in vectors
(:mod:`compiler.kernels._vectors`), without the branches that the processor cannot predict: whether a key ends here, whether
its word is a literal of its state.

A state has a default successor, for all words but its literals, and a filter of these (:mod:`compiler.kernels.filters`). Where a
word does not pass, the default successor is right. Nothing is built or stored that would only say so, not even for a word that
passes and is no literal (:mod:`compiler.kernels.strays`).

A block goes through these phases; the comments in :func:`walk` have the same names:

enter
    The block's keys get start states. Keys that the key cache knows are answered and left out. Of the others some may be counted
    (:mod:`compiler.kernels.key_sample`).
look ahead
    The ends of each key's next words are found, up to eight of them.
read
    The next word of each key is named, and its symbol is looked up.
step
    Each key gets its successor, if the transition is in its home slot.
late
    The keys for which that did not work: the transition is in another slot; or the word is a stray; or the transition is missing,
    and is built; or the key is deferred.
leave
    Keys that are read to their ends are answered, and the others look ahead again. Where many keys are in states that no word can change,
    these leave before (:mod:`compiler.kernels.leaving`).
remember
    When all are answered, those that the key cache did not know go into it, but not those that were deferred.

What these choices are worth was measured: ``benchmarks/results/ablations.md``, by ``python -m benchmarks ablations``.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels.determinize import build, build_start
from compiler.kernels.doorkeeper import is_rare
from compiler.kernels.key_cache import enter_unknown_keys, remember_keys
from compiler.kernels.key_sample import sample_block
from compiler.kernels.leaving import clear_behind, leave, leave_early, worth_leaving
from compiler.kernels.reading import enter_keys, look_ahead, read_words, word_at
from compiler.kernels.steps import find_late, step
from compiler.kernels.strays import children_if_stray, keep_stray, prefetch_missing
from compiler.kernels.tables import (
    DEFERRED,
    DONE,
    KEY_CACHE_HITS,
    LOST,
    MISSES,
    MOST_DEFERRED,
    ROW,
    START,
    STATES,
    WORDS,
    Cache,
    Int32s,
    Keys,
    Program,
    Signed,
    Uint64s,
    Unsigned,
)
from compiler.kernels.unsigned import ONE, STATE_MASK, ZERO
from compiler.kernels.work import MOST_UNKNOWN, Work

__all__ = ["walk"]


@kernel
def walk(
    program: Program,
    cache: Cache,
    work: Work,
    keys: Keys,
    row: Signed,
    stop: Signed,
    block_size: Signed,
    base: Signed,
    out: Int32s,
    key_table: Uint64s,
) -> Signed:
    """Match keys ``row`` to ``stop``, and write ``base`` + set number - 1 into ``out``, -1 for a null key.

    ``block_size`` is how many keys are walked together, at most BLOCK. ``key_table`` is the key cache's table, with no
    entries if it is not to be used.

    Returns DONE, or the table of the cache that must grow first. ``meta[ROW]`` is the row to go on with: below ``stop`` where a
    table must grow, MOST_DEFERRED keys are deferred, or the key cache did not know ``work.counts[MOST_UNKNOWN]``. ``meta[DEFERRED]`` says how many keys are in ``work.deferred_rows``
    and the arrays beside it. They must be simulated before the cache is cleared, as their states are the cache's.
    """
    meta = cache.meta
    if meta[START] == 0:
        meta[ROW] = row
        status = build_start(program, cache, work)
        if status != DONE:
            return status
    deferred = unknown = ZERO
    most_unknown = np.uint64(work.counts[MOST_UNKNOWN] - 1)  # no bound is the largest one
    while True:
        # Whatever makes the walk return in the middle of a block, the block begins again: its answers, its counters and the
        # keys that it has deferred are kept only when it is complete. Transitions that it has built are in the cache.
        meta[ROW], meta[DEFERRED] = row, np.int64(deferred)
        if row >= stop or deferred >= np.uint64(MOST_DEFERRED) or unknown > most_unknown:
            return DONE
        read = missed = key_cache_hits = ZERO

        # Enter.
        first, most = np.uint64(row), np.uint64(block_size)
        if key_table.size > 0:
            following = min(first + most, np.uint64(stop))
            n, key_cache_hits = enter_unknown_keys(
                program, meta, STATE_MASK, work, keys, first, following - first, base, out, key_table
            )
            unknown += n
        else:
            n, following = enter_keys(program, meta, STATE_MASK, work, keys, first, np.uint64(stop), most, out)
        entered = n
        sample_block(work, keys.data, n, row, following)
        states = np.uint64(meta[STATES])

        while n > ZERO:
            # Look ahead.
            clear_behind(work.states, n)
            most = look_ahead(keys.data, work, n, program.separator)
            level = waiting = ZERO
            while level < most:
                # Read.
                read_words(program, keys.data, work, n, level)

                # Step.
                stepped, lates = step(cache, work, n, level)
                read += stepped

                # Late: these keys are still in the states that they were in.
                lates = find_late(cache, work, lates)
                prefetch_missing(program, cache, work, lates)
                for j in range(lates):
                    key = work.late[j]
                    state, symbol = work.states[key], work.symbols[key]
                    target = work.defaults[key]
                    children = ZERO
                    if target != ZERO:
                        children = children_if_stray(program, cache.members, cache.state_end, state, symbol)
                    if children == ZERO:
                        missed += ONE
                        if is_rare(cache, work.mixed[key], meta, state >= states):
                            _defer(work, deferred, level, key)
                            deferred += ONE
                            continue
                        built = build(program, cache, work, state, symbol)
                        if built < 0:
                            return -built
                        target = np.uint64(built)
                    else:
                        status = keep_stray(program, cache, state, work.mixed[key], children)
                        if status != DONE:
                            return status
                    work.states[key] = target & STATE_MASK
                level += ONE
                leaves, waiting = worth_leaving(work, n, stepped, waiting, level, most)
                if leaves:
                    n = leave_early(cache.info, work, n, level, most, base, out)

            # Leave.
            n = leave(cache.info, work, n, base, out)

        # Remember.
        if key_table.size > 0:
            for j in range(np.uint64(meta[DEFERRED]), deferred):
                out[work.deferred_rows[j]] = LOST
            remember_keys(keys, work.slots, first, entered, base, out, key_table)

        meta[WORDS] += np.int64(read)
        meta[MISSES] += np.int64(missed)
        meta[KEY_CACHE_HITS] += np.int64(key_cache_hits)
        row = np.int64(following)


@inlined
def _defer(work: Work, at: Unsigned, level: Unsigned, key: Unsigned) -> None:
    """Leave a key to be simulated from word ``level`` on, as entry ``at`` of the deferred keys.

    The rest of the key is not read, and the answer that it gets with the others is written over.
    """
    work.deferred_rows[at], work.deferred_states[at] = work.rows[key], work.states[key]
    work.deferred_begins[at], _ = word_at(work, level, key)
    work.words[key], work.begins[key] = ZERO, work.ends[key] + ONE
