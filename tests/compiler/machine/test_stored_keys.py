"""Keys stored for all walkers of a sealed machine: one copy, within the bound, and right whoever is broken off or stores meanwhile."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compiler.kernels.key_store as kernels
from compiler import Token, Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.kernels.store_tables import STORED_NUMBERS
from compiler.leases import Leases
from compiler.machine import stored_keys
from compiler.machine.cache import nbytes
from compiler.machine.key_store import KeyStore
from compiler.machine.lazy import SMALLEST_SHARE, LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.sealed_walker import SealedWalker
from compiler.machine.store_policy import EARLIEST, PAUSE
from compiler.machine.stored_keys import STORING, StoredKeys, first_bytes
from compiler.prepare import jit_enabled
from tests.breaking_off import Broken
from tests.compiler.machines import PATTERNS, answers
from tests.compiler.storing import ALWAYS, NFA, in_threads, numbered, readable_keys, sealed_of, walkers_of

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled machines")

KEYS = st.lists(
    st.sampled_from([b"", b".", b"a", b"a.b", b"b.c", b"c.a.b", b"a.\0", b"other.a", b"a." + b"y" * 70, None]),
    max_size=99,
)


@pytest.mark.usefixtures("small")
def test_the_store_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """With keys that the tables know and keys that are lost in them, in one thread and three, with room and without."""
    monkeypatch.setattr("compiler.machine.lazy.SMALLEST_SHARE", 20)
    hits = 0

    @given(PATTERNS, KEYS, KEYS, st.sampled_from([0, 3000, 12_000, 30_000, 1 << 20]))
    @settings(max_examples=150, deadline=None)
    def same(patterns: list[list[Token]], known: list[bytes | None], keys: list[bytes | None], room: int) -> None:
        nonlocal hits
        nfa = build_nfa(patterns)
        seal = sealed_of(nfa, [*known, b"a"]).sealed
        assert seal is not None
        machine = LazyDfa(nfa, b".", nbytes(seal) + room, key_cache="auto", policy=ALWAYS).with_seal(seal, checked=True)
        expected = answers(Twin(nfa, b".", 1 << 22), keys)
        for threads in (1, 1, 3, 3, 1):
            assert in_threads(machine, keys, threads) == expected
            assert machine.stats().bytes <= machine.stats().capacity
        hits += machine.stats().key_cache_hits

    same()
    assert hits > 30


@pytest.mark.usefixtures("small")
def test_keys_that_are_lost_are_not_stored() -> None:
    """They have the numbers of sets of a walker's own."""
    nfa = build_nfa([[b"%d" % i, Wildcard.MANY] for i in range(900)])
    known: list[bytes | None] = [b"%d.a" % i for i in range(600)]
    machine = sealed_of(nfa, known)
    some: list[bytes | None] = [b"%d.a" % i for i in (*range(300), 700, *range(300, 600), 800)]
    some *= 4
    for _ in range(3):
        assert answers(machine, some) == [[int(bytes(key or b"").split(b".")[0])] for key in some]
    (walker,) = walkers_of(machine)
    assert walker._sealed_store._stored.count == 600
    counters = machine.stats()
    assert counters.sealed_keys == counters.keys - 3 * 8
    assert counters.key_cache_hits > 3 * 2400 - 800


def test_keys_that_recur_are_stored_as_their_stream_shows() -> None:
    keys = numbered(100_000, most=30_000)
    machine = sealed_of(NFA, keys, policy=Policy(row_bytes=0))
    (walker,) = walkers_of(machine)
    walker._sealed_key_cache.policy.mode, walker._sealed_key_cache.policy.wanted = "off", False
    with patch.object(SealedWalker, "_word_cost", 9.0):  # as if the tables were far away
        expected = answers(LazyDfa(NFA, b".", 64 << 20), keys)
        for _ in range(3):
            assert answers(machine, keys) == expected
    counters = machine.stats()
    assert counters.sealed_keys == counters.keys == 300_000
    assert counters.key_cache_hits > 2 * 100_000
    assert counters.words < 4 * (EARLIEST + 60_000)
    assert walker._sealed_store.policy.active


