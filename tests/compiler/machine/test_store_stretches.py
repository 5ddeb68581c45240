"""How far keys are looked up in the key store at once: to where something is judged, to a column's end, or until other keys have come."""

from __future__ import annotations

import weakref
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from compiler import Token, Wildcard, build_nfa
from compiler.kernels.store_tables import PER_KEYS, SURPRISING, Asked, scratch_bytes
from compiler.kernels.tables import Cache, Int64s, Keys
from compiler.machine.bounded_cache import BoundedCache
from compiler.machine.columns import whole
from compiler.machine.key_store import FEWEST, LEAST_LOST, MORE, MORE_FROM, ON_THEIR_WAY, ROWS, KeyStore
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.progress import Progress
from compiler.machine.simulator import Simulator
from compiler.machine.store_costs import EXPECTED, Stretch
from compiler.machine.store_policy import LONGEST, TRIAL, StorePolicy
from compiler.machine.stored_keys import StoredKeys, first_bytes
from compiler.machine.walker import Walker
from compiler.prepare import jit_enabled
from compiler.values import Int32s
from tests.compiler.machines import answers, column

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled machines")

WALK = Walker._walk
PATTERNS: list[list[Token]] = [[b"w%d" % i, Wildcard.ONE, Wildcard.MANY, b"end"] for i in range(300)]
NFA = build_nfa(PATTERNS)
BEHIND = b".a-rather-long-word" * 5 + b".end"


