"""The kernels against their plain-Python twins: the same automaton state for state, the same answers key for key."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from itertools import count, islice, product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Token, Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.kernels.tables import SCRAMBLE
from compiler.machine.bit_program import bit_program
from compiler.machine.cache import empty_cache, nbytes
from compiler.machine.lazy import LazyDfa
from compiler.machine.program import make_program
from compiler.machine.simulator import Simulator
from compiler.machine.single_keys import ONE_BYTES
from compiler.machine.walker import Walker
from tests.borders import KEY_COUNTS, LENGTHS, WORD_COUNTS, between
from tests.compiler.machines import KEYS, PATTERNS, answers, assert_same_automaton, column, without_bits


@given(PATTERNS, KEYS, st.sampled_from([0, 1200, 1500, 2000, 3000, 5000, 1 << 20]))
@settings(max_examples=120, deadline=None)
def test_same_answers_with_any_cache(patterns: list[list[Token]], words: list[list[bytes]], capacity: int) -> None:
    """The lazy DFA, the simulation and the twin agree on every key, and a batch agrees with itself when run again."""
    nfa = build_nfa(patterns)
    keys: list[bytes | None] = [b".".join(key) for key in words]
    keys[::7] = [None] * len(keys[::7])
    machine = LazyDfa(nfa, b".", capacity)
    expected = answers(Twin(nfa, b".", 1 << 20), keys)
    single = LazyDfa(nfa, b".", capacity)
    for _ in range(2):  # once to build what is missing, and once on known ground
        assert [None if key is None else list(single.match(key)) for key in keys] == expected
    assert answers(machine, keys) == expected
    assert answers(machine, keys) == expected
    assert answers(without_bits(LazyDfa(nfa, b".", capacity)), keys) == expected
    assert answers(Simulator(nfa, b"."), keys) == expected
    assert answers(without_bits(Simulator(nfa, b".")), keys) == expected
    assert answers(Twin(nfa, b".", capacity), keys) == expected
    assert machine.stats().bytes <= capacity


@given(PATTERNS, KEYS, st.sampled_from([1500, 3000, 1 << 20]))
@settings(max_examples=80, deadline=None)
def test_same_answers_on_settled_ground(patterns: list[list[Token]], words: list[list[bytes]], capacity: int) -> None:
    """Key by key wherever nothing was missing for the last key, and so from one walk to the other all the time."""
    nfa = build_nfa(patterns)
    keys: list[bytes | None] = [b".".join(key) for key in words]
    keys[::7] = [None] * len(keys[::7])
    expected = answers(Twin(nfa, b".", 1 << 20), keys)
    machine = without_bits(LazyDfa(nfa, b".", capacity))
    with patch("compiler.machine.dense_rows.QUIET_KEYS", 1):
        for _ in range(3):
            assert answers(machine, keys) == expected
            assert answers(machine, keys[::-1]) == expected[::-1]
    assert machine.stats().bytes <= capacity


def test_settled_ground_is_left_when_the_cache_is_shared_out() -> None:
    """More threads mean smaller caches: a cache that is too large for its share is thrown away, and its rows with it."""
    nfa = build_nfa([[Wildcard.MANY, b"a", *[Wildcard.ONE] * 5]])
    keys = [b".".join(b"ab"[i : i + 1] for i in bits) for bits in product((0, 1), repeat=6)] * 300
    expected = answers(Twin(nfa, b".", 1 << 20), keys)
    machine = without_bits(LazyDfa(nfa, b".", 12_000))
    with patch("compiler.machine.dense_rows.QUIET_KEYS", 1):
        for _ in range(3):
            assert answers(machine, keys) == expected
        assert machine._walkers[0]._dense_rows.nbytes > 0
        found = machine.match_batch([column([b""] * 200 + keys)], threads=4)
    assert found.set_ids[0] >= 0
    assert len(machine._walkers) == 4
    assert answers(machine, [b"", *keys]) == [[], *expected]


@given(PATTERNS, KEYS)
@settings(max_examples=200, deadline=None)
def test_same_automaton_state_for_state(patterns: list[list[Token]], words: list[list[bytes]]) -> None:
    nfa = build_nfa(patterns)
    machine = LazyDfa(nfa, b".", 1 << 20)
    machine.match_batch([column([b".".join(key) for key in words])])
    assert_same_automaton(nfa, machine)


def _three_words(n: int) -> Iterator[list[Token]]:
    for i in range(n):
        yield [b"w%d" % i, Wildcard.ONE, b"z"]


def test_same_automaton_when_it_is_large() -> None:
    """Tables that grow many times: 2^11 states of ``#.a.*^10``, and a root with 300 literals beside few-literal states."""
    many: list[list[Token]] = [
        [Wildcard.MANY, b"a", *[Wildcard.ONE] * 10],
        *_three_words(300),
    ]
    nfa = build_nfa(many)
    rng = np.random.default_rng(1)
    keys = [b".".join(rng.choice([b"a", b"b", b"z", b"w7", b"w299"], 14)) for _ in range(3000)]
    keys += [b"w%d.x.z" % i for i in range(300)]
    machine = without_bits(LazyDfa(nfa, b".", 64 << 20))
    assert answers(machine, keys) == answers(Twin(nfa, b".", 64 << 20), keys)
    assert machine.stats().states > 2000
    assert_same_automaton(nfa, machine)


