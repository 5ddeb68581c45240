"""Sealed tables: what is read from them is right, whatever they lack, and tables that say anything wrong are refused."""

from __future__ import annotations

import pickle
import random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Nfa, Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.kernels.seal_tables import (
    ACCEPT_SHIFT,
    COMPLETE,
    MOST_BUCKETS,
    OVERFLOWED,
    REFERENCE_BITS,
    SIZE_SHIFT,
    Seal,
)
from compiler.kernels.tables import FINAL, START, TARGET, WIDE
from compiler.kernels.work import make_work
from compiler.machine import left_keys, seals
from compiler.machine.cache import nbytes
from compiler.machine.lazy import SMALLEST_SHARE, LazyDfa
from compiler.machine.seals import SealError, arrays_of, seal_of
from tests.compiler.machines import KEYS, PATTERNS, answers, column

MANY, ONE = Wildcard.MANY, Wildcard.ONE
REFERENCE = (1 << REFERENCE_BITS) - 1


def joined(keys: list[list[bytes]]) -> list[bytes | None]:
    return [b".".join(words) if words != [b"other"] else None for words in keys]


def sealed_of(nfa: Nfa, keys: list[bytes | None], capacity: int = 1 << 20) -> LazyDfa:
    machine = LazyDfa(nfa, b".", capacity)
    answers(machine, keys)
    sealed = machine.seal()
    assert sealed is not None
    return sealed


@settings(deadline=None)
@given(patterns=PATTERNS, known=KEYS, keys=KEYS, capacity=st.sampled_from([4000, 1 << 20]))
def test_answers_are_right_whatever_the_tables_know(
    patterns: list[list[bytes | Wildcard]], known: list[list[bytes]], keys: list[list[bytes]], capacity: int
) -> None:
    nfa, asked = build_nfa(patterns), joined(keys)
    machine = LazyDfa(nfa, b".", capacity)
    answers(machine, joined(known))
    sealed = machine.seal()
    if sealed is None:
        return
    expected = answers(Twin(nfa, b".", 1 << 22), asked)
    for _ in range(2):
        assert answers(sealed, asked) == expected
        assert [None if key is None else list(sealed.match(key)) for key in asked] == expected
    texts = [key for key in asked if key is not None and b"\0" not in key]
    if texts:
        few = sealed.match_joined(b"\0".join(texts), len(texts))
        rights = [right for key, right in zip(asked, expected, strict=True) if key is not None and b"\0" not in key]
        if few is not None:
            assert [few.positions[few.offsets[n] : few.offsets[n + 1]].tolist() for n in few.set_ids] == rights
    assert sealed.stats().bytes <= capacity


@pytest.mark.parametrize(("pattern", "keys"), [([], [b"", b"a"]), ([MANY], [b"", b"a", b"a.b"])])
def test_a_start_state_may_have_no_record(pattern: list[bytes | Wildcard], keys: list[bytes | None]) -> None:
    """No pattern leads on from it, or no word changes it; and no record leads to it."""
    sealed = sealed_of(build_nfa([pattern]), keys)
    expected = answers(Twin(build_nfa([pattern]), b".", 1 << 20), keys)
    assert answers(sealed, keys) == [list(sealed.match(key)) for key in keys if key is not None] == expected
    assert sealed.stats().sealed_keys == 2 * len(keys)


def test_known_keys_are_answered_by_the_tables_alone_and_nothing_is_built() -> None:
    keys: list[bytes | None] = [b"a.%d.c" % (i % 50) for i in range(3000)]
    patterns: list[list[bytes | Wildcard]] = [[b"a", b"%d" % i, ONE] for i in range(0, 50, 2)]
    sealed = sealed_of(build_nfa([*patterns, [MANY, b"c"]]), keys)
    answers(sealed, keys)
    found = sealed.stats()
    assert (found.keys, found.sealed_keys, found.states, found.misses) == (3000, 3000, 0, 0)
    assert found.sealed_states > 50
    assert sealed.match(b"a.2.c") == (1, 25)
    assert sealed.stats().sealed_keys == 3001


