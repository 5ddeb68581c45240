"""Caches whose tables cannot double within the bound: they go on in smaller steps, hold the bound, and answer rightly."""

from __future__ import annotations

import random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from compiler import Wildcard, build_nfa
from compiler.automata.nfa import Nfa
from compiler.kernels.tables import (
    GROW_MEMBERS,
    GROW_SETS,
    GROW_STATES,
    GROW_TAGS,
    GROW_TRANSITIONS,
    PROBES,
    SETS,
    STATES,
    TRANSITIONS,
    TRANSITIONS_FULL,
    WANTED,
    Cache,
)
from compiler.machine import bounded_cache, growing
from compiler.machine.cache import nbytes
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from tests.compiler.machines import answers, assert_same_automaton

SITES, DEVICES = 60, 200
PATTERNS = [[b"s%d" % site, b"d%d" % device] for site in range(SITES) for device in range(DEVICES)]
KEYS = [b".".join(pattern) for pattern in PATTERNS]
EXPECTED = [[position] for position in range(len(PATTERNS))]


@pytest.fixture(scope="module", name="nfa")
def make_nfa() -> Nfa:
    return build_nfa(PATTERNS)


def machine_of(nfa: Nfa, capacity: int) -> LazyDfa:
    return LazyDfa(nfa, b".", capacity, policy=Policy(simulate=False, row_bytes=0, exact=False))


def cache_of(machine: LazyDfa) -> Cache:
    cache = machine._walkers[0]._cache
    assert cache is not None
    return cache


def all_of_it(nfa: Nfa) -> int:
    """The bytes of a cache that knows all keys and had room to double its tables."""
    machine = machine_of(nfa, 1 << 26)
    assert answers(machine, KEYS) == EXPECTED
    return machine.stats().bytes


def test_a_cache_that_fits_is_not_cleared_for_want_of_room_to_double(nfa: Nfa) -> None:
    """Within twelve thirteenths of what doubled tables end with, where doubling the last of them takes half as much again."""
    capacity = all_of_it(nfa) * 12 // 13
    machine = machine_of(nfa, capacity)
    assert answers(machine, KEYS) == EXPECTED
    built = machine.stats().misses
    assert answers(machine, KEYS) == EXPECTED
    stats, cache = machine.stats(), cache_of(machine)
    assert (stats.clears, stats.misses) == (0, built)
    assert stats.bytes <= capacity
    assert len(cache.state_end) < 2 * cache.meta[STATES]
    with patch.object(growing, "STEPS", ()):
        machine = machine_of(nfa, capacity)
        assert answers(machine, KEYS) == EXPECTED
        assert machine.stats().clears > 0


def test_the_bound_holds_while_a_table_is_copied(nfa: Nfa) -> None:
    """Old and new arrays together, for bounds at which each table is the one that does not fit."""
    steps, refused = set(), 0
    real = growing.grown

    def watched(cache: Cache, table: int, capacity: int, spare: int = 0) -> Cache | None:
        nonlocal refused
        larger = real(cache, table, capacity, spare)
        if larger is None:
            refused += 1
            return None
        old = {id(array) for array in cache if isinstance(array, np.ndarray)}
        new = sum(array.nbytes for array in larger if isinstance(array, np.ndarray) and id(array) not in old)
        assert nbytes(cache) + new <= capacity
        for slots in (larger.state_slots, larger.set_slots):
            assert len(slots).bit_count() == 1
        ratio = len(larger.state_end) / len(cache.state_end)
        steps.add(round(ratio, 2))
        return larger

    rng = random.Random(3)
    with patch.object(bounded_cache, "grown", watched):
        for _ in range(12):
            machine = machine_of(nfa, rng.randrange(20_000, 200_000))
            keys = rng.sample(range(len(KEYS)), 4000)
            assert answers(machine, [KEYS[i] for i in keys]) == [EXPECTED[i] for i in keys]
            assert_same_automaton(nfa, machine)
    assert refused > 10
    assert {1.0, 2.0} <= steps
    assert any(1 < step < 2 for step in steps)


@pytest.mark.parametrize(("table", "slots"), [(GROW_STATES, "state_slots"), (GROW_SETS, "set_slots")])
def test_hash_tables_stay_powers_of_two(nfa: Nfa, table: int, slots: str) -> None:
    """Also where there is more room after a step than before it, as when whole keys give theirs back."""
    machine = machine_of(nfa, 1 << 26)
    assert answers(machine, KEYS[:900]) == EXPECTED[:900]
    cache, rng = cache_of(machine), random.Random(5)
    known = np.sort(getattr(cache, slots))
    for _ in range(12):
        more = rng.choice([0.2, 0.5, 4]) * nbytes(cache)
        cache = growing.grown(cache, table, int(nbytes(cache) + more)) or cache
        found = getattr(cache, slots)
        assert len(found).bit_count() == 1
        assert np.array_equal(np.sort(found)[-len(known) :], known)
        assert np.count_nonzero(found) == np.count_nonzero(known)


