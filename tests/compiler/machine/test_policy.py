"""Fixed policies: the same answers, and what is fixed is not decided otherwise; and the pace, which decides."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Token, Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.machine.lazy import LazyDfa
from compiler.machine.pace import FAST, FRESH_PAUSE, LESSON, LONGEST_FRESH, LONGEST_FULL, Pace
from compiler.machine.policy import AUTO, Policy
from compiler.prepare import jit_enabled
from tests.compiler.machines import KEYS, PATTERNS, answers

needs_kernels = pytest.mark.skipif(not jit_enabled(), reason="of compiled machines")
POLICIES = [
    Policy(doorkeeper=doorkeeper, simulate=simulate, row_bytes=row_bytes)
    for doorkeeper, simulate, row_bytes in product((None, True, False), (None, True, False), (0, 1 << 30))
]


@needs_kernels
@given(PATTERNS, KEYS, st.sampled_from(POLICIES), st.sampled_from([1500, 20_000, 1 << 21]))
@settings(max_examples=200, deadline=None)
def test_no_policy_changes_an_answer(
    patterns: list[list[Token]], words: list[list[bytes]], policy: Policy, capacity: int
) -> None:
    nfa = build_nfa(patterns)
    keys = [b".".join(key) for key in words]
    machine = LazyDfa(nfa, b".", capacity, policy=policy)
    for _ in range(2):
        assert answers(machine, keys) == answers(Twin(nfa, b".", 1 << 20), keys)
    assert machine.stats().bytes <= capacity


@needs_kernels
def test_what_is_fixed_is_not_decided_otherwise() -> None:
    nfa = build_nfa([[Wildcard.MANY, b"a", *[Wildcard.ONE] * 30]])
    rng = np.random.default_rng(0)
    keys: list[bytes | None] = [b".".join(rng.choice([b"a", b"b"], 40)) for _ in range(600)]
    simulated = {}
    for policy in (AUTO, Policy(simulate=True), Policy(simulate=False)):
        machine = LazyDfa(nfa, b".", 64 << 20, policy=policy)
        answers(machine, keys)
        simulated[policy.simulate] = machine.stats().fallbacks
        assert pickle.loads(pickle.dumps(machine))._policy == machine._policy
    assert simulated[True] == 600
    assert simulated[False] == 0
    assert 0 < simulated[None] < 600


def test_a_dfa_that_learns_is_not_paused() -> None:
    """A universe of 2,400 transitions, each as likely as the others: the rate of new ones falls, and then the DFA wins."""
    rng = np.random.default_rng(0)
    known = np.zeros(2400, np.bool_)
    pace = Pace(lanes=8)
    for _ in range(3000):
        if pace.pause:
            break
        asked = rng.integers(0, len(known), 4 * pace.stretch)
        builds = len(np.unique(asked[~known[asked]]))
        known[asked] = True
        pace.compare(keys=pace.stretch, words=len(asked), builds=builds, members=1.0)
        if known.mean() > 0.999:
            break
    assert known.mean() > 0.9  # the first trial alone would have built under half of them


def test_a_dfa_that_does_not_learn_is_paused_after_its_first_trial() -> None:
    pace = Pace(lanes=8)
    total = 0
    while not pace.pause:
        builds = 4 * pace.stretch
        total += builds
        pace.compare(keys=pace.stretch, words=builds + builds // 10, builds=builds, members=1.0)
    assert LESSON <= total <= 1.5 * LESSON


@pytest.mark.parametrize("hits_count", [True, False])
def test_keys_that_the_key_cache_knows_would_be_simulated_too(hits_count: bool) -> None:
    """A transition is built for each word that is read, but ever fewer words are: a DFA that is judged by these alone does not learn."""
    pace, built = Pace(lanes=8), 0
    while built < 2 * LESSON and not pace.pause:
        keys, known = pace.stretch, built / (2 * LESSON)
        hits = int(known * keys)
        words = builds = 4 * (keys - hits)
        built += builds
        pace.compare(keys=keys, hits=hits if hits_count else 0, words=words, builds=builds, members=1.0)
    assert (pace.pause == 0) is hits_count


def test_keys_that_soon_are_in_the_key_cache_are_not_simulated() -> None:
    """Six hundred keys of twelve words, of which some are frequent: some two thousand transitions, and then nothing is built any more."""
    rng = np.random.default_rng(0)
    keys = [[b"w%d" % word for word in rng.integers(0, 60, 12)] for _ in range(600)]
    patterns: list[list[Token]] = []
    for key in keys[:100]:
        ends = int(rng.integers(2, 10))
        patterns.append(
            [*key[:ends], Wildcard.ONE, *key[ends + 1 :]] if rng.random() < 0.7 else [*key[:ends], Wildcard.MANY]
        )
    shares = np.arange(1, 601) ** -1.2
    come: list[bytes | None] = [b".".join(keys[i]) for i in rng.choice(600, 50_000, p=shares / shares.sum())]
    machine = LazyDfa(build_nfa(patterns), b".", 4 << 20, key_cache="auto", policy=Policy(key_store=False))
    answers(machine, come)
    found = machine.stats()
    assert found.transitions > LESSON
    assert found.fallbacks == 0


def test_a_cache_that_was_full_is_left_aside_while_nothing_comes_again() -> None:
    """Stretches are short then, so that keys that come again are soon seen; and also where it wins."""
    pace = Pace(lanes=None)
    pace.stretch = 1 << 18
    pace.compare(keys=1 << 18, words=1 << 20, builds=0, members=1.0, fresh=1 << 17)
    assert not pace.pause, "half of the keys have come before, or what they need has"
    pace.compare(keys=1 << 18, words=1 << 20, builds=0, members=1.0, fresh=15 << 14)
    assert (pace.stretch, pace.pause) == (LONGEST_FRESH, FRESH_PAUSE * LONGEST_FRESH)
    pace.pause = 0
    for _ in range(8):
        pace.compare(keys=pace.stretch, words=4 * pace.stretch, builds=0, members=1.0, fresh=pace.stretch // 10)
    assert (pace.stretch, pace.pause) == (LONGEST_FULL, 0)
    pace.compare(keys=pace.stretch, words=4 * pace.stretch, builds=0, members=1.0)
    assert pace.stretch == FAST * LONGEST_FULL


@pytest.mark.parametrize("lanes", [8, None])
def test_a_stretch_is_the_longer_the_less_was_built(lanes: int | None) -> None:
    pace, keys = Pace(lanes=lanes), 10_000
    most = keys // 100  # builds of 600 ns, beside 127 for each key that is simulated, of a small set
    for builds, times in ((0, FAST), (most, FAST), (10 * most if lanes else 300 * most, 2), (most, FAST)):
        stretch = pace.stretch
        pace.compare(keys=keys, words=5 * keys, builds=builds, members=0.0)
        assert pace.stretch == times * stretch
        assert not pace.pause