def test_lost_keys_are_learnt_beside_the_tables() -> None:
    nfa = build_nfa([[b"a", b"%d" % i] for i in range(500)])
    known: list[bytes | None] = [b"a.%d" % i for i in range(250)]
    every: list[bytes | None] = [b"a.%d" % i for i in range(500)]
    sealed = sealed_of(nfa, known)
    expected = [[i] for i in range(500)]
    with patch.object(left_keys, "CHUNK", 7):  # gathered in several parts
        assert answers(sealed, every) == expected
    before = sealed.stats()
    assert before.sealed_keys == 250
    assert before.states > 0
    assert answers(sealed, every) == expected
    assert sealed.stats().states == before.states


def test_threads_read_one_copy_and_lost_keys_go_to_a_cache_of_their_own() -> None:
    chance = random.Random(5)
    keys: list[bytes | None] = [
        b".".join(chance.choices([b"a", b"b", b"c", b"d"], k=5)) for _ in range(3 * SMALLEST_SHARE)
    ]
    nfa = build_nfa([[MANY, b"a", ONE], [b"b", MANY, b"d"], [ONE, b"c", MANY]])
    sealed = sealed_of(nfa, keys[:300])
    found = sealed.match_batch([column(keys)], threads=3)
    sets = [found.positions[a:b].tolist() for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
    assert [sets[number] for number in found.set_ids] == answers(Twin(nfa, b".", 1 << 22), keys)
    seals = [walker._seal for walker in sealed._walkers]  # type: ignore[attr-defined]
    assert len(seals) == 3
    assert all(np.shares_memory(one.records, seals[0].records) for one in seals)
    assert sealed.stats().keys == len(keys)


def test_a_sealed_machine_is_pickled_with_its_tables() -> None:
    keys: list[bytes | None] = [b"a.b", b"a.c", b"x"]
    sealed = pickle.loads(pickle.dumps(sealed_of(build_nfa([[b"a", ONE], [MANY, b"c"]]), keys)))
    assert answers(sealed, keys) == [[0], [0, 1], []]
    assert sealed.stats().sealed_keys == 3
    assert not sealed.sealed.records.flags.writeable


def test_tables_and_cache_together_take_no_more_than_the_capacity() -> None:
    keys: list[bytes | None] = [b"a.%d" % i for i in range(2000)]
    nfa = build_nfa([[b"a", b"%d" % i] for i in range(2000)])
    sealed = sealed_of(nfa, keys, 1 << 20)
    assert sealed.sealed is not None
    size = nbytes(sealed.sealed)
    for capacity, kept in ((size - 1, False), (size, True), (size + 5000, True)):
        machine = LazyDfa(nfa, b".", capacity).with_seal(sealed.sealed)
        assert (machine.sealed is not None) == kept
        assert answers(machine, [*keys, b"a.1.2"]) == answers(sealed, [*keys, b"a.1.2"])
        assert machine.stats().bytes <= capacity


def test_a_cache_that_knows_nothing_is_not_sealed() -> None:
    nfa = build_nfa([[b"a"]])
    assert LazyDfa(nfa, b".", 1 << 20).seal() is None
    none = LazyDfa(nfa, b".", 0)
    none.match(b"a")
    assert none.seal() is None


# --- Tables that anybody may have made ------------------------------------------------------------------------------------


def example() -> tuple[LazyDfa, Seal]:
    patterns: list[list[bytes | Wildcard]] = [[b"a", b"w%d" % i, MANY, b"z"] for i in range(60)]
    patterns += [[b"b", b"v%d" % i] for i in range(60)]
    nfa = build_nfa([*patterns, [MANY, b"b"], [ONE, b"a", ONE]])
    chance = random.Random(3)
    words = [b"a", b"b", b"z", b"other", *(b"w%d" % i for i in range(60))]
    keys: list[bytes | None] = [b".".join([b"a", *chance.choices(words, k=chance.randrange(5))]) for _ in range(4000)]
    machine = sealed_of(nfa, [*keys, b"b.v1", b"b.v5", b"b.v9"])  # the record behind b is not complete
    assert machine.sealed is not None
    return LazyDfa(nfa, b".", 1 << 22), machine.sealed


@pytest.fixture(params=[1, 3])
def proving(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Have so many threads share a proof, and return their number."""
    threads: int = request.param
    monkeypatch.setattr(seals, "SMALLEST_PROOF", 10)
    monkeypatch.setattr("os.cpu_count", lambda: threads)
    return threads


@pytest.mark.usefixtures("proving")
def test_right_tables_pass() -> None:
    machine, seal = example()
    assert machine.with_seal(seal).sealed is seal


@pytest.mark.usefixtures("proving")
def test_each_changed_number_is_refused_or_changes_no_answer() -> None:
    machine, seal = example()
    chance = random.Random(11)
    words = [b"a", b"b", b"z", b"other", b"w1", b"w7"]
    keys: list[bytes | None] = [b".".join(chance.choices(words, k=chance.randrange(6))) for _ in range(200)]
    expected = answers(machine, keys)
    refused = 0
    for round_ in range(800):
        name = chance.choice(
            ["records", "records", "starts", "members", "state_end", "tags", "set_end", "filters", "meta"]
        )
        array = getattr(seal, name).copy()
        at = chance.choice([START, START + 1]) if name == "meta" else chance.randrange(len(array))
        other = array[chance.randrange(len(array))]
        bit = 1 << chance.randrange(30 if array.dtype.itemsize == 4 else 63)
        array[at] = chance.choice([array[at] ^ array.dtype.type(bit), other, 0])
        try:
            found = machine.with_seal(seal_of(**{**arrays_of(seal), name: array}))
        except SealError as error:
            refused += 1
            assert error.array  # noqa: PT017 - which one is random
        else:
            assert answers(found, keys) == expected, (round_, name, at)
    assert refused > 450


@pytest.mark.parametrize(
    ("planted", "problem"),
    [
        ("default", "leads on"),
        ("target", "leads on"),
        ("final", "leads on"),
        ("accept", "leads on"),
        ("filter", "leads on"),
        ("start", "leads on"),
        ("symbol", "leads on"),
        ("missing", "leads on"),
        ("misplaced", "leads on"),
        ("beyond", "leads out"),
        ("no set", "leads out"),
        ("size", "leads out"),
        ("far filter", "leads out"),
        ("no start", "leads out"),
        ("short", "none of"),
        ("odd", "no pairs"),
        ("nothing", "no words"),
        ("one more", "do not begin"),
    ],
)
@pytest.mark.parametrize("at", [0, -1])
def test_a_planted_fault_is_found(planted: str, problem: str, at: int, proving: int) -> None:
    """In the first record that has such a thing or in the last, so in the share of another thread."""
    machine, seal = example()
    records, meta, starts = seal.records.copy(), seal.meta.copy(), seal.starts.copy()
    pairs = np.flatnonzero(np.unpackbits(starts.view(np.uint8), bitorder="little"))
    complete = {pair for pair in pairs.tolist() if int(records[2 * pair]) & COMPLETE}
    entries = [(pair, slot) for pair in pairs.tolist() for slot in slots_of(records, pair)]
    met = [(pair, slot) for pair, slot in entries if int(records[slot]) & TARGET]
    pair, slot = met[at]
    first = int(pairs[at])
    if planted == "default":
        pair = [pair for pair in pairs.tolist() if int(records[2 * pair]) & REFERENCE not in (0, pair)][at]
        records[2 * pair] = records[2 * pair] & ~np.uint64(REFERENCE) | np.uint64(pair)
    elif planted == "target":
        records[slot] = records[slot] & ~np.uint64(REFERENCE) | np.uint64(
            pairs[3 if records[slot] & TARGET != pairs[3] else 4]
        )
    elif planted == "final":
        records[slot] = records[slot] & ~np.uint64(REFERENCE) | np.uint64(FINAL | 1)
    elif planted == "accept":
        sets = len(seal.set_end) - 1
        accept = int(records[2 * first]) >> ACCEPT_SHIFT & TARGET
        records[2 * first] ^= np.uint64((accept ^ (accept % sets + 1)) << ACCEPT_SHIFT)
    elif planted == "filter":
        pair = [pair for pair, _ in met if pair not in complete][at]
        records[2 * pair + 1] = 1
    elif planted == "start":
        meta[START] = pairs[2] if meta[START] != pairs[2] else pairs[3]
    elif planted == "symbol":
        records[slot] |= np.uint64(1 << 62)
    elif planted == "missing":
        _, slot = [(pair, slot) for pair, slot in entries if pair in complete][at]
        records[slot] = 0
    elif planted == "misplaced":  # where nobody looks for it
        pair = [
            pair
            for pair in sorted(complete)
            if len(list(slots_of(records, pair))) > 2 and buckets_of(records, pair) > 1
        ][at]
        begin, end = 2 * pair + 2, 2 * pair + 2 + 2 * buckets_of(records, pair)
        records[begin:end] = np.roll(records[begin:end], 2)
    elif planted == "beyond":
        records[slot] = records[slot] & ~np.uint64(REFERENCE) | np.uint64(pair + 1)
    elif planted == "no set":
        records[slot] = records[slot] & ~np.uint64(REFERENCE) | np.uint64(FINAL | len(seal.set_end))
    elif planted == "size":
        records[2 * pair] |= np.uint64(31 << SIZE_SHIFT)
    elif planted == "far filter":
        records[2 * first + 1] = WIDE | len(seal.filters)
    elif planted == "no start":
        meta[START] = len(records)
    elif planted == "short":
        starts = starts[:-1]
    elif planted == "odd":
        records = records[:-1]
    elif planted == "nothing":
        records[0] = 0
    else:
        starts[0] |= ~starts[0] & (starts[0] + np.uint64(2))
    with patch("compiler.machine.seals.make_work", wraps=make_work) as made, pytest.raises(SealError, match=problem):
        machine.with_seal(seal_of(**{**arrays_of(seal), "records": records, "meta": meta, "starts": starts}))
    assert made.call_count == (proving if problem == "leads on" else 0)


def buckets_of(records: Any, pair: int) -> int:
    """Return how many buckets the record at a pair has."""
    return 1 << (int(records[2 * pair]) >> SIZE_SHIFT & MOST_BUCKETS) if records[2 * pair + 1] else 0


def slots_of(records: Any, pair: int) -> list[int]:
    """Return where the entries of the record at a pair are."""
    begin = 2 * pair + 2
    return [slot for slot in range(begin, begin + 2 * buckets_of(records, pair)) if records[slot]]


def test_records_are_completed_where_there_is_room_for_that() -> None:
    nfa = build_nfa([[b"a", b"w%d" % i] for i in range(100)])
    keys: list[bytes | None] = [b"a.w%d" % i for i in range(0, 100, 3)]
    machine = LazyDfa(nfa, b".", 1 << 20)
    answers(machine, [*keys, b"a.other"])
    walker = machine._walkers[0]
    whole = walker.seal(1 << 20)
    assert whole is not None
    less = walker.seal(nbytes(whole) - 1)
    assert less is not None
    assert nbytes(less) < nbytes(whole)
    for seal in (whole, less):
        sealed = LazyDfa(nfa, b".", 1 << 20).with_seal(seal)
        assert answers(sealed, [*keys, b"a.w1", b"a.stray"]) == [*([i] for i in range(0, 100, 3)), [1], []]
        assert sealed.stats().sealed_keys == len(keys) + 1


def test_a_record_whose_buckets_overflow_is_found_whole() -> None:
    """All words of a set of keys are literals of one state, whose record has more entries than fit into their own buckets."""
    nfa = build_nfa([[b"w%d" % i, b"x%d" % (i % 7)] for i in range(3000)])
    keys: list[bytes | None] = [b"w%d.x%d" % (i, i % 7) for i in range(3100)]
    sealed = sealed_of(nfa, keys, 1 << 22)
    assert sealed.sealed is not None
    assert np.any(sealed.sealed.records[3::2] & np.uint64(OVERFLOWED))
    assert answers(sealed, keys) == [[i] if i < 3000 else [] for i in range(3100)]
    assert [list(sealed.match(key)) for key in keys if key is not None] == answers(sealed, keys)
    assert sealed.stats().sealed_keys == sealed.stats().keys == 3 * 3100


def test_rows_of_a_cache_and_of_sealed_tables_are_walked_by_one_kernel() -> None:
    """The kernel is called without a look at the types of its arguments, which tests have it take."""
    keys: list[bytes | None] = [b"a.%d.c" % (i % 50) for i in range(20_000)]
    machine = LazyDfa(build_nfa([[b"a", b"%d" % i, ONE] for i in range(0, 50, 2)]), b".", 1 << 20)
    sealed = None
    for _ in range(3):
        answers(machine, keys)
        sealed = sealed or machine.seal()
        assert sealed is not None
        assert answers(sealed, [*keys[:300], b"a.1.2.3"]) == answers(machine, [*keys[:300], b"a.1.2.3"])
