"""An answer is as large as its keys and their accept sets, whatever the cache holds, and right in every way of gathering it."""

from __future__ import annotations

import numpy as np
import pytest

from compiler import CapacityError, Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.kernels.work import SHARED_FROM
from compiler.machine import collector
from compiler.machine.lazy import LazyDfa
from compiler.values import SetBatch
from tests.compiler.machines import answers, column

NFA = build_nfa([[Wildcard.MANY]] * 500 + [[b"a", b"%d" % word] for word in range(2000)])
KEYS = [b"a.%d" % word for word in range(2000)]


@pytest.mark.parametrize("rows", [1, 5, collector.SMALL, collector.SMALL + 1, 200])
def test_a_small_batch_has_a_small_answer(rows: int) -> None:
    """Two thousand cached sets of 501 bindings each are four megabytes, which every batch used to copy."""
    machine = LazyDfa(NFA, b".", 64 << 20)
    machine.match_batch([column(KEYS)])
    asked = [*KEYS[100 : 100 + rows], None]
    found = machine.match_batch([column(asked)])
    assert len(found.offsets) - 1 <= rows
    assert len(found.positions) <= 501 * rows
    twin = Twin(NFA, b".", 64 << 20)
    assert answers(machine, asked) == [None if key is None else list(twin.match(key)) for key in asked]


@pytest.mark.parametrize("small", [0, 10_000])
@pytest.mark.parametrize("few", [0, 16])
@pytest.mark.parametrize("dense", [0, 1 << 30])
@pytest.mark.parametrize("large", [1, 64])
@pytest.mark.parametrize("capacity", [20_000, 64 << 20])
def test_every_way_of_gathering_sets_is_right(
    monkeypatch: pytest.MonkeyPatch, small: int, few: int, dense: int, large: int, capacity: int
) -> None:
    for name, value in (("SMALL", small), ("FEW", few), ("DENSE", dense), ("SHARED_FROM", large)):
        monkeypatch.setattr(collector, name, value)
    nfa = build_nfa([[Wildcard.MANY, b"a", Wildcard.ONE], [Wildcard.MANY, b"b", Wildcard.MANY], [b"a", b"b"]])
    keys = [b".".join([b"a", b"b", b"c"][number // 3**at % 3] for at in range(7)) for number in range(2000)]
    machine, twin = LazyDfa(nfa, b".", capacity), Twin(nfa, b".", 64 << 20)
    for some in (keys, keys[:50], [None, *keys[70:300]], keys[:1]):
        assert answers(machine, some) == [None if key is None else list(twin.match(key)) for key in some]


@pytest.mark.parametrize("capacity", [0, 1000, 100_000])
@pytest.mark.parametrize("bits", [False, True])
def test_a_set_of_many_keys_is_in_the_answer_once(capacity: int, bits: bool) -> None:
    """Simulated, or from a cache that is cleared again and again: the answer holds each set once from either side.

    Where a cache's sets take no more than a few numbers for each key, they are handed over whole.
    """
    every, keys = (2000, 3000) if bits else (5000, 20_000)
    nfa = build_nfa([[Wildcard.MANY]] * every + [[b"a", b"%d" % word] for word in range(10)])
    machine = LazyDfa(nfa, b".", capacity)
    assert (machine._parts.bits is not None) is bits
    found = machine.match_batch([column([b"a.%d" % (number % 20) for number in range(keys)])])
    assert len(found.positions) <= 2 * 11 * (every + 1) + collector.FEW * keys
    for key in range(20):
        for number in set(found.set_ids[key::20].tolist()):
            tags = found.positions[found.offsets[number] : found.offsets[number + 1]].tolist()
            assert tags == [*range(every), *([every + key] if key < 10 else [])]


def test_a_set_that_does_not_fit_the_cache_is_in_the_answer_once() -> None:
    """A cache of a few states at a time is cleared every few keys, and each time hands over what these keys refer to."""
    nfa = build_nfa([[Wildcard.MANY, b"%d" % word, Wildcard.MANY] for word in range(8) for _ in range(200)])
    keys = [b".".join(b"%d" % (number >> bit & 1 and bit) for bit in range(8)) for number in range(256)] * 40
    machine, twin = LazyDfa(nfa, b".", 200_000), Twin(nfa, b".", 64 << 20)
    found = machine.match_batch([column(keys)])
    assert machine.stats().clears >= 3
    distinct = {twin.match(key) for key in keys}
    assert len(found.positions) <= 2 * sum(map(len, distinct))
    assert answers(machine, keys[:300]) == [list(twin.match(key)) for key in keys[:300]]


def test_keys_that_find_very_much_are_taken_in_smaller_blocks() -> None:
    """A block's tags lie side by side before equal sets are made one: a hundred keys with a million tags each would be 400 MB."""
    every = 150_000
    nfa = build_nfa([[Wildcard.MANY]] * every + [[b"a"], [b"b"]])
    found = LazyDfa(nfa, b".", 0).match_batch([column([b"a", b"b", b"c"] * 100)])
    assert len(found.positions) == 3 * every + 2
    assert found.offsets.tolist() == [0, every + 1, 2 * every + 2, 3 * every + 2]


def test_more_tags_than_an_answer_can_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "MOST_TAGS", 50_000)
    nfa = build_nfa([[Wildcard.MANY]] * 1000 + [[b"%d" % word] for word in range(100)])
    for capacity in (0, 1 << 20):
        machine = LazyDfa(nfa, b".", capacity)
        with pytest.raises(CapacityError, match="smaller batches"):
            machine.match_batch([column([b"%d" % word for word in range(100)])])
        assert answers(machine, [b"7"]) == [[*range(1000), 1007]]


@pytest.mark.parametrize("size", [3, SHARED_FROM - 1, SHARED_FROM, 500])
def test_answers_that_are_joined_have_each_large_set_once(size: int) -> None:
    """Two threads find the same sets; small ones are taken over as they are, as to look them up takes longer."""
    rng = np.random.default_rng(size)
    sets = [np.sort(rng.choice(1000, size, replace=False)).astype(np.int32) for _ in range(5)]
    ids = np.array([0, 1, 2, 0, -1, 0, 1, 1], np.int32)
    wanted = [sets[i] if i >= 0 else None for i in (0, 1, 2, 0, -1, 2, 4, 4)]
    parts = []
    for rows, numbers in ((slice(0, 5), (0, 1, 2)), (slice(5, 8), (2, 4))):
        offsets = np.cumsum([0, *(len(sets[number]) for number in numbers)], dtype=np.int32)
        parts.append(SetBatch(ids[rows], offsets, np.concatenate([sets[number] for number in numbers])))
    found = collector.joined(ids, parts)
    starts = found.offsets
    for number, tags in zip(found.set_ids.tolist(), wanted, strict=True):
        assert (number < 0) == (tags is None)
        if tags is not None:
            assert found.positions[starts[number] : starts[number + 1]].tolist() == tags.tolist()
    assert len(starts) - 1 == (4 if size >= SHARED_FROM else 5)
