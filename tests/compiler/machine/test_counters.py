"""What the counters say: every word that the DFA reads is a hit or a miss, whatever happens to the key afterwards."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Nfa, build_nfa
from compiler.automata.twin import Twin, TwinSimulator
from compiler.kernels.tables import BUILDS, MISSES, WORDS
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.simulator import Simulator
from compiler.values import CacheStats
from tests.compiler.machine.test_doorkeeper import far_automata
from tests.compiler.machines import answers

COUNT = 1000
KEYS = [b".".join(b"%d-%d" % (i * step % 997, i) for step in (1, 3, 5, 7, 11)) for i in range(COUNT)]


def literal_patterns() -> Nfa:
    """A pattern of five literal words for each key, so that nearly every word of every key is new to the cache."""
    return build_nfa([key.split(b".") for key in KEYS])


def match_batch(machine: LazyDfa) -> None:
    assert answers(machine, KEYS) == [[i] for i in range(COUNT)]


def match_one_by_one(machine: LazyDfa) -> None:
    assert [machine.match(key) for key in KEYS] == [(i,) for i in range(COUNT)]


def assert_consistent(stats: CacheStats) -> None:
    assert stats.hits >= 0
    assert stats.misses >= 0
    assert stats.hits + stats.misses == stats.words


BOTH = pytest.mark.parametrize("match", [match_batch, match_one_by_one])


@BOTH
def test_each_word_is_a_hit_or_a_miss(match: Callable[[LazyDfa], None]) -> None:
    machine = LazyDfa(literal_patterns(), b".", 64 << 20)
    match(machine)
    stats = machine.stats()
    assert_consistent(stats)
    assert stats.words == 5 * COUNT
    assert stats.misses > 4 * COUNT - 200  # tables that grow in the middle of a block make it begin again
    match(machine)
    again = machine.stats()
    assert_consistent(again)
    assert (again.words, again.misses) == (10 * COUNT, stats.misses)


@BOTH
@pytest.mark.parametrize("capacity", [0, 1500, 5000, 20_000, 60_000])
def test_also_in_a_cache_that_is_too_small(match: Callable[[LazyDfa], None], capacity: int) -> None:
    """Keys that are simulated from their first word on have no words, and a clear keeps what was counted."""
    machine = LazyDfa(literal_patterns(), b".", capacity, policy=Policy(exact=False))
    for _ in range(2):
        match(machine)
        stats = machine.stats()
        assert_consistent(stats)
        assert stats.words + 5 * stats.fallbacks == 5 * stats.keys
        assert stats.clears > 0 or capacity == 0


@pytest.mark.parametrize("capacity", [0, 200, 1500, 20_000, 64 << 20])
def test_also_in_the_plain_twin(capacity: int) -> None:
    twin = Twin(literal_patterns(), b".", capacity)
    stats = twin.stats()
    for key in KEYS[:100]:
        twin.match(key)
        stats = twin.stats()
        assert_consistent(stats)
        assert stats.fallbacks <= stats.keys
    assert stats.keys == 100
    if capacity in (0, 64 << 20):
        assert (stats.words, stats.fallbacks) == ((0, 100) if capacity == 0 else (500, 0))


@pytest.mark.parametrize("machine", [Simulator, TwinSimulator])
def test_where_there_is_no_cache_only_keys_are_counted(machine: type[Simulator | TwinSimulator]) -> None:
    simulator = machine(literal_patterns(), b".")
    for one in (simulator, pickle.loads(pickle.dumps(simulator))):
        before = one.stats().keys
        assert [one.match(key) for key in (KEYS[3], b"a.b")] == [(3,), ()]
        assert one.stats() == CacheStats(keys=before + 2)


@BOTH
def test_also_with_a_doorkeeper(match: Callable[[LazyDfa], None]) -> None:
    """A word at which a key is deferred is a miss; the words behind it are not read by the DFA."""
    with far_automata():
        machine = LazyDfa(literal_patterns(), b".", 64 << 20)
        for _ in range(10):
            match(machine)
            stats = machine.stats()
            assert_consistent(stats)
            assert stats.fallbacks <= stats.misses
        stats = machine.stats()
        assert stats.words > stats.misses > stats.fallbacks > 0


def test_transitions_that_are_built_are_counted_by_themselves() -> None:
    """A word may need two: the default successor of its state, and its own. A clear keeps the count."""
    for capacity in (20_000, 64 << 20):
        machine = LazyDfa(literal_patterns(), b".", capacity, policy=Policy(exact=False))
        match_one_by_one(machine)
        stats, cache = machine.stats(), machine._walkers[0]._cache
        assert cache is not None
        assert cache.meta[BUILDS] > stats.misses
        if capacity > 20_000:
            assert cache.meta[BUILDS] == stats.transitions


class CountedMeanwhile(np.ndarray[Any, np.dtype[np.int64]]):
    """Numbers of a cache to which another thread adds words, all of them misses, before each of them is read."""

    def __getitem__(self, key: Any) -> Any:
        for counter in (WORDS, MISSES):
            self[counter] = np.ndarray.__getitem__(self, counter) + 100
        return np.ndarray.__getitem__(self, key)


def test_no_counter_is_negative_while_another_thread_counts() -> None:
    machine = LazyDfa(literal_patterns(), b".", 64 << 20)
    walker = machine._walkers[0]
    assert walker._cache is not None
    walker._cache = walker._cache._replace(meta=walker._cache.meta.view(CountedMeanwhile))
    assert_consistent(machine.stats())
