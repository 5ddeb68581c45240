"""Automata in which keys with a reserved first byte begin at a root of their own: every machine against the definition."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Nfa, Token, Wildcard, build_dfa, build_nfa
from compiler.automata.minimize import minimize
from compiler.automata.nfa import RESERVED, ROOT
from compiler.automata.powerset import is_final, start, successor
from compiler.automata.twin import Twin
from compiler.machine.bit_program import bit_program
from compiler.machine.lazy import LazyDfa
from compiler.machine.simulator import Simulator
from compiler.storage.verify import flaws
from tests.compiler.machines import answers, assert_same_automaton, column, without_bits

ONE, MANY = Wildcard.ONE, Wildcard.MANY
TOKENS = st.sampled_from([b"a", b"b", b"", b"$", b"$a", b"a$", b"$longer-than-8", b"longer-than-8", ONE, MANY, MANY])
PATTERNS = st.lists(st.lists(TOKENS, max_size=5), max_size=12)
WORDS = st.sampled_from(
    [b"a", b"b", b"", b"$", b"$a", b"a$", b"$b", b"$longer-than-8", b"$longer-than-9", b"longer-than-8"]
)
KEYS = st.lists(st.lists(WORDS, max_size=6), max_size=40)


def fits(pattern: Sequence[Token], words: Sequence[bytes]) -> bool:
    if not pattern:
        return not words
    first, *rest = pattern
    if first is MANY:
        return any(fits(rest, words[taken:]) for taken in range(len(words) + 1))
    return bool(words) and first in (ONE, words[0]) and fits(rest, words[1:])


def matching(patterns: Sequence[Sequence[Token]], key: bytes, reserved: bytes = b"$") -> list[int]:
    """Return the patterns that match, by the definition and the rule about the reserved byte."""
    words = key.split(b".") if key else []
    hidden = key.startswith(reserved)
    return [
        i
        for i, pattern in enumerate(patterns)
        if fits(pattern, words) and not (hidden and pattern and isinstance(pattern[0], Wildcard))
    ]


@given(PATTERNS, KEYS, st.sampled_from([0, 1200, 1500, 2000, 4000, 1 << 20]))
@settings(max_examples=150, deadline=None)
def test_every_machine_and_any_cache(patterns: list[list[Token]], words: list[list[bytes]], capacity: int) -> None:
    nfa = build_nfa(patterns, reserved=b"$")
    keys: list[bytes | None] = [b".".join(key) for key in words]
    keys[::7] = [None] * len(keys[::7])
    expected = [None if key is None else matching(patterns, key) for key in keys]
    single = LazyDfa(nfa, b".", capacity)
    for _ in range(2):
        assert [None if key is None else list(single.match(key)) for key in keys] == expected
    machine = LazyDfa(nfa, b".", capacity)
    assert answers(machine, keys) == expected
    assert answers(machine, keys[::-1]) == expected[::-1]
    assert machine.stats().bytes <= capacity
    assert answers(without_bits(LazyDfa(nfa, b".", capacity)), keys) == expected
    assert answers(Simulator(nfa, b"."), keys) == expected
    assert answers(without_bits(Simulator(nfa, b".")), keys) == expected
    assert answers(Twin(nfa, b".", capacity), keys) == expected
    assert answers(pickle.loads(pickle.dumps(machine)), keys) == expected


@given(PATTERNS, KEYS)
@settings(max_examples=200, deadline=None)
def test_same_automaton_state_for_state(patterns: list[list[Token]], words: list[list[bytes]]) -> None:
    """What the kernels build below both roots is what subset construction gives."""
    nfa = build_nfa(patterns, reserved=b"$")
    assert list(flaws(nfa)) == []
    keys = [b".".join(key) for key in words]
    machine = without_bits(LazyDfa(nfa, b".", 1 << 20))
    machine.match_batch([column(keys)])
    assert_same_automaton(nfa, machine)
    known = machine.snapshot()
    assert known is not None
    built = set(known.states)
    for key in keys:
        state = start(nfa, nfa.root(key))
        assert state in built
        for word in key.split(b".") if key else []:
            if is_final(nfa, state):
                break  # the rest is not read
            state = successor(nfa, state, nfa.symbol_of.get(word, 0))
            assert state in built


@given(PATTERNS, KEYS)
@settings(max_examples=200, deadline=None)
def test_the_complete_and_the_smallest_dfa(patterns: list[list[Token]], words: list[list[bytes]]) -> None:
    nfa = build_nfa(patterns, reserved=b"$")
    dfa = build_dfa(nfa)
    smallest = minimize(dfa)
    assert len(dfa.starts) == len(smallest.starts) == 2
    assert len(smallest) <= len(dfa)
    assert sorted(state for members in smallest.members for state in members) == list(range(len(dfa)))
    for key in map(b".".join, words):
        expected = tuple(matching(patterns, key))
        spelt = key.split(b".") if key else []
        assert dfa.match(spelt) == expected
        assert smallest.match(spelt) == expected


@given(PATTERNS, KEYS)
@settings(max_examples=100, deadline=None)
def test_without_reserved_keys_nothing_changes(patterns: list[list[Token]], words: list[list[bytes]]) -> None:
    """A reserved byte that no word begins with gives the answers of an automaton with one root."""
    keys: list[bytes | None] = [b".".join(key) for key in words]
    two, one = build_nfa(patterns, reserved=b"!"), build_nfa(patterns)
    assert len(two) == len(one) + 1
    for machine in (LazyDfa, Twin):
        assert answers(machine(two, b".", 1 << 20), keys) == answers(machine(one, b".", 1 << 20), keys)


def two_roots() -> Nfa:
    return build_nfa([[b"$a", MANY], [MANY], [b"a", b"$a"], [], [ONE, b"$a"]], reserved=b"$")


def test_where_patterns_hang() -> None:
    """Literal words with the byte below the second root; wildcards, other words and the empty pattern at the first."""
    nfa = two_roots()
    assert nfa.roots == range(2)
    assert [nfa.word(nfa.label(child)) for child in nfa.successors(ROOT)] == ["ε", "*", "a"]
    assert [nfa.word(nfa.label(child)) for child in nfa.successors(RESERVED)] == ["$a"]
    assert (nfa.tags_of(ROOT), nfa.tags_of(RESERVED)) == ((3,), ())
    assert [nfa.root(key) for key in (b"", b"$", b"$a.b", b"a.$", b".$")] == [ROOT, RESERVED, RESERVED, ROOT, ROOT]
    assert str(nfa).splitlines() == [
        "Nfa: 9 positions, 2 literal words, 5 bindings",
        ">0 ε->2 *->3 a->4  tags 3",
        ">1 $a->5",
        " 2 loops  tags 1",
        " 3 $a->6",
        " 4 $a->7",
        " 5 ε->8",
        " 6   tags 4",
        " 7   tags 2",
        " 8 loops  tags 0",
    ]


def test_graphs_show_both_roots() -> None:
    nfa = two_roots()
    graph = nfa.to_networkx()
    assert [position for position in graph if graph.nodes[position]["start"]] == [0, 1]
    dfa = build_dfa(nfa)
    starts = [state for state, data in dfa.to_networkx().nodes(data=True) if data["start"]]
    assert sorted(starts) == sorted(set(dfa.starts))
    smallest = minimize(dfa)
    assert {state for state, data in smallest.to_networkx().nodes(data=True) if data["start"]} == set(smallest.starts)
    assert str(dfa).splitlines()[1].startswith(">0 {")


def test_both_roots_may_be_one_state() -> None:
    """Where neither root leads anywhere they are equal as states, in every machine."""
    nfa = build_nfa([], reserved=b"$")
    assert build_dfa(nfa).starts == (0, 0)
    for machine in (LazyDfa(nfa, b".", 1 << 20), Twin(nfa, b".", 1 << 20), Simulator(nfa, b".")):
        assert answers(machine, [b"$a", b"a", b""]) == [[], [], []]


@pytest.mark.parametrize("byte", [b"$", b"\0", b"\xff", b"a"])
def test_any_byte_may_be_reserved(byte: bytes) -> None:
    patterns: list[list[Token]] = [[byte + b"x"], [ONE], [MANY], [b"b", ONE]]
    nfa = build_nfa(patterns, reserved=byte)
    keys: list[bytes | None] = [byte + b"x", byte, b"b", b"", b"b." + byte + b"x", byte + b".b"]
    expected = [matching(patterns, key, byte) for key in keys if key is not None]
    for machine in (LazyDfa(nfa, b".", 1 << 20), Twin(nfa, b".", 1 << 20), Simulator(nfa, b".")):
        assert answers(machine, keys) == expected, machine
        assert [list(machine.match(key)) for key in keys if key is not None] == expected


def test_a_large_set_below_both_roots() -> None:
    """Tables that grow, caches that are cleared, and too many positions for bits; batches on two threads."""
    names = [b"w%d" % i for i in range(300)]
    patterns: list[list[Token]] = [[b"$" + name, ONE, b"z"] for name in names]
    patterns += [[name, MANY, b"z"] for name in names]
    patterns += [[MANY, b"a", *[ONE] * 6], [b"$w1", MANY, b"a", *[ONE] * 6]]
    nfa = build_nfa(patterns, reserved=b"$")
    assert bit_program(build_nfa(patterns[-2:], reserved=b"$")) is not None
    rng = np.random.default_rng(3)
    firsts = [b"$w1", b"w1", b"$w299", b"a", b"$none"]
    keys: list[bytes | None] = [b".".join(rng.choice([*firsts, b"z", b"b"], 9)) for _ in range(2000)]
    keys += [prefix + name + b".x.z" for prefix, name in product((b"", b"$"), names)]
    expected = answers(Twin(nfa, b".", 64 << 20), keys)
    assert sum(map(len, filter(None, expected))) > 600
    roomy = LazyDfa(nfa, b".", 64 << 20)
    for machine in (roomy, LazyDfa(nfa, b".", 20_000), LazyDfa(nfa, b".", 200_000)):
        assert answers(machine, keys) == expected
        assert answers(without_bits(LazyDfa(nfa, b".", machine.stats().capacity)), keys) == expected
        found = machine.match_batch([column(keys * 20)], threads=2)
        sets = [found.positions[a:b].tolist() for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
        assert [sets[number] for number in found.set_ids.tolist()] == expected * 20
    assert_same_automaton(nfa, roomy)
