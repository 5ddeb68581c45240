"""Answers to single keys that are kept as tuples: what Python takes for them has a bound, however the capacity is shared."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterable
from itertools import cycle, islice

import pytest

from compiler import Nfa, Wildcard, build_nfa
from compiler.machine.lazy import SMALLEST_SHARE, LazyDfa
from compiler.machine.sealed_walker import SealedWalker
from compiler.machine.single_keys import MOST_BYTES, answer_bytes
from tests.compiler.machines import answers, column, without_bits

CAPACITY = 1 << 20
PER_SET = 12
FIRST = 256 // PER_SET + 1
"""The first word whose sets have no number of which Python keeps an object anyway."""


def nfa_of(words: int, tags: int = PER_SET) -> Nfa:
    """Return one of which each word's keys have a set of their own."""
    return build_nfa([[b"w%d" % word, Wildcard.MANY] for word in range(words) for _ in range(tags)])


def ask(machine: LazyDfa, keys: Iterable[bytes]) -> None:
    for key in keys:
        machine.match(key)


def kept(machine: LazyDfa, keys: list[bytes]) -> int:
    """Return the bytes of Python's objects that stay from asking for keys that the machine knows."""
    for walker in machine._walkers:  # forget what was kept before, as when the tables change
        walker._single.cache = None
        if isinstance(walker, SealedWalker):
            walker._sealed_single.seal = None
    ask(machine, keys[:1])
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(3):
            ask(machine, keys)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("tags", [9, PER_SET, 100])
def test_answers_take_a_sixteenth_of_the_capacity_beside_it(tags: int) -> None:
    """They took over a half of it when their tags were counted."""
    words = 20_000 // tags
    machine, keys = (
        without_bits(LazyDfa(nfa_of(words, tags), b".", CAPACITY)),
        [b"w%d.x" % word for word in range(words)],
    )
    ask(machine, keys)
    assert machine.stats().clears == 0
    assert 0.7 * CAPACITY / 16 < kept(machine, keys) <= CAPACITY / 16
    assert machine.stats().bytes <= CAPACITY


def test_numbers_that_python_has_anyway_take_nothing() -> None:
    tags, words = 2 * PER_SET, 10
    machine, keys = without_bits(LazyDfa(nfa_of(words, tags), b".", 60_000)), [b"w%d.x" % word for word in range(words)]
    ask(machine, keys)
    assert kept(machine, keys) <= 60_000 / 16
    assert sum(machine.match(key) is machine.match(key) for key in keys) >= 8  # six, did each number count


def test_two_megabytes_are_the_most() -> None:
    assert answer_bytes(1 << 20) == 1 << 16
    assert answer_bytes(1 << 30) == MOST_BYTES
    assert answer_bytes(-5) == 0


def test_walkers_share_what_answers_may_take() -> None:
    """The one that was there before had kept the room of the whole capacity."""
    words = 1000
    machine, keys = without_bits(LazyDfa(nfa_of(words), b".", CAPACITY)), [b"w%d.x" % word for word in range(words)]
    ask(machine, keys)
    alone = kept(machine, keys)
    machine.match_batch([column(list(islice(cycle(keys), 4 * SMALLEST_SHARE)))], threads=4)
    ask(machine, keys)
    assert 0.7 * CAPACITY / 16 / 4 < kept(machine, keys) <= CAPACITY / 16 / 4 < alone / 2
    assert machine._walkers[0]._capacity == CAPACITY // 4


@pytest.mark.parametrize("shared", [False, True])
def test_sealed_tables_and_the_cache_behind_them_share_it_too(*, shared: bool) -> None:
    words, known = 2000, 1000
    machine, keys = LazyDfa(nfa_of(words), b".", CAPACITY), [b"w%d.x" % word for word in range(words)]
    assert answers(without_bits(machine), keys[:known])
    sealed = machine.seal()
    assert sealed is not None
    without_bits(sealed)
    if shared:
        sealed.match_batch([column(list(islice(cycle(keys[:known]), 2 * SMALLEST_SHARE)))], threads=2)
    ask(sealed, keys)
    mixed = [key for pair in zip(keys[FIRST:known], keys[known + FIRST :], strict=True) for key in pair]
    room = sealed._room / 16 / (2 if shared else 1)
    assert 0.6 * room < kept(sealed, mixed) <= room
    before = sealed.stats().sealed_keys
    ask(sealed, mixed)
    assert sealed.stats().sealed_keys == before + len(mixed) // 2