def test_keys_that_do_not_recur_are_not_stored() -> None:
    machine = sealed_of(NFA, numbered(200_000), policy=Policy(row_bytes=0))
    (walker,) = walkers_of(machine)
    with patch.object(SealedWalker, "_word_cost", 9.0):
        answers(machine, numbered(200_000))
    assert walker._sealed_store.nbytes == walker._sealed_store._stored.nbytes == 0
    assert PAUSE - 200_000 < walker._sealed_store.policy.left < PAUSE


@pytest.mark.parametrize(
    "options", [{"key_cache": "off"}, {"key_cache": "on"}, {"policy": Policy(key_store=False, row_bytes=0)}]
)
def test_nothing_is_stored_where_that_is_fixed(options: dict[str, Any]) -> None:
    keys = numbered(60_000, most=9000)
    seal = sealed_of(NFA, keys).sealed
    machine = LazyDfa(NFA, b".", 64 << 20, **{"key_cache": "auto", **options}).with_seal(seal, checked=True)
    with patch.object(SealedWalker, "_word_cost", 90.0):
        answers(machine, keys)
    (walker,) = walkers_of(machine)
    assert walker._sealed_store._stored.nbytes == walker._sealed_store.nbytes == walker._sealed_store.pledged == 0


def test_tables_that_are_walked_by_rows_have_no_store() -> None:
    nfa = build_nfa([[b"a", b"%d" % i] for i in range(300)])
    keys: list[bytes | None] = [b"a.%d" % (i % 300) for i in range(40_000)]
    machine = sealed_of(nfa, keys, policy=Policy())
    (walker,) = walkers_of(machine)
    walker._sealed_key_cache.policy.mode, walker._sealed_key_cache.policy.wanted = "off", False
    with patch.object(SealedWalker, "_word_cost", 90.0):
        answers(machine, keys)
    assert walker._sealed_rows.nbytes > 0
    assert not walker._sealed_store.policy.active


# --- One copy ---------------------------------------------------------------------------------------------------------------


def test_what_one_thread_stores_the_others_know() -> None:
    keys = numbered(4 * SMALLEST_SHARE, most=3000)
    machine = sealed_of(NFA, keys)
    expected = answers(LazyDfa(NFA, b".", 64 << 20), keys)
    assert in_threads(machine, keys, 2) == expected
    one, other = walkers_of(machine)
    stored = one._sealed_store._stored
    assert other._sealed_store._stored is stored
    assert stored.count <= 3000
    words = machine.stats().words
    assert in_threads(machine, keys[::-1], 2) == expected[::-1]  # each has the other's keys now
    assert machine.stats().words < words + 4 * 2 * 1024  # those of the ends of two columns, which lie elsewhere
    for walker in (one, other):
        assert walker._sealed_store.nbytes > 200_000
        behind = walker._used_bytes + walker._dense_rows.nbytes + walker._keys_bytes
        in_front = walker._sealed_rows.nbytes + walker._sealed_key_cache.table.nbytes + walker._sealed_store.nbytes
        assert walker.stats().bytes == behind + in_front
    assert (
        sum(walker.stats().bytes for walker in (one, other)) + stored.nbytes + nbytes(one._seal) - machine.stats().bytes
        == 0
    )


@contextmanager
def storing_meanwhile(store: KeyStore, keys: Any, ids: Any) -> Iterator[None]:
    """Have another thread store these keys, and wait when they are written, and nobody has been told yet."""
    inside, go_on = threading.Event(), threading.Event()
    store_keys = kernels.store_keys

    def waiting(*arguments: Any) -> int:
        done = int(store_keys(*arguments))
        if threading.current_thread() is other:
            inside.set()
            assert go_on.wait(60)
        return done

    with patch.object(kernels, "store_keys", waiting):
        other = threading.Thread(target=lambda: store.keep(keys, ids, 0, 0))
        other.start()
        assert inside.wait(60)
        try:
            yield
        finally:
            go_on.set()
            other.join()


