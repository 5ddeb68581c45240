"""A sealed DFA: what a cache knew at one moment, as tables that nobody writes any more, and how such tables are checked.

A seal has the form of a cache (:class:`compiler.kernels.tables.Cache`), without what only building needs: the hash tables of
states and sets, and the doorkeeper. Its arrays are frozen, so that all threads read one copy, and all processes that map a file.
:mod:`compiler.machine.sealed_walker` reads it.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from compiler.kernels.tables import (
    COUNTS,
    FILTERS,
    MEMBERS,
    PROBES,
    SETS,
    START,
    START_RESERVED,
    STATES,
    TAGS,
    TARGET,
    TARGET_BITS,
    WIDE,
    Cache,
    Int32s,
    Program,
    frozen_cache,
)
from compiler.kernels.work import make_work

__all__ = ["Seal", "SealError", "check", "make_seal", "seal_of"]

Seal = Cache
"""Sealed tables: a cache that nobody writes."""

SMALLEST_PROOF = 1 << 18
"""The fewest entries of a table of transitions that are worth a thread of their own: some ten milliseconds."""
_NONE = np.empty(0, np.uint64)
_UNUSED = {
    "state_slots": _NONE,
    "set_slots": _NONE,
    "doorkeeper": _NONE,
    "doorkeeper_shift": np.int64(64),
    "state_limit": np.int64(0),
}


class SealError(ValueError):
    """Tables are malformed, or not those of the automaton; ``array`` is the one in which that shows."""

    def __init__(self, array: str, problem: str) -> None:
        """Name the array and the problem."""
        super().__init__(problem)
        self.array = array


def check(seal: Seal, program: Program) -> None:
    """Check tables that anybody may have made: whether kernels may read them, and whether they say what the patterns say.

    Raises :class:`SealError`. Each transition is made once more and compared, which takes 0.1 to 0.3 us; several threads share them.
    """
    found = _flaw(seal, program)
    if found:
        raise SealError(*found)
    state = _first_wrong(seal, program)
    if state is not None:
        raise SealError("transitions", f"what leads on from state {state:,} is not what the patterns say")


def _first_wrong(seal: Seal, program: Program) -> int | None:
    """Return the first state from which something is wrong, 0 for the start states; None for a seal that is right."""
    from compiler.kernels.proving import RIGHT, first_wrong  # as late as all kernels

    def proof(share: int) -> int:
        return int(first_wrong(program, seal, make_work(program), share, shares))

    shares = min(os.cpu_count() or 1, 1 + len(seal.transitions) // SMALLEST_PROOF)
    if shares == 1:
        told = [proof(0)]
    else:
        with ThreadPoolExecutor(shares, thread_name_prefix="dfa-router") as pool:
            told = list(pool.map(proof, range(shares)))
    return min((state for state in told if state != RIGHT), default=None)


def make_seal(cache: Cache) -> Seal | None:
    """Return a copy of what a cache knows, or None if it knows no state yet."""
    meta = cache.meta
    if meta[START] == 0:
        return None
    kept = meta.copy()
    kept[COUNTS] = 0
    states, sets = int(meta[STATES]), int(meta[SETS])
    return seal_of(
        **cache._replace(
            meta=kept,
            state_end=cache.state_end[:states].copy(),
            info=cache.info[: 2 * states].copy(),
            members=cache.members[: meta[MEMBERS]].copy(),
            set_end=cache.set_end[:sets].copy(),
            tags=cache.tags[: meta[TAGS]].copy(),
            transitions=cache.transitions.copy(),
            filters=cache.filters[: meta[FILTERS]].copy(),
        )._asdict()
    )


def seal_of(**fields: Any) -> Seal:
    """Return what these fields of a cache say as a seal; those that only building needs may be among them.

    Nobody may write the arrays from now on, but for ``meta``, of which each reader has a copy of its own.
    """
    return frozen_cache(Cache(**{**fields, **_UNUSED}))


def _flaw(seal: Seal, program: Program) -> tuple[str, str] | None:
    """Return what is wrong with the form of a seal, as an array's name and a text; None if kernels may read it."""
    states, sets = len(seal.state_end), len(seal.set_end)
    bits = 64 - int(seal.transition_shift)
    key_bits = 64 - int(seal.key_shift)
    if not 5 <= bits <= 40 or len(seal.transitions) != (1 << bits) + PROBES - 1:
        return "transitions", f"it has {len(seal.transitions):,} entries, which are no table of {bits} bits"
    if not (int(seal.symbol_bits) >= 1 and states >= 2 and sets >= 2):
        return "numbers", "there are no states, no accept sets or no symbols"
    if (
        not int(seal.symbol_bits) + states.bit_length() <= key_bits <= min(bits + 32, 63)
        or len(program.word_offsets) - 1 >> int(seal.symbol_bits) > 0
    ):
        return "numbers", f"a state and a symbol have {key_bits} bits together, which do not fit"
    if len(seal.info) != 2 * states:
        return "info", f"it has {len(seal.info):,} numbers, expected {2 * states:,}"
    for name, ends, pool, most in (
        ("state_end", seal.state_end, seal.members, len(program.labels)),
        ("set_end", seal.set_end, seal.tags, len(program.tags)),
    ):
        found = _run_flaw(ends, pool, most)
        if found:
            return name, found
    return _number_flaw(seal, states, sets, int(program.roots))


