"""Single keys that tables alone do not answer, in one call of a kernel: as small batches of one, answer by answer and counter by counter."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Nfa, Token, Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.kernels.single_lost import match_lost
from compiler.kernels.single_simulated import MOST_MEMBERS, MOST_READ
from compiler.machine import lost_keys
from compiler.machine.lazy import LazyDfa
from compiler.machine.pace import Pace
from compiler.machine.policy import Policy
from compiler.machine.single_keys import ONE_BYTES
from compiler.machine.small_batches import SmallBatchWalker
from tests.compiler.machines import KEYS, PATTERNS, answers, assert_same_automaton, column, without_bits

NEVER = 1 << 60


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Have the kernel there, which is loaded in another thread otherwise."""
    match_lost.make((), "find")


def machines(nfa: Nfa, capacity: int, policy: Policy, *, bits: bool) -> tuple[LazyDfa, LazyDfa]:
    """Return two machines that are alike."""
    pair = LazyDfa(nfa, b".", capacity, policy=policy), LazyDfa(nfa, b".", capacity, policy=policy)
    if not bits:
        for machine in pair:
            without_bits(machine)
    return pair


def in_turns(nfa: Nfa, keys: Sequence[bytes], capacity: int, policy: Policy, *, bits: bool) -> tuple[int, LazyDfa]:
    """Ask two machines for each key, of which one sends lost keys the way of small batches; return how many the other has answered, and that."""
    soon, late = machines(nfa, capacity, policy, bits=bits)
    expected = answers(Twin(nfa, b".", 1 << 20), keys)
    few = 0
    with patch.object(SmallBatchWalker, "_run_few", autospec=True, side_effect=SmallBatchWalker._run_few) as run:
        for key, tags in zip(keys, expected, strict=True):
            with patch.object(lost_keys, "SOON", 0):
                assert list(soon.match(key)) == tags, key
            before = run.call_count
            with patch.object(lost_keys, "SOON", NEVER):
                assert list(late.match(key)) == tags, key
            few += run.call_count - before
            if policy.doorkeeper:  # for which it matters whether a state was there before a table had to grow
                continue
            assert asdict(soon.stats()) == asdict(late.stats()), key
            one, other = soon._walkers[0]._pace, late._walkers[0]._pace
            assert one.pause == other.pause
            assert (one.stretch, one.begun, one.builds) == (other.stretch, other.begun, other.builds)
    if not policy.doorkeeper:
        assert soon.snapshot() == late.snapshot()
    if soon.snapshot() is not None and soon._parts.exact is None:
        assert_same_automaton(nfa, soon)
    return 2 * few - run.call_count, soon


POLICIES = st.sampled_from(
    [Policy(exact=False), Policy(exact=True), Policy(simulate=True), Policy(simulate=False), Policy(doorkeeper=True)]
)


@given(PATTERNS, KEYS, st.booleans(), POLICIES, st.sampled_from([0, 1500, 3000, 4 << 20]))
@settings(max_examples=150, deadline=None)
def test_each_key_does_the_same(
    patterns: list[list[Token]], words: list[list[bytes]], bits: bool, policy: Policy, capacity: int
) -> None:
    keys = [key for key in map(b".".join, words) if b"\0" not in key] or [b""]
    in_turns(build_nfa(patterns), 3 * keys, capacity, policy, bits=bits)


def drawn(seed: int, count: int, *, words: int, length: int) -> tuple[Nfa, list[bytes]]:
    rng = random.Random(seed)
    names = [b"%d" % i if i % 5 else b"longer-than-%d" % i for i in range(words)]
    patterns: list[list[Token]] = []
    for _ in range(count):
        tokens: list[Token] = [rng.choice(names) for _ in range(rng.randint(1, length))]
        for _ in range(rng.randint(0, 2)):
            tokens[rng.randrange(len(tokens))] = rng.choice([Wildcard.ONE, Wildcard.MANY])
        patterns.append(tokens)
    patterns.append([b"end", *[Wildcard.ONE] * 5])
    keys = [b".".join(rng.choices(names, k=rng.randint(1, length))) for _ in range(3000)]
    return build_nfa(patterns), keys


