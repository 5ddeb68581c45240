"""A step of all keys of a block: what the cache's tables say of a word, for whoever may build what they lack and whoever may not.

:func:`step` gives successors to nearly all keys, eight at a time; :func:`find_late` to those whose transition is not in its
home slot. What is left has no transition: the word is a stray, or a literal that nobody has met here before.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, ones
from compiler.kernels._vectors import ask_eight, step_eight
from compiler.kernels.tables import Cache, Unsigned
from compiler.kernels.transitions import find, mix
from compiler.kernels.unsigned import EIGHT, LANE_MASK, ONE, STATE_MASK, ZERO
from compiler.kernels.work import Work

__all__ = ["find_late", "step"]


@inlined
def step(cache: Cache, work: Work, n: Unsigned, level: Unsigned) -> tuple[Unsigned, Unsigned]:
    """Give each key its successor, if that is its state's default one, or is in the home slot of the transition.

    Returns how many keys have read a word that could change their states, and the length of ``work.late``: the keys among
    these that have got no successor. Keys in states that no word can change, and keys without a word, stay as they are.
    """
    transitions, shift = cache.transitions, np.uint64(cache.transition_shift)
    symbol_bits, key_shift = np.uint64(cache.symbol_bits), np.uint64(cache.key_shift)
    lane = ZERO
    while lane < n:
        ask_eight(
            cache.info,
            cache.filters,
            work.states,
            work.symbols,
            symbol_bits,
            key_shift,
            work.mixed,
            work.defaults,
            lane,
            transitions,
            shift,
        )
        lane += EIGHT
    lane = lates = read = ZERO
    while lane < n:
        found = step_eight(
            transitions, shift, work.states, work.mixed, work.defaults, work.words, level, lane, work.late, lates, cache.info,
        )  # fmt: skip
        read += ones(found & LANE_MASK)
        lates += ones(found >> EIGHT)
        lane += EIGHT
    return read, lates


@inlined
def find_late(cache: Cache, work: Work, lates: Unsigned) -> Unsigned:
    """Give late keys the successors that are not in their home slots; keep the others in ``work.late``, and return how many."""
    missing = ZERO
    for j in range(lates):
        key = work.late[j]
        target, mixed = ZERO, work.mixed[key]
        if mixed == ZERO:  # a default successor, for which the doorkeeper must have a number, too
            work.mixed[key] = mix(work.states[key], ZERO, np.uint64(cache.symbol_bits), np.uint64(cache.key_shift))
        elif work.defaults[key] != ZERO:
            target = find(cache.transitions, mixed, np.uint64(cache.transition_shift))
        if target != ZERO:
            work.states[key] = target & STATE_MASK
        else:
            work.late[missing] = key
            missing += ONE
    return missing
