"""Keys that recur at a distance: a trial sees none of them again, and a sample does."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from compiler import Token, Wildcard, build_nfa
from compiler.kernels.store_tables import PER_KEYS
from compiler.kernels.work import SAMPLE_ASKED, SAMPLE_BITS, SAMPLE_HELD, SAMPLE_KNOWN
from compiler.machine.expectation import NO_ROOM
from compiler.machine.key_sample import LEAST, STEP, KeySample
from compiler.machine.key_store import CAUTION, FEWEST, KeyStore
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.recurrence import Recurrence, Sampled
from compiler.machine.sealed_walker import SealedWalker
from compiler.machine.simulator import Simulator
from compiler.machine.store_costs import WORTH, Stretch, looking_up, storing
from compiler.machine.store_policy import EARLIEST, KEY_BYTES, LASTING, NOTICED, PAUSE, StorePolicy
from compiler.machine.walker import Walker
from compiler.prepare import jit_enabled
from compiler.values import KeyColumn
from tests.compiler.machines import answers, column

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled machines")

PATTERNS: list[list[Token]] = [[b"w%d" % (i % 900), Wildcard.ONE, Wildcard.MANY, b"x%d" % i] for i in range(4000)]
NFA = build_nfa(PATTERNS)
COUNT = 40_000
ROUND = [b"w%d.some-rather-long-word.another-rather-long-word.x%d" % (i % 1000, i) for i in range(COUNT)]
"""Keys none of which comes twice until all have come."""
WALKED = Stretch(8192, 0, 5 * 8192, 30 * 8192)


def sample_of_none() -> KeySample:
    """Return a sample that can begin, and in which no key is."""
    return KeySample(np.zeros(1, np.uint64))


def walker_of(machine: LazyDfa) -> Walker:
    (walker,) = machine._walkers
    assert isinstance(walker, Walker)
    return walker


def hits(machine: LazyDfa, keys: KeyColumn) -> float:
    """Return the share of keys that are answered whole."""
    before = machine.stats().key_cache_hits
    machine.match_batch([keys])
    return (machine.stats().key_cache_hits - before) / (len(keys.offsets) - 1)


def test_keys_that_come_again_after_all_others_are_stored() -> None:
    machine, keys = LazyDfa(NFA, b".", 64 << 20, key_cache="auto"), column([*ROUND])
    shares = [hits(machine, keys) for _ in range(6)]
    assert shares[0] == 0
    assert shares[-1] > 0.97
    assert walker_of(machine)._key_store._stored.count > COUNT - FEWEST
    assert not walker_of(machine)._work.sample_counts[0], "nothing is sampled while keys are stored"
    some = ROUND[::7]
    assert answers(machine, [*some]) == answers(Simulator(NFA, b"."), [*some])


def test_a_tail_of_rare_keys_behind_frequent_ones_is_stored() -> None:
    """The key cache knows most keys, and a trial no larger a share; the others come again one by one."""
    rng = np.random.default_rng(2)
    common, count = [b"w%d.m.x%d" % (i, i) for i in range(900)], 150_000
    drawn = rng.random(count) < 0.7
    keys = column([common[i % 900] if frequent else ROUND[i % 30_000] for i, frequent in enumerate(drawn.tolist())])
    machine = LazyDfa(NFA, b".", 64 << 20, key_cache="auto")
    for _ in range(3):
        machine.match_batch([keys])
    assert hits(machine, keys) > 0.99


def test_keys_that_never_come_again_are_not_stored() -> None:
    machine = LazyDfa(NFA, b".", 64 << 20, key_cache="auto")
    for turn in range(3):
        machine.match_batch([column([b"%d.%b" % (turn, key) for key in ROUND])])
    store = walker_of(machine)._key_store
    assert not store.policy.active
    assert store._stored.count == 0


def test_keys_that_have_no_room_are_thought_about_less_often() -> None:
    """Forty thousand keys of 60 bytes take four megabytes, and the store may have half of three."""
    machine, keys = LazyDfa(NFA, b".", 3 << 20, key_cache="auto", policy=Policy(simulate=False)), column([*ROUND])
    for _ in range(3):
        assert hits(machine, keys) == 0
    policy = walker_of(machine)._key_store.policy
    assert not policy.active
    assert policy._waits > EARLIEST


FEW_WORDS = build_nfa([[b"a", Wildcard.ONE, b"b", Wildcard.ONE], [b"b", Wildcard.ONE, b"a", b"rather-long-word"]])
LONG_ROUND = [b"a.some-rather-long-word.b.another-rather-long-word-%d" % i for i in range(COUNT)]


def test_keys_that_rows_walk_are_sampled_and_stored_when_they_come_again() -> None:
    """They take 20 ns by rows, and no trial of some thousand would see any of them again."""
    machine, keys = LazyDfa(FEW_WORDS, b".", 64 << 20, key_cache="auto"), column([*LONG_ROUND])
    shares = [hits(machine, keys) for _ in range(8)]
    assert shares[0] == 0
    assert shares[-1] > 0.97
    walker = walker_of(machine)
    assert walker._dense_rows.nbytes
    assert not walker._work.sample_counts[0], "nothing is sampled while keys are stored"


def test_keys_that_sealed_rows_walk_are_not_sampled() -> None:
    """What is sampled there is what the cache behind them gets, which are lost ones."""
    machine, keys = LazyDfa(FEW_WORDS, b".", 64 << 20, key_cache="auto"), column([*LONG_ROUND[:2000]])
    machine.match_batch([keys])
    sealed = machine.seal()
    assert sealed is not None
    for _ in range(3):
        sealed.match_batch([keys])
    walker = sealed._walkers[0]
    assert isinstance(walker, SealedWalker)
    assert walker._sealed_rows.words > 0
    assert walker._work.sample_counts[SAMPLE_ASKED] == 0


@pytest.mark.parametrize("policy", [Policy(key_store=True), Policy(key_store=False)])
def test_nothing_is_sampled_where_it_is_fixed_whether_keys_are_stored(policy: Policy) -> None:
    machine = LazyDfa(NFA, b".", 64 << 20, key_cache="auto", policy=policy)
    for _ in range(2):
        machine.match_batch([column([*ROUND])])
    assert not walker_of(machine)._work.sample.any()


def counted(sample: KeySample, asked: int, known: int) -> None:
    """Have the sample's kernel have counted so much."""
    sample._counts[SAMPLE_ASKED], sample._counts[SAMPLE_KNOWN], sample._counts[SAMPLE_HELD] = asked, known, 50