def adversarial() -> tuple[Nfa, list[bytes]]:
    """Return a pattern and keys whose states never recur."""
    rng = random.Random(11)
    keys = [b".".join(rng.choices([b"a", b"b"], k=40)) for _ in range(3000)]
    return build_nfa([[Wildcard.MANY, b"a", *[Wildcard.ONE] * 30]]), keys


SETS = {
    "small": (drawn(1, 348, words=40, length=6), 8 << 20, Policy(), True),
    "adversarial": (adversarial(), 8 << 20, Policy(), True),
    "without bits": (drawn(2, 300, words=40, length=5), 8 << 20, Policy(), False),
    "doorkeeper": (drawn(3, 300, words=20, length=4), 8 << 20, Policy(doorkeeper=True), False),
    "full": (drawn(4, 300, words=40, length=5), 60_000, Policy(), False),
    "closed": (drawn(5, 300, words=40, length=5), 60_000, Policy(close=True), False),
    "never simulated": (drawn(6, 300, words=40, length=5), 8 << 20, Policy(simulate=False), True),
    "exact": (drawn(7, 300, words=10, length=3), 8 << 20, Policy(exact=True), False),
    "crowded": (drawn(8, 3000, words=2000, length=2), 8 << 20, Policy(), False),
    "no cache": (drawn(9, 60, words=40, length=5), 0, Policy(), True),
    "no cache, no bits": (drawn(10, 60, words=40, length=5), 0, Policy(), False),
}


@pytest.mark.parametrize("name", SETS)
def test_thousands_of_keys_do_the_same(name: str) -> None:
    (nfa, keys), capacity, policy, bits = SETS[name]
    spared, machine = in_turns(nfa, keys, capacity, policy, bits=bits)
    counters = machine.stats()
    assert counters.keys == len(keys)
    if name not in {"closed", "never simulated"}:  # where each key, or each that builds, goes on as in any batch
        assert spared > 50, (name, spared)
    if name in {"adversarial", "no cache", "no cache, no bits"}:
        assert counters.fallbacks > 100
    if name == "full":
        assert counters.clears


@pytest.mark.parametrize("pause", [0, NEVER])
def test_large_sets_and_long_keys_go_the_way_of_small_batches(pause: int) -> None:
    patterns: list[list[Token]] = [[Wildcard.MANY, b"%d" % i, Wildcard.MANY, b"x"] for i in range(MOST_MEMBERS + 10)]
    nfa = build_nfa(patterns)
    many = b".".join(b"%d" % i for i in range(MOST_MEMBERS + 10))[: ONE_BYTES - 10]
    keys = [b"1.x", b"1.2.x", many + b".x", b"1.x." * ONE_BYTES + b"x", many, b"3.2.1.x", b"3.2.1.y"]
    machine = without_bits(LazyDfa(nfa, b".", 8 << 20))
    machine._walkers[0]._pace.pause = pause
    with patch.object(lost_keys, "SOON", 0):
        assert [list(machine.match(key)) for key in keys] == answers(Twin(nfa, b".", 1 << 24), keys)
    assert machine.stats().keys == len(keys)
    assert machine.stats().fallbacks == (len(keys) if pause else 0)


@pytest.mark.parametrize("words", [2, 1500])
def test_keys_that_list_many_tags_word_by_word_go_the_way_of_small_batches(words: int) -> None:
    """Which lists those of the last word alone, and lets go of the interpreter's lock."""
    patterns: list[list[Token]] = [[Wildcard.MANY] for _ in range(100)]
    machine = without_bits(LazyDfa(build_nfa([*patterns, [Wildcard.MANY, b"a", Wildcard.ONE]]), b".", 0))
    keys = [b".".join([b"w"] * (words - 2) + [b"a", b"%d" % end]) for end in range(3)]
    assert max(map(len, keys)) < ONE_BYTES
    run_few = patch.object(SmallBatchWalker, "_run_few", autospec=True, side_effect=SmallBatchWalker._run_few)
    with patch.object(lost_keys, "SOON", 0), run_few as run:
        assert [machine.match(key) for key in keys] == [tuple(range(101))] * 3
    assert run.call_count == (3 if words * 100 > MOST_READ else 0)


