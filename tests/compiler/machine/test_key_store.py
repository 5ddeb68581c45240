"""Keys stored by the hundred thousand: the same answers, the bound kept, and the choice made by what the stream does."""

from __future__ import annotations

import random
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Token, Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.kernels.store_tables import STORED, STORED_BYTES, STORED_NUMBERS, Store
from compiler.machine.columns import whole
from compiler.machine.key_sample import KeySample
from compiler.machine.key_store import KeyStore
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.simulator import Simulator
from compiler.machine.store_costs import Stretch
from compiler.machine.store_policy import EARLIEST, PAUSE, TRIAL, StorePolicy
from compiler.machine.stored_keys import StoredKeys
from compiler.prepare import jit_enabled
from tests.borders import LENGTHS, between
from tests.compiler.machines import PATTERNS, answers, assert_keys_are_forgotten, column

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled machines")

ALWAYS, WALKED = Policy(key_store=True), Policy(key_store=True, simulate=False)
KEYS = st.lists(
    st.sampled_from(
        [
            b"", b".", b"a", b"a.b", b"b.c", b"c.a.b", b"a.\0", b"a.\0\0", b"a." + b"y" * STORED_BYTES, None,
            *(byte * length for byte in (b"a", b".") for length in between(LENGTHS, 7, 100)),
        ]
    ),
    max_size=200,
)  # fmt: skip


def store_of(machine: LazyDfa) -> KeyStore:
    return machine._walkers[0]._key_store


@pytest.mark.usefixtures("small")
def test_the_store_changes_no_answer() -> None:
    hits = 0

    @given(PATTERNS, KEYS, st.sampled_from([9000, 12_000, 30_000, 1 << 20]), st.sampled_from([ALWAYS, WALKED]))
    @settings(max_examples=100, deadline=None)
    def same(patterns: list[list[Token]], keys: list[bytes | None], capacity: int, policy: Policy) -> None:
        nonlocal hits
        nfa, keys = build_nfa(patterns), 3 * keys
        expected = answers(Twin(nfa, b".", 1 << 20), keys)
        machine = LazyDfa(nfa, b".", capacity, key_cache="auto", policy=policy)
        assert answers(machine, keys) == expected
        assert answers(machine, keys[::-1]) == expected[::-1]
        assert answers(machine, keys) == expected
        assert machine.stats().bytes <= capacity
        assert machine.stats().keys == 3 * len(keys)
        hits += machine.stats().key_cache_hits

    same()
    assert hits > 300  # or it would show little; examples are drawn anew


@pytest.mark.usefixtures("small")
def test_a_full_cache_forgets_the_keys_too() -> None:
    assert_keys_are_forgotten("auto", replace(ALWAYS, close=False))


