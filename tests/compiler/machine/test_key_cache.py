"""Whole keys in front of the automaton: the same answers, the bound kept, and the choice made by what the stream does."""

from __future__ import annotations

import random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Token, Wildcard, build_nfa
from compiler.machine.key_cache import (
    LONG_PAUSE,
    LONGEST,
    PAUSE,
    SLOTS,
    STRETCH,
    KeyCache,
    KeyCacheMode,
    KeyCachePolicy,
    key_table,
)
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.values import KeyColumn
from tests.borders import LENGTHS, between
from tests.compiler.machines import assert_keys_are_forgotten

PATTERNS: list[list[Token]] = [
    [b"a", Wildcard.MANY],
    [Wildcard.ONE, b"b"],
    [b"c" * 60, Wildcard.ONE],
    [Wildcard.MANY, b"x"],
]
KEYS = st.lists(
    st.sampled_from(
        [
            b"", b".", b"a", b"a.b", b"b.b", b"b.x", b"a.\0", b"a.\0\0", b"c" * 60 + b".x", b"c" * 60 + b".y",
            b"a." + b"y" * 54, b"a." + b"y" * 55, b"b." + b"y" * 54, None,
            *(byte * length for byte in (b"a", b".") for length in between(LENGTHS, 7, 257)),
        ]
    ),
    max_size=300,
)  # fmt: skip


def column(keys: list[bytes | None]) -> KeyColumn:
    offsets = np.zeros(len(keys) + 1, np.int32)
    np.cumsum([len(key or b"") for key in keys], out=offsets[1:])
    valid = np.array([key is not None for key in keys], np.bool_) if None in keys else None
    return KeyColumn(offsets, np.frombuffer(b"".join(key or b"" for key in keys), np.uint8), valid)