def test_a_share_is_told_of_as_many_keys_as_it_needs() -> None:
    sample, few, seen = sample_of_none(), replace(WALKED, keys=STEP - 1, words=0, size=STEP - 1), []
    sample.begin()

    def expects(_: object, __: Stretch, sampled: Sampled, **___: object) -> int | None:
        seen.append((sampled.share, sampled.keys))
        assert sampled.different == sample.different == 50 << sample._counts[SAMPLE_BITS]
        return sampled.keys if len(seen) == 2 else None

    found = None
    with patch.object(StorePolicy, "expects", expects):
        for walked, asked, known, tells in (
            (WALKED, LEAST - 1, 3, False),
            (WALKED, LEAST, LEAST // 2, True),
            (few, 2 * LEAST, LEAST // 2 + LEAST, False),  # so few keys may be of a kind
            (WALKED, 2 * LEAST, LEAST // 2 + LEAST, True),
        ):
            counted(sample, asked, known)
            assert sample.tells(walked) is tells
            if tells:
                found = sample.recurs(StorePolicy(), ahead=0, room=0, word=9.0)
    keys = 3 * WALKED.keys + few.keys
    assert (found, seen) == (keys, [(0.5, 2 * WALKED.keys), (1.0, keys)])
    assert not sample.active
    sample.begin()
    counted(sample, LEAST - 1, 3)
    assert (sample.active, sample.tells(WALKED)) == (True, False), "nothing is left of the counts of before"


def test_a_curve_is_drawn_when_twice_as_many_keys_have_come() -> None:
    sample, curves = sample_of_none(), []
    sample.begin()
    with patch.object(StorePolicy, "expects", lambda *told, **_: curves.append(told[2].curve)):
        for i in range(1, 9):
            counted(sample, 1000 * i, 10 * i * i)
            # And it is looked at all where half as many have come again.
            assert sample.tells(WALKED) is (i in (1, 2, 3, 5, 8))
            if i in (1, 2, 3, 5, 8):
                sample.recurs(StorePolicy(), ahead=0, room=0, word=9.0)
    assert [curve is not None for curve in curves] == [False, True, False, True, False]
    assert curves[3] == Recurrence.of(5 * WALKED.keys, (2000, 40), (3000, 210))


def test_a_trial_is_due_again_where_nothing_is_sampled() -> None:
    """As in front of sealed tables, and where keys are simulated."""
    none = KeyStore(64 << 20, wanted=None)
    none.begin(WALKED, word=9.0)
    none.drop(lost=True)
    assert not none.sample.fed
    store = KeyStore(64 << 20, wanted=None, sample=sample_of_none())
    while store.sample.decides:
        assert not store.sample.tells(WALKED)
        assert store.sample._keys < 1 << 16, "it is told never"
    assert store.sample.active
    assert not store.sample.fed


def test_a_sample_that_was_wrong_is_asked_again_ever_later() -> None:
    store, least = KeyStore(64 << 20, wanted=None, sample=sample_of_none()), []
    for within in (0, 50_000, 50_000, 50_000):
        store.begin(WALKED, word=9.0, within=within)
        assert store.policy.active
        store.policy._asked = 1000
        store.drop(lost=True)
        assert store.sample.active
        least.append(store.sample._least)
    assert least == [0, CAUTION * 1000, 2 * CAUTION * 1000, 4 * CAUTION * 1000]
    store.begin(WALKED, word=9.0, within=50_000)
    store.policy.left = 1
    store.judge(Stretch(8192, 8192, 0, 30 * 8192), word=9.0, room=1 << 24)
    assert store.policy.paid
    store.policy._asked = 1000
    store.drop(lost=True)
    assert store.sample._least == 0, "it was right"


def test_a_sample_ends_where_there_is_no_room() -> None:
    sample = sample_of_none()
    sample.begin()
    counted(sample, LEAST, LEAST)
    assert sample.tells(WALKED)
    assert sample.recurs(StorePolicy(), ahead=1 << 20, room=0, word=9.0, cached=False) == NO_ROOM
    assert not sample.active


EVEN = Recurrence(scale=200_000.0, bend=1.0)
"""Of 200,000 keys that are equally likely."""


@pytest.mark.parametrize(
    ("walked", "share", "different", "curve", "ahead", "expected"),
    [
        (WALKED, 1.0, 10_000, None, 100_000, True),
        (WALKED, 1.0, 10_000, None, 10_000, None),  # 38 ns a key would be spared, and a key takes 60 to be stored
        (WALKED, 0.9, 10_000, None, 100_000, True),
        (WALKED, 0.2, 10_000, None, 1 << 30, None),  # others come as fast, whatever comes after them
        (WALKED, 0.05, 10_000, EVEN, 2_000_000, True),
        (WALKED, 0.05, 10_000, EVEN, 450_000, None),
        (WALKED, 0.05, 10_000, Recurrence(scale=30_000.0, bend=0.2), 2_000_000, None),
        (WALKED, 0.05, 10_000, Recurrence(scale=600_000.0, bend=1.0), 9_000_000, None),  # of 66 bytes each, and there are 16 MB
        (WALKED, 1.0, 300_000, None, 9_000_000, True),  # four in five of these
        (WALKED, 0.8, 500_000, None, 9_000_000, False),
        (WALKED, 1.0, 300_000, None, 200_000, False),
        (Stretch(8192, 8000, 5 * 192, 20 * 8192), 1.0, 10_000, None, 9_000_000, False),  # the key cache does as well
        (Stretch(8192, 0, 4000, 8 * 8192), 1.0, 10_000, None, 9_000_000, False),  # half a nanosecond would be spared, and sampling takes more
        (replace(WALKED, hits=6144, found=6144), 1.0, 60_000, None, 9_000_000, True),
        (replace(WALKED, hits=6144, found=6144), 1.0, 130_000, None, 9_000_000, False),  # as many again three times are exact keys
        (replace(WALKED, hits=6144, found=6143), 1.0, 130_000, None, 9_000_000, True),  # or 10,000, as there are no more
    ],
)  # fmt: skip
def test_storing_is_expected_to_pay_where_what_is_walked_recurs_and_has_room(
    walked: Stretch, share: float, different: int, curve: Recurrence | None, ahead: int, expected: bool | None
) -> None:
    sampled, cached = Sampled(50_000, different, share, curve), walked.hits > 0
    exact = 10_000 if walked.found % 2 else 1 << 30
    found = StorePolicy().expects(walked, sampled, ahead=ahead, word=9.0, cached=cached, exact=exact, room=1 << 24)
    assert found is None if expected is None else (found is not None and (found > 0) is expected)


def test_a_curve_says_when_storing_will_pay() -> None:
    policy = StorePolicy()
    found = policy.expects(WALKED, Sampled(50_000, 9000, 0.05, EVEN), ahead=9_000_000, word=9.0, room=1 << 24)
    assert found is not None
    share = 1 - np.exp(-found / EVEN.scale)
    took, each = policy._before.took(word=9.0, size=30.0), WORTH * looking_up(30.0, stored=200_000)
    assert share * took == pytest.approx(each + (1 - share) * storing(30.0), rel=0.01)


def test_a_trial_whose_keys_are_expected_back_need_not_pay_before() -> None:
    policy = StorePolicy()
    policy.begin(WALKED, word=9.0, within=40_000)
    asked = Stretch(4096, 0, 5 * 4096, 30 * 4096)
    for stored in range(4096, 40_960, 4096):
        policy.judge(asked, stored=stored, word=9.0, room=1 << 24)
        assert policy.active
    policy.judge(asked, stored=45_000, word=9.0, room=1 << 24)
    assert not policy.active


def test_a_trial_whose_keys_are_expected_back_ends_where_there_is_no_room_for_all() -> None:
    policy = StorePolicy()
    policy.begin(WALKED, word=9.0, within=1 << 20)
    for share, full in ((0.0, False), (0.1, False), (0.15, True)):
        asked = Stretch(4096, int(share * 4096), 5 * 4096, 30 * 4096)
        policy.judge(asked, stored=8192, word=9.0, room=1 << 24, full=full)
        assert policy.active is not full


def test_a_trial_whose_keys_are_expected_back_ends_when_other_keys_come() -> None:
    """Half of the keys were known when it was judged last, and hardly any is now: the look-up stops, and it is given up."""
    policy = StorePolicy()
    policy.begin(WALKED, word=9.0, within=1 << 20)
    for share in (0.0, 0.3, 0.5):
        keys = 40_000
        asked = Stretch(keys, int(share * keys), 5 * keys, 30 * keys)
        policy.judge(asked, stored=30_000, word=9.0, room=1 << 24)
        assert policy.active
    assert not policy.paid
    assert policy.expected < PER_KEYS
    policy.judge(Stretch(4096, 100, 20_000, 120_000), stored=34_000, word=9.0, room=1 << 24)
    assert not policy.active


def test_a_block_that_begins_again_is_counted_once() -> None:
    """Tables grow at the first keys, so their blocks are walked again."""
    machine = LazyDfa(NFA, b".", 64 << 20, key_cache="off", policy=Policy(simulate=False, row_bytes=0))
    sample = walker_of(machine)._key_store.sample
    sample.begin()
    with patch.object(KeyStore, "recurs", return_value=0):
        for first in (0, 10_000):  # rows are counted from the first one on in each column
            machine.match_batch([column([*ROUND[first : first + 10_000]])])
    counts = walker_of(machine)._work.sample_counts
    assert counts[SAMPLE_KNOWN] == 0
    assert counts[SAMPLE_ASKED] > 1500
    assert 17_000 < sample.different < 23_000


def test_keys_that_have_no_room_must_come_again_before_they_are_expected_to() -> None:
    store = KeyStore(64 << 20, wanted=None, sample=sample_of_none())
    counted(store.sample, LEAST, LEAST)
    assert store.sample.tells(WALKED)
    assert store.recurs(ahead=1 << 20, room=0, word=9.0) == 0
    assert not store.sample.active
    store.look_on()
    counted(store.sample, LEAST, LEAST)
    assert not store.sample.tells(replace(WALKED, keys=WALKED.keys - 1))
    assert store.sample.tells(WALKED)
    other = Stretch(NOTICED, 0, 5 * NOTICED, 30 * NOTICED)
    store.policy._before.walked = 0.1
    store.heed(other, cached=True)
    assert store.sample._least == 0


def test_keys_that_came_before_a_sample_began_are_not_missed_in_it() -> None:
    """Else those by which others are noticed would tell that nothing is ever sampled, and a trial would begin in which all are stored."""
    few = column([b"w%d.m.x%d" % (i % 500, i % 500) for i in range(200_000)])
    machine = LazyDfa(NFA, b".", 64 << 20, key_cache="auto")
    for _ in range(3):
        machine.match_batch([few])
    store = walker_of(machine)._key_store
    assert store.policy.resting
    machine.match_batch([column([*ROUND])])
    assert store.sample.active
    assert store.sample.fed
    assert store._stored.count == 0


def test_all_keys_of_a_batch_are_expected_to_come() -> None:
    """In batches of some thousand nobody knows how long they go on, and longer than they have is not taken for granted."""
    rng = np.random.default_rng(3)
    keys = [ROUND[i] for i in rng.integers(0, len(ROUND), 300_000).tolist()]
    shares = []
    for size in (len(keys), 5000):
        machine = LazyDfa(NFA, b".", 64 << 20, key_cache="auto")
        shares.append(
            sum(hits(machine, column(keys[i : i + size])) * size for i in range(0, len(keys), size)) / len(keys)
        )
    assert shares[0] > 0.75
    assert 0.3 < shares[1] < shares[0]


@pytest.mark.parametrize(("ahead", "active"), [(LASTING * 8192, False), (1 << 20, True)])
def test_a_trial_ends_where_too_few_keys_are_ahead(ahead: int, active: bool) -> None:
    """Of 200,000 keys one in fifty is known; with a million ahead all will be."""
    policy, share = StorePolicy(), (0.01, 0.03)
    policy.begin(WALKED, word=9.0)
    for stored, known in zip((4000, 8000), share, strict=True):
        asked = Stretch(4096, int(known * 4096), 5 * 4096, 30 * 4096)
        policy.judge(asked, stored=stored, word=9.0, room=1 << 26, ahead=ahead)
    assert policy.active is active
    assert (policy.patience < PAUSE) is not active, (
        "it is tried again when so many have come that as many may be expected"
    )


@pytest.mark.parametrize("ahead", [1 << 17, 1 << 19, 1 << 21])
def test_it_is_tried_again_when_that_pays(ahead: int) -> None:
    """And not before, however short the trial was: as many keys are expected to be ahead as LASTING times those that have come."""

    def tried(ahead: int) -> StorePolicy:
        policy = StorePolicy()
        policy.begin(WALKED, word=1.7)
        for stored, known in ((4000, 20), (8000, 61)):
            policy.judge(Stretch(4096, known, 5 * 4096, 30 * 4096), stored=stored, word=1.7, room=1 << 30, ahead=ahead)
        return policy

    lost = tried(ahead)
    assert not lost.active
    assert lost.patience < PAUSE
    assert tried(ahead + LASTING * lost.patience).active
    assert not tried(ahead + LASTING * lost.patience // 4).active


def test_long_keys_are_waited_for_as_many_of_as_of_others_after_a_lost_trial() -> None:
    store, long = KeyStore(64 << 20, wanted=None), Stretch(1000, size=1000 * 16 * KEY_BYTES)
    before = store.policy.left
    store.due(long)
    assert before - store.policy.left == 16_000
    store.drop(lost=True)
    before = store.policy.left
    store.due(long)
    assert before - store.policy.left == 1000
    assert store.left_to_simulate == store.policy.left


def test_a_trial_that_pays_as_nothing_more_is_stored_does_not_make_pauses_short_again() -> None:
    """What is not known costs nothing until the next judgement, which would be lost, and the next trial as soon as the first."""
    for room, patience in ((1 << 24, PAUSE), (0, 8 * PAUSE)):
        policy = StorePolicy(patience=8 * PAUSE)
        policy.begin(WALKED, word=9.0)
        policy.judge(Stretch(4096, 2048, 5 * 2048, 30 * 4096), stored=4000, word=9.0, room=room)
        policy.judge(Stretch(4096, 3500, 5 * 596, 30 * 4096), stored=4600, word=9.0, room=room)
        assert policy.paid
        assert policy.patience == patience
