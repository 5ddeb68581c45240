"""Stored keys beside the key cache: which of the two is asked, and which of them has the room."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from compiler import Token, Wildcard, build_nfa
from compiler.kernels.store_tables import scratch_bytes
from compiler.machine import key_store, stored_keys
from compiler.machine.key_cache import table_bytes
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import AUTO, Policy
from compiler.machine.rest import FEW, SAMPLE
from compiler.machine.sealed_walker import SealedWalker
from compiler.machine.simulator import Simulator
from compiler.machine.store_costs import Stretch
from compiler.machine.store_policy import EARLIEST, KEY_BYTES, REST, StorePolicy
from compiler.machine.stored_keys import first_bytes
from compiler.prepare import jit_enabled
from tests.compiler.machines import answers

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled machines")

PATTERNS: list[list[Token]] = [[b"w%d" % (i % 900), Wildcard.ONE, b"x%d" % i, Wildcard.MANY] for i in range(4000)]
NFA = build_nfa(PATTERNS)
COUNT = 100_000


def keys_of(different: int, *, seed: int, first: int = 0, tail: str = "abc") -> list[bytes | None]:
    numbers = first + np.random.default_rng(seed).integers(0, different, COUNT)
    return [b"w%d.m.x%d.%s" % (i % 900, i % 5000, tail.encode()) for i in numbers.tolist()]


MANY, SOME = keys_of(30_000, seed=1, tail="some.longer"), keys_of(FEW // 2, seed=2)
"""Keys that are different by the ten thousand, and keys of which some hundred recur."""


def automatic(capacity: int = 64 << 20) -> LazyDfa:
    return LazyDfa(NFA, b".", capacity, key_cache="auto", policy=Policy(row_bytes=0))


def test_few_keys_are_left_to_the_key_cache_and_many_are_looked_up_in_the_store_again() -> None:
    machine = automatic()
    (walker,) = machine._walkers
    many, some = answers(Simulator(NFA, b"."), MANY), answers(Simulator(NFA, b"."), SOME)
    for _ in range(4):
        assert answers(machine, MANY) == many
    store, table = walker._key_store, walker._key_cache
    assert store.policy.paid
    assert not table.policy.wanted
    hits = machine.stats().key_cache_hits
    assert answers(machine, SOME) == some
    assert machine.stats().key_cache_hits - hits > 0.75 * COUNT, "the key cache is asked at once"
    assert store.policy.left < REST - 0.3 * COUNT, "the key cache has won since it was asked first"
    assert (store.policy.resting, store.policy.active, table.policy.wanted) == (True, False, True)
    stored, hits, words = store._stored.count, machine.stats().key_cache_hits, machine.stats().words
    assert answers(machine, SOME) == some
    assert machine.stats().key_cache_hits - hits > 0.95 * COUNT
    assert 0 < machine.stats().words - words < 0.2 * COUNT, "none would be walked if the store were asked"
    assert store._stored.count == stored > 5000, "those of before are still there"
    assert COUNT < REST
    assert answers(machine, MANY) == many
    assert (store.policy.resting, store.policy.active, table.policy.wanted) == (False, True, False)
    assert machine.stats().bytes <= machine.stats().capacity


def test_few_keys_are_not_stored_at_all() -> None:
    machine = automatic()
    keys = keys_of(FEW // 2, seed=2, tail="so.long.that.the.store.looks.cheaper")
    for _ in range(3):
        answers(machine, keys)
    (walker,) = machine._walkers
    assert walker._key_store.policy.resting
    assert walker._key_store._asked is None, "not even a trial was made"
    assert machine.stats().key_cache_hits > 0.97 * 3 * COUNT


def test_few_keys_are_stored_where_most_eights_of_them_have_a_long_one() -> None:
    short, long = (keys_of(200, seed=4, tail=tail) for tail in ("abc", "a.word.and.another.word.and.a.third.word"))
    mixed = [long[i] if i % 8 == 3 else short[i] for i in range(COUNT)]
    assert np.mean([len(key or b"") for key in mixed]) < 20
    for keys, rests in ((short, True), (mixed, False)):
        machine = automatic()
        for _ in range(3):
            answers(machine, keys)
        policy = machine._walkers[0]._key_store.policy
        assert policy.resting == rests


def test_keys_that_are_not_few_are_stored_though_the_key_cache_knows_them() -> None:
    keys = keys_of(3 * SAMPLE, seed=3, tail="word.word.word")
    machine = automatic()
    for _ in range(3):
        answers(machine, keys)
    assert machine._walkers[0]._key_store.policy.active


@pytest.mark.parametrize("sealed", [False, True])
def test_other_keys_are_noticed_at_once_where_no_trial_had_begun_for_long(*, sealed: bool) -> None:
    """The key cache knows the keys, which are not few: the store does not rest, and is thought about less and less often."""
    short, expected = keys_of(3 * FEW, seed=6, tail="a"), answers(Simulator(NFA, b"."), MANY)
    machine: LazyDfa | None = automatic()
    assert machine is not None
    if sealed:
        answers(machine, short + MANY)
        machine = machine.seal()
        assert machine is not None
    (walker,) = machine._walkers
    store = walker._sealed_store if isinstance(walker, SealedWalker) else walker._key_store
    in_time = COUNT * 24 // KEY_BYTES
    for passes in range(30):
        if passes >= 12 and store.policy.left > in_time:  # it has just been thought about
            break
        answers(machine, short)
    assert isinstance(walker, SealedWalker) == sealed
    assert (store.policy.resting, store.policy.active, store.policy.lost) == (False, False, False)
    assert store.policy.left > in_time, "else it would be thought about again in time"
    assert answers(machine, MANY) == expected
    assert store.policy.active or store.sample.active or store.policy.lost
    for _ in range(3):
        answers(machine, MANY)
    assert store.policy.active


def test_a_full_store_rests_where_the_key_cache_knows_all_others() -> None:
    """What is not stored comes again and again, and is copied each time; together with what is stored, the key cache has room for it."""
    nfa = build_nfa(
        [[b"a-long-word-%d" % (i % 900), *[Wildcard.ONE] * 3, b"a-longer-word-%d" % i] for i in range(4000)]
    )
    machine = LazyDfa(nfa, b".", 4 << 20, key_cache="auto", policy=Policy(row_bytes=0, simulate=False))
    (walker,) = machine._walkers
    rng = np.random.default_rng(9)

    def keys_from(first: int, different: int) -> list[bytes | None]:
        numbers = first + rng.integers(0, different, COUNT)
        return [b"a-long-word-%d.m.long-tail.n.a-longer-word-%d" % (i % 900, i) for i in numbers.tolist()]

    many = keys_from(0, 26_000)
    for _ in range(4):
        answers(machine, many)
    store, table = walker._key_store, walker._key_cache
    assert (store.policy.active, store.policy.paid, store._stored.full) == (True, True, True)
    old, new = many[:700], keys_from(50_000, 500)
    mixed = [new[i] if i % 5 == 0 else old[i % 700] for i in range(COUNT)]
    expected = answers(Simulator(nfa, b"."), mixed)
    stored = store._stored.count
    for _ in range(8):  # the key cache is tried again after a pause
        assert answers(machine, mixed) == expected
    assert (store.policy.resting, store.policy.active, table.policy.wanted) == (True, False, True)
    assert store._stored.count == stored, "those of before are still there"
    hits = machine.stats().key_cache_hits
    assert answers(machine, mixed) == expected
    assert machine.stats().key_cache_hits - hits > 0.95 * COUNT
    assert machine.stats().bytes <= machine.stats().capacity


def test_a_store_begins_where_the_key_cache_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a small bound there is room for one of the two. Of keys that are looked up whole first, the key cache never gets to know some."""
    lost = 1 << 14
    for module, name, value in (
        (key_store, "LEAST_LOST", lost),
        (stored_keys, "SLOTS", 1 << 13),
        (stored_keys, "NUMBERS", 1 << 14),
    ):
        monkeypatch.setattr(module, name, value)  # so that a store takes more than the key cache
    nfa = build_nfa([*([b"w%d" % i, b"a", b"b%d" % i] for i in range(12_000)), *PATTERNS])
    keys = [
        b"w%d.a.b%d" % (i, i) if i % 2 else key
        for i, key in zip(np.random.default_rng(5).integers(0, 900, COUNT).tolist(), SOME, strict=True)
    ]
    expected = answers(Simulator(nfa, b"."), keys)
    before = LazyDfa(nfa, b".", 1 << 20, key_cache="auto", policy=Policy(exact=True, row_bytes=0, key_store=False))
    answers(before, keys)
    (walker,) = before._walkers
    key_table = walker._key_cache.table.nbytes
    assert key_table == 1 << 18
    room = first_bytes() + scratch_bytes(lost)
    capacity = before.stats().bytes - key_table + room + (1 << 14)
    assert 1 << 14 < table_bytes(capacity) < room, "so the room of the key table is needed"
    with patch("compiler.machine.key_store.SMALLEST", 0), patch("compiler.machine.key_store.SHARE", 1):
        machine = LazyDfa(nfa, b".", capacity, key_cache="auto", policy=Policy(exact=True, row_bytes=0))
    (walker,) = machine._walkers
    assert answers(machine, keys[:1000]) == expected[:1000]
    cache, table = walker._cache, walker._key_cache.table
    assert cache is not None
    assert len(table)
    assert walker._room_to_store(cache) == walker._unused_bytes + table.nbytes, "the key cache would have to go"
    for _ in range(2):
        assert answers(machine, keys) == expected
        assert machine.stats().bytes <= capacity
    assert walker._key_store.policy.active
    assert walker._key_store._stored.count == len(set(keys))
    assert not len(walker._key_cache.table)


def test_a_rest_is_long_and_ends_when_the_key_cache_has_lost() -> None:
    policy = StorePolicy(left=0)
    policy.begin(Stretch(keys=1000, hits=990, words=30, size=20_000), word=9.0, cached=True, few=True)
    assert (policy.active, policy.left) == (False, REST)
    policy.begin(Stretch(keys=1000, hits=10, words=5000, size=20_000), word=9.0, cached=True)
    assert policy.active
    policy.rest(stored=77)
    assert (policy.active, policy.paid, policy.left) == (False, False, REST)
    assert REST > EARLIEST
    assert AUTO.key_store is None
