"""Full caches that are closed: the same answers, nothing forgotten, and opened again where too many keys need more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Token, Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.kernels.tables import CLOSED
from compiler.machine import bounded_cache, closing
from compiler.machine.closing import STRETCH, Closing
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.prepare import jit_enabled
from tests.compiler.machines import KEYS, PATTERNS, answers

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled machines")

BINDINGS: list[list[Token]] = [[b"%d" % (i % 60), b"%d" % i, Wildcard.MANY] for i in range(30_000)]
BINDINGS.append([Wildcard.ONE, b"7", b"x", Wildcard.MANY])
CAPACITY = 2 << 20


@pytest.fixture(autouse=True)
def _without_doorkeepers_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have caches get full soon: with a doorkeeper from the beginning on, these narrow ones would build what comes often alone."""
    monkeypatch.setattr(bounded_cache, "FAR_WITHIN", bounded_cache.FAR_BYTES)


def keys(first: int, last: int) -> list[bytes | None]:
    return [b"%d.%d.x" % (i % 60, i) for i in range(first, last)]


def closed(machine: LazyDfa) -> bool:
    cache = machine._walkers[0]._cache
    assert cache is not None
    return bool(cache.meta[CLOSED])


@given(PATTERNS, KEYS, st.sampled_from([1300, 2000, 4000, 8000]))
@settings(max_examples=120, deadline=None)
def test_same_answers_from_a_closed_cache(patterns: list[list[Token]], words: list[list[bytes]], capacity: int) -> None:
    nfa = build_nfa(patterns)
    column: list[bytes | None] = [b".".join(key) for key in words]
    expected = answers(Twin(nfa, b".", 1 << 20), column)
    machine = LazyDfa(nfa, b".", capacity, policy=Policy(close=True))
    for _ in range(3):
        assert answers(machine, column) == expected
        assert [None if key is None else list(machine.match(key)) for key in column] == expected
    assert machine.stats().bytes <= capacity


@pytest.mark.parametrize(("capacity", "count"), [(CAPACITY, 10_000), (CAPACITY // 4, 2_500)])
def test_a_full_cache_that_has_paid_is_closed(capacity: int, count: int) -> None:
    """For a few keys that it has no room for, it does not forget the many that it knows."""
    machine = LazyDfa(build_nfa(BINDINGS), b".", capacity, policy=Policy(simulate=False))
    known, few = keys(0, count), count // 25
    for _ in range(20):
        answers(machine, known)
    assert not closed(machine)
    states = machine.stats().states
    for first in range(count, 3 * count, few):  # each comes once, among many that are known
        found = answers(machine, [*known, *keys(first, first + few)])
        assert found[-few:] == [[i] for i in range(first, first + few)]
        assert machine.stats().bytes <= capacity
    assert closed(machine)
    assert (machine.stats().clears, machine.stats().closed) == (0, 1)
    assert machine.stats().states > states
    before = machine.stats()
    answers(machine, known)
    assert machine.stats().fallbacks == before.fallbacks


def test_a_closed_cache_is_opened_for_other_keys() -> None:
    machine = LazyDfa(build_nfa(BINDINGS), b".", CAPACITY, policy=Policy(simulate=False))
    for _ in range(20):
        answers(machine, keys(0, 10_000))
    answers(machine, keys(10_000, 30_000))
    assert closed(machine)
    for _ in range(6):
        answers(machine, keys(25_000, 29_000))
    assert machine.stats().clears == 1
    before = machine.stats().fallbacks
    answers(machine, keys(25_000, 29_000))
    assert machine.stats().fallbacks - before < 400


@pytest.mark.parametrize(("words", "size"), [(1, closing.CLOSED_FROM), (10**9, 0)])
def test_a_cache_that_has_not_paid_or_is_small_is_cleared(
    words: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The smaller one has read as many words as one could wish, and the larger one hardly any for each state."""
    monkeypatch.setattr("compiler.machine.bounded_cache.CLOSED_FROM", max(size, 1 << 19) if size else 1 << 30)
    machine = LazyDfa(build_nfa(BINDINGS), b".", CAPACITY, policy=Policy(simulate=False))
    for _ in range(20 if words > 1 else 1):
        answers(machine, keys(0, 10_000))
    answers(machine, keys(10_000, 30_000))
    assert machine.stats().clears > 0


def test_what_is_fixed_is_done() -> None:
    for close in (False, True):
        machine = LazyDfa(build_nfa(BINDINGS), b".", CAPACITY, policy=Policy(simulate=False, close=close))
        for _ in range(3):
            answers(machine, keys(0, 30_000))
        assert (machine.stats().clears == 0) is close


def test_few_deferred_keys_keep_it_closed() -> None:
    judged = Closing()
    for deferred, held in ((STRETCH // 17, True), (STRETCH // 15, False)):
        assert judged.held(keys=STRETCH - 1, deferred=deferred) is True
        assert judged.held(keys=1, deferred=0) is held
    assert judged.spent


def test_nothing_is_added_to_a_closed_cache() -> None:
    machine = LazyDfa(build_nfa(BINDINGS), b".", CAPACITY, policy=Policy(simulate=False))
    answers(machine, keys(0, 500))
    cache = machine._walkers[0]._cache
    assert cache is not None
    cache.meta[CLOSED] = 1
    before = [np.copy(array) for array in cache if isinstance(array, np.ndarray) and array is not cache.meta]
    answers(machine, [*keys(200, 1000), *(b"%d.7.x" % i for i in range(300))])
    after = [array for array in cache if isinstance(array, np.ndarray) and array is not cache.meta]
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))
