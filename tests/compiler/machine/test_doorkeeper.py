"""Simulation by pairs, and the doorkeeper that sends keys there: the same answers, the same automaton, counters that tell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Token, Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.kernels.tables import SEEN
from compiler.kernels.work import simulated_block
from compiler.machine.cache import empty_cache, nbytes
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.program import make_program
from compiler.machine.simulator import Simulator
from tests.compiler.machines import KEYS, PATTERNS, answers, assert_same_automaton, column


@contextmanager
def far_automata() -> Iterator[None]:
    """Take every automaton for one that is far from the processor, and too large to be simulated as bits."""
    with (
        patch("compiler.machine.bounded_cache.FAR_BYTES", -1),
        patch("compiler.machine.cache.DOORKEEPER_FROM", 0),
        patch("compiler.machine.dividing.bit_program", return_value=None),
    ):
        yield


@given(PATTERNS, KEYS, st.sampled_from([4000, 8000, 1 << 20]))
@settings(max_examples=120, deadline=None)
def test_same_answers_with_a_doorkeeper(patterns: list[list[Token]], words: list[list[bytes]], capacity: int) -> None:
    """The same keys again and again: simulated at first, then walked further each time, and in the end to their ends."""
    nfa = build_nfa(patterns)
    keys: list[bytes | None] = [b".".join(key) for key in words]
    keys[::7] = [None] * len(keys[::7])
    expected = answers(Twin(nfa, b".", 1 << 20), keys)
    with far_automata():
        machine, single = LazyDfa(nfa, b".", capacity), LazyDfa(nfa, b".", capacity, key_cache="on")
        for _ in range(6):
            assert answers(machine, keys) == expected
            assert [None if key is None else list(single.match(key)) for key in keys] == expected
            assert answers(single, keys) == expected
        assert answers(Simulator(nfa, b"."), keys) == expected
    assert machine.stats().bytes <= capacity
    assert_same_automaton(nfa, machine)


def _sites(count: int) -> Iterator[list[Token]]:
    for i in range(count):
        yield [b"site", b"%d" % (i % 97), b"dev", b"%d" % i, b"temp"]
    yield [Wildcard.MANY, b"5", Wildcard.MANY, b"temp"]
    yield [b"site", Wildcard.ONE, Wildcard.MANY]


def test_what_comes_once_is_simulated_and_what_comes_often_is_built() -> None:
    """More keys than a walk leaves over at once. Nothing is built for keys that come once; all is, for those that stay."""
    nfa = build_nfa(list(_sites(12_000)))
    keys = [b"site.%d.dev.%d.temp" % (i % 97, i) for i in range(12_000)]
    expected = answers(Twin(nfa, b".", 64 << 20), keys)
    with far_automata():
        machine = LazyDfa(nfa, b".", 64 << 20, policy=Policy(exact=False))
        assert answers(machine, keys) == expected
        first = machine.stats()
        # Each device is asked for once, but for some in blocks that began again as tables had to grow.
        assert 0.99 * len(keys) < first.fallbacks <= len(keys)
        assert first.transitions < 1000  # and what leads to the devices, 97 times as often
        for _ in range(12):
            assert answers(machine, keys) == expected
        settled = machine.stats()
        assert answers(machine, keys) == expected
        assert (machine.stats().misses, machine.stats().fallbacks) == (settled.misses, settled.fallbacks)
        assert settled.states > len(keys)
    assert_same_automaton(nfa, machine)


def test_a_full_doorkeeper_forgets() -> None:
    nfa = build_nfa([[b"a"]])
    cache = empty_cache(make_program(nfa, b"."), 1 << 20, doorkeeper=True)
    assert nbytes(cache) <= 1 << 20
    assert len(cache.doorkeeper) > 0
    walker = LazyDfa(nfa, b".", 1 << 20)._walkers[0]
    cache.doorkeeper[:] = 1
    cache.meta[SEEN] = 16 * len(cache.doorkeeper)
    walker._note_deferred(cache, 0, 0)
    assert cache.doorkeeper.all()  # half full
    cache.meta[SEEN] += 1
    walker._note_deferred(cache, 0, 0)
    assert not cache.doorkeeper.any()
    assert cache.meta[SEEN] == 0
    assert len(empty_cache(make_program(nfa, b"."), 1 << 20).doorkeeper) == 0


def test_the_states_of_a_path_are_built_together() -> None:
    """The fourth key that leads through a transition builds the whole of its path, and not one word of it each time."""
    nfa = build_nfa(list(_sites(3000)))
    key = b"site.3.dev.100.temp"
    with far_automata():
        machine = LazyDfa(nfa, b".", 64 << 20, policy=Policy(simulate=False))
        misses = []
        for _ in range(8):  # so that no table grows under the key, with which a block begins anew
            answers(machine, [b"site.%d.dev.%d.temp" % (i % 97, i) for i in range(200, 400)])
        before = machine.stats().fallbacks
        for _ in range(6):
            answers(machine, [key])
            misses.append(machine.stats().fallbacks - before)
        assert misses == [1, 2, 3, 3, 3, 3]


def test_a_cache_that_was_full_asks_for_each_transition() -> None:
    nfa = build_nfa(list(_sites(3000)))
    with far_automata():
        machine = LazyDfa(nfa, b".", 64 << 20, policy=Policy(simulate=False))
        walker = machine._walkers[0]
        assert walker._cache is not None
        walker._clear(walker._cache)
        for _ in range(6):
            answers(machine, [b"site.3.dev.100.temp"])
        assert machine.stats().fallbacks == 6  # two of five words are built by now


def test_what_is_to_be_sealed_is_learnt_though_keys_are_stored() -> None:
    """Keys that recur are simulated once each, and then known whole: the automaton would never get to know them."""
    nfa = build_nfa(list(_sites(6000)))
    keys = 7 * [b"site.%d.dev.%d.temp" % (i % 97, i) for i in range(6000)]
    with far_automata():
        lost = []
        for learns in (False, True):
            machine = LazyDfa(nfa, b".", 64 << 20, key_cache="auto", policy=Policy(key_store=True))
            with machine.learning() if learns else nullcontext():
                for _ in range(4):
                    answers(machine, keys)
            sealed = machine.seal()
            assert sealed is not None
            assert answers(sealed, keys) == answers(machine, keys)
            lost.append(len(keys) - sealed.stats().sealed_keys)
    assert lost[0] > 0
    assert lost[1] == 0


@pytest.mark.parametrize("loops", [1, 63, 64, 65, 700])
def test_loops_below_loops_are_entered_once(loops: int) -> None:
    """``x.#.wi.#.z`` enters its second loop again at each ``wi``; there are more of them than bits in a machine word."""
    patterns: list[list[Token]] = [[b"x", Wildcard.MANY, b"w%d" % i, Wildcard.MANY, b"z"] for i in range(loops)]
    nfa = build_nfa(patterns)
    rng = np.random.default_rng(loops)
    words = [b"z", *(b"w%d" % i for i in rng.integers(0, loops, 5))]
    keys = [b".".join([b"x", *rng.choice(words, 12), b"z"]) for _ in range(300)]
    with far_automata():
        simulator = Simulator(nfa, b".")
        assert answers(simulator, keys) == answers(Twin(nfa, b".", 64 << 20), keys)