def numbered(count: int, *, seed: int = 0, most: int | None = None) -> list[bytes | None]:
    """Return keys of five words by number: all different, or drawn from the first ``most``."""
    rng = np.random.default_rng(seed)
    numbers = np.arange(count) if most is None else rng.integers(0, most, count)
    mixed = (numbers * 0x9E3779B1 + 12345) % 2**32
    words = (mixed // 4_000_000, mixed // 4000 % 1000, mixed % 1000, numbers % 997)
    return [b"%d.%d.%d.%d.words" % row for row in zip(*(each.tolist() for each in words), strict=True)]


CHOOSE = random.Random(3)


def two_words() -> list[Token]:
    return [b"%d" % CHOOSE.randrange(1000), b"%d" % CHOOSE.randrange(1000)]


WORDS: list[list[Token]] = [
    *([Wildcard.ONE, *two_words(), Wildcard.MANY] for _ in range(5000)),
    [Wildcard.MANY, b"words"],
]
"""Patterns whose automaton is too large for rows, and reads keys to their ends."""
DEEP = build_nfa([[Wildcard.MANY, b"%d" % i, Wildcard.ONE, Wildcard.ONE, Wildcard.ONE] for i in range(1000)])
"""Needs many states: which of the last three words are numbers makes a difference."""


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What a store has taken whenever it had grown, or tried to."""
    found = []
    grow = StoredKeys._grow

    def watched(self: StoredKeys, tables: Store, room: int) -> None:
        before = self.nbytes
        grow(self, tables, room)
        assert self.nbytes - before <= room
        found.append(self.nbytes)

    monkeypatch.setattr(StoredKeys, "_grow", watched)
    return found


def test_keys_that_recur_are_stored() -> None:
    machine = LazyDfa(build_nfa(WORDS), b".", 64 << 20, key_cache="auto")
    keys = numbered(300_000, most=60_000)
    for _ in range(3):
        answers(machine, keys)
    assert store_of(machine).policy.active
    assert machine.stats().key_cache_hits > 400_000
    assert answers(machine, keys[:5000]) == answers(LazyDfa(build_nfa(WORDS), b".", 1 << 20), keys[:5000])


@pytest.mark.parametrize("size", [8, 200])  # the index is full first, and the records
def test_a_full_store_keeps_what_it_has(sizes: list[int], size: int) -> None:
    machine = LazyDfa(build_nfa(WORDS), b".", 4 << 20, key_cache="auto", policy=ALWAYS)
    keys = [(key or b"").ljust(size, b"x")[:size] for key in numbered(100_000, seed=1, most=1 << 24)]
    for first in range(0, len(keys), 10_000):
        answers(machine, keys[first : first + 10_000])
        assert machine.stats().bytes <= 4 << 20
    assert 1 << 20 < max(sizes) <= 2 << 20
    assert len(sizes) < 20
    hits = machine.stats().key_cache_hits
    answers(machine, keys[:5000])
    assert machine.stats().key_cache_hits > hits + 4900


def test_a_store_that_grows_twice_at_once_keeps_its_bound() -> None:
    """Many keys come in one batch: what the first growth took is no room for the second."""
    machine = LazyDfa(build_nfa(WORDS), b".", 8 << 20, key_cache="auto", policy=ALWAYS)
    answers(machine, numbered(2000))
    store, keys = store_of(machine), numbered(14_000, seed=2, most=1 << 24)
    most, room = store.nbytes, 200_000
    asked = whole(column(keys))
    lost, _ = store.look_up(asked, 0, len(keys), 0, np.empty(len(keys), np.int32))
    assert len(lost) > 10_000
    store.keep(asked, np.zeros(len(lost), np.int32), 0, room)
    assert most < store.nbytes <= most + room


def test_a_store_leaves_the_automaton_its_room(sizes: list[int]) -> None:
    """Where little is left, the store is full early, and begins in no less than it needs at first."""
    nfa = build_nfa(WORDS)
    keys = numbered(50_000, most=20_000)
    for left in (0, 1 << 17, 1 << 19):
        machine = LazyDfa(nfa, b".", 4 << 20, key_cache="auto", policy=ALWAYS)
        walker = machine._walkers[0]
        walker._capacity = walker._used_bytes + left
        answers(machine, keys)
        assert machine.stats().bytes <= walker._capacity
        assert bool(sizes) is (left == 1 << 19)


def test_keys_that_do_not_recur_are_sampled_and_not_stored() -> None:
    machine = LazyDfa(build_nfa(WORDS), b".", 64 << 20, key_cache="auto")
    with patch.object(StorePolicy, "begin") as begin:
        answers(machine, numbered(300_000))
    begin.assert_not_called()
    store = store_of(machine)
    assert store.nbytes == 0
    assert store.sample.decides
    assert store.sample.different > 250_000


def test_keys_that_do_not_recur_cost_a_trial_now_and_then_where_nothing_is_sampled() -> None:
    machine = LazyDfa(build_nfa(WORDS), b".", 64 << 20, key_cache="auto")
    store = store_of(machine)
    store.sample = KeySample()
    answers(machine, numbered(300_000))
    assert store.nbytes == 0
    assert not store.policy.active
    assert PAUSE - 2 * 300_000 < store.policy.left < PAUSE  # keys of over 16 bytes count for more


def test_each_trial_that_is_lost_doubles_the_pause() -> None:
    store = KeyStore(64 << 20, wanted=None)

    def stretch(hits: int) -> None:
        if not store.policy.active:
            store.policy.begin(Stretch(EARLIEST, 0, 5 * EARLIEST, 30 * EARLIEST), word=9.0)
        store.policy.left = 1
        store.judge(Stretch(TRIAL, hits, 5 * TRIAL, 30 * TRIAL), word=9.0, room=1 << 24)

    pauses = []
    for turn in range(7):
        stretch(TRIAL if turn == 5 else 0)
        if turn == 5:  # it pays, and is lost later
            stretch(TRIAL)
            assert store.policy.active
        while store.policy.active:  # one that paid is tried anew before it is lost
            stretch(0)
        pauses.append(store.policy.left // PAUSE)
    assert pauses == [1, 2, 4, 8, 8, 1, 2]


def test_keys_that_do_not_fit_are_not_stored() -> None:
    """Half a million keys recur, and the store may take 4 MiB: a hundred thousand of them."""
    machine = LazyDfa(build_nfa(WORDS), b".", 8 << 20, key_cache="auto")
    answers(machine, numbered(200_000, most=500_000))
    assert store_of(machine).nbytes == 0
    assert machine.stats().clears == 0


@pytest.mark.parametrize(
    ("capacity", "most"), [((1 << 20) - 1, 0), (1 << 20, 1 << 19), (64 << 20, 32 << 20), (1 << 40, 1 << 30)]
)
def test_the_store_takes_a_share_of_the_capacity(capacity: int, most: int) -> None:
    assert KeyStore(capacity, wanted=None)._limit == most


@pytest.mark.parametrize("options", [{"key_cache": "off"}, {"key_cache": "on"}, {"policy": Policy(key_store=False)}])
def test_nothing_is_stored_where_that_is_fixed(options: dict[str, object]) -> None:
    machine = LazyDfa(build_nfa(WORDS), b".", 64 << 20, **{"key_cache": "auto", **options})  # type: ignore[arg-type]
    answers(machine, numbered(100_000, most=20_000))
    assert store_of(machine).nbytes == 0


def test_a_small_column_is_not_looked_up() -> None:
    machine = LazyDfa(build_nfa(WORDS), b".", 64 << 20, key_cache="auto", policy=ALWAYS)
    answers(machine, numbered(1023))
    assert store_of(machine).nbytes == 0
    answers(machine, numbered(1100))
    assert store_of(machine).nbytes > 0


def test_an_automaton_that_grows_gets_the_room_of_the_store() -> None:
    """The keys are stored first, and then others need more states than there is room for beside them."""
    machine = LazyDfa(
        DEEP,
        b".",
        4 << 20,
        key_cache="auto",
        policy=Policy(doorkeeper=False, simulate=False, key_store=True, close=False),
    )
    answers(machine, [b"x%d.y" % i for i in range(25_000)])
    full = store_of(machine).nbytes
    assert full > 1 << 20
    others = numbered(40_000)
    for first in range(0, len(others), 1000):
        some = others[first : first + 1000]  # too few to be stored
        assert answers(machine, some) == answers(LazyDfa(DEEP, b".", 64 << 20), some)
        assert machine.stats().bytes <= 4 << 20
        if not store_of(machine).nbytes:
            break
    assert store_of(machine).nbytes == 0
    assert machine.stats().clears == 0
    assert machine.stats().bytes + full > 0.9 * (4 << 20)  # a table that grows is there twice for a moment


def test_a_store_that_is_asked_has_a_full_cache_closed() -> None:
    """As it knows nearly all keys, the cache need not have its room."""
    machine = LazyDfa(DEEP, b".", 4 << 20, key_cache="auto", policy=Policy(doorkeeper=False, simulate=False))
    known = numbered(400_000, most=8000)
    answers(machine, known)
    some = numbered(1_000_000)[-900:]  # too few to be looked up
    before = machine.stats()
    assert answers(machine, some) == answers(LazyDfa(DEEP, b".", 64 << 20), some)
    assert machine.stats().fallbacks > before.fallbacks
    assert machine.stats().bytes <= 4 << 20
    answers(machine, known)
    assert machine.stats().key_cache_hits - before.key_cache_hits > 0.8 * len(known)
    assert machine.stats().clears == before.clears


def test_a_cache_that_was_closed_for_the_store_is_opened_when_that_goes() -> None:
    machine = LazyDfa(DEEP, b".", 4 << 20, key_cache="auto", policy=Policy(doorkeeper=False, simulate=False))
    known = numbered(400_000, most=8000)
    answers(machine, known)
    assert machine.stats().closed == 1

    def lost(self: StorePolicy, *_: object, **__: object) -> None:
        self.active = False

    with patch.object(StorePolicy, "judge", lost), patch.object(KeySample, "begin"):
        answers(machine, known[:40_000])
    assert machine.stats().closed == store_of(machine).nbytes == 0
    some = known[:10_000]
    assert answers(machine, some) == answers(LazyDfa(DEEP, b".", 64 << 20), some)
    assert machine.stats().bytes <= 4 << 20


@pytest.mark.parametrize("rests", [False, True])
def test_all_keys_are_walked_when_the_store_goes_though_those_it_lacked_were_simulated(rests: bool) -> None:
    machine = LazyDfa(DEEP, b".", 4 << 20, key_cache="auto", policy=Policy(doorkeeper=False))
    known = numbered(400_000, most=8000)
    answers(machine, known)
    pace = machine._walkers[0]._pace
    pace.pause = 1 << 40
    answers(machine, known[:20_000])
    assert store_of(machine).policy.active

    def lost(self: KeyStore, *_: object, **__: object) -> bool:
        self.policy.active = False
        return rests

    with patch.object(KeyStore, "rests" if rests else "judge", lost), patch.object(KeySample, "begin"):
        answers(machine, known[:100_000])
    assert pace.pause < 1 << 39


def test_keys_that_are_simulated_are_stored() -> None:
    """Patterns that need many states: nothing is built for them in time, and keys that come again need none."""
    rng = random.Random(4)
    nfa = build_nfa(
        [[Wildcard.MANY, b"a", *[Wildcard.ONE] * (8 + i % 5), b"%d" % i, Wildcard.MANY] for i in range(400)]
    )
    distinct = [b".".join(rng.choice([b"a", b"b", b"7"]) for _ in range(30)) for _ in range(3000)]
    keys = [rng.choice([*distinct, None]) for _ in range(40_000)]
    expected = dict(zip(distinct, answers(Simulator(nfa, b"."), distinct), strict=True))
    machine = LazyDfa(nfa, b".", 8 << 20, key_cache="auto")
    machine._walkers[0]._pace.pause = 1 << 40
    for _ in range(2):
        assert answers(machine, keys) == [None if key is None else expected[key] for key in keys]
    before = machine.stats()
    answers(machine, keys)
    assert machine.stats().fallbacks - before.fallbacks < 0.1 * len(keys)


def test_a_store_that_is_broken_off_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    nfa = build_nfa(WORDS)
    machine = LazyDfa(nfa, b".", 64 << 20, key_cache="auto", policy=ALWAYS)
    keys = numbered(30_000, most=3000)
    answers(machine, keys)

    def broken(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(KeyStore, "keep", broken)
        with pytest.raises(KeyboardInterrupt):
            answers(machine, numbered(30_000, seed=1, most=9000))
    assert answers(machine, keys) == answers(LazyDfa(nfa, b".", 1 << 20), keys)


def test_few_long_keys_stay_in_the_store() -> None:
    """They are too long for the key cache."""
    machine = LazyDfa(build_nfa(WORDS), b".", 4 << 20, key_cache="auto")
    keys = [(key or b"") + b"-of-a-key-that-is-longer-than-a-line-of-the-cache" for key in numbered(60_000, most=800)]
    for _ in range(4):
        answers(machine, keys)
    before = machine.stats()
    answers(machine, keys)
    after = machine.stats()
    assert after.key_cache_hits - before.key_cache_hits > 0.97 * len(keys)  # the last few are too few to be looked up


def test_counts_of_the_tables_are_those_of_the_keys() -> None:
    machine = LazyDfa(build_nfa(WORDS), b".", 64 << 20, key_cache="auto", policy=ALWAYS)
    answers(machine, [*numbered(2000), *numbered(2000), b"x" * (STORED_BYTES + 1), None])
    store = store_of(machine)._stored._tables
    assert store is not None
    assert store.counts[STORED] == 2000
    assert store.counts[STORED_NUMBERS] == 1 + sum(1 + (len(key or b"") + 7) // 8 for key in numbered(2000))
    assert np.count_nonzero(store.slots) == 2000
    assert machine.stats().key_cache_hits == 0  # as all were looked up before the first was stored
    answers(machine, [*[None] * 50, *numbered(2000)])
    assert machine.stats().key_cache_hits > 1900  # the last of a column lie elsewhere, and are too few to be looked up
    assert machine.stats().key_cache_hits <= 2000