def test_a_full_cache_is_cleared_and_given_up_on() -> None:
    """Counters prove that clears and fallbacks happened, and the bound held, while answers stayed right."""
    nfa = build_nfa([[Wildcard.MANY, b"a", *[Wildcard.ONE] * 12]])
    keys: list[bytes | None] = [b".".join(b"ab"[i : i + 1] for i in bits) for bits in product((0, 1), repeat=13)]
    machine = without_bits(LazyDfa(nfa, b".", 20_000))
    assert answers(machine, keys) == [[0] if key and key.startswith(b"a") else [] for key in keys]
    counters = machine.stats()
    assert counters.clears >= 3
    assert 0 < counters.fallbacks < len(keys)
    assert counters.bytes <= 20_000
    assert answers(machine, [b"b.b"]) == [[]]
    assert machine.stats().fallbacks == counters.fallbacks  # the next batch has tried the DFA again


def test_clearing_that_pays_goes_on() -> None:
    """A cache that is too small for all keys and large enough for runs of them clears and never falls back."""
    nfa = build_nfa([[b"w%d" % i, Wildcard.ONE, b"x%d" % i] for i in range(400)])
    keys: list[bytes | None] = [b"w%d.q.x%d" % (i, i) for i in range(400) for _ in range(50)]
    machine = without_bits(LazyDfa(nfa, b".", 12_000))
    assert answers(machine, keys) == [[i] for i in range(400) for _ in range(50)]
    assert machine.stats().clears > 3
    assert machine.stats().fallbacks == 0


def test_one_key_that_outgrows_the_cache_is_simulated() -> None:
    """A key of 2,000 words that makes a new state with most of them must not starve its neighbours of the DFA."""
    nfa = build_nfa([[Wildcard.MANY, b"a", *[Wildcard.ONE] * 11]])
    rng = np.random.default_rng(2)
    long = b".".join(rng.choice([b"a", b"b"], 2000))
    keys: list[bytes | None] = [b"b.a", long, b"a" + b".b" * 11]
    machine = without_bits(LazyDfa(nfa, b".", 6000))
    assert answers(machine, keys) == [[], [0] if long.split(b".")[-12] == b"a" else [], [0]]
    assert machine.stats().fallbacks >= 1


def test_the_smallest_cache_is_about_a_kilobyte() -> None:
    nfa = build_nfa([[b"a"]])
    smallest = nbytes(empty_cache(make_program(nfa, b"."), 0))
    assert smallest <= 1200
    assert LazyDfa(nfa, b".", smallest - 1).stats().bytes == 0
    assert LazyDfa(nfa, b".", smallest).stats().bytes == smallest


