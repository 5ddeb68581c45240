"""Words that are no literals of a state although some pattern has them: right answers, and memory bounded by the literals."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

import numpy as np
import pytest

from compiler import build_nfa
from compiler.automata.pattern import Token, Wildcard
from compiler.kernels._jit import kernel
from compiler.kernels.filters import marks
from compiler.kernels.tables import FILTERS, FILTERS_FULL, STATES, TRANSITIONS, WIDE, Cache
from compiler.machine import bounded_cache
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.program import make_program
from tests.compiler.machines import answers, without_bits

WORDS = [b"w%d" % i for i in range(20_000)]


@kernel
def marks_of(symbol: np.uint64) -> np.uint64:
    found: np.uint64 = marks(symbol)
    return found


def site_patterns(sites: int, literals: int, chance: np.random.Generator) -> list[list[Token]]:
    """Give each site its own words, and all words somewhere, so that each of them is known."""
    own = [chance.choice(len(WORDS), literals, replace=False) for _ in range(sites)]
    everywhere: list[list[Token]] = [[b"all", word] for word in WORDS]
    return everywhere + [[b"s%d" % site, WORDS[word]] for site, words in enumerate(own) for word in words]


def keys_of(sites: int, count: int, chance: np.random.Generator) -> list[bytes]:
    drawn = zip(chance.integers(0, sites, count), chance.integers(0, len(WORDS), count), strict=True)
    return [b"s%d.%s" % (site, WORDS[word]) for site, word in drawn]


def cache_of(machine: LazyDfa) -> Cache:
    cache = machine._walkers[0]._cache
    assert cache is not None
    return cache


def filled(patterns: Sequence[Sequence[Token]], keys: Sequence[bytes], capacity: int = 1 << 26) -> Cache:
    """Match the keys twice, hold the answers to a look-up of whole patterns, and return the cache."""
    machine = without_bits(LazyDfa(build_nfa(patterns), b".", capacity, policy=Policy(exact=False)))
    positions = {b".".join(map(bytes, pattern)): position for position, pattern in enumerate(patterns)}  # type: ignore[arg-type]
    expected = [[positions[key]] if key in positions else [] for key in keys]
    assert sum(map(bool, expected)) > 20
    assert answers(machine, keys) == expected
    assert answers(machine, keys) == expected
    assert [list(machine.match(key)) for key in keys[:2000]] == expected[:2000]
    return cache_of(machine)


@pytest.mark.parametrize(("sites", "literals", "most"), [(20, 10, 800), (20, 500, 25_000), (1, 5_000, 11_000)])
def test_what_states_take_is_bounded_by_their_literals(sites: int, literals: int, most: int) -> None:
    """Strays are kept until there are about as many as literals: with each kept, it were 53,281 in the first case."""
    chance = np.random.default_rng(literals)
    cache = filled(site_patterns(sites, literals, chance), keys_of(sites, 60_000, chance))
    assert cache.meta[TRANSITIONS] <= most
    wide = cache.info[1 : 2 * int(cache.meta[STATES]) : 2] >= np.uint64(WIDE)
    assert np.count_nonzero(wide) == sites
    assert 8 * cache.meta[FILTERS] <= 8 + sites * max(
        16, 8 * literals
    )  # 16 to 32 bits for each literal, and two numbers at least


def test_caches_without_room_for_wide_filters_answer_rightly() -> None:
    chance = np.random.default_rng(3)
    patterns, keys = site_patterns(60, 2000, chance), keys_of(60, 60_000, chance)
    with patch.object(bounded_cache, "FAR_BYTES", -1):  # then strays are not kept, and filters are made wide soon
        cache = filled(patterns, keys, 1 << 20)
    assert cache.meta[FILTERS_FULL] == 1
    assert 1 << 17 < cache.filters.nbytes <= 1 << 18


def test_symbols_have_the_same_bits_in_the_automaton_and_in_kernels() -> None:
    """Each position's filter has two bits of each literal that leads on from it, and no others."""
    chance = np.random.default_rng(5)
    nfa = build_nfa([[b"a", WORDS[word]] for word in range(3000)] + [[b"b", Wildcard.ONE], [b"b", b"c"]])
    program = make_program(nfa, b".")
    assert nfa.children[0] == len(nfa.roots)
    for position in [*chance.integers(0, len(nfa), 50).tolist(), 0, 1, 2]:
        expected = 0
        for label in nfa.labels[nfa.children[position] : nfa.children[position + 1]].tolist():
            expected |= int(marks_of(np.uint64(label))) if label > 0 else 0
        assert int(program.nodes[2 * position + 1]) == expected
        assert expected < WIDE
    assert {int(marks_of(np.uint64(symbol))).bit_count() for symbol in range(1, 3000)} == {1, 2}
    assert int(marks_of(np.uint64(0))) == 2**64 - 1
