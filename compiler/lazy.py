"""The lazy DFA: subset construction driven by the keys, its cache bounded in bytes and cleared when full.

States and transitions are built when a key first needs them and kept; a key that stays on known ground costs one table
look-up per word. When a table cannot grow within the capacity, everything is thrown away and begun again, as regex
engines do (RE2, Rust's regex-automata): clearing is cheap to be right about, and keys are short. Where clearing does
not pay, because states are made about as fast as words are read, the rest of the batch is simulated on the NFA, and
the next batch tries the DFA again. A small set can be simulated so fast that building states is not worth while long
before the cache is full: :mod:`compiler.pace` notices. Results depend on none of this.

This module decides; :mod:`compiler.kernels.walk` and :mod:`compiler.kernels.simulate` do. :class:`compiler.twin.Twin`
is the same machine in plain Python.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.bits import BitProgram, bit_program
from compiler.cache import Snapshot, cleared, empty_cache, grown, nbytes, snapshot
from compiler.errors import CapacityError
from compiler.nfa import Nfa
from compiler.pace import Pace
from compiler.tables import (
    BLOCK,
    DEFAULTS,
    DONE,
    MEMBERS,
    MISSES,
    ROW,
    SETS,
    STATES,
    TAGS,
    TRANSITIONS,
    WORDS,
    Cache,
    Program,
    Work,
    frozen,
    make_program,
    make_work,
)

__all__ = ["Column", "Counters", "LazyDfa", "Sets", "Simulator"]

Int32s = npt.NDArray[np.int32]

UNPAID_CLEARS = 3
"""After this many clears in a row that did not pay, a batch gives up on the DFA."""
WORDS_PER_STATE = 10
"""A cache has paid if it read this many words per state it built (the measure and the figure of regex-automata)."""

NO_NULLS = np.empty(0, np.bool_)


class Column(NamedTuple):
    """Keys as bytes: key i is ``data[offsets[i]:offsets[i + 1]]``, and null where ``valid[i]`` is False."""

    offsets: Int32s
    data: npt.NDArray[np.uint8]
    valid: npt.NDArray[np.bool_] | None


class Sets(NamedTuple):
    """A set number per key, -1 for null, and the sets: set s is ``tags[offsets[s]:offsets[s + 1]]``, ascending."""

    set_ids: Int32s
    offsets: Int32s
    tags: Int32s


class Counters(NamedTuple):
    """What a cache holds and how it has fared; see ``dfa_router.CacheStats`` for each."""

    states: int = 0
    transitions: int = 0
    accept_sets: int = 0
    bytes: int = 0
    capacity: int = 0
    keys: int = 0
    words: int = 0
    hits: int = 0
    misses: int = 0
    clears: int = 0
    fallbacks: int = 0


class LazyDfa:
    """A binding set's NFA with a lazily built, bounded DFA; usable from several threads, which take turns.

    Pickles as its NFA and capacity; the copy begins with an empty cache.
    """

    def __init__(self, nfa: Nfa, separator: bytes, capacity: int) -> None:
        """Lay the NFA out for the kernels.

        ``capacity`` bounds the bytes of the cache; where not even an empty one fits (about 1 KB, more if there are over
        a million literal words), every key is simulated.
        """
        self._nfa = nfa
        self._separator = separator
        self._capacity = capacity
        self._program = make_program(nfa, separator)
        cache = empty_cache(self._program, capacity)
        self._cache = cache if nbytes(cache) <= capacity else None
        self._bits = bit_program(nfa)
        self._pace = None if self._bits is None else Pace(lanes=len(self._bits.start))
        self._work = make_work(self._program)
        self._lock = threading.Lock()
        self._keys = self._clears = self._fallbacks = 0
        self._words_at_clear = 0

    @property
    def nfa(self) -> Nfa:
        """The automaton that this one determinises."""
        return self._nfa

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._nfa, self._separator, self._capacity)

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the accept tags of a key, ascending."""
        return _single(self, key)

    def run(self, columns: Iterable[Column]) -> Sets:
        """Match every key of every column; the answer runs over all of them in order."""
        with self._lock:
            found = _Collector()
            for column in columns:
                out = found.column(len(column.offsets) - 1)
                self._keys += len(out)
                for first, last, part in _normal(column):
                    self._run(part, first, last, found, out)
            self._flush(found)
            return found.sets()

    def counters(self) -> Counters:
        """Describe the cache."""
        with self._lock:
            if self._cache is None:
                return Counters(capacity=self._capacity, keys=self._keys, fallbacks=self._fallbacks)
            meta = self._cache.meta
            return Counters(
                states=int(meta[STATES]) - 1,
                transitions=int(meta[TRANSITIONS] + meta[DEFAULTS]),
                accept_sets=int(meta[SETS]) - 1,
                bytes=nbytes(self._cache),
                capacity=self._capacity,
                keys=self._keys,
                words=int(meta[WORDS]),
                hits=int(meta[WORDS] - meta[MISSES]),
                misses=int(meta[MISSES]),
                clears=self._clears,
                fallbacks=self._fallbacks,
            )

    def snapshot(self) -> Snapshot | None:
        """Return what the cache knows now; None where there is no cache."""
        with self._lock:
            return None if self._cache is None else snapshot(self._cache)

    def _run(self, column: Column, row: int, rows: int, found: _Collector, out: Int32s) -> None:
        """Match the keys ``row`` to ``rows`` of a column."""
        from compiler.kernels.walk import walk

        unpaid, full_at, block = 0, -1, BLOCK
        stretch_row = stretch_end = row
        words = misses = 0
        while row < rows:
            if self._cache is None or unpaid >= UNPAID_CLEARS:
                self._simulate(column, row, rows, found, out)
                return
            pace = self._pace
            if pace is not None and pace.pause:
                stop = min(rows, row + pace.pause)
                pace.pause -= stop - row
                self._flush(found)  # the numbers that rows have so far must not be given to other sets
                self._simulate(column, row, stop, found, out)
                row = stop
                continue
            meta = self._cache.meta
            if row >= stretch_end:
                stretch_end = min(rows, row + (pace.stretch if pace is not None else rows))
                stretch_row, words, misses = row, int(meta[WORDS]), int(meta[MISSES])
            stop = stretch_end if block > 1 else min(stretch_end, row + BLOCK)
            status = walk(self._program, self._cache, self._work, *column, row, stop, block, found.base, out)
            row = int(meta[ROW])
            if status == DONE:
                block = BLOCK
                if pace is not None and row >= stretch_end:
                    pace.compare(
                        keys=row - stretch_row,
                        words=int(meta[WORDS]) - words,
                        builds=int(meta[MISSES]) - misses,
                        members=float(meta[MEMBERS] / meta[STATES]),
                    )
                continue
            larger = grown(self._cache, status, self._capacity)
            if larger is not None:
                self._cache = larger
                continue
            unpaid = 0 if self._paid(self._cache) else unpaid + 1
            self._flush(found)
            self._clear(self._cache)
            if row == full_at and block == 1:  # this key alone outgrows the cache
                self._simulate(column, row, row + 1, found, out)
                row += 1
            elif row == full_at:
                block = 1
            full_at = row

    def _paid(self, cache: Cache) -> bool:
        words = cache.meta[WORDS] - self._words_at_clear
        return bool(words >= WORDS_PER_STATE * (cache.meta[STATES] - 1))

    def _clear(self, cache: Cache) -> None:
        self._cache = cleared(cache)
        self._words_at_clear = int(cache.meta[WORDS])
        self._clears += 1

    def _flush(self, found: _Collector) -> None:
        """Hand the cache's accept sets over, as the answers so far refer to them."""
        cache = self._cache
        if cache is not None:
            found.add(cache.set_end[: cache.meta[SETS]], cache.tags[: cache.meta[TAGS]])

    def _simulate(self, column: Column, row: int, stop: int, found: _Collector, out: Int32s) -> None:
        self._fallbacks += stop - row
        simulate_rows(self._program, self._bits, self._work, column, row, stop, found, out)


