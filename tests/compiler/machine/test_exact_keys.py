"""Keys of patterns without wildcards, looked up whole: the same answers, whatever else the machine does with its keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compiler.machine
from compiler import Token, build_nfa
from compiler.kernels.store_tables import STORED_BYTES
from compiler.kernels.work import SHARED_FROM
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.sealed_pace import PAUSE
from compiler.prepare import jit_enabled
from compiler.values import FEW, KeyColumn
from tests import breaking_off
from tests.borders import KEY_COUNTS, LENGTHS
from tests.compiler.divided import (
    ANY,
    LARGE_KEYS,
    MANY,
    RESERVED,
    SETS,
    Drawn,
    all_found_keys,
    divided,
    expected_of,
    found_keys,
    large,
    singly,
    told,
)
from tests.compiler.machines import answers, column
from tests.strides import strides

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled machines")

CAPACITIES = st.sampled_from([0, 1500, 3000, 12_000, 4 << 20])
POLICIES = {
    "auto": Policy(exact=True),
    "simulate": Policy(exact=True, simulate=True),
    "walk": Policy(exact=True, simulate=False),
    "doorkeeper": Policy(exact=True, doorkeeper=True),
    "store": Policy(exact=True, key_store=True),
    "store, walk": Policy(exact=True, key_store=True, simulate=False),
    "close": Policy(exact=True, close=True),
    "clear": Policy(exact=True, close=False, simulate=False),
    "no rows": Policy(exact=True, row_bytes=0),
}


class Place:
    """Where an array lies."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.array = array
        self.address, self.size = array.ctypes.data, array.nbytes


def assert_small_batches(machine: LazyDfa, keys: Sequence[bytes | None], expected: Sequence[list[int] | None]) -> None:
    """Match keys that are joined, and keys where they lie; either may be told to go the way of columns."""
    pairs = [(key, right) for key, right in zip(keys, expected, strict=True) if key is not None and b"\0" not in key]
    some, rights = [key for key, _ in pairs[:FEW]], [right for _, right in pairs[:FEW]]
    if not some:
        return
    batches = [machine.match_joined(b"\0".join(some), len(some))]
    offsets = np.cumsum([0, *map(len, some)]).astype(np.int32)
    data = np.frombuffer(b"".join(some), np.uint8)
    batches.append(machine.match_memory(Place(offsets), Place(data), 0, len(some), 4))
    for batch in batches:
        assert batch is None or told(batch) == rights


@pytest.mark.parametrize("key_cache", ["auto", "on", "off"])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.usefixtures("small")
def test_same_answers(policy: str, key_cache: Any) -> None:
    """Of a batch, of single keys and of small batches, in turn, so that each meets what the others have left."""
    found = apart = 0

    @given(SETS, RESERVED, CAPACITIES)
    @settings(max_examples=40, deadline=None)
    def same(drawn: Drawn, reserved: bytes, capacity: int) -> None:
        nonlocal found, apart
        patterns, keys = drawn
        nfa = build_nfa(patterns, reserved=reserved)
        expected = expected_of(nfa, keys)
        machine = LazyDfa(nfa, b".", capacity, policy=POLICIES[policy], key_cache=key_cache)
        for _ in range(2):
            assert answers(machine, keys) == expected
            assert singly(machine, keys) == expected
            assert_small_batches(machine, keys, expected)
        assert answers(machine, keys[::-1]) == expected[::-1]
        assert machine.stats().bytes <= machine.stats().capacity
        found, apart = found + found_keys(machine), apart + divided(machine)

    same()
    assert apart > 20  # or it would show little
    assert found > 100


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.usefixtures("small")
def test_same_answers_of_sealed_tables(policy: str) -> None:
    """They know nothing of some keys, which are left to a cache that may be small."""
    found = 0

    @given(SETS, RESERVED, st.sampled_from([0, 3000, 4 << 20]))
    @settings(max_examples=40, deadline=None)
    def same(drawn: Drawn, reserved: bytes, room: int) -> None:
        nonlocal found
        patterns, keys = drawn
        nfa = build_nfa(patterns, reserved=reserved)
        expected = expected_of(nfa, keys)
        known = LazyDfa(nfa, b".", 4 << 20, policy=Policy(exact=True, simulate=False))
        answers(known, [*keys[::2], b"a.no-word"])
        seal = known.seal()
        if seal is None:
            return
        assert seal.sealed is not None
        capacity = seal.stats().bytes + room
        machine = LazyDfa(nfa, b".", capacity, policy=POLICIES[policy], key_cache="auto").with_seal(seal.sealed)
        assert machine.sealed is not None
        for _ in range(2):
            assert answers(machine, keys) == expected
            assert singly(machine, keys) == expected
            assert_small_batches(machine, keys, expected)
        assert machine.stats().bytes <= capacity
        assert told(machine.match_batch([column(keys[:9]), column(keys[9:])])) == expected
        found += found_keys(machine)

    same()
    assert found > 100