def test_who_finds_another_thread_storing_lets_his_keys_go() -> None:
    stored = StoredKeys(1 << 22, among=2)
    store, second = (KeyStore(0, wanted=True, shared=stored) for _ in range(2))
    assert store.ready(1 << 22)
    assert second.ready(1 << 22)
    keys, out = readable_keys([b"a.%d" % i for i in range(500)]), np.empty(500, np.int32)
    assert len(store.look_up(keys, 0, 500, 0, out)[0]) == 500
    with storing_meanwhile(store, keys, np.arange(500, dtype=np.int32)):
        assert len(second.look_up(keys, 0, 500, 0, out)[0]) == 500  # nobody has been told yet
        second.keep(keys, np.full(500, 7, np.int32), 0, 0)
    assert stored.count == 500
    assert len(second.look_up(keys, 0, 500, 0, out)[0]) == 0
    assert out.tolist() == list(range(500))


def test_what_was_full_goes_on_when_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where an automaton's tables were being copied when keys were to be stored."""
    monkeypatch.setattr(stored_keys, "SLOTS", 1 << 13)
    monkeypatch.setattr(stored_keys, "NUMBERS", 1 << 14)
    stored = StoredKeys(1 << 22)
    store = KeyStore(0, wanted=True, shared=stored)
    assert store.ready(1 << 22)
    keys, ids, out = (
        readable_keys([key for key in numbered(9000) if key]),
        np.arange(9000, dtype=np.int32),
        np.empty(9000, np.int32),
    )
    crowded = 3 * (1 << 13) // 4  # in the first index, where there is no room for a larger one
    for room, count in (
        (first_bytes() + 96 * 1024, crowded),
        (0, crowded),
        (1 << 10, crowded),
        (1 << 20, 9000),
        (0, 9000),
    ):
        lost, _ = store.look_up(keys, 0, 9000, 0, out)
        assert len(lost) == 9000 - stored.count
        assert store._asked is not None
        stored.keep(store._asked, keys, ids[lost], 0, room)
        assert (stored.count, stored.full) == (count, count == crowded)
    assert len(store.look_up(keys, 0, 9000, 0, out)[0]) == 0
    assert out.tolist() == ids.tolist()


def test_who_takes_back_waits_until_nobody_stores() -> None:
    stored = StoredKeys(1 << 22)
    store = KeyStore(0, wanted=True, shared=stored)
    assert store.ready(1 << 23)
    keys = readable_keys([b"a.%d" % i for i in range(500)])
    store.look_up(keys, 0, 500, 0, np.empty(500, np.int32))
    taking = threading.Thread(target=lambda: stored.take_back(store, needed=True))
    with storing_meanwhile(store, keys, np.arange(500, dtype=np.int32)):
        taking.start()
        taking.join(0.05)
        assert taking.is_alive()
    taking.join(60)
    assert not taking.is_alive()
    assert stored.limit == stored.nbytes > 0


def test_tables_of_a_call_that_has_ended_well_meanwhile_are_not_dropped() -> None:
    stored = StoredKeys(1 << 22)
    store = KeyStore(0, wanted=True, shared=stored)
    assert store.ready(1 << 23)
    keys, out = readable_keys([b"a.%d" % i for i in range(500)]), np.empty(500, np.int32)
    store.keep(keys, store.look_up(keys, 0, 500, 0, out)[0].astype(np.int32), 0, 0)
    take = Leases.take

    def ended(self: Leases, *arguments: Any, **options: Any) -> int | None:
        stored._midway = False
        return take(self, *arguments, **options)

    stored._midway = True
    with patch.object(Leases, "take", ended):
        assert len(store.look_up(keys, 0, 500, 0, out)[0]) == 0
    assert stored.count == 500


