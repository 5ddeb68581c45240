"""Large sets in two parts: which are divided, which of their keys have a place, and what is told, sealed and copied of them."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings

from compiler import Nfa, Token, build_nfa
from compiler.automata.exact import exact_ends, without
from compiler.automata.nfa import OTHER
from compiler.automata.paths import parents_of, path_to
from compiler.automata.powerset import State, default_successor, start, successor
from compiler.kernels._jit import kernel
from compiler.kernels.key_store import hash_key
from compiler.kernels.tables import Bytes, Int32s, Uint64s
from compiler.kernels.unsigned import ONE
from compiler.kernels.work import SHARED_FROM
from compiler.machine.columns import whole
from compiler.machine.lazy import LazyDfa
from compiler.machine.parts import Parts
from compiler.machine.policy import FEW_POSITIONS, LONG_KEY, MANY_POSITIONS, ROOMY, SHORT_KEY, Policy
from compiler.machine.seals import SealError
from compiler.machine.simulator import Simulator
from compiler.machine.trace import TracedDfa
from compiler.prepare import jit_enabled
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
    fleet,
    large,
    singly,
    told,
)
from tests.compiler.machines import answers, column

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled machines")


def test_a_large_set_is_divided() -> None:
    nfa = fleet(150_000)
    assert len(nfa) >= MANY_POSITIONS
    machine = LazyDfa(nfa, b".", None)
    assert divided(machine)
    assert machine._parts.nbytes > machine._parts.program.nbytes
    keys: list[bytes | None] = [b"a.%d.%d" % (i % 500, i) for i in range(0, 150_000, 3)]
    found = told(machine.match_batch([column([*keys, b"a.7.x", b"a.499.1", None])]))
    assert found == [
        *([i, *([150_000 + i % 500] if i % 500 < 50 else [])] for i in range(0, 150_000, 3)),
        [150_007],
        [],
        None,
    ]
    counters = machine.stats()
    every: list[bytes | None] = [b"a.%d.%d" % (i % 500, i) for i in range(150_000)]
    assert counters.keys == 50_003
    # Of two keys with the same hash one is left to the automaton.
    assert 50_000 - len(alike(every)) <= counters.key_cache_hits <= 50_000
    assert len(alike(every)) < 10
    assert counters.states < 60
    assert counters.words < 60
    assert counters.bytes <= counters.capacity
    for other in (LazyDfa(nfa, b".", 1 << 20, policy=Policy(exact=False)), TracedDfa(nfa, b".", 1 << 20)):
        assert not divided(other)
        assert answers(other, keys[:500]) == found[:500]
    simulator = Simulator(nfa, b".")
    assert not divided(simulator._machine)
    assert answers(simulator, keys[:500]) == found[:500]


def test_the_sizes_of_automaton_and_cache_decide_where_keys_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    nfa = fleet(17_000)
    assert len(nfa) >= MANY_POSITIONS
    assert not divided(LazyDfa(nfa, b".", 1 << 30))
    for capacity, apart in ((ROOMY * len(nfa), True), (ROOMY * len(nfa) + 1, False), (0, True)):
        assert divided(LazyDfa(nfa, b".", capacity)) is apart
        assert not divided(TracedDfa(nfa, b".", capacity))
        assert not divided(Simulator(nfa, b".")._machine)
    monkeypatch.setattr("compiler.machine.policy.MANY_POSITIONS", len(nfa) + 1)
    assert not divided(LazyDfa(nfa, b".", 1 << 20))


@pytest.mark.parametrize(
    ("count", "size", "apart"),
    [
        (MANY_POSITIONS, SHORT_KEY, True),
        (MANY_POSITIONS, SHORT_KEY - 1, False),
        (MANY_POSITIONS - 1, LONG_KEY - 1, False),
        (MANY_POSITIONS - 1, LONG_KEY, True),
        (FEW_POSITIONS, LONG_KEY, True),
        (FEW_POSITIONS - 1, 10 * LONG_KEY, False),
    ],
)
def test_the_size_of_keys_decides_where_caches_are_large(count: int, size: int, apart: bool) -> None:
    """Of patterns of two words, the first of which they share: there is a position for each, the root, and one for that word."""
    patterns: list[list[Token]] = [[b"a", b"%0*d" % (size - 2, i)] for i in range(count - 2)]
    nfa = build_nfa(patterns)
    assert len(nfa) == count
    machine = LazyDfa(nfa, b".", 1 << 30)
    assert divided(machine) is apart
    keys: list[bytes | None] = [b".".join((b"a", b"%0*d" % (size - 2, i))) for i in (0, count - 3, count - 2)]
    assert answers(machine, keys) == [[0], [count - 3], []]


@pytest.mark.parametrize(("plain", "others", "apart"), [(10, 10, True), (10, 11, False), (10, 0, True), (0, 10, False)])
def test_half_of_the_patterns_must_be_without_wildcards(plain: int, others: int, apart: bool) -> None:
    patterns: list[list[Token]] = [[b"a", b"%d" % i] for i in range(plain)]
    patterns += [[b"%d" % i, ANY] for i in range(others)]
    machine = LazyDfa(build_nfa(patterns), b".", 1 << 20, policy=Policy(exact=True))
    assert divided(machine) is apart
    keys: list[bytes | None] = [b"a.3", b"3.a", b"a.12", b"a"]
    assert answers(machine, keys) == expected_of(machine.nfa, keys)


def test_half_of_them_must_have_a_place() -> None:
    """Those that are left to the automaton, as their sets are too large, do not count."""
    for count, apart in ((20, True), (21, False)):
        patterns: list[list[Token]] = [[b"a", b"%d" % i] for i in range(20)]
        patterns += [[b"b", b"%d" % i] for i in range(count - 1)]
        patterns += [[b"b", ANY]] * (SHARED_FROM + 1)
        machine = LazyDfa(build_nfa(patterns), b".", 1 << 20, policy=Policy(exact=True))
        assert divided(machine) is apart
        keys: list[bytes | None] = [b"a.3", b"b.3", b"b.x"]
        assert answers(machine, keys) == expected_of(machine.nfa, keys)


@kernel
def hash_all(data: Bytes, offsets: Int32s, hashes: Uint64s) -> None:
    for i in range(np.uint64(hashes.size)):
        begin = np.uint64(offsets[i])
        hashes[i] = hash_key(data, begin, np.uint64(offsets[i + ONE]) - begin)


def alike(keys: list[bytes | None]) -> list[tuple[int, int]]:
    """Return the numbers of keys whose hashes have the same upper half, two at a time, in order."""
    laid, hashes = column(keys), np.empty(len(keys), np.uint64)
    hash_all(np.append(laid.data, np.zeros(128, np.uint8)), laid.offsets, hashes)
    upper = hashes >> np.uint64(32)
    order = np.argsort(upper, kind="stable")
    same = np.flatnonzero(upper[order][1:] == upper[order][:-1])
    return list(zip(order[same].tolist(), order[same + 1].tolist(), strict=True))


@cache
def alike_pairs() -> list[tuple[bytes, bytes]]:
    """Return some pairs of such keys: of all pairs of 200,000 keys."""
    keys: list[bytes | None] = [b"k.%d" % number for number in range(200_000)]
    return [(bytes(keys[one] or b""), bytes(keys[other] or b"")) for one, other in alike(keys)]


def test_one_of_two_keys_with_the_same_hash_stays_in_the_automaton() -> None:
    pairs = alike_pairs()[:4]
    assert pairs
    spare = [b"s.%d" % number for number in range(20)]
    for first, second in (*pairs, *((second, first) for first, second in pairs)):
        nfa = build_nfa([[*key.split(b".")] for key in (first, second, *spare)] + [[b"k", ANY], [MANY]])
        machine = LazyDfa(nfa, b".", 1 << 20, policy=Policy(exact=True))
        kept = machine._parts.kept
        assert kept is not None
        assert len(kept) == 5  # a root, "k", one of the two, and two wildcards
        keys: list[bytes | None] = [first, second, *spare, b"k.x"]
        for _ in range(2):
            assert answers(machine, keys) == singly(machine, keys) == expected_of(nfa, keys)
        assert all_found_keys(machine) == 4 * (1 + len(spare))
        # Of two such keys one may be no pattern's: it is not taken for the other.
        machine = LazyDfa(build_nfa([[*first.split(b".")]]), b".", 1 << 20, policy=Policy(exact=True))
        assert answers(machine, [second, first]) == singly(machine, [second, first]) == [[], [0]]


def names_of(nfa: Nfa) -> list[tuple[int | bytes, ...]]:
    """Return a name for each position that it has in the automaton of fewer patterns, too."""
    parents = parents_of(nfa)
    return [
        (path[0], *(nfa.symbols.word(label) if (label := nfa.label(one)) > OTHER else label for one in path[1:]))
        for path in (path_to(parents, position) for position in range(len(nfa)))
    ]


@given(SETS, RESERVED)
@settings(max_examples=60, deadline=None)
def test_a_snapshot_has_the_numbers_of_the_whole_automaton(drawn: Drawn, reserved: bytes) -> None:
    """Its states are those of the automaton of the other patterns, which is built here without the machine's help."""
    patterns, keys = drawn
    nfa = build_nfa(patterns, reserved=reserved)
    machine = LazyDfa(nfa, b".", 4 << 20, policy=Policy(exact=True, simulate=False))
    answers(machine, [*keys, b"a.b.other.a", b"other"])
    known = machine.snapshot()
    assert known is not None
    rest = without(nfa, exact_ends(nfa, b"."))[0] if divided(machine) else nfa
    there = {name: position for position, name in enumerate(names_of(rest))}
    names, symbols = names_of(nfa), rest.symbol_of

    def in_rest(state: State) -> State:
        return State(tuple(there[names[position]] for position in state.positions), state.tags)

    states = [in_rest(state) for state in known.states]
    assert known.start is not None
    assert states[known.start] == start(rest)
    assert len(known.defaults) + len(known.successors) > 0
    for state, target in known.defaults.items():
        assert states[target] == default_successor(rest, states[state])
    for (state, symbol), target in known.successors.items():
        assert states[target] == successor(rest, states[state], symbols[nfa.symbols.word(symbol)])


