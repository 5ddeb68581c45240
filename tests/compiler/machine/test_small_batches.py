"""Batches of few keys: the answers of columns, whatever the cache has room for, and no memory read that is not theirs."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Token, Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.kernels.tables import BLOCK, DEFERRED, DONE, PADDING, Keys, frozen
from compiler.kernels.walk import walk
from compiler.machine.columns import NO_NULLS
from compiler.machine.few_keys import MOST_TAGS
from compiler.machine.key_cache import NO_KEY_TABLE
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.small_batches import SmallBatchWalker
from compiler.machine.walker import Walker
from compiler.prepare import jit_enabled
from compiler.values import FEW, FEW_BYTES, Lent, SetBatch
from tests.compiler.guarded import guarded
from tests.compiler.machines import KEYS, PATTERNS, answers, column, without_bits

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="small batches go the way of columns in plain Python")

LETTERS = [b"%c" % letter for letter in range(97, 123)]


class Place(NamedTuple):
    """Memory of a numpy array."""

    address: int
    size: int


def place(array: Any) -> Place:
    return Place(array.ctypes.data, array.nbytes)


def listed(batch: SetBatch | None) -> list[list[int]] | None:
    if batch is None:
        return None
    ends = batch.offsets.tolist()
    return [batch.positions[ends[number] : ends[number + 1]].tolist() for number in batch.set_ids.tolist()]


def in_memory(machine: LazyDfa, keys: list[bytes], width: int, skipped: int = 0, side: str = "before") -> Any:
    """Match keys where they lie: beside memory that nobody may read, from key ``skipped`` on."""
    offsets, data, _ = column(keys)
    kind = np.int32 if width == 4 else np.int64
    at, behind = guarded(offsets.astype(kind), side), guarded(data, side)
    return listed(machine.match_memory(place(at), place(behind), skipped, len(keys) - skipped, width))


def in_lent_tables(machine: LazyDfa, keys: list[bytes], side: str = "before") -> Any:
    """Match keys by the tables that a machine lends, in arrays as kernels read them, beside memory that nobody may read."""
    offsets, data, _ = column(keys)
    padded, count = np.concatenate([data, np.zeros(PADDING, np.uint8)]), len(keys)
    own = Keys(frozen(guarded(offsets, side)), frozen(guarded(padded, side)), frozen(NO_NULLS))
    walked: list[SetBatch] = []
    ids = np.zeros(count, np.int32)

    def use(lent: Lent) -> tuple[int, int]:
        program, cache, work = lent.tables
        status = walk(program, cache, work, own, 0, count, BLOCK, 0, ids, NO_KEY_TABLE)
        if status != DONE or cache.meta[DEFERRED]:
            return count, count
        assert len(cache.set_end) == lent.sets + 1
        walked.append(SetBatch(ids[:count].copy(), cache.set_end.copy(), cache.tags.copy()))
        return count, 0

    found = machine.lend(own, ids, use)
    return listed(found if isinstance(found, SetBatch) else walked[0] if walked else None)


@given(PATTERNS, KEYS, st.sampled_from([1500, 3000, 20_000, 1 << 20]), st.booleans())
@settings(max_examples=200, deadline=None)
def test_few_keys_have_the_answers_of_columns(
    patterns: list[list[Token]], words: list[list[bytes]], capacity: int, bits: bool
) -> None:
    nfa = build_nfa(patterns)
    keys = [key for key in map(b".".join, words) if b"\0" not in key] or [b""]
    expected = answers(Twin(nfa, b".", 1 << 20), keys)
    machine = LazyDfa(nfa, b".", capacity)
    if not bits:
        without_bits(machine)
    for turn in range(3):
        found = listed(machine.match_joined(b"\0".join(keys), len(keys)))
        assert found is None or found == expected
        found = in_memory(machine, keys, 4 if turn % 2 else 8, skipped=min(turn, len(keys) - 1))
        assert found is None or found == expected[min(turn, len(keys) - 1) :]
        found = in_lent_tables(machine, keys, side="behind" if turn % 2 else "before")
        assert found is None or found == expected
        assert machine.stats().bytes <= capacity


def test_a_small_batch_is_answered_without_columns() -> None:
    """Else all of the above would hold of a machine that always returns None."""
    machine = LazyDfa(build_nfa([[b"a", Wildcard.ONE], [Wildcard.MANY]]), b".", 1 << 20)
    assert listed(machine.match_joined(b"a.b\0b", 2)) == [[0, 1], [1]]
    assert in_memory(machine, [b"a.b", b"", b"a.c"], 4) == [[0, 1], [1], [0, 1]]
    assert in_lent_tables(machine, [b"a.b", b""]) == [[0, 1], [1]]
    assert machine.stats().keys == 7


@pytest.mark.parametrize("way", ["joined", "lent"])
def test_a_table_that_must_grow_does_whatever_the_key_cache_knows(way: str) -> None:
    """If a batch went on as any other does, the key cache would answer it, and the table would be too small for each further one."""
    rng = np.random.default_rng(3)
    words: list[Token] = [b"w%d" % i for i in range(40)]
    tokens = [*words, Wildcard.ONE, Wildcard.MANY]
    nfa = build_nfa([[tokens[i] for i in rng.integers(0, len(tokens), 4)] for _ in range(300)])
    twin = Twin(nfa, b".", 1 << 24)
    for count in range(1, 40):
        machine = LazyDfa(nfa, b".", 1 << 26, key_cache="auto")
        keys = [b".".join(b"w%d" % i for i in rng.integers(0, 40, 4)) for _ in range(count)]
        expected = answers(twin, keys)
        for _ in range(3):
            few = (
                listed(machine.match_joined(b"\0".join(keys), count))
                if way == "joined"
                else in_lent_tables(machine, keys)
            )
            assert few == expected
        counters = machine.stats()
        assert (counters.key_cache_hits, counters.fallbacks) == (0, 0)


@pytest.mark.parametrize("side", ["before", "behind"])
@pytest.mark.parametrize("width", [4, 8])
def test_keys_of_any_length_beside_memory_that_nobody_may_read(width: int, side: str) -> None:
    nfa = build_nfa([[b"x" * 63], [b"x" * 64], [Wildcard.ONE, b"y"], [Wildcard.MANY, b"z" * 9]])
    machine, twin = LazyDfa(nfa, b".", 1 << 20), Twin(nfa, b".", 1 << 20)
    for length in range(140):
        keys = [b"x" * length, b".y", b"x" * length + b".y", b"", b"q." * (length // 2) + b"z" * 9]
        expected = answers(twin, keys)
        assert in_memory(machine, keys, width, side=side) == expected
        assert listed(machine.match_joined(b"\0".join(keys), 5)) == expected
        assert in_memory(machine, keys, width, skipped=2, side=side) == expected[2:]


def test_keys_that_are_joined_otherwise_than_told_go_another_way() -> None:
    machine = LazyDfa(build_nfa([[b"a"]]), b".", 1 << 20)
    long = b"b" * 70
    for keys in ([b"a"], [b"a", long], [long, b"", b""], [b""], [b"", b""], [long] * 9):
        joined = b"\0".join(keys)
        for count in range(1, 12):
            found = machine.match_joined(joined, count)
            assert (found is None) == (count != len(keys)), (keys, count)
    assert machine.match_joined(b"a" * FEW_BYTES, 1) is not None
    assert machine.match_joined(b"a" * (FEW_BYTES + 1), 1) is None
    assert listed(machine.match_joined(b"a\0" * (FEW - 1) + b"a", FEW)) == [[0]] * FEW


@pytest.mark.parametrize("width", [4, 8])
def test_damaged_offsets_are_refused(width: int) -> None:
    machine = LazyDfa(build_nfa([[b"a"]]), b".", 1 << 20)
    kind = np.int32 if width == 4 else np.int64
    data = guarded(np.frombuffer(b"a" * 100, np.uint8), "before")
    for ends in ([0, 101], [0, 50, 20], [-1, 5], [5, 3], [0, 1, np.iinfo(kind).max], [np.iinfo(kind).min, 5]):
        offsets = guarded(np.array(ends, kind), "before")
        assert machine.match_memory(place(offsets), place(data), 0, len(ends) - 1, width) is None, ends
    good = guarded(np.array([0, 1, 2], kind), "before")
    assert machine.match_memory(place(good), place(data), 1, 2, width) is None  # one offset too few
    assert machine.match_memory(place(good), None, 0, 2, width) is None
    assert listed(machine.match_memory(place(good), place(data), 0, 2, width)) == [[0], [0]]


def test_the_answer_outlives_the_cache() -> None:
    """Answers are copies: what the walker and its cache do afterwards does not change them."""
    nfa = build_nfa([[Wildcard.MANY, letter, Wildcard.MANY] for letter in LETTERS[:12]])
    keys = [b".".join(some) for some in product(LETTERS[:13], repeat=3)]
    expected = answers(Twin(nfa, b".", 1 << 24), keys)
    machine = without_bits(LazyDfa(nfa, b".", 6000))
    parts = [keys[first : first + 50] for first in range(0, len(keys), 50)]
    found = [machine.match_joined(b"\0".join(part), len(part)) for part in parts]
    assert machine.stats().clears > 1
    for part, batch in zip(range(0, len(keys), 50), found, strict=True):
        assert batch is None or listed(batch) == expected[part : part + 50]


def test_large_sets_go_on_as_in_any_batch() -> None:
    """A thousand tags for each key are more than the room for an answer has."""
    nfa = build_nfa([[Wildcard.MANY, b"w%d" % (i // 100), Wildcard.MANY] for i in range(2000)])
    machine = LazyDfa(nfa, b".", 8 << 20)
    keys = [b".".join(b"w%d" % (number >> bit & 15) for bit in range(0, 20, 2)) for number in range(0, 9000, 37)][:FEW]
    expected = answers(Twin(nfa, b".", 1 << 24), keys)
    assert listed(machine.match_joined(b"\0".join(keys), len(keys))) == expected


def test_adversarial_small_batches_are_simulated_in_the_end() -> None:
    """The pace is judged for small batches, too: patterns whose states never recur end in simulation."""
    nfa = build_nfa([[Wildcard.MANY, b"a", *[Wildcard.ONE] * 30]])
    rng = np.random.default_rng(0)
    keys = [b".".join(rng.choice([b"a", b"b"], 40)) for _ in range(3000)]
    machine = LazyDfa(nfa, b".", 64 << 20)
    expected = answers(Twin(nfa, b".", 0), keys)
    for at in range(0, len(keys), 10):
        assert listed(machine.match_joined(b"\0".join(keys[at : at + 10]), 10)) == expected[at : at + 10]
    assert machine.stats().states < 20_000
    assert machine.stats().fallbacks > 2000


@pytest.mark.parametrize("before", [0, 1])
def test_a_small_batch_that_is_broken_off_leaves_no_stretch_to_be_judged(before: int) -> None:
    """What it had built was counted, and not its keys: the next large batch divided by what simulating none would have cost, or simulated others for nothing."""
    nfa = build_nfa([[Wildcard.MANY, b"a", *[Wildcard.ONE] * 14]])
    rng = np.random.default_rng(1)
    keys = [b".".join(rng.choice([b"a", b"b"], 120)) for _ in range(200)]
    machine, grow, left = LazyDfa(nfa, b".", 64 << 20), SmallBatchWalker._grow, 10

    def broken(walker: SmallBatchWalker, *given: Any) -> bool:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return grow(walker, *given)

    if before:
        machine.match_joined(b"a.b", before)
    with patch.object(SmallBatchWalker, "_grow", broken), pytest.raises(KeyboardInterrupt):
        machine.match_joined(b"\0".join(keys), len(keys))
    easy = [b"a.b"] * (FEW + 500)
    assert listed(machine.match_batch([column(easy)])) == [[]] * len(easy)
    assert machine.stats().fallbacks == 0
    assert listed(machine.match_batch([column(keys)])) == answers(Twin(nfa, b".", 0), keys)


def simulated(patterns: list[list[Token]], *, bits: bool, policy: Policy | None = None) -> LazyDfa:
    """Return a machine that is not to walk for long."""
    machine = LazyDfa(build_nfa(patterns), b".", 8 << 20, policy=policy or Policy())
    if not bits:
        without_bits(machine)
    machine._walkers[0]._pace.pause = 1 << 30
    return machine


@given(PATTERNS, KEYS, st.booleans(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_few_keys_are_simulated_without_columns(
    patterns: list[list[Token]], words: list[list[bytes]], bits: bool, cached: bool
) -> None:
    keys = [key for key in map(b".".join, words) if b"\0" not in key] or [b""]
    expected = answers(Twin(build_nfa(patterns), b".", 1 << 20), keys)
    machine = simulated(patterns, bits=bits, policy=Policy(exact=False, simulate=None if cached else True))
    with patch.object(Walker, "_match_column", side_effect=AssertionError):
        for count in (len(keys), 1):
            assert listed(machine.match_joined(b"\0".join(keys[:count]), count)) == expected[:count]
        assert in_memory(machine, keys, 4) == expected
        assert [list(machine.match(key)) for key in keys] == expected
    assert machine.stats().fallbacks == machine.stats().keys == 3 * len(keys) + 1
    assert machine._walkers[0]._pace.pause == (1 << 30) - 3 * len(keys) - 1


@pytest.mark.parametrize("bits", [True, False])
def test_large_simulated_sets_go_on_as_in_any_batch(bits: bool) -> None:
    """Three hundred tags for each key, and no two keys with the same ones: in all they are more than there is room for."""
    patterns: list[list[Token]] = [[Wildcard.MANY, b"w%d" % (i % 10), Wildcard.MANY] for i in range(500)]
    patterns.extend([b"w%d" % i, Wildcard.MANY] for i in range(10))
    machine = simulated(patterns, bits=bits)
    rng = np.random.default_rng(1)
    keys = [b".".join(b"w%d" % i for i in rng.permutation(10)[:6]) for _ in range(FEW)]
    expected = answers(Twin(build_nfa(patterns), b".", 1 << 24), keys)
    assert sum(len(tags or ()) for tags in expected) > 3 * MOST_TAGS
    for few in (keys, keys[:3], keys):  # what was left of the sets without room is no part of the next ones
        assert listed(machine.match_joined(b"\0".join(few), len(few))) == expected[: len(few)]
    assert machine.stats().fallbacks == machine.stats().keys == 2 * FEW + 3


def test_keys_that_are_found_whole_are_not_counted_as_simulated() -> None:
    patterns: list[list[Token]] = [[b"k", b"%d" % i] for i in range(600)]
    patterns.append([b"k", Wildcard.ONE, Wildcard.MANY])
    machine = simulated(patterns, bits=False, policy=Policy(exact=True))
    assert listed(machine.match_joined(b"k.1\0k.z\0k.2\0x", 4)) == [[1, 600], [600], [2, 600], []]
    counters = machine.stats()
    assert (counters.keys, counters.key_cache_hits, counters.fallbacks) == (4, 2, 2)


@pytest.mark.parametrize("pause", [0, 1 << 30])
def test_keys_that_are_found_whole_are_counted_once_where_an_answer_has_no_room(pause: int) -> None:
    """Each is matched by sixty patterns with wildcards besides, and the others by two hundred: in all more tags than there is room for."""
    whole = FEW - 56
    patterns: list[list[Token]] = []
    for i in range(FEW):
        patterns.extend([Wildcard.ONE, b"%d" % i] for _ in range(60 if i < whole else 200))
    patterns.extend([b"k", b"%d" % i] for i in range(whole))
    patterns.extend(
        [b"z", b"%d" % i] for i in range(len(patterns))
    )  # as sets of fewer than half such patterns are not divided
    machine = simulated(patterns, bits=False, policy=Policy(exact=True))
    machine._walkers[0]._pace.pause = pause
    keys = [b"k.%d" % i for i in range(FEW)]
    expected = answers(Twin(build_nfa(patterns), b".", 1 << 24), keys)
    assert sum(len(tags or ()) for tags in expected) > MOST_TAGS
    for turn in (1, 2):
        assert listed(machine.match_joined(b"\0".join(keys), len(keys))) == expected
        counters = machine.stats()
        assert (counters.keys, counters.key_cache_hits) == (turn * FEW, turn * whole)
        assert counters.fallbacks == (turn * 56 if pause else 0)


def test_single_keys_of_known_ground_are_walked_in_a_pause() -> None:
    machine = simulated([[b"a", Wildcard.ONE], [Wildcard.MANY, b"b"]], bits=True)
    pace = machine._walkers[0]._pace
    pace.pause = 0
    assert machine.match(b"a.b") == (0, 1)
    pace.pause = 100
    assert machine.match(b"a.b") == (0, 1)
    assert pace.pause == 100
    assert machine.match(b"c.b") == (1,)
    assert pace.pause == 99


def test_a_pause_is_over_when_as_many_keys_were_simulated() -> None:
    machine = simulated([[b"a", Wildcard.ONE], [Wildcard.MANY, b"b"]], bits=True)
    machine._walkers[0]._pace.pause = 5
    for fallbacks in (3, 6, 6):
        assert listed(machine.match_joined(b"a.b\0b\0c", 3)) == [[0, 1], [1], []]
        assert machine.stats().fallbacks == fallbacks
