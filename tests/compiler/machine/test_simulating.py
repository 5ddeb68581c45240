"""When keys are simulated: where a set makes states for every word, soon enough, and with any number of patterns."""

from __future__ import annotations

import random

import numpy as np

from compiler import Token, Wildcard, build_nfa
from compiler.machine.bit_program import bit_program
from compiler.machine.lazy import LazyDfa
from compiler.machine.simulator import Simulator
from tests.borders import WORD_COUNTS, between
from tests.compiler.machines import answers


def test_a_set_that_makes_states_for_every_word_is_simulated_early() -> None:
    """64 patterns of stars behind a hash: the DFA is given up after a few thousand states, far below its bound."""
    rng = np.random.default_rng(3)
    nfa = build_nfa([[Wildcard.MANY, rng.choice([b"a", b"b"]), *[Wildcard.ONE] * (3 + i % 5)] for i in range(64)])
    keys = [b".".join(rng.choice([b"a", b"b", b"c"], 20)) for _ in range(5000)]
    machine = LazyDfa(nfa, b".", 64 << 20)
    assert answers(machine, keys) == answers(Simulator(nfa, b"."), keys)
    assert machine.stats().fallbacks > 4000
    assert machine.stats().states < 5000


def test_a_small_set_whose_words_repeat_stays_with_the_dfa() -> None:
    nfa = build_nfa([[b"w%d" % i, Wildcard.ONE] for i in range(200)])
    keys = [b"w%d.x" % (i % 300) for i in range(50_000)]
    machine = LazyDfa(nfa, b".", 1 << 20)
    assert answers(machine, keys) == [[i % 300] if i % 300 < 200 else [] for i in range(50_000)]
    assert machine.stats().fallbacks == 0


def test_patterns_that_no_machine_word_holds_are_simulated_all_the_same() -> None:
    """63 tokens fit beside the end bit; 64 do not, and the whole set goes by pairs."""
    for length in between(WORD_COUNTS, 1, 129):
        nfa = build_nfa([[b"a"] * length, [Wildcard.MANY, b"b"]])
        assert (bit_program(nfa) is None) == (length > 63)
        keys = [b".".join([b"a"] * n) for n in (length - 1, length, length + 1)] + [b"a.b"]
        assert answers(Simulator(nfa, b"."), keys) == [[], [0], [], [1]]


def test_a_large_set_that_only_builds_is_simulated_long_before_its_cache_is_full() -> None:
    rng = random.Random(5)
    words = [b"w%d" % i for i in range(60)]
    patterns: list[list[Token]] = [
        [Wildcard.MANY, rng.choice(words), *[Wildcard.ONE] * rng.randrange(3), rng.choice(words)] for _ in range(5000)
    ]
    keys: list[bytes | None] = [b".".join(rng.choices(words, k=12)) for _ in range(14_000)]
    nfa = build_nfa(patterns)
    assert bit_program(nfa) is None
    machine = LazyDfa(nfa, b".", 1 << 30)
    assert answers(machine, keys) == answers(Simulator(nfa, b"."), keys)
    counters = machine.stats()
    assert counters.clears == 0
    assert counters.fallbacks > 1000