@pytest.mark.parametrize("length", range(1, 41))
def test_words_that_differ_in_one_byte_only(length: int) -> None:
    """Words of 1 to 40 bytes that share all bytes but one, at every place, are told apart."""
    word = bytes(range(97, 97 + 25)) * 2
    variants: list[bytes] = [word[:i] + b"_" + word[i + 1 : length] for i in range(length)]
    nfa = build_nfa([[v] for v in variants[::2]])
    keys = [*variants, word[:length], word[: length - 1], word[: length + 1]]
    expected = [[i // 2] if i % 2 == 0 and i < length else [] for i in range(len(keys))]
    machine = LazyDfa(nfa, b".", 1 << 20)
    assert answers(machine, keys) == expected
    assert [list(machine.match(key)) for key in keys] == expected
    assert answers(Simulator(nfa, b"."), keys) == expected


def test_words_that_collide_in_the_hash_are_told_apart() -> None:
    """Sixteen-byte words of one length and one hash: only their bytes tell which is the literal."""

    def mixed(first: bytes) -> int:
        product = (16 ^ int.from_bytes(first, "little")) * SCRAMBLE
        return product >> 64 ^ product % 2**64

    def colliding(word: bytes) -> Iterator[bytes]:
        """Words of the same hash: for any other first half there is one second half that makes up for it."""
        for i in count():
            first = b"other%03d" % i
            second = mixed(word[:8]) ^ int.from_bytes(word[8:], "little") ^ mixed(first)
            other = first + second.to_bytes(8, "little")
            if b"." not in other:
                yield other

    word = b"literal-sixteen!"
    others = list(islice(colliding(word), 20))
    nfa = build_nfa([[word], [others[0]]])
    expected = [[0], [0], [1], *([[]] * 19)]
    keys = [word, word, *others]
    for machine in (LazyDfa(nfa, b".", 1 << 20), Simulator(nfa, b"."), without_bits(Simulator(nfa, b"."))):
        assert answers(machine, keys) == expected
        assert [list(machine.match(key)) for key in keys] == expected


def test_awkward_bytes() -> None:
    """Embedded zero bytes, bytes that are no UTF-8, dots alone, and a key of a megabyte at the end of its buffer."""
    nfa = build_nfa([[b"a\0"], [b"a"], [b"\xff\xfe"], [b"", b""], [b"", Wildcard.MANY], [Wildcard.MANY, b"z" * 9]])
    keys: list[bytes | None] = [
        b"a\0",
        b"a",
        b"\xff\xfe",
        b".",
        b"..",
        b"",
        b"x." * 500_000 + b"z" * 9,
        b"." * 1_000_000,
    ]
    expected = [[0], [1], [2], [3, 4], [4], [], [5], [4]]
    for machine in (LazyDfa(nfa, b".", 1 << 20), Simulator(nfa, b".")):
        assert answers(machine, keys) == expected
        for key, tags in zip(keys, expected, strict=True):
            assert answers(machine, [key]) == [tags]  # alone, its last word ends where the buffer ends
            assert machine.match(key or b"") == tuple(tags)


def test_single_keys_of_any_length() -> None:
    """Single keys share one buffer, which has room for most; a key may lie before what a longer one has left there."""
    last = [b"z", b"y" * 9, b"x" * 100]
    patterns: list[list[Token]] = [[Wildcard.MANY, word] for word in last]
    nfa = build_nfa([*patterns, [b"a"], [Wildcard.ONE] * 3])
    machine, twin = LazyDfa(nfa, b".", 1 << 20), Twin(nfa, b".", 1 << 20)
    lengths = [ONE_BYTES + more for more in (-1, 0, 1, 100, -2)] + [*reversed(between(LENGTHS, 0, 1000)), 200, 103]
    keys = [(b"a." * length + word)[-length:] if length else b"" for length in lengths for word in last]
    keys += [b"a" * length for length in lengths] + [b"." * length for length in lengths] + [b"a", b"a.a.a", b"a.a."]
    for _ in range(2):
        for key in keys:
            assert machine.match(key) == twin.match(key), key


def test_single_keys_on_known_ground_are_no_columns() -> None:
    """Whatever has grown, or was cleared, in the meantime: what the cache knows is found in it as it is now."""
    nfa = build_nfa([[b"w%d" % i, Wildcard.ONE, b"x"] for i in range(300)])
    keys = [b"w%d.%d.x" % (i, i % 7) for i in range(400)]
    machine = without_bits(LazyDfa(nfa, b".", 1 << 20))  # else it pauses for simulation
    for some in (keys[:3], keys[:50], keys):
        expected = [() if i >= 300 else (i,) for i in range(len(some))]
        assert [machine.match(key) for key in some] == expected
        with patch.object(Walker, "run", side_effect=AssertionError("a column")):
            assert [machine.match(key) for key in some] == expected


def test_single_keys_while_the_cache_is_cleared() -> None:
    """States and accept sets are numbered anew, in another order, and what was kept of the old numbers is forgotten."""
    nfa = build_nfa([[b"w%d" % i, Wildcard.MANY] for i in range(40)])
    rng = random.Random(5)
    machine = without_bits(LazyDfa(nfa, b".", 2500))
    for _ in range(100):
        some = rng.choices(range(45), k=30)
        for i in (*some, *some):
            assert machine.match(b"w%d.x" % i) == (() if i >= 40 else (i,))
    assert machine.stats().clears > 10
    assert machine.stats().fallbacks == 0


def test_large_sets_of_single_keys_while_the_cache_is_cleared() -> None:
    """Those are kept as tuples by their numbers, as many as there is room for; and so are those of sealed tables."""
    copies = 12
    nfa = build_nfa([[b"w%d" % i, Wildcard.MANY] for i in range(40) for _ in range(copies)])
    rng = random.Random(5)
    machine = without_bits(LazyDfa(nfa, b".", 4500))
    for _ in range(100):
        some = rng.choices(range(45), k=30)
        for i in (*some, *some, *some):
            assert machine.match(b"w%d.x" % i) == (() if i >= 40 else tuple(range(copies * i, copies * (i + 1))))
    assert machine.stats().clears > 10
    sealed = machine.seal()
    assert sealed is not None
    for i in (*range(45), *range(45)):
        assert sealed.match(b"w%d.x" % i) == machine.match(b"w%d.x" % i)
    assert sealed.stats().sealed_keys > 0


def test_a_large_set_is_made_a_tuple_once() -> None:
    nfa = build_nfa([[b"a", Wildcard.MANY]] * 1000)
    machine = without_bits(LazyDfa(nfa, b".", 4 << 20))
    machine.match(b"a.b")
    kept = machine.match(b"a.b")
    assert machine.match(b"a.c") is machine.match(b"a.b") is kept
    small = without_bits(LazyDfa(nfa, b".", 40_000))  # a sixteenth of which has no room for it
    small.match(b"a.b")
    assert small.match(b"a.b") == small.match(b"a.b") == kept
    assert small.match(b"a.b") is not small.match(b"a.b")


@pytest.mark.parametrize("count", KEY_COUNTS)
def test_batches_of_any_size(count: int) -> None:
    """Around the number of keys that are walked at a time, and keys around the number of words that are found at a time."""
    nfa = build_nfa([[Wildcard.MANY, b"a"], [b"b", Wildcard.ONE, Wildcard.MANY], [b"a", b"b"], [b"a"] * 62])
    assert bit_program(nfa) is not None
    rng = random.Random(count)
    keys: list[bytes | None] = [
        b".".join(rng.choices([b"a", b"b", b""], k=rng.choice(WORD_COUNTS))) for _ in range(count)
    ]
    expected = answers(Twin(nfa, b".", 1 << 20), keys)
    with patch("compiler.machine.dense_rows.QUIET_KEYS", 1):
        machines: list[LazyDfa | Simulator] = [
            *(LazyDfa(nfa, b".", capacity) for capacity in (1500, 1 << 20)),
            *(Simulator(nfa, b"."), without_bits(Simulator(nfa, b"."))),
        ]
        for machine in machines:
            for _ in range(3):
                assert answers(machine, keys) == expected


def test_an_empty_column_and_no_column() -> None:
    machine = LazyDfa(build_nfa([[b"a"]]), b".", 1 << 20)
    assert answers(machine, []) == []
    assert len(machine.match_batch([]).set_ids) == 0


def test_pickles_without_its_cache() -> None:
    nfa = build_nfa([[b"w%d" % i] for i in range(1000)])
    machine = LazyDfa(nfa, b".", 1 << 20)
    keys: list[bytes | None] = [b"w%d" % i for i in range(0, 2000, 3)]
    before = len(pickle.dumps(machine))
    expected = answers(machine, keys)
    assert len(pickle.dumps(machine)) == before
    copy = pickle.loads(pickle.dumps(machine))
    assert copy.stats().states == 0
    assert answers(copy, keys) == expected