def test_a_snapshot_of_a_divided_set() -> None:
    """Position 1 is "z", which comes first only among the patterns without wildcards; so does the symbol of "z"."""
    nfa = build_nfa([[b"z", b"y"], [b"z"], [b"a", ANY], [b"a", b"q"]])
    machine = LazyDfa(nfa, b".", 1 << 20, policy=Policy(exact=True, simulate=False))
    assert divided(machine)
    answers(machine, [b"a.x", b"z.x"])
    known = machine.snapshot()
    assert known is not None
    assert known.start is not None
    root = known.states[known.start]
    assert root.positions == (0,)
    word = nfa.symbol_of[b"a"]
    target = known.successors[known.start, word]
    assert known.states[target] == successor(nfa, start(nfa), word)
    assert known.states[known.defaults[target]] == default_successor(nfa, known.states[target]) == State((), (2,))
    assert (known.start, nfa.symbol_of[b"z"]) not in known.successors


def test_found_keys_are_no_part_of_what_is_sealed() -> None:
    """Tables of a machine that is not divided have other positions, and are not taken for those of one that is."""
    nfa = fleet(2000)
    keys: list[bytes | None] = [b"a.%d.%d" % (i % 500, i + i % 2 * 5000) for i in range(2000)]
    all_in_one, apart = (
        LazyDfa(nfa, b".", 4 << 20, policy=Policy(exact=exact, simulate=False)) for exact in (False, True)
    )
    expected = expected_of(nfa, keys)
    for machine, other in ((all_in_one, apart), (apart, all_in_one)):
        assert answers(machine, keys) == expected
        sealed = machine.seal()
        assert sealed is not None
        assert sealed.sealed is not None
        with pytest.raises(SealError):
            other.with_seal(sealed.sealed)
        again = machine.with_seal(sealed.sealed)
        assert answers(again, keys) == expected
        assert divided(again) is divided(machine)
    assert apart.stats().states < 60 < all_in_one.stats().states


