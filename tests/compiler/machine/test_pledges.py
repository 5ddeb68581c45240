"""What caches pledge to stored keys of their capacities: given back when they need it, and never more in all than the bound."""

from __future__ import annotations

import numpy as np
import pytest

from compiler import Wildcard, build_nfa
from compiler.kernels.store_tables import scratch_bytes
from compiler.machine import key_store
from compiler.machine.cache import nbytes
from compiler.machine.key_store import KeyStore
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.sealed_pace import SealedPace
from compiler.machine.stored_keys import StoredKeys
from compiler.prepare import jit_enabled
from tests.compiler.machines import answers
from tests.compiler.storing import NFA, in_threads, numbered, readable_keys, sealed_of, walkers_of

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled machines")


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("capacity", [5 << 20, 8 << 20, 20 << 20])
def test_stored_keys_tables_and_caches_together_keep_within_the_bound(capacity: int, threads: int) -> None:
    known = numbered(60_000, most=1 << 20)
    machine = sealed_of(NFA, known[:2000], capacity)
    assert machine.sealed is not None
    for keys in (known[:2000] * 10, known, known[:2000] * 10, numbered(60_000, seed=2)):
        in_threads(machine, keys, threads)
        counters = machine.stats()
        assert counters.bytes <= capacity
        stored = machine._stored_keys
        walkers = walkers_of(machine)
        assert stored.nbytes <= capacity // 2
        assert stored.nbytes <= sum(walker._sealed_store._stored.pledged(walker._sealed_store) for walker in walkers)
        assert sum(walker._most for walker in walkers) + nbytes(machine.sealed) <= capacity
        for walker in walkers:
            assert walker._capacity + walker._sealed_store.pledged == walker._most
            assert walker._used_bytes + walker._sealed_store.nbytes <= walker._most


def test_a_cache_that_grows_gets_back_what_it_pledged(monkeypatch: pytest.MonkeyPatch) -> None:
    """First what the tables do not take, and then all; it is never cleared while there is something to take back."""
    nfa = build_nfa([[Wildcard.MANY, b"%d" % i, Wildcard.ONE, Wildcard.ONE, Wildcard.ONE] for i in range(1000)])
    known: list[bytes | None] = [b"x%d.y" % i for i in range(9000)]
    policy = Policy(doorkeeper=False, simulate=False, key_store=True, row_bytes=0)
    machine = sealed_of(nfa, known, 6 << 20, policy)
    answers(machine, known)
    (walker,) = walkers_of(machine)
    store, stored = walker._sealed_store, machine._stored_keys
    pledged = store.pledged
    assert pledged > 2 << 20
    assert stored.count > 8900  # some lie at the end of the column, which is elsewhere
    others: list[bytes | None] = [b"%d.%d.%d.%d" % (i % 997, i % 11, i % 13, i) for i in range(40_000)]
    seen, used = set(), [0]
    monkeypatch.setattr(SealedPace, "note", lambda *_, **__: None)  # lost keys are no reason to leave the store
    for first in range(0, len(others), 1000):
        some = others[first : first + 1000]
        assert answers(machine, some) == answers(LazyDfa(nfa, b".", 64 << 20), some)
        assert machine.stats().bytes <= 6 << 20
        assert not (machine.stats().clears and store.pledged)
        seen.add((0 < store.pledged < pledged, stored.count > 0))
        if store.pledged == pledged:
            used.append(walker._used_bytes)
        if not store.pledged:
            break
    assert (True, True) in seen
    assert 4 * max(used) <= walker._most - pledged
    assert store.pledged == stored.nbytes == store.nbytes == 0
    assert walker._used_bytes > walker._most - pledged


