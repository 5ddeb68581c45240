"""The kernels that sort, beside Python's."""

from __future__ import annotations

import random
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler import Token, Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.kernels.sorting import SHORT, SHORT_RUNS, merge_runs, sort
from compiler.machine.lazy import LazyDfa
from compiler.machine.simulator import Simulator
from tests.compiler.machines import answers, without_bits

UNTOUCHED = -7
RUNS = st.lists(st.lists(st.integers(0, 1000), max_size=SHORT).map(sorted), max_size=9).map(
    lambda runs: [*chain(*runs)]
)
ANY = st.lists(st.integers(0, 2**31 - 1), max_size=3 * SHORT)


@given(RUNS | ANY)
def test_both_sort_and_write_nothing_else(values: list[int]) -> None:
    n = len(values)
    for merges in (False, True):
        sorted_ones, spare = np.full(n + 1, UNTOUCHED, np.int32), np.full(n + 1, UNTOUCHED, np.int32)
        sorted_ones[:n] = values
        if merges:
            merge_runs(sorted_ones, n, spare)
        else:
            sort(sorted_ones, n)
        assert sorted_ones.tolist() == [*sorted(values), UNTOUCHED]
        assert spare[n] == UNTOUCHED


@pytest.mark.parametrize("runs", [1, 2, 3, 4, 5, 8, 9, 100])
@pytest.mark.parametrize("n", [SHORT_RUNS, SHORT_RUNS + 1, 100, 1000])
def test_runs_of_all_numbers_are_merged(n: int, runs: int) -> None:
    rng = np.random.default_rng(n + runs)
    values = np.concatenate([np.sort(part) for part in np.array_split(rng.permutation(n).astype(np.int32), runs)])
    merge_runs(values, n, np.empty(n, np.int32))
    assert values.tolist() == list(range(n))


def test_tags_of_many_bindings_with_equal_patterns_ascend() -> None:
    """A key meets up to six positions, each with a run of tags between those of the others."""
    many, one = Wildcard.MANY, Wildcard.ONE
    shapes: list[list[Token]] = [[many], [one, b"a"], [many, b"a"], [b"b", one], [b"b", b"a"], [b"b", many]]
    chance = random.Random(1)
    nfa = build_nfa([chance.choice(shapes) for _ in range(600)])
    keys: list[bytes | None] = [b"a", b"b", b"b.a", b"a.a", b"b.b", b"", b"c.c.a", b"b.x.a"]
    expected = answers(Twin(nfa, b".", 1 << 20), keys)
    assert max(len(tags) for tags in expected if tags) == 600
    machines = LazyDfa(nfa, b".", 1 << 20), LazyDfa(nfa, b".", 0), Simulator(nfa, b".")
    for machine in (*machines, without_bits(Simulator(nfa, b"."))):
        assert answers(machine, keys) == expected