def test_a_seal_says_whether_its_machine_is_divided() -> None:
    """A machine of another capacity may be divided otherwise, and may have no room for it."""
    nfa = fleet(MANY_POSITIONS)
    few, much = 4 << 20, 64 << 20
    keys: list[bytes | None] = [b"a.%d.%d" % (i % 500, i + i % 2 * 50_000) for i in range(2000)]
    expected = expected_of(nfa, keys)
    for capacity, other in ((few, much), (much, few)):
        machine = LazyDfa(nfa, b".", capacity)
        assert divided(machine) is (capacity == few)
        answers(machine, keys)
        sealed = machine.seal()
        assert sealed is not None
        assert sealed.sealed is not None
        loaded = LazyDfa(nfa, b".", other).with_seal(sealed.sealed)
        copy = pickle.loads(pickle.dumps(loaded))
        for one in (loaded, copy, pickle.loads(pickle.dumps(copy))):
            assert one.sealed is not None
            assert divided(one) is divided(machine)
            assert answers(one, keys) == expected
            assert one.stats().sealed_keys
        without_room = LazyDfa(nfa, b".", 3000 if capacity == much else 500).with_seal(sealed.sealed)
        assert without_room.sealed is None
        assert answers(without_room, keys[:100]) == expected[:100]
        wrong = sealed.sealed._replace(tags=sealed.sealed.tags[::-1])
        for capacity_of_either in (few, much):
            with pytest.raises(SealError):
                LazyDfa(nfa, b".", capacity_of_either).with_seal(wrong)


