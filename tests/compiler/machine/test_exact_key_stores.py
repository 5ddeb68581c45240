"""Keys of patterns without wildcards where keys are stored as well, and where what matches them is large or has no room."""

from __future__ import annotations

import numpy as np
import pytest

from compiler import build_nfa
from compiler.kernels.work import SHARED_FROM
from compiler.machine import exact_keys
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.prepare import jit_enabled
from tests.compiler.divided import (
    ANY,
    LARGE_KEYS,
    SPELLED,
    divided,
    expected_of,
    found_keys,
    large,
    told,
)
from tests.compiler.machines import answers, column

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled machines")


@pytest.mark.parametrize("slots", [2, 64, 1 << 16])
def test_sealed_tables_store_exact_keys_and_tell_their_sets_once(monkeypatch: pytest.MonkeyPatch, slots: int) -> None:
    """With any room for what an answer remembers: the less, the more often it tells a set; by one thread and two."""
    monkeypatch.setattr(exact_keys, "MOST_RECENT", slots)
    nfa, expected = large()
    known = LazyDfa(nfa, b".", 64 << 20, policy=Policy(exact=True, simulate=False))
    answers(known, LARGE_KEYS)
    seal = known.seal()
    assert seal is not None
    assert seal.sealed is not None
    policy = Policy(exact=True, key_store=True)
    machine = LazyDfa(nfa, b".", 64 << 20, policy=policy, key_cache="auto").with_seal(seal.sealed)
    different = len({key for key in LARGE_KEYS if key in SPELLED})
    sealed_sets = len(seal.sealed.set_end)
    twice = column([*LARGE_KEYS, *LARGE_KEYS])
    assert told(machine.match_batch([twice])) == 2 * expected
    assert (found := found_keys(machine)) >= different
    batch = machine.match_batch([twice])
    assert told(batch) == 2 * expected
    assert found_keys(machine) - found < 100  # the others are stored; a few at the end of a column are not asked for
    if slots == 1 << 16:
        assert different <= len(batch.offsets) - 1 <= different + sealed_sets + 100
    for _ in range(2):
        assert told(machine.match_batch([twice], threads=2)) == 2 * expected


def test_found_keys_count_once_where_sealed_tables_begin_to_store_keys() -> None:
    """Then some were looked up ahead already, and are looked up again among those that the store does not know."""
    nfa, known = large()
    rows = [i for i, key in enumerate(LARGE_KEYS) if key in SPELLED]
    keys, expected = [LARGE_KEYS[i] for i in rows], [known[i] for i in rows]
    machine = LazyDfa(nfa, b".", 64 << 20, policy=Policy(exact=True), key_cache="auto")
    answers(machine, LARGE_KEYS)
    sealed = machine.seal()
    assert sealed is not None
    assert answers(sealed, 4 * keys) == 4 * expected
    assert sealed._stored_keys.count > 0
    assert sealed.stats().key_cache_hits == sealed.stats().keys == 4 * len(keys)