@pytest.mark.parametrize("table", [GROW_STATES, GROW_SETS, GROW_MEMBERS, GROW_TAGS])
def test_steps_leave_room_for_whole_keys(nfa: Nfa, table: int) -> None:
    machine = machine_of(nfa, 1 << 26)
    assert answers(machine, KEYS) == EXPECTED
    cache = cache_of(machine)
    cache.meta[WANTED] = 1 + len(cache.members if table == GROW_MEMBERS else cache.tags)
    with patch.object(growing, "SMALL", 0):
        doubled = growing.grown(cache, table, 1 << 26, 1 << 20)
    assert doubled is not None
    room = nbytes(doubled) - nbytes(cache)  # too little to double, as half of it must be left then
    step = growing.grown(cache, table, nbytes(cache) + 3 * room)
    assert step is not None
    assert nbytes(cache) < nbytes(step) < nbytes(doubled)
    assert growing.grown(cache, table, nbytes(cache) + 3 * room, 3 * room) is None


@pytest.mark.parametrize("table", [GROW_MEMBERS, GROW_STATES, GROW_SETS, GROW_TAGS, GROW_TRANSITIONS])
def test_small_tables_grow_sooner(nfa: Nfa, table: int) -> None:
    """Eightfold, where next to nothing is taken by that: each growth ends a call. Where memory is short they double, or less."""
    machine = machine_of(nfa, 1 << 26)
    assert answers(machine, KEYS[:1]) == EXPECTED[:1]
    cache = cache_of(machine)

    def added(room: int) -> int:
        larger = growing.grown(cache, table, nbytes(cache) + room)
        return 0 if larger is None else nbytes(larger) - nbytes(cache)

    assert added(1 << 20) > 5 * added(4096) > 0
    assert added(1 << 20) < 1 << 14


@pytest.mark.parametrize(("table", "name"), [(GROW_MEMBERS, "members"), (GROW_TAGS, "tags")])
def test_no_pool_is_longer_than_32_bits_can_tell(nfa: Nfa, table: int, name: str) -> None:
    """Whatever there is room for: then the cache is full."""

    def of_length(size: int) -> np.ndarray[Any, np.dtype[np.int32]]:
        return np.broadcast_to(np.zeros(1, np.int32), (size,))  # without memory

    most, capacity = 2**31 - 1, 1 << 36
    cache = cache_of(machine_of(nfa, 1 << 20))
    with patch.object(growing, "_longer", lambda _old, size, _capacity: of_length(size)):
        for length, wanted, expected in (
            (most // 4, most // 4 + 1, most // 4 * 2),
            (most // 2 + 1, most // 2 + 2, most),
            (most - 5, most, most),
            (most - 5, most + 1, None),
            (most, most + 1, None),
        ):
            cache.meta[WANTED] = wanted
            pool: dict[str, Any] = {name: of_length(length)}
            longer = growing.grown(cache._replace(**pool), table, capacity)
            assert (None if longer is None else len(getattr(longer, name))) == expected


def test_a_table_of_transitions_that_cannot_double_is_filled_further(nfa: Nfa) -> None:
    """Up to five eighths. What has no place then supplants another transition, which is built again."""
    machine, some, more = machine_of(nfa, 1 << 26), 7000, 10_000
    assert answers(machine, KEYS[:some]) == EXPECTED[:some]
    cache = cache_of(machine)
    slots = len(cache.transitions) - PROBES + 1
    cache.meta[TRANSITIONS_FULL] = 1  # as it is where there is no room to double
    assert answers(machine, KEYS[:more]) == EXPECTED[:more]
    known = machine.stats().misses
    assert answers(machine, KEYS[:more]) == EXPECTED[:more]
    cache = cache_of(machine)
    assert len(cache.transitions) - PROBES + 1 == slots
    assert slots / 2 < cache.meta[TRANSITIONS] <= 5 * slots / 8
    assert 0 < machine.stats().misses - known < more / 20
    assert_same_automaton(nfa, machine)
    assert answers(machine, KEYS) == EXPECTED
    cache = cache_of(machine)
    assert len(cache.transitions) - PROBES + 1 == 2 * slots
    assert cache.meta[TRANSITIONS_FULL] == 0
    assert machine.stats().clears == 0


def test_a_table_that_was_tried_in_vain_leaves_the_count_as_it_was(nfa: Nfa) -> None:
    machine = machine_of(nfa, 1 << 26)
    assert answers(machine, KEYS) == EXPECTED
    cache = cache_of(machine)
    count = int(cache.meta[TRANSITIONS])

    def crowded(*arguments: Any) -> bool:
        arguments[-1][TRANSITIONS] = 5
        return False

    with patch("compiler.kernels.transitions.rehash_transitions", crowded):
        assert growing.grown(cache, GROW_TRANSITIONS, 1 << 26) is cache
    assert (cache.meta[TRANSITIONS], cache.meta[TRANSITIONS_FULL]) == (count, 1)
    with patch("compiler.kernels.transitions.rehash_transitions", crowded):
        assert growing.grown(cache, GROW_TRANSITIONS, 1 << 26) is None


def test_a_state_is_known_again_however_many_accept_sets_there_are() -> None:
    """The number of a state's accept set is part of its hash: no number may give a hash that is not found."""
    key = b"a" + 40 * b".b"
    for sets in (1, 50_000, 60_000, 100_000, 120_000, 10_000_000):
        machine = LazyDfa(build_nfa([[b"a", Wildcard.MANY], [b"a", Wildcard.MANY, b"x"]]), b".", 1 << 26)
        walker = machine._walkers[0]
        walker._cache = cache_of(machine)._replace(set_end=np.zeros(sets + 20, np.int32))
        cache_of(machine).meta[SETS] = sets
        assert machine.match(key) == (0,)
        assert answers(machine, [key]) == [[0]]
        assert machine.stats().states == 3, sets