@pytest.mark.parametrize("sealed", [False, True])
def test_a_copy_is_divided_as_well(sealed: bool) -> None:
    nfa, expected = large()
    machine = LazyDfa(nfa, b".", 4 << 20, policy=Policy(exact=True), key_cache="auto")
    assert answers(machine, LARGE_KEYS) == expected
    if sealed:
        made = machine.seal()
        assert made is not None
        machine = made
    copy = pickle.loads(pickle.dumps(machine))
    assert divided(copy)
    assert (copy.sealed is not None) is sealed
    assert copy.stats().keys == 0
    assert answers(copy, LARGE_KEYS) == expected
    assert singly(copy, LARGE_KEYS[:300]) == expected[:300]


def test_all_walkers_have_one_copy() -> None:
    nfa, _ = large()
    machine = LazyDfa(nfa, b".", 4 << 20, policy=Policy(exact=True))
    machine.match_batch([column(LARGE_KEYS)], threads=2)
    parts: list[Parts] = [machine._parts]
    assert parts[0].exact is not None
    assert len(machine._walkers) == 2
    for walker in machine._walkers:
        assert walker._exact is not None
        assert walker._exact._exact is parts[0].exact
    for array in parts[0].exact:
        assert not array.flags.writeable


def test_nothing_is_lent() -> None:
    """A borrower reads the tables itself, and would know nothing of the keys that are not in them."""
    nfa = fleet(2000)
    for exact in (False, True):
        machine = LazyDfa(nfa, b".", 4 << 20, policy=Policy(exact=exact))
        answers(machine, [b"a.1.1"])
        keys = whole(column([b"a.1.1"])._replace(valid=None))
        assert machine.lend(keys, np.empty(1, np.int32), lambda _: (0, 0)) is not exact