def _run_flaw(ends: Int32s, pool: Int32s, most: int) -> str | None:
    """Return what is wrong with ascending runs of numbers below ``most``."""
    if ends[0] != 0 or ends[-1] != len(pool) or np.any(ends[1:] < ends[:-1]):
        return f"expected offsets that ascend from 0 to {len(pool):,}"
    if np.any(pool < 0) or np.any(pool >= most):
        return f"a number is none of {most:,}"
    firsts = np.zeros(len(pool) + 1, np.bool_)
    firsts[ends] = True
    if np.any((pool[1:] <= pool[:-1]) & ~firsts[1:-1]):
        return "the numbers of a run do not ascend"
    return None


def _number_flaw(seal: Seal, states: int, sets: int, roots: int) -> tuple[str, str] | None:
    """Check all numbers of states, accept sets and filters against the lengths of their tables."""
    first, literals = seal.info[2::2], seal.info[3::2]
    accepts, defaults = first >> np.uint64(32), first & np.uint64(0xFFFFFFFF)
    if seal.info[0] or seal.info[1]:
        return "info", "the sentinel is not 0"
    if np.any(accepts < 1) or np.any(accepts >= sets):
        return "info", f"an accept set is none of {sets - 1:,}"
    if np.any(defaults >> np.uint64(TARGET_BITS + 1)) or np.any(defaults & np.uint64(TARGET) >= states):
        return "info", f"a default successor is none of {states - 1:,} states"
    places = np.flatnonzero(seal.transitions)
    used = seal.transitions[places]  # a mask is asked twice, and takes three times as long
    places = places.view(np.uint64)
    targets = used & np.uint64(TARGET)
    if np.any(targets < 1) or np.any(targets >= states):
        return "transitions", f"a target is none of {states - 1:,} states"
    displaced = used >> np.uint64(28) & np.uint64(PROBES - 1)
    if np.any(displaced > places) or np.any(places - displaced >> np.uint64(64 - int(seal.transition_shift))):
        return "transitions", "an entry is displaced from a slot that is not there"
    wide = literals[literals >= np.uint64(WIDE)] & np.uint64(WIDE - 1)
    if not len(seal.filters) or np.any((wide >> np.uint64(32)) + (wide & np.uint64(0xFFFFFFFF)) >= len(seal.filters)):
        return "filters", f"a filter lies beyond the {len(seal.filters):,} numbers"
    starts = seal.meta[[START, START_RESERVED][:roots]]
    if (
        np.any(starts & TARGET < 1)
        or np.any(starts < 0)
        or np.any(starts >> TARGET_BITS + 1)
        or np.any(starts & TARGET >= states)
    ):
        return "numbers", f"a start state is none of {states - 1:,}"
    return None
