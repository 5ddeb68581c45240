"""The lazy DFA: subset construction driven by the keys, its cache bounded in bytes and cleared when full.

States and transitions are built when a key first needs them and kept; a key that stays on known ground costs one table
look-up per word. When a table cannot grow within the capacity, the cache is kept as it is, if it has paid and few keys need more
(:mod:`compiler.machine.closing`), or everything is thrown away and begun again, as regex
engines do (RE2, Rust's regex-automata): clearing is cheap to be right about, and keys are short. Where clearing does
not pay, because states are made about as fast as words are read, the rest of the batch is simulated on the NFA, and
the next batch tries the DFA again. A small set can be simulated so fast that building states is not worth while long
before the cache is full: :mod:`compiler.machine.pace` notices. Results depend on none of this.

:class:`compiler.machine.walker.Walker` decides this for one cache; the kernels do the work. Here are the machines that users
hold: they share the NFA's tables among as many walkers as threads ask for, within one bound. :class:`compiler.automata.twin.Twin`
is the same machine in plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from compiler.automata.nfa import Nfa
from compiler.kernels.seal_tables import Seal
from compiler.kernels.tables import Keys
from compiler.leases import Lease, Leases
from compiler.machine.cache import Snapshot, nbytes
from compiler.machine.collector import joined
from compiler.machine.columns import shares
from compiler.machine.dividing import parts_of
from compiler.machine.key_cache import KeyCacheMode
from compiler.machine.key_store import room_for_keys
from compiler.machine.memory import default_capacity
from compiler.machine.parts import Parts
from compiler.machine.policy import AUTO, Policy
from compiler.machine.sealed_walker import SealedWalker
from compiler.machine.seals import SealError, arrays_of, check, seal_of
from compiler.machine.small_batches import SmallBatchWalker
from compiler.machine.stored_keys import StoredKeys
from compiler.machine.threads import together
from compiler.machine.walker import Halt
from compiler.values import AtOnce, CacheStats, Int32s, KeyColumn, Lent, Memory, SetBatch

__all__ = ["LazyDfa"]

SMALLEST_SHARE = 4096
"""The fewest keys that are worth a thread of their own."""


class LazyDfa:
    """A binding set's NFA with a lazily built, bounded DFA; usable from any number of threads, signal handlers and forks.

    Pickles as its NFA, the capacity that was asked for and what is sealed; the copy begins with an empty cache. An exception may
    end a call at any point: the walker that was used starts over with an empty cache, and answers stay right.
    """

    def __init__(
        self,
        nfa: Nfa,
        separator: bytes,
        capacity: int | None,
        *,
        key_cache: KeyCacheMode = "off",
        policy: Policy = AUTO,
    ) -> None:
        """Lay the NFA out for the kernels.

        ``capacity`` bounds the bytes of all caches together; None leaves it to :func:`compiler.machine.memory.default_capacity`.
        Where not even an empty cache fits (about 1 KB, more if there are over a million literal words), every key is
        simulated. ``key_cache`` says whether answers of whole keys are kept: see :mod:`compiler.machine.key_cache`.
        ``policy`` fixes what else is decided by counting.
        """
        self._nfa = nfa
        self._separator = separator
        self._asked = capacity
        self._parts = parts_of(nfa, separator, policy, capacity)
        self._capacity = default_capacity(self._parts.nbytes) if capacity is None else capacity
        self._key_cache: KeyCacheMode = key_cache
        self._policy = replace(policy, key_cache=key_cache)
        self._seal: Seal | None = None
        self._begin()

    def _begin(self) -> None:
        """Begin with an empty cache, beside the seal if there is one."""
        self._room = self._capacity - (0 if self._seal is None else nbytes(self._seal))
        self._stored_keys = StoredKeys(0 if self._seal is None else room_for_keys(self._capacity))
        """What all walkers of a sealed machine share."""
        self._walkers: tuple[SmallBatchWalker, ...] = (self._walker(self._room),)
        """Each is used by one call at a time, to which it is lent by its number."""
        self._leases = Leases(LENDING)
        self._loans = self._leases.loans

    @property
    def nfa(self) -> Nfa:
        """The automaton that this one determinises."""
        return self._nfa

    @property
    def sealed(self) -> Seal | None:
        """The tables that are sealed, which nobody may write."""
        return self._seal

    def __reduce__(self) -> tuple[Any, ...]:
        policy = self._policy
        if self._seal is not None:  # which is of this automaton, divided or not, whatever would be chosen now
            policy = replace(policy, exact=self._parts.exact is not None)
        make = partial(_restored, key_cache=self._key_cache, policy=policy)
        return make, (self._nfa, self._separator, self._asked, None if self._seal is None else arrays_of(self._seal))

    @contextmanager
    def learning(self) -> Iterator[None]:
        """Have the automaton get to know the keys that are matched meanwhile: none is looked up in the key store, or put there."""
        walkers = self._walkers
        try:
            for walker in walkers:
                walker.stores = False
            yield
        finally:
            for walker in walkers:
                walker.stores = True

    def seal(self) -> LazyDfa | None:
        """Return a machine that has what the cache knows now in sealed tables, which all threads read; None if that is nothing.

        Of several caches the one with the most states is taken. This machine stays as it is.
        """
        lease: Lease = {}
        best = max(range(len(self._walkers)), key=lambda number: self._walkers[number].stats().states)
        number = self._leases.take(lease, [best])
        if number is None:
            return None
        try:
            seal = self._walkers[number].seal(self._capacity)
        finally:
            self._leases.give_back(number)
        return None if seal is None else self.with_seal(seal, checked=True)

    def with_seal(self, seal: Seal | None, *, checked: bool = False) -> LazyDfa:
        """Return a machine that asks these tables first, or has none. They are left out if they take more than the capacity.

        Raises :class:`compiler.machine.seals.SealError` if they are not an equal automaton's, unless they were ``checked``. An automaton
        that is divided otherwise, as another capacity or another release may have it, is equal: the machine is then divided as it is,
        unless the policy says which one to have.
        """
        parts = self._parts if seal is None or checked else self._parts_of(seal)
        machine = object.__new__(LazyDfa)
        machine.__dict__.update(self.__dict__)
        if seal is not None and nbytes(seal) <= self._capacity:
            machine._seal, machine._parts = seal, parts
        else:
            machine._seal = None
        machine._begin()
        return machine

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the accept tags of a key, ascending."""
        lease: Lease = {}
        loans = self._loans
        number = 0
        if loans.setdefault(0, lease) is not lease:  # done here, as calling take() costs a tenth of the time of a key
            taken = self._leases.take(lease, range(len(self._walkers)))
            if taken is None:
                return self._walker(0).match_column(key)
            number = taken
        try:
            walker = self._walkers[number]
            tags = walker.match(key)
            return walker.match_column(key) if tags is None else tags
        finally:
            del loans[number]

    def match_text(self, key: str) -> tuple[int, ...] | None:
        """Return the accept tags of a key, ascending; None for one whose bytes :meth:`match` must be asked.

        Those are keys of over FEW_BYTES, with a NUL byte, or with half of a surrogate pair.
        """
        lease: Lease = {}
        loans = self._loans
        number = 0
        if loans.setdefault(0, lease) is not lease:
            taken = self._leases.take(lease, range(len(self._walkers)))
            if taken is None:
                return None
            number = taken
        try:
            return self._walkers[number].match(key)
        finally:
            del loans[number]

    def answer_at_once(self) -> AtOnce | None:
        """Return where single keys are answered while nothing is lent; see :mod:`compiler.kernels.remembered`."""
        return self._walkers[0].answer_at_once(self._loans)

    def match_joined(self, joined: bytes, count: int) -> SetBatch | None:
        """Match ``count`` keys, at most FEW, that are joined by NUL bytes; None if they must go the way of columns.

        They must where they have over FEW_BYTES, or one of them has a NUL byte itself.
        """
        lease: Lease = {}
        number = self._lent(lease)
        if number is None:
            return None
        try:
            return self._walkers[number].run_joined(joined, count)
        finally:
            self._leases.give_back(number)

    def lend(self, keys: Keys, ids: Int32s, use: Callable[[Lent], tuple[int, int]]) -> SetBatch | bool:
        """Let ``use`` walk some of these keys itself; see :meth:`compiler.machine.small_batches.SmallBatchWalker.lend`. False where it may not."""
        lease: Lease = {}
        number = self._lent(lease)
        if number is None:
            return False
        try:
            return self._walkers[number].lend(keys, ids, use)
        finally:
            self._leases.give_back(number)

    def match_memory(self, offsets: Memory, data: Memory | None, first: int, count: int, width: int) -> SetBatch | None:
        """Match keys ``first`` to ``first + count``, at most FEW, where they lie; None if they must go the way of columns.

        Offsets have ``width`` bytes each, 4 or 8. None is returned, too, if they do not ascend or lead out of ``data``.
        """
        lease: Lease = {}
        number = self._lent(lease)
        if number is None:
            return None
        try:
            return self._walkers[number].run_memory(offsets, data, first, count, width)
        finally:
            self._leases.give_back(number)

    def match_batch(self, columns: Iterable[KeyColumn], *, threads: int = 1) -> SetBatch:
        """Match every key of every column; the answer runs over all of them in order.

        With several threads each takes a run of the keys and has a cache of its own, an equal share of the capacity. The
        same share always goes to the same cache: so a run repeats exactly, and each cache holds what its own keys need.
        When shares went to whichever walker was idle, each cache came to hold all keys' transitions, and two threads took
        a sixth more time on `stock`. A call that has interrupted another one in its thread has no others: they would wait for what that holds.
        """
        columns = list(columns)
        set_ids = np.empty(sum(len(column.offsets) - 1 for column in columns), np.int32)
        threads = min(threads, 1 + len(set_ids) // SMALLEST_SHARE)
        if threads > len(self._walkers):
            self._share(threads)
        threads = min(threads, len(self._walkers))
        if threads <= 1 or self._leases.lent_here():
            return self._run_part(range(len(self._walkers)), columns, set_ids, [])
        halt: Halt = []
        parts = [
            partial(self._run_part, [number], *share, halt)
            for number, share in enumerate(shares(columns, set_ids, threads))
        ]
        return joined(set_ids, together(parts, halt))

    def stats(self) -> CacheStats:
        """Describe the caches, all together."""
        total = sum((walker.stats() for walker in self._walkers), CacheStats())
        if self._seal is None:
            return replace(total, capacity=self._capacity)
        return replace(
            total,
            capacity=self._capacity,
            bytes=total.bytes + nbytes(self._seal) + self._stored_keys.nbytes,
            sealed_states=len(self._seal.state_end) - 1,
        )

    def snapshot(self) -> Snapshot | None:
        """Return what a cache knows now; None where there is no cache."""
        lease: Lease = {}
        number = self._leases.take(lease, range(len(self._walkers)))
        if number is None:
            return None
        try:
            found = self._walkers[number].snapshot()
        finally:
            self._leases.give_back(number)
        return found if found is None else self._parts.in_whole(found, self._nfa)

    def _parts_of(self, seal: Seal) -> Parts:
        """Return what these tables are right for: this machine's parts, or those that it would have if the other choice had been made."""
        tags = len(self._nfa.tags)
        try:
            check(seal, self._parts.program, tags)
        except SealError:
            if self._policy.exact is None:
                divided = self._parts.exact is not None
                other = parts_of(self._nfa, self._separator, replace(self._policy, exact=not divided))
                if (other.exact is not None) is not divided:
                    with suppress(SealError):  # where both find fault, the first one tells
                        check(seal, other.program, tags)
                        return other
            raise
        return self._parts

    def _walker(self, capacity: int) -> SmallBatchWalker:
        if self._seal is not None:
            return SealedWalker(self._parts, capacity, self._policy, self._seal, self._stored_keys)
        return SmallBatchWalker(self._parts, capacity, self._policy)

    def _run_part(self, numbers: Iterable[int], columns: list[KeyColumn], set_ids: Int32s, halt: Halt) -> SetBatch:
        """Match columns with one of these walkers; with a cacheless one where waiting for them would never end."""
        lease: Lease = {}
        number = self._leases.take(lease, list(numbers))
        if number is None:
            return self._walker(0).run(columns, set_ids, halt)
        try:
            return self._walkers[number].run(columns, set_ids, halt)
        finally:
            self._leases.give_back(number)

    def _lent(self, lease: Lease) -> int | None:
        """Lend a walker, the first one if it is free; None where waiting would never end."""
        if self._loans.setdefault(0, lease) is lease:
            return 0
        return self._leases.take(lease, range(len(self._walkers)))

    def _share(self, count: int) -> None:
        """Share the capacity out among more walkers, while none is lent to anybody else."""
        lease: Lease = {}
        held = 0
        try:
            while held < len(self._walkers):  # everybody takes several in this order, so nobody waits for each other
                if self._leases.take(lease, [held]) is None:
                    return
                held += 1
            if held < count:
                share = self._room // count
                self._stored_keys.divide(count)
                for walker in self._walkers:
                    walker.bound(share)
                self._walkers += tuple(self._walker(share) for _ in range(count - held))
        finally:
            for number in range(held):
                self._leases.give_back(number)


LENDING = tuple(
    function.__code__
    for function in (
        LazyDfa.match,
        LazyDfa.match_text,
        LazyDfa.match_joined,
        LazyDfa.lend,
        LazyDfa.match_memory,
        LazyDfa.snapshot,
        LazyDfa.seal,
        LazyDfa._run_part,  # noqa: SLF001 - of this module
        LazyDfa._share,  # noqa: SLF001
    )
)
"""The calls that walkers are lent to; each has its lease in a variable of that name."""


def _restored(nfa: Nfa, separator: bytes, capacity: int | None, seal: dict[str, Any] | None, **options: Any) -> LazyDfa:
    """Return a machine that was pickled."""
    machine = LazyDfa(nfa, separator, capacity, **options)
    return machine if seal is None else machine.with_seal(seal_of(**seal), checked=True)
