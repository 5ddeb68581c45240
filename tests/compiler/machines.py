"""What the tests of the compiler share: patterns and keys to draw from, how a machine is asked, and what it is held to.

A *machine* here is any of `LazyDfa`, `Simulator` and their plain-Python `Twin`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from hypothesis import strategies as st

from compiler import Nfa, Token, Wildcard, build_nfa
from compiler.automata.powerset import default_successor, is_final, start, successor
from compiler.automata.twin import Twin
from compiler.machine.key_cache import KeyCacheMode
from compiler.machine.lazy import LazyDfa
from compiler.machine.lost_keys import LostKeys
from compiler.machine.pace import Pace
from compiler.machine.policy import AUTO, Policy
from compiler.machine.simulator import Simulator
from compiler.values import KeyColumn

__all__ = [
    "KEYS",
    "PATTERNS",
    "answers",
    "assert_keys_are_forgotten",
    "assert_same_automaton",
    "column",
    "without_bits",
]

M = TypeVar("M", LazyDfa, Simulator)

_TOKENS = st.sampled_from([b"a", b"b", b"c", b"", b"longer-than-8", b"longer-than-9", Wildcard.ONE, Wildcard.MANY])
PATTERNS = st.lists(st.lists(_TOKENS, max_size=6), min_size=1, max_size=12)
"""Sets of patterns: few words, so that patterns share prefixes and keys match them."""

_WORDS = st.sampled_from([b"a", b"b", b"c", b"", b"longer-than-8", b"longer-than-9", b"longer-than-", b"other", b"a\0"])
KEYS = st.lists(st.lists(_WORDS, max_size=8), max_size=60)
"""Keys as lists of words: those of the patterns, words that differ from them in the last byte, and words of no pattern."""


def column(keys: Sequence[bytes | None]) -> KeyColumn:
    """Lay keys out as Arrow does."""
    offsets = np.zeros(len(keys) + 1, np.int32)
    np.cumsum([len(key or b"") for key in keys], out=offsets[1:])
    data = np.frombuffer(b"".join(key or b"" for key in keys), np.uint8)
    return KeyColumn(offsets, data, np.array([key is not None for key in keys], np.bool_))


def answers(machine: LazyDfa | Simulator | Twin, keys: Sequence[bytes | None]) -> list[list[int] | None]:
    """Match keys; return the accept tags of each, and None for a null key."""
    found = machine.match_batch([column(keys)])
    sets = [found.positions[a:b].tolist() for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
    return [None if number < 0 else sets[number] for number in found.set_ids.tolist()]


def assert_keys_are_forgotten(key_cache: KeyCacheMode, policy: Policy = AUTO) -> None:
    """Match keys that recur by a cache that is cleared. Accept sets get new numbers then: an old number kept with a key would be another set."""
    rng = random.Random(1)
    words = [b"%d" % i for i in range(3000)]
    patterns: list[list[Token]] = [[word, Wildcard.ONE, Wildcard.MANY] for word in words]
    nfa = build_nfa([*patterns, [b"a"] * 64])  # too long a pattern to be simulated as bits
    keys = [b"%d.%d" % (rng.randrange(3000), rng.randrange(2)) for _ in range(20_000)]
    machine = LazyDfa(nfa, b".", 150_000, key_cache=key_cache, policy=policy)
    assert answers(machine, keys) == answers(LazyDfa(nfa, b".", 64 << 20), keys)
    counters = machine.stats()
    assert counters.clears
    assert counters.key_cache_hits
    assert counters.bytes <= 150_000


def assert_same_automaton(nfa: Nfa, machine: LazyDfa) -> None:
    """Compare every state and transition that the kernel has built with one step of subset construction."""
    known = machine.snapshot()
    assert known is not None
    if known.start is not None:
        assert known.states[known.start] == start(nfa)
    assert len(set(known.states)) == len(known.states)
    for state, target in known.defaults.items():
        assert known.states[target] == default_successor(nfa, known.states[state])
    for (state, symbol), target in known.successors.items():
        assert known.states[target] == successor(nfa, known.states[state], symbol)
    for state in known.final:
        assert is_final(nfa, known.states[state])
    reached = set(known.defaults.values()) | set(known.successors.values())
    assert {state for state in reached if is_final(nfa, known.states[state])} <= known.final


def without_bits(machine: M) -> M:
    """Switch the bit-parallel simulation off, as it is for sets that are too large for it."""
    inner = machine._machine if isinstance(machine, Simulator) else machine
    inner._parts = inner._parts._replace(bits=None)
    for walker in inner._walkers:
        walker._bits = walker._simulation.bits = None
        walker._pace, walker._lost = (
            Pace(lanes=None),
            LostKeys(walker._program, None, walker._work, divided=walker._exact is not None),
        )
    return machine
