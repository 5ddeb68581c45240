"""The lazy DFA: subset construction driven by the keys, its cache bounded in bytes and cleared when full.

States and transitions are built when a key first needs them and kept; a key that stays on known ground costs one table
look-up per word. When a table cannot grow within the capacity, everything is thrown away and begun again, as regex
engines do (RE2, Rust's regex-automata): clearing is cheap to be right about, and keys are short. Where clearing does
not pay, because states are made about as fast as words are read, the rest of the batch is simulated on the NFA, and
the next batch tries the DFA again. A small set can be simulated so fast that building states is not worth while long
before the cache is full: :mod:`compiler.machine.pace` notices. Results depend on none of this.

:class:`compiler.machine.walker.Walker` decides this for one cache; the kernels do the work. Here are the machines that users
hold: they share the NFA's tables among as many walkers as threads ask for, within one bound. :class:`compiler.automata.twin.Twin`
is the same machine in plain Python.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from compiler.automata.nfa import Nfa
from compiler.machine.bit_program import bit_program
from compiler.machine.cache import Snapshot
from compiler.machine.collector import joined
from compiler.machine.columns import shares
from compiler.machine.key_cache import KeyCacheMode
from compiler.machine.program import make_program
from compiler.machine.walker import Walker
from compiler.values import CacheStats, KeyColumn, SetBatch

__all__ = ["LazyDfa", "Simulator"]

SMALLEST_SHARE = 4096
"""Keys that a thread of its own must have at least to be worth starting."""


class LazyDfa:
    """A binding set's NFA with a lazily built, bounded DFA; usable from any number of threads.

    Pickles as its NFA and capacity; the copy begins with an empty cache.
    """

    def __init__(self, nfa: Nfa, separator: bytes, capacity: int, *, key_cache: KeyCacheMode = "off") -> None:
        """Lay the NFA out for the kernels.

        ``capacity`` bounds the bytes of all caches together; where not even an empty one fits (about 1 KB, more if there
        are over a million literal words), every key is simulated. ``key_cache`` says whether whole keys are kept in
        mind: see :mod:`compiler.machine.key_cache`.
        """
        self._nfa = nfa
        self._separator = separator
        self._capacity = capacity
        self._program = make_program(nfa, separator)
        self._bits = bit_program(nfa)
        self._key_cache: KeyCacheMode = key_cache
        self._walkers = [Walker(self._program, self._bits, capacity, key_cache)]
        self._idle: queue.SimpleQueue[Walker] = queue.SimpleQueue()
        self._idle.put(self._walkers[0])
        self._sharing = threading.Lock()
        """Held while the shares change."""
        self._taking = threading.Lock()
        """Held by whoever waits for more than one walker: two who had one each would wait for ever."""

    @property
    def nfa(self) -> Nfa:
        """The automaton that this one determinises."""
        return self._nfa

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), key_cache=self._key_cache), (self._nfa, self._separator, self._capacity)

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the accept tags of a key, ascending."""
        walker = self._idle.get()
        try:
            return walker.match(key)
        finally:
            self._idle.put(walker)

    def match_batch(self, columns: Iterable[KeyColumn], *, threads: int = 1) -> SetBatch:
        """Match every key of every column; the answer runs over all of them in order.

        With several threads each takes a run of the keys and has a cache of its own, an equal share of the capacity.
        """
        columns = list(columns)
        set_ids = np.empty(sum(len(column.offsets) - 1 for column in columns), np.int32)
        threads = min(threads, 1 + len(set_ids) // SMALLEST_SHARE)
        if threads > len(self._walkers):
            self._share(threads)
        if threads <= 1:
            with self._walker() as walker:
                return walker.run(columns, set_ids)
        walkers = self._several(threads)
        try:
            with ThreadPoolExecutor(threads, thread_name_prefix="dfa-router") as pool:
                parts = pool.map(lambda walker, share: walker.run(*share), walkers, shares(columns, set_ids, threads))
                return joined(set_ids, list(parts))
        finally:
            for walker in walkers:
                self._idle.put(walker)

    def stats(self) -> CacheStats:
        """Describe the caches, all together."""
        with self._sharing:
            total = sum((walker.stats() for walker in self._walkers), CacheStats())
        return replace(total, capacity=self._capacity)

    def snapshot(self) -> Snapshot | None:
        """Return what a cache knows now; None where there is no cache."""
        with self._walker() as walker:
            return walker.snapshot()

    @contextmanager
    def _walker(self) -> Iterator[Walker]:
        """Borrow a walker, waiting for one if all are busy."""
        walker = self._idle.get()
        try:
            yield walker
        finally:
            self._idle.put(walker)

    def _several(self, count: int) -> list[Walker]:
        """Borrow several walkers at once, in their order: so the same keys come to the same caches, and a run repeats exactly.

        When they borrowed whoever was idle, each cache came to hold all keys' transitions, and two threads took a sixth more
        time on `stock`.
        """
        with self._taking:
            return sorted((self._idle.get() for _ in range(count)), key=self._walkers.index)

    def _share(self, count: int) -> None:
        """Share the capacity out among more walkers, when all are idle."""
        with self._taking:
            if count <= len(self._walkers):
                return
            for _ in self._walkers:
                self._idle.get()
            with self._sharing:
                share = self._capacity // count
                for walker in self._walkers:
                    walker.bound(share)
                more = count - len(self._walkers)
                self._walkers += [Walker(self._program, self._bits, share, self._key_cache) for _ in range(more)]
            for walker in self._walkers:
                self._idle.put(walker)


class Simulator:
    """The NFA without a cache: every key is simulated. Usable from any number of threads."""

    def __init__(self, nfa: Nfa, separator: bytes) -> None:
        """Lay the NFA out for the kernel."""
        self._separator = separator
        self._machine = LazyDfa(nfa, separator, 0)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._machine.nfa, self._separator)

    @property
    def nfa(self) -> Nfa:
        """The automaton that is simulated."""
        return self._machine.nfa

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the accept tags of a key, ascending."""
        return self._machine.match(key)

    def match_batch(self, columns: Iterable[KeyColumn], *, threads: int = 1) -> SetBatch:
        """Match every key of every column; the answer runs over all of them in order."""
        return self._machine.match_batch(columns, threads=threads)

    def stats(self) -> CacheStats:
        """Count the keys; there is no cache to describe."""
        return CacheStats(keys=self._machine.stats().keys)
