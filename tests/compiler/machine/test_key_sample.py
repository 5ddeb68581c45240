"""Keys that recur at a distance: a trial sees none of them again, and a sample does."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from compiler import Token, Wildcard, build_nfa
from compiler.machine.key_sample import LEAST, KeySample
from compiler.machine.key_store import FEWEST, KeyStore
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.simulator import Simulator
from compiler.machine.store_costs import Stretch
from compiler.machine.store_policy import PAUSE, StorePolicy
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
    assert 0 < store.policy.left < PAUSE


def test_keys_that_have_no_room_are_not_sampled_further() -> None:
    """Forty thousand keys of 60 bytes take four megabytes, and the store may have half of three."""
    machine, keys = LazyDfa(NFA, b".", 3 << 20, key_cache="auto", policy=Policy(simulate=False)), column([*ROUND])
    assert hits(machine, keys) == 0
    assert not walker_of(machine)._work.sample_counts[0]
    assert hits(machine, keys) == 0


@pytest.mark.parametrize("policy", [Policy(key_store=True), Policy(key_store=False)])
def test_nothing_is_sampled_where_it_is_fixed_whether_keys_are_stored(policy: Policy) -> None:
    machine = LazyDfa(NFA, b".", 64 << 20, key_cache="auto", policy=policy)
    for _ in range(2):
        machine.match_batch([column([*ROUND])])
    assert not walker_of(machine)._work.sample.any()


def test_a_share_is_told_of_as_many_keys_as_it_needs() -> None:
    sample, policy, shares = sample_of_none(), StorePolicy(), []
    sample.begin()

    def recurs(asked: int, known: int) -> int:
        sample._counts[2:] = asked, known, 50
        return sample.recurs(policy, WALKED, word=9.0, cached=False, room=1 << 24)

    def expects(*_: object, share: float, different: int, **__: object) -> bool | None:
        shares.append(share)
        assert different == sample.different == 50 << sample._counts[1]
        return True if len(shares) == 2 else None

    with patch.object(StorePolicy, "expects", expects):
        found = [
            recurs(LEAST - 1, 3),
            recurs(LEAST, LEAST // 2),
            recurs(LEAST + 5, 99),
            recurs(2 * LEAST, LEAST // 2 + LEAST),
        ]
    assert (found, shares) == ([0, 0, 0, 4 * WALKED.keys], [0.5, 1.0])
    assert not sample.active
    sample.begin()
    assert (sample.active, sample.different) == (True, 0)
    assert recurs(LEAST - 1, 3) == 0, "nothing is left of the counts of before"


def test_a_trial_is_due_again_where_nothing_is_sampled() -> None:
    """As in front of sealed tables, and where keys are walked by rows, or simulated."""
    for sample in (None, sample_of_none()):
        store = KeyStore(64 << 20, wanted=None, sample=sample)
        store.begin(WALKED, word=9.0)
        store.drop(lost=True)
        assert store.sample.decides is (sample is not None)
        while not store.due(WALKED):
            assert store.policy.left > -2 * WALKED.size, "it is never due"
            assert store.sample.recurs(store.policy, WALKED, word=9.0, room=1 << 24) == 0
        assert not store.sample.decides
        store.begin(WALKED, word=9.0)
        assert store.policy.active
    store = KeyStore(64 << 20, wanted=None, sample=sample_of_none())
    store.begin(WALKED, word=9.0)
    store.drop(lost=True)
    store.policy.left = 1
    assert store.sample.decides
    assert store.due(replace(WALKED, simulated=WALKED.keys))


def test_a_sample_that_was_wrong_is_not_asked_again_at_once() -> None:
    store = KeyStore(64 << 20, wanted=None, sample=sample_of_none())
    for within, begins in ((0, True), (50_000, False), (0, True)):
        store.begin(WALKED, word=9.0, within=within)
        assert store.policy.active
        store.drop(lost=True)
        assert store.sample.active is begins


def test_a_sample_ends_where_there_is_no_room() -> None:
    sample = sample_of_none()
    sample.begin()
    sample._counts[2:] = LEAST, LEAST, 50
    assert sample.recurs(StorePolicy(), WALKED, word=9.0, cached=False, room=0) == 0
    assert not sample.active


@pytest.mark.parametrize(
    ("walked", "keys", "share", "different", "expected"),
    [
        (WALKED, 50_000, 1.0, 10_000, True),
        (WALKED, 50_000, 0.9, 10_000, True),
        (WALKED, 50_000, 0.2, 10_000, None),
        (WALKED, 10_000, 1.0, 10_000, None),  # 35 ns a key would have been spared, and a key takes 60 to be stored
        (WALKED, 900_000, 1.0, 300_000, False),  # of 66 bytes each, and there are 16 MB
        (WALKED, 900_000, 0.5, 200_000, None),  # twice as many may be to come
        (Stretch(8192, 8000, 5 * 192, 20 * 8192), 1_000_000, 1.0, 10_000, None),  # the key cache does as well
    ],
)
def test_storing_is_expected_to_pay_where_what_is_walked_recurs_and_has_room(
    walked: Stretch, keys: int, share: float, different: int, expected: bool | None
) -> None:
    found = StorePolicy().expects(
        walked, keys=keys, share=share, different=different, word=9.0, cached=walked.hits > 0, room=1 << 24
    )
    assert found is expected


def test_a_trial_whose_keys_are_expected_back_need_not_pay_before() -> None:
    policy = StorePolicy()
    policy.begin(WALKED, word=9.0, within=40_000)
    asked = Stretch(4096, 0, 5 * 4096, 30 * 4096)
    for stored in range(4096, 40_960, 4096):
        policy.judge(asked, stored=stored, word=9.0, room=1 << 24)
        assert policy.active
    policy.judge(asked, stored=45_000, word=9.0, room=1 << 24)
    assert not policy.active


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
    assert policy.most_lost(32_768) < 34_000
    policy.judge(Stretch(4096, 100, 20_000, 120_000), stored=34_000, word=9.0, room=1 << 24)
    assert not policy.active