class Simulator:
    """The NFA without a cache: every key is simulated. Usable from several threads, which take turns."""

    def __init__(self, nfa: Nfa, separator: bytes) -> None:
        """Lay the NFA out for the kernel."""
        self._nfa = nfa
        self._separator = separator
        self._program = make_program(nfa, separator)
        self._bits = bit_program(nfa)
        self._work = make_work(self._program)
        self._lock = threading.Lock()
        self._keys = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._nfa, self._separator)

    @property
    def nfa(self) -> Nfa:
        """The automaton that is simulated."""
        return self._nfa

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the accept tags of a key, ascending."""
        return _single(self, key)

    def run(self, columns: Iterable[Column]) -> Sets:
        """Match every key of every column; the answer runs over all of them in order."""
        with self._lock:
            found = _Collector()
            for column in columns:
                out = found.column(len(column.offsets) - 1)
                self._keys += len(out)
                for first, last, part in _normal(column):
                    simulate_rows(self._program, self._bits, self._work, part, first, last, found, out)
            return found.sets()

    def counters(self) -> Counters:
        """Count the keys; there is no cache to describe."""
        return Counters(keys=self._keys)


def simulate_rows(
    program: Program,
    bits: BitProgram | None,
    work: Work,
    column: Column,
    row: int,
    stop: int,
    found: _Collector,
    out: Int32s,
) -> None:
    """Simulate keys ``row`` to ``stop``, as bits where the set is small, and hand their accept sets over."""
    from compiler.kernels.bits import simulate_bits
    from compiler.kernels.simulate import simulate

    set_end = np.empty(stop - row, np.int32)
    tags = np.empty(max(64, 4 * (stop - row)), np.int32)
    counts = np.zeros(2, np.int64)
    while True:
        if bits is None:
            row = simulate(program, work, *column, row, stop, found.base, out, set_end, tags, counts)
        else:
            row = simulate_bits(program, bits, work, *column, row, stop, found.base, out, set_end, tags, counts)
        if row == stop:
            break
        larger = np.empty(max(2 * len(tags), int(counts[1])), np.int32)
        larger[: len(tags)] = tags
        tags = larger
    ends = set_end[: counts[0]]
    found.add(np.concatenate((np.zeros(1, np.int32), ends)), tags[: ends[-1] if len(ends) else 0])


class _Collector:
    """The answer of one run as it grows: set numbers per key, and the accept sets that they refer to."""

    def __init__(self) -> None:
        self.base = 0
        """The number that the next set handed over will get."""
        self._ids: list[Int32s] = []
        self._offsets: list[Int32s] = [np.zeros(1, np.int32)]
        self._tags: list[Int32s] = []
        self._pairs = 0

    def column(self, rows: int) -> Int32s:
        """Return the array to write the set numbers of the next column into."""
        self._ids.append(np.empty(rows, np.int32))
        return self._ids[-1]

    def add(self, ends: Int32s, tags: Int32s) -> None:
        """Take sets over: set i of these is ``tags[ends[i]:ends[i + 1]]``. The arrays are copied."""
        if self._pairs + len(tags) > 2**31 - 1:
            raise CapacityError("the accept sets of this batch have over 2^31 entries: match it in smaller batches")
        self._offsets.append(ends[1:] + np.int32(self._pairs))
        self._tags.append(tags.copy())
        self._pairs += len(tags)
        self.base += len(ends) - 1

    def sets(self) -> Sets:
        """Return everything as one answer."""
        return Sets(
            np.concatenate(self._ids) if self._ids else np.empty(0, np.int32),
            np.concatenate(self._offsets),
            np.concatenate(self._tags) if self._tags else np.empty(0, np.int32),
        )


def _single(machine: LazyDfa | Simulator, key: bytes) -> tuple[int, ...]:
    """Match one key as a column of one."""
    column = Column(np.array([0, len(key)], np.int32), np.frombuffer(key, np.uint8), None)
    found = machine.run([column])
    number = found.set_ids[0]
    return tuple(found.tags[found.offsets[number] : found.offsets[number + 1]].tolist())


def _normal(column: Column) -> Iterator[tuple[int, int, Column]]:
    """Cut a column into at most two parts that kernels may read: (first row, row behind the last, keys).

    Kernels may look PADDING bytes beyond a key, so the keys at the end of the buffer are copied to one that has them.
    """
    from compiler.kernels.words import PADDING

    offsets, data, valid = column
    rows = len(offsets) - 1
    safe = int(np.searchsorted(offsets[1:], len(data) - PADDING, side="right"))
    mask = frozen(NO_NULLS if valid is None else valid)
    if safe:
        yield 0, safe, Column(frozen(offsets), frozen(data), mask)
    if safe < rows:
        tail = np.zeros(int(offsets[-1] - offsets[safe]) + PADDING, np.uint8)
        tail[: len(tail) - PADDING] = data[offsets[safe] : offsets[-1]]
        yield safe, rows, Column(frozen(offsets - offsets[safe]), frozen(tail), mask)
