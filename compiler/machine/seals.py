"""A sealed DFA: what a cache knew at one moment, as tables that nobody writes any more, and how such tables are checked.

A seal has the form of a cache (:class:`compiler.kernels.tables.Cache`), without what only building needs: the hash tables of
states and sets, and the doorkeeper. Its arrays are frozen, so that all threads read one copy, and all processes that map a file.
:mod:`compiler.machine.sealed_walker` reads it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.kernels.seal_tables import PAIRS, Seal
from compiler.kernels.tables import (
    COUNTS,
    FILTERS,
    FINAL,
    MEMBERS,
    SETS,
    START,
    STATES,
    TAGS,
    TARGET,
    Cache,
    Int32s,
    Int64s,
    Program,
    Uint64s,
    frozen,
    frozen_cache,
)
from compiler.kernels.work import make_work
from compiler.machine.cache import nbytes
from compiler.machine.threads import together

__all__ = ["SealError", "arrays_of", "check", "make_seal", "seal_of"]

SMALLEST_PROOF = 1 << 18
"""The fewest entries of a table of transitions that are worth a thread of their own: some ten milliseconds."""


class SealError(ValueError):
    """Tables are malformed, or not those of the automaton; ``array`` is the one in which that shows."""

    def __init__(self, array: str, problem: str) -> None:
        """Name the array and the problem."""
        super().__init__(problem)
        self.array = array


def check(seal: Seal, program: Program, bindings: int) -> None:
    """Check tables that anybody may have made: whether kernels may read them, and whether they say what the patterns say.

    There are so many ``bindings`` in all: accept sets that no state has may be of keys that were stored. Raises :class:`SealError`.
    Each transition is made once more and compared, which takes 0.1 to 0.3 us; several threads share them.
    """
    from compiler.kernels.proving import RIGHT, first_wrong, malformed  # as late as all kernels

    found = _flaw(seal, program, bindings)
    if found:
        raise SealError(*found)
    shares = min(os.cpu_count() or 1, 1 + len(seal.records) // SMALLEST_PROOF)

    def first(proof: Callable[[int], int]) -> int | None:
        """Return the first state that some share finds fault with, 0 for the start states; None if there is none."""
        told = together([partial(proof, share) for share in range(shares)], [])
        return min((state for state in told if state != RIGHT), default=None)

    state = first(lambda share: int(malformed(seal, share, shares)))
    if state is not None:
        raise SealError("records", f"the record of state {state:,} leads out of the tables")
    state = first(lambda share: int(first_wrong(program, seal, make_work(program), share, shares)))
    if state is not None:
        raise SealError("records", f"what leads on from state {state:,} is not what the patterns say")


def make_seal(cache: Cache, program: Program, most_bytes: int) -> Seal | None:
    """Return a copy of what a cache knows, or None if it knows no state yet, or more than references can tell apart.

    Records are completed if the tables take ``most_bytes`` at most then.
    """
    from compiler.kernels.sealing import COMPLETED

    if cache.meta[START] == 0:
        return None
    seal = _sealed(cache, program, COMPLETED)
    return seal if seal is not None and nbytes(seal) <= most_bytes else _sealed(cache, program, 0)


def _sealed(cache: Cache, program: Program, completed: int) -> Seal | None:
    """Return what a cache knows, with records of up to ``completed`` times as many entries where that makes them complete."""
    from compiler.kernels.sealing import complete, count_transitions, lay_out, list_transitions, write_records

    meta = cache.meta.copy()
    meta[COUNTS] = 0
    states, sets = int(meta[STATES]), int(meta[SETS])
    set_end = cache.set_end[:sets]
    empty = np.flatnonzero(set_end[1:] == set_end[:-1])
    if not len(empty):
        set_end = np.append(set_end, set_end[-1])
    cache = frozen_cache(cache._replace(meta=meta, state_end=cache.state_end[:states]))
    begins, final = np.zeros(states + 1, np.int64), np.zeros(states, np.bool_)
    count_transitions(cache, begins, final)
    counts = np.maximum(begins, 2) * max(completed, 1)
    np.cumsum(begins, out=begins)
    symbols, targets = np.empty(begins[-1], np.uint64), np.empty(begins[-1], np.uint64)
    list_transitions(cache, begins.copy(), symbols, targets)
    most, size = int(np.max(counts)), int(np.sum(counts))
    known = begins, symbols, targets
    begins, symbols, targets = np.zeros(states + 1, np.int64), np.empty(size, np.uint64), np.empty(size, np.uint64)
    pairs, sizes = np.zeros(states, np.uint64), np.zeros(states, np.uint8)
    room = np.empty(most, np.int32)
    complete(program, cache, completed, final, *known, room, begins, symbols, targets, sizes)
    count = int(lay_out(cache, begins, symbols, final, np.empty(8 * most, np.uint8), pairs, sizes))
    if max(count, sets) > TARGET:
        return None
    records, starts = _lines_of(2 * count), np.zeros(-(-count // PAIRS), np.uint64)
    nothing = int(empty[0]) + 1 if len(empty) else sets
    write_records(cache, begins, symbols, targets, final, pairs, sizes, nothing, records, starts)
    kept = pairs[1:] != 0
    lengths = np.diff(cache.state_end)
    members = cache.members[: meta[MEMBERS]]
    wide = np.any(records[2 * pairs + np.uint64(1)] >> np.uint64(63))
    return seal_of(
        meta=meta,
        records=records,
        starts=starts,
        state_end=np.concatenate(([0], np.cumsum(lengths[kept]))).astype(np.int32),
        members=members[np.repeat(kept, lengths)],
        set_end=set_end.copy(),
        tags=cache.tags[: meta[TAGS]].copy(),
        filters=cache.filters[: meta[FILTERS] if wide else 1].copy(),
    )


def seal_of(*, meta: Int64s, starts: Uint64s, **arrays: Any) -> Seal:
    """Return sealed tables of these arrays, which nobody may write from now on, but for ``meta``, of which each reader has a copy."""
    before = np.zeros(len(starts), np.int32)
    np.cumsum(np.bitwise_count(starts[:-1]), out=before[1:])
    arrays = {name: frozen(array) for name, array in arrays.items()}
    return Seal(meta=meta, starts=frozen(starts), before=frozen(before), **arrays)


def arrays_of(seal: Seal) -> dict[str, npt.NDArray[Any]]:
    """Return what :func:`seal_of` makes a seal of: all arrays but those that follow from others."""
    fields = seal._asdict()
    del fields["before"]
    return fields


def _lines_of(count: int) -> Uint64s:
    """Return so many zeros that begin at a line of the processor's cache."""
    room = np.zeros(count + 8, np.uint64)
    first = -room.ctypes.data % 64 // 8
    return room[first : first + count]