def test_it_begins_when_some_keys_have_needed_it() -> None:
    machine = LazyDfa(build_nfa([[b"a", Wildcard.ONE], [Wildcard.MANY, b"b"]]), b".", 1 << 20)
    walker = machine._walkers[0]
    walker._pace.pause = NEVER
    for at in range(lost_keys.SOON + 1):
        assert walker._lost.cache is not walker._cache
        assert machine.match(b"a.%d" % at) == (0,)
    assert walker._lost.cache is walker._cache
    assert machine.match(b"a.b") == (0, 1)
    machine._share(2)
    assert walker._lost.cache is not walker._cache
    assert machine.match(b"a.b") == (0, 1)


def test_keys_go_the_way_of_small_batches_until_the_kernel_is_there() -> None:
    machine = LazyDfa(build_nfa([[b"a", Wildcard.ONE], [Wildcard.MANY, b"b"]]), b".", 1 << 20)
    walker = machine._walkers[0]
    walker._pace.pause = NEVER
    with patch.object(lost_keys, "SOON", 0):
        with patch.object(type(match_lost), "ready", return_value=False) as ready:
            assert [machine.match(key) for key in (b"a.b", b"a.c", b"c.b", b"c")] == [(0, 1), (0,), (1,), ()]
        assert ready.called
        assert walker._lost.cache is not walker._cache
        assert machine.match(b"d.b") == (1,)
        assert walker._lost.cache is walker._cache


@pytest.fixture
def soon() -> Iterator[None]:
    with patch.object(lost_keys, "SOON", 0):
        yield


@pytest.mark.usefixtures("soon")
def test_rows_know_what_single_keys_have_built() -> None:
    nfa = build_nfa([[b"a", Wildcard.ONE, b"c"], [Wildcard.ONE, b"b"]])
    machine = LazyDfa(nfa, b".", 8 << 20, policy=Policy(simulate=False))
    keys = [b"a.b"] * 20_000
    for _ in range(2):
        machine.match_batch([column(keys)])
    assert machine._walkers[0]._dense_rows.nbytes
    machine._walkers[0]._pace.counts[1] = NEVER
    for key in (b"a.x", b"a.x.c", b"x.b", b"a.b.c"):
        assert list(machine.match(key)) == answers(Twin(nfa, b".", 1 << 20), [key])[0]
    more = keys + [b"a.b.c", b"x.b", b"q"] * 3000
    assert answers(machine, more) == answers(Twin(nfa, b".", 1 << 20), more)


@pytest.mark.usefixtures("soon")
def test_outgrown_tables_are_let_go() -> None:
    (nfa, keys), *_ = SETS["without bits"]
    machine = without_bits(LazyDfa(nfa, b".", 8 << 20))
    for key in keys[:500]:
        machine.match(key)
    walker = machine._walkers[0]
    assert walker._lost.cache in (walker._cache, "dropped")
    machine.match_batch([column(keys)])
    assert walker._lost.cache in (walker._cache, "dropped")


@pytest.mark.usefixtures("soon")
def test_batches_in_between_do_not_put_off_that_building_is_judged() -> None:
    """One known batch for each stretch of single keys, which batches had made long, kept building for ever."""
    (nfa, keys), capacity, policy, _ = SETS["small"]
    machine = LazyDfa(nfa, b".", capacity, policy=policy)
    pace = machine._walkers[0]._pace
    machine.match(keys[0])
    pace.stretch = 1 << 18
    pace.counts[:] = 0
    with patch.object(Pace, "compare", autospec=True, side_effect=Pace.compare) as compare:
        for at, key in enumerate(keys):
            machine.match(key)
            if at % 500 == 499:
                machine.match_batch([column([keys[0]] * 300)])
    judged = sum(call.kwargs["builds"] for call in compare.call_args_list)
    assert judged > 0.8 * machine.stats().transitions > 1000