def test_tables_stay_as_long_as_somebody_looks_keys_up() -> None:
    stored = StoredKeys(1 << 22, among=2)
    one, other = (KeyStore(0, wanted=True, shared=stored) for _ in range(2))
    keys, out = readable_keys([b"a.%d" % i for i in range(3000)]), np.empty(3000, np.int32)
    for store in (one, other):
        assert store.ready(1 << 22)
        lost, _ = store.look_up(keys, 0, 3000, 0, out)
        store.keep(keys, lost.astype(np.int32), 0, 0)
    assert stored.limit == one.pledged + other.pledged - 2 * scratch_bytes(
        (1 << 21) // key_store.LOST + key_store.ON_THEIR_WAY
    )
    one.drop()
    assert one.take_back(needed=False)
    assert one.pledged == 0  # as the other's pledge suffices
    assert stored.count == 3000
    other.drop()
    assert stored.nbytes == 0
    assert other.take_back(needed=False)
    assert not other.take_back(needed=True)
    assert stored.limit == 0


def test_tables_are_dropped_only_if_all_that_is_pledged_is_needed() -> None:
    stored = StoredKeys(1 << 22)
    store = KeyStore(0, wanted=True, shared=stored)
    assert store.ready(1 << 23)
    keys, out = readable_keys([b"a.%d" % i for i in range(3000)]), np.empty(3000, np.int32)
    store.keep(keys, store.look_up(keys, 0, 3000, 0, out)[0].astype(np.int32), 0, 0)
    for _ in range(2):
        assert store.take_back(needed=False)
        assert (stored.count, stored.limit) == (3000, stored.nbytes)
    stored.pledge(store, stored.limit + 1000)
    assert store.take_back(needed=True)
    assert (stored.count, stored.limit) == (3000, stored.nbytes)
    assert store.take_back(needed=True)
    assert stored.nbytes == stored.limit == store.nbytes == 0


def test_more_threads_begin_with_pledges_of_their_own_alone() -> None:
    keys = numbered(20_000, most=3000)
    machine = sealed_of(NFA, keys)
    answers(machine, keys)
    stored = machine._stored_keys
    assert stored.count > 2000
    machine._share(3)
    assert stored.nbytes == 0
    assert not stored._users
    assert set(stored._pledges) == {walker._sealed_store for walker in walkers_of(machine)}
    assert len(stored._pledges) == 3
    aside = 3 * scratch_bytes(key_store.ROWS + key_store.ON_THEIR_WAY)
    assert (64 << 20) // 2 - aside - 100_000 < stored.limit <= (64 << 20) // 2


def test_what_others_need_of_a_pledge_stays_pledged() -> None:
    stored = StoredKeys(1 << 21, among=2)
    one, other = (KeyStore(0, wanted=True, shared=stored) for _ in range(2))
    keys, out = readable_keys([b"a.%d" % i + b"x" * 100 for i in range(9000)]), np.empty(9000, np.int32)
    assert one.ready(1 << 22)
    assert other.ready(1 << 22)
    for begin in range(0, 9000, 3000):
        other.look_up(keys, begin, begin + 3000, 0, out)
        other.keep(keys, np.arange(begin, begin + 3000, dtype=np.int32), 0, 0)
    assert stored.nbytes > stored.pledged(other)
    one.drop()
    assert one.take_back(needed=False)
    assert stored.nbytes == stored.pledged(other) + stored.pledged(one)
    assert stored.count > 0
    assert one.take_back(needed=True)  # the cache needs it
    assert one.pledged == stored.nbytes == 0


def test_tables_that_are_left_out_give_the_room_of_stored_keys_back() -> None:
    known = numbered(20_000, most=3000)
    machine = sealed_of(NFA, known)
    answers(machine, known)
    (walker,) = walkers_of(machine)
    assert walker._sealed_store.pledged > 1 << 20
    others: list[bytes | None] = [b"1.2.3.%d" % i for i in range(20_000, 60_000)]
    assert answers(machine, others) == [[i] for i in range(20_000, 60_000)]
    assert walker._sealed_pace.pause > 0
    assert walker._sealed_store.pledged == machine._stored_keys.nbytes == 0