@given(SETS, CAPACITIES, st.booleans())
@settings(max_examples=60, deadline=None)
def test_several_columns(drawn: Drawn, capacity: int, nulls: bool) -> None:
    """One that begins in the middle of its bytes, and one behind which nobody may read; with nulls and without."""
    nfa, keys = build_nfa(drawn[0]), [key for key in drawn[1] if nulls or key is not None]
    long, apart = column([b"before", *keys, *[b"behind"] * 30]), column(keys)
    assert long.valid is not None
    cut = KeyColumn(long.offsets[1 : len(keys) + 2], long.data, long.valid[1:-30] if nulls else None)
    expected = expected_of(nfa, keys)
    machine = LazyDfa(nfa, b".", capacity, policy=Policy(exact=True), key_cache="auto")
    answers(machine, keys[::2])
    for one in (machine, machine.seal()):
        if one is not None:
            assert told(one.match_batch([cut])) == expected
            assert told(one.match_batch([cut, column([]), cut])) == 2 * expected
            assert told(one.match_batch([apart, cut, apart])) == 3 * expected


def test_a_null_key_that_has_bytes_is_not_found() -> None:
    """Arrow may have any bytes where a key is null."""
    nfa = build_nfa([[b"a", b"b"], [b"a", b"c"], [ANY, b"b"]])
    keys = [b"a.b", b"a.c", b"x.b", b"x.c"] * 50
    valid = np.arange(200) % 3 != 0
    expected = [right if there else None for right, there in zip([[0, 2], [1], [2], []] * 50, valid, strict=True)]
    machine = LazyDfa(nfa, b".", 1 << 20, policy=Policy(exact=True))
    answers(machine, [b"x"])
    for one in (machine, machine.seal()):
        assert one is not None
        assert told(one.match_batch([column(keys)._replace(valid=valid)])) == expected
        assert (
            one.stats().key_cache_hits
            == found_keys(one)
            == np.count_nonzero(valid[::4]) + np.count_nonzero(valid[1::4])
        )


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("capacity", [6000, 60_000, 4 << 20])
def test_same_answers_of_many_keys(capacity: int, policy: str) -> None:
    """In more than one look-up, in one thread and two, with tables that grow, are full and are cleared meanwhile."""
    nfa, expected = large()
    machine = LazyDfa(nfa, b".", capacity, policy=POLICIES[policy], key_cache="auto")
    assert divided(machine)
    for threads in (1, 2, 1):
        assert told(machine.match_batch([column(LARGE_KEYS)], threads=threads)) == expected
        assert machine.stats().bytes <= capacity
    assert machine.stats().keys == 3 * len(LARGE_KEYS)
    sealed = machine.seal()
    assert (sealed is None) is (policy == "simulate")
    if sealed is not None:
        for threads in (1, 2, 1):
            assert told(sealed.match_batch([column(LARGE_KEYS)], threads=threads)) == expected
        assert sealed.stats().keys == 3 * len(LARGE_KEYS)