def _flaw(seal: Seal, program: Program, bindings: int) -> tuple[str, str] | None:
    """Return what is wrong with the lengths and the offsets of tables, as an array's name and a text, or None.

    Whether what records say of other tables is right, a kernel tells then.
    """
    pairs, odd = divmod(len(seal.records), 2)
    if odd or not 1 <= pairs <= TARGET:
        return "records", f"it has {len(seal.records):,} numbers, which are no pairs, or too many"
    words, behind = -(-pairs // PAIRS), -pairs % PAIRS
    if (
        len(seal.starts) != words
        or seal.starts[0] & np.uint64(1)
        or seal.starts[-1] >> np.uint64(PAIRS - 1 - behind) > 1
    ):
        return "starts", f"it has a bit for what is none of {pairs:,} pairs, or none for one of them"
    if len(seal.state_end) != 1 + int(np.sum(np.bitwise_count(seal.starts), dtype=np.int64)):
        return "state_end", f"it tells of {len(seal.state_end) - 1:,} states, and as many records do not begin"
    if not len(seal.set_end):
        return "set_end", "expected the sentinel at least"
    if not len(seal.filters):
        return "filters", "expected the sentinel at least"
    for name, ends, pool, most in (
        ("state_end", seal.state_end, seal.members, len(program.labels)),
        ("set_end", seal.set_end, seal.tags, bindings),
    ):
        found = _run_flaw(ends, pool, most)
        if found:
            return name, found
    nothing = int(seal.records[0]) - FINAL
    if not 1 <= nothing < len(seal.set_end) or seal.records[1] or seal.set_end[nothing - 1] != seal.set_end[nothing]:
        return "records", "the first is not that of no words"
    return None


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
