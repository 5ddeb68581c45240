"""The lazy DFA's cache as a value: made small, cleared, read, and accounted for in one function.

How its tables grow is in :mod:`compiler.machine.growing`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.automata.powerset import State
from compiler.kernels.seal_tables import Seal
from compiler.kernels.tables import (
    COUNTS,
    CRAMPED,
    DISPLACEMENT_SHIFT,
    FILTERS,
    FINAL,
    META,
    PROBES,
    SCRAMBLE,
    SETS,
    START,
    STATES,
    TARGET,
    Cache,
    Program,
)
from compiler.mappings import zeros

__all__ = ["DOORKEEPER_FROM", "Snapshot", "cleared", "empty_cache", "nbytes", "snapshot"]

DOORKEEPER_FROM, DOORKEEPER_MOST = 1 << 20, 1 << 21
"""The smallest capacity that has a doorkeeper, in bytes, and the largest doorkeeper: it should stay near the processor."""

_INVERSE = pow(SCRAMBLE, -1, 2**64)


class Snapshot(NamedTuple):
    """What a cache knows, as plain values; states are numbered from 0 in the order in which they were built."""

    start: int | None
    """The start state's number; None in a cache that has seen no key."""
    states: tuple[State, ...]
    defaults: dict[int, int]
    """The default successors that are built."""
    successors: dict[tuple[int, int], int]
    """The other transitions that are built, by (state, symbol)."""
    final: frozenset[int]
    """States that no further word can change, as far as a transition to them has told."""


def empty_cache(program: Program, capacity: int, *, doorkeeper: bool = False) -> Cache:
    """Make the smallest cache that can grow to ``capacity`` bytes; it may itself be larger than a tiny capacity.

    With a ``doorkeeper``, a transition is built only when it was asked for in vain DOORKEEPER_ASKS times, if the capacity has
    room to count that.
    """
    size = 0  # of the doorkeeper, in bytes of four counters each
    if doorkeeper and capacity >= DOORKEEPER_FROM:
        size = (1 << min(capacity // 64, DOORKEEPER_MOST).bit_length()) // 2
    # A state takes 36 bytes beside its members, or 31 and a transition that leads to it; so the capacity bounds their number, and that the
    # bits to name one.
    states = min(TARGET - 1, max(8, capacity // 36))
    symbol_bits = max(1, (len(program.word_offsets) - 1).bit_length())
    key_bits = symbol_bits + states.bit_length()
    slot_bits = max(5, key_bits - 32)
    return Cache(
        meta=_meta(),
        state_end=np.zeros(8, np.int32),
        info=np.zeros(16, np.uint64),
        state_slots=np.zeros(16, np.uint64),
        members=np.zeros(32, np.int32),
        set_end=np.zeros(8, np.int32),
        set_slots=np.zeros(16, np.uint64),
        tags=np.zeros(16, np.int32),  # so that the smallest cache takes 1,200 bytes
        transitions=zeros((1 << slot_bits) + PROBES - 1, np.uint64, capacity),
        transition_shift=np.int64(64 - slot_bits),
        symbol_bits=np.int64(symbol_bits),
        key_shift=np.int64(64 - key_bits),
        filters=np.zeros(1, np.uint64),
        state_limit=np.int64(states),
        doorkeeper=zeros(size // 8, np.uint64, capacity),
        doorkeeper_shift=np.int64(64 - max(0, (4 * size).bit_length() - 1)),
    )


def nbytes(cache: Cache | Seal) -> int:
    """Bytes of all arrays of a cache, or of sealed tables."""
    # A list, as it takes two thirds of the time.
    return sum([array.nbytes for array in cache if isinstance(array, np.ndarray)])


def cleared(cache: Cache) -> Cache:
    """Empty a cache, keeping its arrays and what it has counted."""
    meta = _meta()
    meta[COUNTS] = cache.meta[COUNTS]
    meta[CRAMPED] = 1
    cache.meta[:] = meta
    cache.state_slots[:] = 0
    cache.set_slots[:] = 0
    cache.transitions[:] = 0
    cache.doorkeeper[:] = 0
    return cache


def snapshot(cache: Cache) -> Snapshot:
    """Read a cache: the states that it holds and the transitions between them."""
    meta = cache.meta
    members, tags = cache.members.tolist(), cache.tags.tolist()
    info = cache.info.tolist()
    state_end, set_end = cache.state_end.tolist(), cache.set_end.tolist()
    states = []
    for state in range(1, int(meta[STATES])):
        accept = info[2 * state] >> 32
        states.append(
            State(
                tuple(members[state_end[state - 1] : state_end[state]]),
                tuple(tags[set_end[accept - 1] : set_end[accept]]),
            )
        )
    known = [*(info[2 * state] & 0xFFFFFFFF for state in range(1, len(states) + 1)), int(meta[START])]
    successors = {}
    slot_bits, symbol_bits = 64 - int(cache.transition_shift), int(cache.symbol_bits)
    for slot, entry in enumerate(cache.transitions.tolist()):
        target = entry & (TARGET | FINAL)
        if not target:
            continue
        known.append(target)
        home = slot - (entry >> DISPLACEMENT_SHIFT & PROBES - 1)
        mixed = home << 64 - slot_bits | entry >> 32 << 32 - slot_bits
        key = mixed * _INVERSE % 2**64 >> int(cache.key_shift)
        key ^= key >> (65 - int(cache.key_shift) >> 1)
        successors[(key >> symbol_bits) - 1, key & (1 << symbol_bits) - 1] = (target & TARGET) - 1
    return Snapshot(
        start=int(meta[START] & TARGET) - 1 if meta[START] else None,
        states=tuple(states),
        defaults={state: (target & TARGET) - 1 for state, target in enumerate(known[: len(states)]) if target},
        successors=successors,
        final=frozenset((target & TARGET) - 1 for target in known if target & FINAL),
    )


def _meta() -> npt.NDArray[np.int64]:
    meta = np.zeros(META, np.int64)
    meta[STATES] = meta[SETS] = meta[FILTERS] = 1  # number 0 is the sentinel
    return meta