def answers(machine: LazyDfa, keys: list[bytes | None]) -> list[list[int] | None]:
    found = machine.match_batch([column(keys)])
    sets = [found.positions[a:b].tolist() for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
    return [None if number < 0 else sets[number] for number in found.set_ids]


@given(KEYS, st.sampled_from([70_000, 1 << 20, 64 << 20]))
@settings(max_examples=60, deadline=None)
def test_the_table_changes_no_answer(keys: list[bytes | None], capacity: int) -> None:
    nfa = build_nfa(PATTERNS)
    expected = answers(LazyDfa(nfa, b".", 1 << 20), keys)
    machine = LazyDfa(nfa, b".", capacity, key_cache="on")
    assert answers(machine, keys) == expected
    assert answers(machine, keys[::-1]) == expected[::-1]
    assert machine.stats().bytes <= capacity


def test_a_full_cache_forgets_the_keys_too() -> None:
    assert_keys_are_forgotten("on")


def test_keys_that_repeat_are_recalled() -> None:
    machine = LazyDfa(build_nfa(PATTERNS), b".", 1 << 20, key_cache="auto")
    answers(machine, [b"a.b.%d" % (i % 100) for i in range(100_000)])
    assert machine.stats().key_cache_hits > 95_000


def test_keys_that_do_not_repeat_cost_a_trial_now_and_then() -> None:
    """A table that loses is put away: of a million keys, all different, few are looked up."""
    machine = LazyDfa(build_nfa(PATTERNS), b".", 1 << 20, key_cache="auto", policy=Policy(key_store=False))
    policy = machine._walkers[0]._key_cache.policy
    answers(machine, [b"a.b.%d" % i for i in range(2 * STRETCH)])
    assert not policy.wanted
    assert policy.left > (LONG_PAUSE - 2) * STRETCH
    # After the pause the stream may have changed.
    answers(machine, [b"a.b.%d" % (i % 100) for i in range((LONG_PAUSE + 2) * STRETCH)])
    assert policy.wanted
    assert machine.stats().key_cache_hits > STRETCH


@pytest.mark.parametrize("surprises", [True, False])
def test_it_is_noticed_in_the_middle_of_a_stretch_that_other_keys_have_come(surprises: bool) -> None:
    """A table that has won for long is judged after LONGEST keys, but not where it does not know any of them."""
    machine = LazyDfa(build_nfa(PATTERNS), b".", 1 << 20, key_cache="auto", policy=Policy(key_store=False))
    (walker,) = machine._walkers
    policy, asked = walker._key_cache.policy, []
    keys: list[bytes | None] = [b"a.b.%d" % (i % 100) for i in range(4 * LONGEST)]
    answers(machine, keys)
    assert policy.stretch == LONGEST
    others: list[bytes | None] = [b"a.b.%d" % i for i in range(LONGEST)]
    expected = answers(LazyDfa(build_nfa(PATTERNS), b".", 1 << 20, key_cache="off"), others)
    judge = KeyCachePolicy.judge

    def noted(policy: KeyCachePolicy, *, keys: int, **counts: Any) -> None:
        if policy.wanted:
            asked.append(keys)
        judge(policy, keys=keys, **counts)

    policy.left = LONGEST  # as behind a judgement
    most = KeyCache.most_unknown if surprises else 0
    with patch.object(KeyCachePolicy, "judge", noted), patch.object(KeyCache, "most_unknown", most):
        assert answers(machine, others) == expected
    assert not policy.wanted
    assert (asked[0] < LONGEST // 8) is surprises


def test_a_table_that_lost_leaves_its_room_to_the_automaton() -> None:
    """Room is left for whole keys only as long as they are wanted: what fits without a key cache then fits with one."""
    nfa = build_nfa([[b"%d" % (i % 60), b"%d" % i, Wildcard.MANY] for i in range(12_000)])
    keys: list[bytes | None] = [b"%d.%d.x" % (i % 60, i) for i in range(12_000)]
    policy = Policy(simulate=False, doorkeeper=False, close=False, key_store=False)
    modes: tuple[KeyCacheMode, ...] = ("off", "auto")
    for mode in modes:
        machine = LazyDfa(nfa, b".", 1140 << 10, key_cache=mode, policy=policy)
        for _ in range(3):
            answers(machine, keys)
        assert not machine._walkers[0]._key_cache.policy.wanted
        assert machine.stats().clears == 0


def test_off_means_off() -> None:
    machine = LazyDfa(build_nfa(PATTERNS), b".", 1 << 20, key_cache="off")
    answers(machine, [b"a.b"] * 10_000)
    assert machine.stats().key_cache_hits == 0
    assert machine.stats().bytes < 10_000


@pytest.mark.parametrize(("capacity", "slots"), [(0, 0), (16_000, 0), (1 << 14, 64), (1 << 20, 4096), (1 << 40, SLOTS)])
def test_the_table_takes_a_share_of_the_capacity(capacity: int, slots: int) -> None:
    assert len(key_table(capacity)) == 8 * slots
    assert key_table(capacity).nbytes <= capacity / 4


def test_what_wins_is_judged_less_often() -> None:
    policy = KeyCachePolicy("auto")
    for expected in (2 * STRETCH, 4 * STRETCH, 8 * STRETCH):
        policy.judge(keys=policy.left, hits=policy.left, words=0, size=10, word=5.0)
        assert policy.left == expected


@pytest.mark.parametrize(("share", "walked", "wanted"), [(0.3, 5, False), (0.3, 12, True), (0.6, 5, True)])
def test_a_table_that_knows_too_few_of_the_keys_is_put_away(share: float, walked: int, wanted: bool) -> None:
    """Of keys of five words it must know half to win. Where the others alone have five, the last pause tells how many all have."""
    policy = KeyCachePolicy("auto", share=share)
    for words in (0, walked):
        policy.wanted = False
        policy.judge(keys=policy.left, hits=0, words=words * policy.left, size=30 * policy.left, word=4.8)
        keys = policy.left
        hits = int(share * keys)
        policy.judge(keys=keys, hits=hits, words=5 * (keys - hits), size=30 * keys, word=4.8)
    assert policy.wanted == wanted
    assert policy.left == (2 * STRETCH if wanted and share < 0.5 else 4 * STRETCH if wanted else PAUSE * STRETCH)


def test_a_table_that_is_still_learning_is_tried_further() -> None:
    """4,000 keys, each as often as the others: the first trial knows a few of them, and the table will know all."""
    machine = LazyDfa(build_nfa(PATTERNS), b".", 64 << 20, key_cache="auto")
    rng = random.Random(2)
    keys: list[bytes | None] = [b"q.r.s.t.u.v.w.a.b.%d" % rng.randrange(3000) for _ in range(100_000)]
    answers(machine, keys)
    assert machine.stats().key_cache_hits > 60_000


def test_rows_and_keys_take_the_room_that_there_is() -> None:
    """A table of keys is made where rows leave room for it, and the bound holds."""
    for capacity in range(60_000, 400_000, 20_000):
        machine = LazyDfa(build_nfa(PATTERNS), b".", capacity, key_cache="auto")
        for count in (50_000, 3, 50_000):
            answers(machine, [b"a.b.%d" % (i % count) for i in range(20_000)])
            assert machine.stats().bytes <= capacity


def test_keys_that_were_deferred_say_nothing_of_what_the_table_will_know() -> None:
    """A doorkeeper leaves keys to the simulation until they have come often, and only then the table gets to know them."""
    kept, put_away = KeyCachePolicy("auto"), KeyCachePolicy("auto")
    kept.judge(keys=1024, hits=60, words=3000, size=30_000, word=5.0, deferred=900)
    put_away.judge(keys=1024, hits=60, words=3000, size=30_000, word=5.0)
    assert (kept.wanted, put_away.wanted) == (True, False)
    kept.judge(keys=2048, hits=2, words=6000, size=60_000, word=5.0, deferred=1900)
    assert not kept.wanted