def test_threads_that_store_and_look_up_at_once_give_right_answers() -> None:
    """Tables grow, are dropped and begun anew meanwhile; each key's number follows from the key, so a wrong one is seen."""
    stored = StoredKeys(1 << 24)
    keys = [b"", *(b"%d" % i + b".x" * (i % 40) for i in range(20_000))]
    right = np.array([len(key) % 1000 for key in keys], np.int32)
    laid_out = readable_keys(keys)
    wrong: list[Any] = []
    hits = 0

    def work(seed: int) -> None:
        nonlocal hits
        rng, store, out = random.Random(seed), KeyStore(0, wanted=True, shared=stored), np.empty(len(keys), np.int32)
        for _ in range(400):
            if not store.ready(1 << 23):
                continue
            first = rng.randrange(len(keys)) if rng.random() < 0.8 else 0
            stop = min(len(keys), first + rng.randrange(1, 4000))
            lost, _ = store.look_up(laid_out, first, stop, 0, out)
            known = np.ones(stop - first, np.bool_)
            known[lost - first] = False
            if not np.array_equal(out[first:stop][known], right[first:stop][known]):
                wrong.append((seed, first, stop))
            hits += int(known.sum())
            store.keep(laid_out, right[lost], 0, 0)
            if rng.random() < 0.02:
                store.take_back(needed=True)
                store.drop()
            assert stored.nbytes <= 1 << 24

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert hits > 100_000


# --- The bound --------------------------------------------------------------------------------------------------------------


# --- Calls that are broken off ----------------------------------------------------------------------------------------------


def test_calls_that_store_keep_their_lease_in_a_variable() -> None:
    for code in STORING:
        assert "lease" in code.co_varnames


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("forked", [False, True])
def test_tables_that_were_left_in_the_middle_are_not_read(forked: bool) -> None:
    """A fork copies the tables while a kernel writes them, and the loan of a thread that the child does not have."""
    nfa = build_nfa([[b"a", b"%d" % i] for i in range(400)])
    keys: list[bytes | None] = [b"a.%d" % i for i in range(400)]
    machine = sealed_of(nfa, keys)
    stored = machine._stored_keys
    store_keys = kernels.store_keys

    def cut_short(tables: Any, asked: Any, some: Any, first: int, count: int, base: int, ids: Any) -> int:
        store_keys(tables, asked, some, first, count, base, np.roll(ids, 1))
        stored._tables = tables._replace(known=int(tables.counts[STORED_NUMBERS]))
        raise Broken

    given_back: AbstractContextManager[Any] = (
        nullcontext() if not forked else patch.object(Leases, "give_back", lambda *_: None)
    )
    with patch.object(kernels, "store_keys", cut_short), given_back, pytest.raises(Broken):
        answers(machine, keys)
    assert bool(stored._leases.loans) is forked
    assert stored.count > 0
    for _ in range(3):
        assert answers(machine, keys) == [[i] for i in range(400)]
    assert stored.count == 400
    assert machine.stats().key_cache_hits > 0


@pytest.mark.usefixtures("small")
def test_a_handler_that_interrupts_storing_asks_without_waiting() -> None:
    nfa = build_nfa([[b"a", b"%d" % i] for i in range(400)])
    keys: list[bytes | None] = [b"a.%d" % i for i in range(400)]
    machine = sealed_of(nfa, keys)
    in_threads(machine, [*keys] * 30, 2)  # a second walker
    machine._stored_keys.divide(2)
    for walker in walkers_of(machine):
        walker._sealed_store.drop()
    told = []
    begin = StoredKeys._begin

    def interrupted(self: StoredKeys) -> None:
        begin(self)
        (free,) = [walker for number, walker in enumerate(walkers_of(machine)) if number not in machine._loans]
        told.append(answers(machine, keys) == [[i] for i in range(400)])
        told.append(not free._sealed_store.take_back(needed=True))

    with patch.object(StoredKeys, "_begin", interrupted):
        assert answers(machine, keys) == [[i] for i in range(400)]
    assert told == [True, True]
    assert answers(machine, keys) == [[i] for i in range(400)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_while_threads_store() -> None:
    keys = numbered(12_000, most=1 << 20)
    machine = sealed_of(NFA, keys)
    expected = answers(LazyDfa(NFA, b".", 64 << 20), keys)
    assert in_threads(machine, keys, 2) == expected
    going = threading.Event()
    going.set()

    def work() -> None:
        while going.is_set():
            in_threads(machine, keys, 2)
            machine._stored_keys.divide(2)
            for walker in walkers_of(machine):
                walker._sealed_store._stored._tables = None  # begun anew again and again

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(30):
            child = os.fork()
            if child == 0:
                signal.alarm(100)  # a child that hangs is killed, and seen
                os._exit(0 if answers(machine, keys) == expected == answers(machine, keys) else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        going.clear()
        thread.join()