@pytest.mark.parametrize("count", [one for one in KEY_COUNTS if one])
def test_counts_of_keys(count: int) -> None:
    """With all of them found, none, and each second one: the counters say how many."""
    nfa = build_nfa([[b"k", b"%d" % i] for i in range(600)] + [[b"k", ANY, MANY]])
    known: list[bytes | None] = [b"k.%d" % (i % 600) for i in range(count)]
    others: list[bytes | None] = [b"o.%d" % i for i in range(count)]
    mixed = [key for pair in zip(known, others, strict=True) for key in pair][:count]
    for keys, found in ((known, count), (others, 0), (mixed, (count + 1) // 2)):
        machine = LazyDfa(nfa, b".", 1 << 20, policy=Policy(exact=True))
        expected = [[int(bytes(key or b"")[2:]), 600] if bytes(key or b"").startswith(b"k") else [] for key in keys]
        assert answers(machine, keys) == expected
        assert (machine.stats().keys, machine.stats().key_cache_hits) == (count, found)
        assert singly(machine, keys) == expected
        assert (machine.stats().keys, machine.stats().key_cache_hits) == (2 * count, 2 * found)
        assert_small_batches(machine, keys, expected)
        sealed = machine.seal()
        if sealed is not None:
            for turn in (1, 2, 3):
                assert (answers, singly, answers)[turn - 1](sealed, keys) == expected
                assert (sealed.stats().keys, sealed.stats().key_cache_hits) == (turn * count, turn * found)
            assert_small_batches(sealed, keys, expected)


def test_small_batches_are_counted() -> None:
    nfa = build_nfa([[b"k", b"%d" % i] for i in range(600)] + [[b"k", ANY, MANY]])
    machine = LazyDfa(nfa, b".", 1 << 20, policy=Policy(exact=True))
    answers(machine, [b"x", b"k.z"])
    sealed = machine.seal()
    assert sealed is not None
    for one in (machine, sealed):
        before = one.stats()
        batch = one.match_joined(b"k.1\0k.z\0k.2\0x", 4)
        assert batch is not None
        assert told(batch) == [[1, 600], [600], [2, 600], []]
        assert (one.stats().keys - before.keys, one.stats().key_cache_hits - before.key_cache_hits) == (4, 2)


def test_sealed_tables_are_left_out_in_the_middle_of_keys_that_were_found() -> None:
    """Each key is counted once then, too, and nulls are nobody's."""
    nfa = build_nfa([[b"k", b"%d" % i] for i in range(6000)] + [[b"%d" % i, ANY, b"x", MANY] for i in range(3000)])
    machine = LazyDfa(nfa, b".", 64 << 20, policy=Policy(exact=True, simulate=False))
    answers(machine, [b"k.z"])
    sealed = machine.seal()
    assert sealed is not None
    keys: list[bytes | None] = [
        (b"k.%d" % (i % 6000), b"%d.y.x" % (i % 3000), None, b"k.z")[i % 4] for i in range(20_000)
    ]
    expected = [([i % 6000], [6000 + i % 3000], None, [])[i % 4] for i in range(20_000)]
    for times in (1, 2):
        assert answers(sealed, keys) == expected
        pace = sealed._walkers[0]._sealed_pace  # type: ignore[attr-defined]
        assert pace.pause or pace.patience > PAUSE, "the tables were asked all the time"
        counters = sealed.stats()
        assert (counters.keys, counters.key_cache_hits) == (times * 20_000, times * 5000)


def test_keys_of_all_lengths() -> None:
    """Those that are too long to be stored stay in the automaton, and keys that only begin like another one are not found."""
    lengths = sorted({*LENGTHS, STORED_BYTES - 1, STORED_BYTES, STORED_BYTES + 1} - {0})
    patterns: list[list[Token]] = [[b"x" * length] for length in lengths]
    nfa = build_nfa([*patterns, *([b"y", b"z" * length] for length in lengths), [b"y", MANY]])
    keys: list[bytes | None] = [b"x" * length for length in lengths]
    keys += [b"y." + b"z" * length for length in lengths]
    keys += [b"x" * length + b"\0" for length in lengths] + [b"w" + b"x" * (length - 1) for length in lengths]
    keys += [b"x" * (length - 1) + b"w" for length in lengths] + [
        b"y." + b"z" * (length - 1) + b"\0" for length in lengths
    ]
    expected = expected_of(nfa, keys)
    assert max(len(key or b"") for key in keys) > STORED_BYTES
    machine = LazyDfa(nfa, b".", 4 << 20, policy=Policy(exact=True))
    for _ in range(2):
        assert answers(machine, keys) == expected
        assert singly(machine, keys) == expected
        assert singly(machine, keys[::-1]) == expected[::-1]  # a long key, and then a short one
    looked_up = sum(length <= STORED_BYTES for length in lengths) + sum(
        length + 2 <= STORED_BYTES for length in lengths
    )
    machine = LazyDfa(nfa, b".", 4 << 20, policy=Policy(exact=True))
    answers(machine, keys)
    assert found_keys(machine) == looked_up
    singly(machine, keys)
    assert all_found_keys(machine) == 2 * looked_up


@pytest.mark.parametrize("count", [1, 2, 3, SHARED_FROM - 1, SHARED_FROM, SHARED_FROM + 1, 3 * SHARED_FROM])
def test_keys_that_many_patterns_match(count: int) -> None:
    """A set that is too large to be written for each of its keys is that of an automaton, which has it once."""
    nfa = build_nfa(
        [[b"a", b"%d" % i] for i in range(40)] + [[b"b", b"%d" % i] for i in range(45)] + [[b"a", ANY]] * count
    )
    keys: list[bytes | None] = [b"%b.%d" % (b"ab"[i % 2 : i % 2 + 1], i % 45) for i in range(300)]
    expected = expected_of(nfa, keys)
    machine = LazyDfa(nfa, b".", 4 << 20, policy=Policy(exact=True))
    assert divided(machine)
    for _ in range(2):
        assert answers(machine, keys) == expected
        assert singly(machine, keys) == expected
        assert_small_batches(machine, keys[:200], expected[:200])
    looked_up = {b"b.%d" % i for i in range(45)} | {b"a.%d" % i for i in range(40) if count < SHARED_FROM}
    machine = LazyDfa(nfa, b".", 4 << 20, policy=Policy(exact=True))
    answers(machine, keys)
    assert found_keys(machine) == sum(key in looked_up for key in keys)


def test_tags_are_ascending_wherever_the_others_stand() -> None:
    """Repeated patterns, and wildcards before, between and behind them."""
    patterns: list[list[Token]] = [
        [MANY],
        [b"a", b"b"],
        [ANY, b"b"],
        [b"a", b"b"],
        [b"a", MANY],
        [b"a", b"c"],
        [b"a", b"b"],
        [b"a"],
    ]
    machine = LazyDfa(build_nfa(patterns), b".", 1 << 20, policy=Policy(exact=True))
    assert divided(machine)
    keys: list[bytes | None] = [b"a.b", b"a.c", b"a", b"a.d", b"b.b", b""]
    expected = [[0, 1, 2, 3, 4, 6], [0, 4, 5], [0, 4, 7], [0, 4], [0, 2], [0]]
    assert answers(machine, keys) == singly(machine, keys) == expected
    assert all_found_keys(machine) == 6


def test_the_reserved_root() -> None:
    """Keys that begin with the byte match no pattern that begins with a wildcard, and are found like others."""
    patterns: list[list[Token]] = [[b"$x", b"a"], [MANY, b"a"], [b"$x", ANY], [b"b", b"a"], [ANY, b"a"], [b"$"], [MANY]]
    keys: list[bytes | None] = [b"$x.a", b"b.a", b"$x.b", b"$y.a", b"$", b"b", b"c.a"]
    expected = [[0, 2], [1, 3, 4, 6], [2], [], [5], [6], [1, 4, 6]]
    nfa = build_nfa([*patterns, [b"$x", b"c"]], reserved=b"$")
    assert expected_of(nfa, keys) == expected
    machine = LazyDfa(nfa, b".", 1 << 20, policy=Policy(exact=True))
    assert divided(machine)
    assert answers(machine, keys) == singly(machine, keys) == expected
    assert all_found_keys(machine) == 6


@pytest.mark.parametrize("patterns", [[], [[b"a"]], [[b"a", b"b"]] * 3, [[b"a"], []], [[b"a"], [b""], [b""]]])
@pytest.mark.parametrize("capacity", [0, 1 << 20])
def test_sets_of_hardly_any_pattern(patterns: list[list[Token]], capacity: int) -> None:
    nfa = build_nfa(patterns)
    keys: list[bytes | None] = [b"", b"a", b"a.b", b".", b"b", None, b"a.", b"a" * 2000]
    machine = LazyDfa(nfa, b".", capacity, policy=Policy(exact=True), key_cache="auto")
    for one in (machine, machine.seal()):
        if one is not None:
            for _ in range(2):
                assert answers(one, keys) == singly(one, keys) == expected_of(nfa, keys)
            assert_small_batches(one, keys, expected_of(nfa, keys))


PATTERNS: list[list[Token]] = [[b"a", b"%d" % i] for i in range(30)]
PATTERNS += [[b"a", MANY], [ANY, b"b", MANY], [b"1", MANY, b"6"], [MANY]]
WITHIN = breaking_off.folders(compiler.machine)


@strides(29)
@pytest.mark.parametrize("capacity", [1700, 1 << 17])
@pytest.mark.parametrize("sealed", [False, True])
def test_a_call_may_be_broken_off_at_every_step(sealed: bool, capacity: int, stride: int) -> None:
    """Also where keys have been found, and their sets written, and no row has been answered."""
    nfa = build_nfa(PATTERNS)
    keys: list[bytes | None] = [b"a.%d" % i if i % 3 else b"%d.b.%d" % (i % 4, i) for i in range(40)]
    expected = expected_of(nfa, keys)

    def make() -> LazyDfa:
        machine = LazyDfa(nfa, b".", capacity, policy=Policy(exact=True), key_cache="auto")
        if sealed:
            answers(machine, keys[:3])
            made = machine.seal()
            assert made is not None
            machine = made
        assert divided(machine)
        return machine

    machines = [make()]
    calls = (
        lambda: answers(machines[0], keys),
        lambda: [machines[0].match(b"a.7"), machines[0].match(b"3.b")],
        lambda: machines[0].match_joined(b"a.7\0a.8\x003.b.1", 3),
    )

    def check(step: int) -> None:
        assert singly(machines[0], keys[step % 30 : step % 30 + 4]) == expected[step % 30 : step % 30 + 4]
        assert answers(machines[0], keys) == expected
        if step % 7 == 0:
            machines[0] = make()

    for call in calls:
        assert breaking_off.everywhere(call, check, WITHIN, stride=stride) > 20


@pytest.mark.skipif(not jit_enabled(), reason="the plain twin has no tables that are sealed")
def test_single_keys_that_are_found_whole_are_none_of_the_sealed_tables() -> None:
    machine = LazyDfa(build_nfa([[b"a", b"b"], [b"a", b"c"], [b"d", ANY]]), b".", 1 << 20, policy=Policy(exact=True))
    machine.match(b"d.x")
    sealed = machine.seal()
    assert sealed is not None
    for whole, walked, key, tags in (
        (1, 0, b"a.b", (0,)),
        (1, 1, b"d.x", (2,)),
        (2, 1, b"a.c", (1,)),
        (2, 2, b"d.b", (2,)),
    ):
        assert sealed.match(key) == tags
        stats = sealed.stats()
        assert (stats.keys, stats.sealed_keys, stats.key_cache_hits) == (whole + walked, walked, whole)
