"""The bound on how many bindings a key can match."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Wildcard, build_nfa
from compiler.automata.fanout import most_accepted
from compiler.automata.twin import Twin
from tests.compiler.machines import KEYS, PATTERNS

MANY, ONE = Wildcard.MANY, Wildcard.ONE


@given(PATTERNS, KEYS, st.sampled_from([b"", b"a"]))
@settings(max_examples=200)
def test_no_key_matches_more(patterns: list[list[bytes | Wildcard]], keys: list[list[bytes]], reserved: bytes) -> None:
    nfa = build_nfa(patterns, reserved=reserved)
    machine = Twin(nfa, b".", 1 << 20)
    found = [machine.match(b".".join(words)) for words in keys]
    assert max(map(len, found), default=0) <= most_accepted(nfa) <= len(patterns)


def test_literals_exclude_each_other() -> None:
    assert most_accepted(build_nfa([[b"site%d" % site, b"device%d" % n] for site in range(9) for n in range(9)])) == 1


def test_wildcards_add_up() -> None:
    assert most_accepted(build_nfa([[b"a", ONE], [ONE, b"b"], [ONE, b"c"], [ONE, ONE]])) == 3
    assert most_accepted(build_nfa([[MANY, b"w%d" % n, MANY] for n in range(20)])) == 20
    assert most_accepted(build_nfa([[b"a"], [b"a"], [b"b"]])) == 2


def test_nothing_matches_an_empty_set() -> None:
    assert most_accepted(build_nfa([])) == 0
