"""When whole keys are stored, by the policy alone: what it makes of stretches whose counts are given to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compiler.machine.store_costs import Stretch
from compiler.machine.store_policy import EARLIEST, NOTICED, REST, SHORTEST, TRIAL, StorePolicy
from compiler.prepare import jit_enabled

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled machines")


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
