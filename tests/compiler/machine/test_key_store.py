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
from compiler.machine.store_policy import EARLIEST, NOTICED, PAUSE, REST, SHORTEST, TRIAL, StorePolicy
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
    assert machine.stats().key_cache_hits > 500_000
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


def test_a_store_whose_room_ends_goes_on_where_it_pays_without_storing_more() -> None:
    """It knows half of the keys, and of the others it has no room for a quarter: these are walked for good, but are stored only until then."""
    for room, active in ((1 << 24, False), (6000 * 40, True)):
        policy = judged(0.45, stored=6000, room=room)
        asked, keys = Stretch(TRIAL, TRIAL * 45 // 100, 3 * TRIAL, 30 * TRIAL), TRIAL
        policy.judge(replace(asked, keys=keys), stored=6500, word=9.0, room=room)
        assert policy.active is active


def test_a_store_whose_room_ends_is_given_up_where_it_does_not_pay() -> None:
    """It is tried anew once, and not again and again."""
    policy, room = judged(0.3, stored=6000, room=6000 * 40), 6000 * 40
    assert policy.active
    assert policy.paid
    asked = Stretch(TRIAL, TRIAL * 3 // 10, 3 * TRIAL, 30 * TRIAL)
    judgements = 0
    while policy.active:
        policy.judge(asked, stored=6100, word=9.0, room=room)
        judgements += 1
        assert judgements < 5
    assert judgements > 1


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


# --- The policy alone ------------------------------------------------------------------------------------------------------


def judged(
    share: float, *, stored: int, room: int = 1 << 24, full: bool = False, keys: int = TRIAL // 2
) -> StorePolicy:
    """Return a policy in whose second stretch this share of the keys was known."""
    policy = StorePolicy()
    policy.begin(Stretch(EARLIEST, 0, 5 * EARLIEST, 30 * EARLIEST), word=9.0)
    policy.judge(Stretch(keys, 0, 5 * keys, 30 * keys), stored=stored // 3, word=9.0, room=room)
    hits = int(share * keys)
    policy.judge(Stretch(keys, hits, 5 * (keys - hits), 30 * keys), stored=stored, word=9.0, room=room, full=full)
    return policy


def test_the_first_stretch_decides_nothing() -> None:
    policy = StorePolicy(active=True, left=TRIAL // 2)
    policy.judge(Stretch(TRIAL // 2, 0, 5 * TRIAL, 15 * TRIAL), stored=0, word=9.0, room=0)
    assert policy.active


@pytest.mark.parametrize(
    ("share", "stored", "room", "full", "active"),
    [
        (0.02, 6000, 1 << 24, False, True),  # 200,000 keys of 58 bytes
        (0.02, 6000, 10 << 20, False, False),
        (0.01, 6000, 1 << 24, False, False),
        (0.0, 6000, 1 << 40, False, False),
        (0.15, 6000, 1 << 24, True, False),  # it knows no more of them later
        (0.8, 6000, 0, True, True),  # but pays as it is
        (0.8, 6000, 0, False, True),
    ],
)
def test_a_trial_goes_on_where_the_keys_fit_or_it_pays(
    share: float, stored: int, room: int, full: bool, active: bool
) -> None:
    assert judged(share, stored=stored, room=room, full=full).active is active


def test_a_share_that_does_not_rise_ends_the_trial() -> None:
    policy = judged(0.2, stored=6000)
    asked = Stretch(2 * TRIAL, TRIAL // 2, 5 * TRIAL, 60 * TRIAL)  # a quarter
    policy.judge(asked, stored=12_000, word=9.0, room=1 << 24)
    assert policy.active
    policy.judge(asked, stored=24_000, word=9.0, room=1 << 24)
    assert not policy.active


@pytest.mark.parametrize(("words", "active"), [(2, False), (5, True)])
def test_a_trial_ends_where_so_many_keys_could_not_pay_if_all_were_known(words: int, active: bool) -> None:
    """There are 250,000 of them, far from the processor: two words are walked in 13 ns, and looked up in 15."""
    policy = StorePolicy()
    policy.begin(Stretch(EARLIEST, 0, words * EARLIEST, 20 * EARLIEST), word=2.5)
    assert policy.active
    for hits in (0, 100):
        policy.judge(Stretch(4096, hits, words * 4000, 81_920), stored=6000, word=2.5, room=1 << 26)
    assert policy.active is active


@pytest.mark.parametrize("full", [False, True])
def test_a_store_without_room_is_given_up_when_other_keys_come(full: bool) -> None:
    """What is not known is copied to be walked, and if it cannot be stored, it will be so again."""
    policy = judged(0.9, stored=6000)
    assert policy.paid
    asked = Stretch(TRIAL, 4 * TRIAL // 10, 3 * TRIAL, 30 * TRIAL)
    policy.judge(asked, stored=6000, word=9.0, room=0 if full else 1 << 24, full=full)
    assert policy.active is not full


def test_it_is_thought_about_less_often_where_a_trial_never_begins() -> None:
    policy, few = StorePolicy(), Stretch(1000, 1000, 0, 10_000)
    waits = []
    for _ in range(8):
        policy.begin(few, word=4.0, cached=True)
        assert not policy.active
        waits.append(policy.left)
    assert waits == sorted(waits)
    assert waits[0] == EARLIEST
    assert waits[-1] == waits[-2] == REST
    policy.heed(Stretch(NOTICED, NOTICED, 0, 10 * NOTICED), cached=True)
    assert policy.left == REST
    other = Stretch(NOTICED // 2, NOTICED // 4, NOTICED // 4, 4 * NOTICED)
    policy.heed(other, cached=True)
    assert policy.left == REST, "so few keys say nothing"
    policy.heed(other, cached=True)
    assert policy.left == 0
    policy.begin(other, word=1.0, cached=True)
    assert policy.left == EARLIEST
    for _ in range(2):
        policy.heed(other, cached=True)
    assert policy.left == EARLIEST, "it is thought about once"


@pytest.mark.parametrize("nulls", [0, 10])
def test_a_store_that_knows_all_keys_is_kept(nulls: int) -> None:
    """Nothing is walked any more, so nobody knows what walking would cost; null keys count as walked."""
    policy = judged(0.8, stored=6000)
    for _ in range(3):
        policy.judge(Stretch(TRIAL, TRIAL - nulls, 0, 30 * TRIAL), stored=6000, word=9.0, room=0)
        assert policy.active


def test_a_trial_goes_on_whose_keys_another_thread_has_stored() -> None:
    policy = StorePolicy()
    policy.begin(Stretch(EARLIEST, 0, 5 * EARLIEST, 30 * EARLIEST), word=9.0)
    for _ in range(3):
        policy.judge(Stretch(TRIAL, TRIAL, 0, 30 * TRIAL), stored=250_000, word=9.0, room=0)
        assert policy.active


@pytest.mark.parametrize(
    ("walked", "word", "left"),
    [
        (Stretch(EARLIEST, 0, 5 * EARLIEST, 30 * EARLIEST), 9.0, TRIAL // 2),
        (Stretch(EARLIEST, 0, EARLIEST, 8 * EARLIEST), 1.0, None),  # by rows it takes 6 ns, and looking up 8
        (Stretch(EARLIEST, 0, 5 * EARLIEST, 64 * EARLIEST), 9.0, TRIAL // 4),
        (Stretch(EARLIEST, 0, EARLIEST, 200 * EARLIEST), 4.0, SHORTEST // 2),  # long keys take long by any tables
        (
            Stretch(EARLIEST, EARLIEST // 2, 5 * EARLIEST, 30 * EARLIEST),
            9.0,
            TRIAL // 2,
        ),  # 10 words a key that is walked
    ],
)
def test_a_trial_begins_where_there_is_something_to_win(walked: Stretch, word: float, left: int | None) -> None:
    policy = StorePolicy()
    policy.begin(walked, word=word)
    assert policy.active is (left is not None)
    assert policy.left == (left or EARLIEST)


@pytest.mark.parametrize(("size", "active"), [(10, False), (50, True)])
def test_what_the_key_cache_takes_can_be_won_too(size: int, active: bool) -> None:
    """It knows nearly all keys, in 5 ns if they are short and in 15 if they are long."""
    policy = StorePolicy()
    policy.begin(Stretch(EARLIEST, EARLIEST - 999, 4995, size * EARLIEST), word=9.0, cached=True)
    assert policy.active is active


@pytest.mark.parametrize(("share", "active"), [(0.0, False), (0.04, True)])
def test_other_keys_are_tried_anew(share: float, active: bool) -> None:
    """A store that paid knows none of them: what it has of old is no sign of how many there are."""
    policy = judged(0.9, stored=6000)
    assert policy.left <= 1 << 15
    before = policy.left
    policy.judge(Stretch(before, 0, 5 * before, 30 * before), stored=6000 + before, word=9.0, room=1 << 24)
    assert (policy.active, policy.left) == (True, TRIAL // 2)
    stored, keys = 6000 + before, TRIAL // 2
    for hits in (0, int(share * keys)):
        stored += keys - hits
        policy.judge(Stretch(keys, hits, 5 * keys, 30 * keys), stored=stored, word=9.0, room=1 << 24)
    assert policy.active is active


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