def test_sets_with_many_nested_loops_take_smaller_blocks() -> None:
    """What a block of keys must remember of them stays within half a megabyte, and at least one key has room."""
    patterns: list[list[Token]] = [[Wildcard.MANY, b"%d" % i, Wildcard.MANY, b"z"] for i in range(100_000)]
    program = make_program(build_nfa(patterns), b".")
    assert program.nested_count == 100_000
    assert simulated_block(program) == 65536 // (100_000 // 64 + 1)


def test_more_pairs_than_a_block_has_room_for() -> None:
    """5,000 loops are active for each key: a block must become smaller, until its pairs fit."""
    patterns: list[list[Token]] = [[Wildcard.MANY, b"%d" % i, *[Wildcard.ONE] * (i % 3)] for i in range(5000)]
    patterns += [[b"%d" % i, Wildcard.MANY, b"%d" % (i + 1)] for i in range(5000)]
    nfa = build_nfa(patterns)
    keys: list[bytes | None] = [b".".join(b"%d" % (i * j % 5001) for j in range(i % 9)) for i in range(1000)]
    keys[5] = None
    with far_automata():
        found = Simulator(nfa, b".").match_batch([column(keys)])
    assert found.set_ids[5] == -1
    twin = Twin(nfa, b".", 64 << 20)
    for key, number in list(zip(keys, found.set_ids.tolist(), strict=True))[::23]:
        if key is not None:
            assert tuple(found.positions[found.offsets[number] : found.offsets[number + 1]]) == twin.match(key)


def test_a_cache_that_was_full_keeps_what_comes_again() -> None:
    """A thousand keys come again and again between ten times as many that do not, for which there is no room."""
    nfa = build_nfa([[b"%d" % i, b"%d" % (i * 7 % 1000)] for i in range(1000)] + [[Wildcard.ONE, Wildcard.MANY]])
    capacity = 40_000
    rng = np.random.default_rng(4)
    hot = [b"%d.%d" % (i, i * 7 % 1000) for i in range(100)]
    expected_of = Simulator(nfa, b".")
    with (
        patch("compiler.machine.cache.DOORKEEPER_FROM", 0),
        patch("compiler.machine.bounded_cache.DOORKEEPER_FROM", 0),
        patch("compiler.machine.dividing.bit_program", return_value=None),
    ):
        machines = [LazyDfa(nfa, b".", capacity, policy=Policy(doorkeeper=door)) for door in (None, False)]
        for turn in range(20):
            keys: list[bytes | None] = [
                hot[at] if at < 100 else b"%d.%d" % (rng.integers(1000), turn) for at in rng.integers(0, 400, 4000)
            ]
            found = [answers(machine, keys) for machine in machines]
            assert found[0] == found[1] == answers(expected_of, keys)
            for machine in machines:
                assert machine.stats().bytes <= capacity
    kept, lost = (machine.stats() for machine in machines)
    caches = [machine._walkers[0]._cache for machine in machines]
    assert [cache is not None and len(cache.doorkeeper) > 0 for cache in caches] == [True, False]
    assert 0 < kept.clears < lost.clears


def test_a_narrow_cache_has_a_doorkeeper_where_a_roomy_one_builds_at_once() -> None:
    """An automaton that is not far from the processor fills a cache that is not much larger than itself with what comes once."""
    nfa = build_nfa(list(_sites(3000)))
    keys = [b"site.%d.dev.%d.temp" % (i % 97, i) for i in range(3000)]
    expected = answers(Twin(nfa, b".", 64 << 20), keys)
    program = make_program(nfa, b".")
    size = program.nodes.nbytes + program.edges.nbytes
    with (
        patch("compiler.machine.bounded_cache.FAR_WITHIN", size // 2),
        patch("compiler.machine.dividing.bit_program", return_value=None),
    ):
        narrow, roomy = (LazyDfa(nfa, b".", times * size, policy=Policy(exact=False)) for times in (15, 17))
        for machine in (narrow, roomy):
            assert answers(machine, keys) == expected
    assert narrow.stats().fallbacks > 0.9 * len(keys)
    assert roomy.stats().fallbacks == 0
    assert roomy.stats().transitions > len(keys) > narrow.stats().transitions