@pytest.mark.parametrize("room", [64, 256, 1000])
def test_keys_that_are_looked_up_in_turn_with_others(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """A look-up ends in the middle of a block of keys that are walked, or where others begin, or tables must grow."""
    monkeypatch.setattr("compiler.machine.walker.ROWS", room)
    monkeypatch.setattr(exact_keys, "ROWS", room)
    nfa, expected = large()
    for capacity in (0, 3000, 20_000, 4 << 20):
        machine = LazyDfa(nfa, b".", capacity, policy=Policy(exact=True), key_cache="auto")
        assert answers(machine, LARGE_KEYS) == expected
        found = sum(key in SPELLED for key in LARGE_KEYS)
        assert found_keys(machine) == machine.stats().key_cache_hits == found > 4000
        sealed = machine.seal()
        assert sealed is None or answers(sealed, LARGE_KEYS) == expected


def test_recurring_keys_of_a_divided_set_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are found, too: what is stored is all that matches them. Then others come, and these again."""
    monkeypatch.setattr("compiler.machine.key_store.ROWS", 1500)
    nfa, known = large()
    machine = LazyDfa(nfa, b".", 4 << 20, key_cache="auto", policy=Policy(exact=True, key_store=True))
    for seed in (1, 2, 1):
        numbers = np.random.default_rng(seed).integers(0, 20_000, 3000).tolist() * 4
        keys, expected = [LARGE_KEYS[i] for i in numbers], [known[i] for i in numbers]
        assert answers(machine, keys) == expected
        hits, found = machine.stats().key_cache_hits, found_keys(machine)
        assert answers(machine, keys) == expected
        # The last keys of a column may be too few to be stored.
        assert machine.stats().key_cache_hits - hits >= len(keys) - keys.count(None) - 1024
        assert found_keys(machine) - found < 1024
        store = machine._walkers[0]._key_store
        assert store._stored.count > 2000
        assert machine.stats().bytes <= 4 << 20
    assert machine._walkers[0]._key_store._stored.count > 4000


@pytest.mark.parametrize("simulate", [None, False])
def test_found_keys_are_right_where_their_sets_find_no_room(simulate: bool | None) -> None:
    """Sets of found keys become the cache's, so that the keys can be stored. Where it is full it is cleared, and they begin again."""
    nfa, expected = large()
    for capacity in (1 << 20, (1 << 20) + 70_000, (1 << 20) + 200_000):
        machine = LazyDfa(
            nfa,
            b".",
            capacity,
            key_cache="auto",
            policy=Policy(exact=True, key_store=True, simulate=simulate, close=False),
        )
        walker = machine._walkers[0]
        walker._key_store._limit = (1 << 20) - 1
        for first in (0, 7000, 0):
            keys = LARGE_KEYS[first:] + LARGE_KEYS[:first]
            assert answers(machine, keys) == expected[first:] + expected[:first]
            assert machine.stats().bytes <= capacity


def test_sets_of_keys_that_are_not_stored_stay() -> None:
    """A column of few keys has sets of its own, which are not forgotten with those of the next column that the cache gets."""
    nfa, expected = large()
    for simulate in (None, False):
        policy = Policy(exact=True, key_store=True, simulate=simulate)
        machine = LazyDfa(nfa, b".", 4 << 20, key_cache="auto", policy=policy)
        for _ in range(2):
            columns = [
                column(LARGE_KEYS[first:stop]) for first, stop in ((0, 500), (500, 4000), (4000, 4300), (4300, 9000))
            ]
            assert told(machine.match_batch(columns)) == expected[:9000]
        assert machine._walkers[0]._key_store._stored.count > 5000


def test_found_sets_may_be_larger_than_all_that_the_automaton_has() -> None:
    """They become the cache's where keys are stored, so what is written on the way must have room for them."""
    nfa = build_nfa([[b"a"]] * (SHARED_FROM - 1) + [[b"b"]] * SHARED_FROM + [[b"c"], [ANY]])
    machine = LazyDfa(nfa, b".", 4 << 20, key_cache="auto", policy=Policy(exact=True, key_store=True, simulate=False))
    assert divided(machine)
    assert len(machine._walkers[0]._work.tags) >= SHARED_FROM
    keys: list[bytes | None] = [b"a", b"b", b"c", b"d"] * 1000
    for _ in range(3):
        assert answers(machine, keys) == expected_of(nfa, keys)
    assert machine._walkers[0]._key_store._stored.count == 4


def test_one_key_that_comes_often_takes_little() -> None:
    """Its set is written once for each time, which is bounded as sets are small."""
    nfa = build_nfa([[b"a", b"b"]] * 3 + [[b"a", b"%d" % i] for i in range(30)] + [[b"a", ANY]] * (SHARED_FROM - 3))
    machine = LazyDfa(nfa, b".", 1 << 20, policy=Policy(exact=True))
    assert divided(machine)
    keys: list[bytes | None] = [b"a.b"] * 100_000
    found = machine.match_batch([column(keys)])
    assert found_keys(machine) == 100_000
    assert found.set_ids.min() >= 0
    assert len(found.positions) <= 100_000 * SHARED_FROM
    sizes = np.diff(found.offsets)[found.set_ids]
    assert (sizes == SHARED_FROM).all()
    right = [0, 1, 2, *range(33, 30 + SHARED_FROM)]
    assert found.positions[: SHARED_FROM * 100_000].reshape(-1, SHARED_FROM).tolist() == 100_000 * [right]