def keys_of(numbers: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[bytes | None]:
    return [b"w%d.k%d%s" % (number % 300, number, BEHIND) for number in numbers.tolist()]


RECURRING = keys_of(np.random.default_rng(1).integers(0, 2000, 200_000))


def paying() -> tuple[LazyDfa, KeyStore]:
    """Return a machine whose store has 2,000 keys and pays, and the store."""
    machine = LazyDfa(NFA, b".", 64 << 20, key_cache="auto", policy=Policy(simulate=False))
    machine.match_batch([column(RECURRING)])
    store = machine._walkers[0]._key_store
    assert store.policy.active
    assert store.policy.paid
    assert store._stored.count == 2000
    return machine, store


def test_keys_that_do_not_recur_are_given_up_soon() -> None:
    machine, store = paying()
    others = keys_of(np.arange(10_000, 110_000))
    hits, words = machine.stats().key_cache_hits, machine.stats().words
    kept: list[int] = []

    def keep(asked: Asked, keys: Keys, ids: Int32s, base: int, room: int) -> None:
        kept.append(len(ids))
        StoredKeys.keep(store._stored, asked, keys, ids, base, room)

    with patch.object(store._stored, "keep", keep):
        found = machine.match_batch([column(others)])
    assert answers(machine, others[:3000]) == answers(Simulator(NFA, b"."), others[:3000])
    assert len(found.set_ids) == len(others)
    assert not store.policy.active
    assert kept[0] < SURPRISING + 0.1 * LONGEST  # and not the whole stretch
    assert machine.stats().key_cache_hits == hits
    assert machine.stats().words > words


def test_answers_are_right_where_looking_up_stops_in_the_middle() -> None:
    machine, _ = paying()
    rng = np.random.default_rng(2)
    mixed = keys_of(np.where(rng.random(60_000) < 0.5, rng.integers(0, 2000, 60_000), rng.integers(0, 1 << 40, 60_000)))
    mixed[5::1000] = [None] * len(mixed[5::1000])
    assert answers(machine, mixed) == answers(Simulator(NFA, b"."), mixed)
    assert machine.stats().keys == 260_000


def test_so_they_are_in_front_of_sealed_tables() -> None:
    machine = LazyDfa(NFA, b".", 64 << 20, key_cache="auto", policy=Policy(simulate=False))
    with machine.learning():
        machine.match_batch([column(RECURRING)])
    sealed = machine.seal()
    assert sealed is not None
    sealed.match_batch([column(RECURRING)])
    store = sealed._walkers[0]._sealed_store  # type: ignore[attr-defined]
    assert store.policy.paid
    others = keys_of(np.arange(10_000, 60_000))
    stops: list[int] = []

    def look_up(*arguments: Any) -> tuple[Int64s, int]:
        rows, stop = KeyStore.look_up(store, *arguments)
        stops.append(stop)
        return rows, stop

    with patch.object(store, "look_up", look_up):
        assert answers(sealed, others) == answers(Simulator(NFA, b"."), others)
    assert stops[0] < LONGEST // 2
    assert sealed.stats().keys == 250_000


@pytest.mark.parametrize("many", [1000, 3000, 20_000])
def test_a_look_up_stops_when_so_many_are_not_known(many: int) -> None:
    _, store = paying()
    known, unknown = (keys_of(numbers) for numbers in (np.arange(2000), np.arange(5000, 5000 + 16_000)))
    keys = whole(column([*known[:many], *unknown]))
    out = np.empty(len(keys.offsets) - 1, np.int32)
    store.policy.left = LONGEST
    rows, stop = store.look_up(keys, 0, 16_000, 0, out)
    most = SURPRISING + store.policy.expected * stop // PER_KEYS
    assert SURPRISING <= most < 2 * SURPRISING
    assert most - 64 < len(rows) < most + 64
    assert stop == min(many, 2000) + len(rows)
    assert store.policy.left <= stop, "so it is judged at once"
    assert rows.tolist() == list(range(min(many, 2000), stop))


def test_more_unknown_keys_are_expected_where_more_were_unknown() -> None:
    policy = StorePolicy()
    policy.begin(Stretch(keys=1024, words=20_480, size=102_400), word=9.0)
    assert policy.expected >= PER_KEYS, "when a trial begins, keys are got to know"
    policy.judge(Stretch(4096, 3072, 20_480, 409_600), stored=1000, word=9.0, room=1 << 24)
    assert policy.paid
    assert policy.expected == EXPECTED * PER_KEYS // 4


@pytest.mark.parametrize(("capacity", "rows"), [(4 << 20, ROWS), (2 * MORE_FROM, MORE * ROWS)])
def test_large_stores_are_asked_for_more_keys_at_once(capacity: int, rows: int) -> None:
    store = KeyStore(capacity, wanted=None)
    store.policy.left = 1 << 20
    assert store.end_of_stretch(5, 1 << 20) == 5 + rows


def test_a_small_store_begins_in_little_room() -> None:
    """An automaton that takes most of a small cache leaves room for the keys that recur, and it is known beforehand whether it does."""
    least = first_bytes() + scratch_bytes(LEAST_LOST + ON_THEIR_WAY)
    assert least < 1 << 17
    for room in (least, 1 << 18):
        store = KeyStore(1 << 20, wanted=None)
        assert not store.lacks_room(room)
        assert store.room_within(room) == room
        assert store.ready(room)
    assert KeyStore(1 << 20, wanted=None).room_within(1 << 30) == 1 << 19
    store = KeyStore(1 << 20, wanted=None)
    assert store.lacks_room(least - 1)
    assert store.room_within(least - 1) == 0
    assert not store.ready(least - 1)


def test_no_more_keys_are_unknown_at_once_than_there_is_scratch_space_for() -> None:
    store = KeyStore(1 << 20, wanted=True)
    assert store.ready(1 << 20)
    keys, left = whole(column(keys_of(np.arange(9000)))), store.policy.left
    rows, stop = store.look_up(keys, 0, 9000, 0, np.empty(9000, np.int32))
    assert LEAST_LOST <= len(rows) <= store._lost < 9000
    assert rows.tolist() == list(range(stop))
    assert store.policy.left == left, "which says nothing of the keys"


def test_few_keys_at_the_end_of_a_column_are_looked_up_with_those_before() -> None:
    store = KeyStore(4 << 20, wanted=None)
    store.policy.left = TRIAL
    for more in (1, FEWEST - 1):
        assert store.end_of_stretch(7, 7 + TRIAL + more) == 7 + TRIAL + more
    assert store.end_of_stretch(7, 7 + TRIAL + FEWEST) == 7 + TRIAL
    store.policy.left = 1 << 20
    assert store.end_of_stretch(7, 7 + ROWS + 1) == 7 + ROWS, "there is no room for more"
    machine, store = paying()
    stored = machine._walkers[0]._key_store.policy.left
    words = machine.stats().words
    machine.match_batch([column(keys_of(np.random.default_rng(3).integers(0, 2000, stored + FEWEST - 1)))])
    assert machine.stats().words - words < 50, "none is walked but those that the last of the column's bytes belong to"


def test_tables_that_were_outgrown_are_not_held_while_unknown_keys_are_walked() -> None:
    """Else old and new ones would stand side by side until the look-up ends, and the bound counts only the new ones."""
    machine = LazyDfa(NFA, b".", 64 << 20, key_cache="auto", policy=Policy(key_store=True, simulate=False))
    outgrown: list[weakref.ref[Any]] = []

    def grow(walker: Walker, cache: Cache, table: int) -> bool:
        before = tuple(weakref.ref(array) for array in cache if isinstance(array, np.ndarray))
        done = BoundedCache._grow(walker, cache, table)
        outgrown.extend(before)
        return done

    def walk(walker: Walker, column: Progress, cache: Cache) -> int:
        present = {id(array) for array in cache if isinstance(array, np.ndarray)}
        held = [array for ref in outgrown if (array := ref()) is not None and id(array) not in present]
        assert not held, [(array.dtype, len(array)) for array in held]
        return WALK(walker, column, cache)

    with patch.object(Walker, "_grow", grow), patch.object(Walker, "_walk", walk):
        machine.match_batch([column(keys_of(np.arange(20_000)))])
    assert len(outgrown) > 20
    assert machine._walkers[0]._key_store._stored.count > 10_000


def test_keys_that_are_found_whole_are_counted_once() -> None:
    """A store that begins, or is given up, in the middle of the rows that were looked up for exact keys answers some of these itself."""
    patterns: list[list[Token]] = [[b"a", b"%d" % i] for i in range(3000)]
    nfa, rng = build_nfa([*patterns, [b"b", Wildcard.ONE]]), np.random.default_rng(7)
    numbers = rng.integers(0, 3000, 60_000).tolist()
    keys: list[bytes | None] = [b"%s.%d" % (b"ab"[i % 10 == 0 :][:1], number) for i, number in enumerate(numbers)]
    machine = LazyDfa(nfa, b".", 64 << 20, key_cache="auto", policy=Policy(exact=True))
    store, begun = machine._walkers[0]._key_store, 0
    expected = answers(Simulator(nfa, b"."), keys)
    for _ in range(4):
        active = store.policy.active
        assert answers(machine, keys) == expected
        begun += store.policy.active and not active
        stats = machine.stats()
        assert 0 <= stats.key_cache_hits <= stats.keys
        assert 0 <= stats.fallbacks <= stats.keys
    assert begun
