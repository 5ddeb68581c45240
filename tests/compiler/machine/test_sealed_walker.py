"""What stands around sealed tables: whole keys in front of them, and the cache behind them that gets the keys which are lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Nfa, Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.kernels import calling
from compiler.machine.cache import nbytes
from compiler.machine.key_cache import SLOTS, STRETCH, KeyCacheMode
from compiler.machine.lazy import SMALLEST_SHARE, LazyDfa
from compiler.machine.policy import AUTO, Policy
from compiler.machine.sealed_pace import LONGEST_PAUSE, PAUSE, SealedPace
from compiler.machine.sealed_walker import SealedWalker
from tests.breaking_off import Broken
from tests.compiler.machines import KEYS, PATTERNS, answers, column

MANY, ONE = Wildcard.MANY, Wildcard.ONE


def sealed_of(
    nfa: Nfa,
    known: list[bytes | None],
    capacity: int = 1 << 20,
    key_cache: KeyCacheMode = "on",
    policy: Policy = AUTO,
) -> LazyDfa | None:
    machine = LazyDfa(nfa, b".", capacity, key_cache=key_cache, policy=policy)
    answers(machine, known)
    return machine.seal()


def walkers_of(machine: LazyDfa) -> list[SealedWalker]:
    walkers = [walker for walker in machine._walkers if isinstance(walker, SealedWalker)]
    assert len(walkers) == len(machine._walkers)
    return walkers


def joined(keys: list[list[bytes]]) -> list[bytes | None]:
    return [b".".join(words) if words != [b"other"] else None for words in keys]


@contextmanager
def short_stretches() -> Iterator[None]:
    """Have everything that is decided by counting be decided every few keys."""
    with ExitStack() as stack:
        for module, name, number in (
            ("key_cache", "STRETCH", 5),
            ("key_cache", "PAUSE", 2),
            ("sealed_pace", "STRETCH", 3),
            ("sealed_pace", "PAUSE", 2),
        ):
            stack.enter_context(patch(f"compiler.machine.{module}.{name}", number))
        yield


def hurry(machine: LazyDfa) -> None:
    for walker in walkers_of(machine):
        walker._sealed_key_cache.policy.left = walker._key_cache.policy.left = 5
        walker._sealed_pace.left = 3


@settings(deadline=None)
@given(
    patterns=PATTERNS,
    known=KEYS,
    keys=KEYS,
    capacity=st.sampled_from([40_000, 200_000, 4 << 20]),
    key_cache=st.sampled_from(["on", "auto"]),
    row_bytes=st.sampled_from([0, 1 << 20]),
)
def test_answers_are_right_whatever_stands_in_front_and_behind(
    patterns: list[list[bytes | Wildcard]],
    known: list[list[bytes]],
    keys: list[list[bytes]],
    capacity: int,
    key_cache: KeyCacheMode,
    row_bytes: int,
) -> None:
    nfa, asked = build_nfa(patterns), joined(keys)
    sealed = sealed_of(nfa, joined(known), capacity, key_cache, Policy(row_bytes=row_bytes))
    if sealed is None:
        return
    expected = answers(Twin(nfa, b".", 1 << 22), asked)
    with short_stretches():
        hurry(sealed)
        for turn in range(3):
            assert answers(sealed, asked) == expected
            assert answers(sealed, asked[::-1]) == expected[::-1]
            several = sealed.match_batch([column(asked), column(asked[turn:]), column(asked)])
            sets = [several.positions[a:b].tolist() for a, b in zip(several.offsets, several.offsets[1:], strict=False)]
            found = [None if number < 0 else sets[number] for number in several.set_ids.tolist()]
            assert found == expected + expected[turn:] + expected
            assert sealed.stats().bytes <= capacity
    counters = sealed.stats()
    assert counters.hits + counters.misses == counters.words
    assert counters.key_cache_hits <= counters.keys


def example(count: int = 400) -> tuple[Nfa, list[bytes | None], list[list[int] | None]]:
    """Return an automaton, keys that have a set of their own each, and these."""
    nfa = build_nfa([*([b"a", b"%d" % i] for i in range(count)), [MANY, b"x"]])
    keys: list[bytes | None] = [b"a.%d" % i for i in range(count)]
    return nfa, keys, [[i] for i in range(count)]


def test_keys_that_recur_are_answered_in_front_of_the_tables() -> None:
    nfa = build_nfa([[*[ONE] * 10, b"%d" % i] for i in range(0, 100, 3)])
    keys: list[bytes | None] = [b"a.b.c.d.e.f.g.h.i.j.%d" % i for i in range(100)]
    sealed = sealed_of(nfa, keys, 16 << 20, key_cache="auto")
    assert sealed is not None
    assert answers(sealed, keys * 500) == [[i // 3] if i % 3 == 0 else [] for i in range(100)] * 500
    counters = sealed.stats()
    assert counters.key_cache_hits > 48_000
    assert counters.sealed_keys == counters.keys == 50_000
    assert counters.words < 2000 * 11


def test_off_means_off_and_takes_no_room() -> None:
    nfa, keys, expected = example()
    sealed = sealed_of(nfa, keys, key_cache="off")
    assert sealed is not None
    assert answers(sealed, keys * 20) == expected * 20
    (walker,) = walkers_of(sealed)
    assert sealed.stats().key_cache_hits == 0
    assert walker._sealed_key_cache.table.nbytes == 0
    assert sealed.sealed is not None
    assert walker._capacity + walker._sealed_rows.nbytes + nbytes(sealed.sealed) == 1 << 20


def test_keys_that_do_not_recur_are_hardly_looked_up() -> None:
    """Eight thousand keys in each million."""
    nfa = build_nfa([[b"a", ONE, ONE]])
    sealed = sealed_of(nfa, [b"a.b.c", b"a.b", b"a.b.c.d"], key_cache="auto")
    assert sealed is not None
    (walker,) = walkers_of(sealed)
    looked_up = 0
    judge = type(walker._sealed_key_cache).judge

    def counting(self: Any, keys: Any, first: int, last: int, *rest: Any, **named: Any) -> None:
        nonlocal looked_up
        if self is walker._sealed_key_cache and self.policy.wanted:
            looked_up += last - first
        judge(self, keys, first, last, *rest, **named)

    with patch("compiler.machine.key_cache.KeyCache.judge", counting):
        for turn in range(12):
            answers(sealed, [b"a.%d.%d" % (turn, i) for i in range(100_000)])
    assert 8 * STRETCH <= looked_up <= 10 * STRETCH


@pytest.mark.parametrize("capacity", [20_000, 70_000, 150_000, 1 << 20, 64 << 20])
def test_tables_keys_rows_and_caches_together_keep_within_the_bound(capacity: int) -> None:
    """Lost keys fill the cache behind the tables, and the table of keys is made first or last."""
    nfa = build_nfa([[b"w%d" % (i % 900), b"x%d" % i] for i in range(2000)])
    known: list[bytes | None] = [b"w%d.x%d" % (i % 900, i) for i in range(60)]
    lost: list[bytes | None] = [b"w%d.x%d" % (i % 900, i) for i in range(2000)]
    for row_bytes in (0, 1 << 20):
        for order in ([known * 50, lost, known], [lost, known * 50, lost]):
            for threads in (1, 3):
                sealed = sealed_of(nfa, known, capacity, "auto", Policy(row_bytes=row_bytes))
                assert sealed is not None
                for keys in order:
                    sealed.match_batch([column(keys * 3)], threads=threads)
                    assert sealed.stats().bytes <= capacity
                    room = 0
                    for walker in walkers_of(sealed):
                        table = walker._sealed_key_cache.table.nbytes
                        assert table <= SLOTS * 64
                        own = walker._capacity + walker._sealed_store.pledged
                        assert table <= own
                        room += own + table + walker._sealed_rows.nbytes
                    assert sealed.sealed is not None
                    assert room <= capacity - nbytes(sealed.sealed)


def test_each_thread_writes_to_a_table_of_its_own() -> None:
    nfa, keys, expected = example(300)
    sealed = sealed_of(nfa, keys, 8 << 20)
    assert sealed is not None
    repeated = keys * (2 * SMALLEST_SHARE // 300 + 1)
    found = sealed.match_batch([column(repeated)], threads=2)
    sets = [found.positions[a:b].tolist() for a, b in zip(found.offsets, found.offsets[1:], strict=False)]
    assert [sets[number] for number in found.set_ids.tolist()] == expected * (len(repeated) // 300)
    one, other = walkers_of(sealed)
    assert len(one._sealed_key_cache.table) == len(other._sealed_key_cache.table) > 0
    assert not np.shares_memory(one._sealed_key_cache.table, other._sealed_key_cache.table)
    assert np.shares_memory(one._seal.records, other._seal.records)
    assert sealed.stats().key_cache_hits > 0.8 * len(repeated)


def test_a_table_that_a_fork_has_copied_in_the_middle_of_a_key_is_not_read() -> None:
    """A kernel keeps no lock of the interpreter while it writes, so that another thread may fork then."""
    nfa, keys, expected = example()
    sealed = sealed_of(nfa, keys)
    assert sealed is not None
    answers(sealed, keys)
    (walker,) = walkers_of(sealed)
    assert np.any(walker._sealed_key_cache.table)
    direct = calling.direct

    def cut_short(kernel: Any, *arguments: Any) -> Any:
        if kernel.__name__ != "walk_sealed_behind_keys":
            return direct(kernel, *arguments)
        table = arguments[-1].reshape(-1, 8)
        used = table[table[:, 0] != 0]
        used[:, 0] = used[:, 0] >> np.uint64(32) << np.uint64(32) | np.uint64(1)  # keys of the one, sets of the other
        table[table[:, 0] != 0] = used
        raise Broken

    with patch("compiler.kernels.calling.direct", cut_short), pytest.raises(Broken):
        answers(sealed, keys)
    assert answers(sealed, keys) == expected


# --- Keys that are lost ---------------------------------------------------------------------------------------------------


def test_tables_in_which_keys_are_lost_are_left_out_and_tried_again() -> None:
    nfa, keys, expected = example(6000)
    known, others = keys[:50], keys[50:]
    sealed = sealed_of(nfa, known, key_cache="off", policy=Policy(exact=False))
    assert sealed is not None
    (walker,) = walkers_of(sealed)
    assert answers(sealed, others) == expected[50:]
    assert walker._sealed_pace.pause > 0
    before = sealed.stats()
    assert answers(sealed, known) == expected[:50]
    assert sealed.match_joined(b"a.1\0a.7", 2) is not None
    assert sealed.stats().sealed_keys == before.sealed_keys  # nobody has asked the tables
    assert sealed.stats().keys == before.keys + 52
    for _ in range(1 + walker._sealed_pace.pause // 5000):
        assert answers(sealed, known * 100) == expected[:50] * 100
    assert walker._sealed_pace.pause == 0
    asked = sealed.stats().sealed_keys
    assert answers(sealed, known) == expected[:50]
    assert sealed.stats().sealed_keys == asked + 50


@pytest.mark.parametrize("pause", [0, 7, 40, 1 << 20])
@pytest.mark.parametrize("key_cache", ["off", "on"])
def test_null_keys_stay_null_wherever_the_tables_are_left_out(pause: int, key_cache: KeyCacheMode) -> None:
    nfa, keys, expected = example(60)
    sealed = sealed_of(nfa, keys[:30], key_cache=key_cache)
    assert sealed is not None
    (walker,) = walkers_of(sealed)
    some, right = keys.copy(), expected.copy()
    for row in (0, 5, 6, 30, 59):
        some[row] = right[row] = None
    for _ in range(3):  # with more and more keys in the table
        walker._sealed_pace.pause = pause
        assert answers(sealed, some) == right
        assert answers(sealed, keys) == expected


def test_few_lost_keys_are_no_reason_to_leave_tables_out() -> None:
    nfa, keys, expected = example(1000)
    sealed = sealed_of(nfa, keys[:950], key_cache="off")
    assert sealed is not None
    for _ in range(10):
        assert answers(sealed, keys) == expected
    assert sealed.stats().sealed_keys == 9500


def test_small_batches_of_lost_keys_are_counted_too() -> None:
    nfa, keys, _ = example(2000)
    sealed = sealed_of(nfa, keys[:5], key_cache="off")
    assert sealed is not None
    (walker,) = walkers_of(sealed)
    texts = [key for key in keys if key is not None]
    for begin in range(0, 2000, 10):
        found = sealed.match_joined(b"\0".join(texts[begin : begin + 10]), 10)
        assert found is not None
        assert [found.positions[found.offsets[n]] for n in found.set_ids] == list(range(begin, begin + 10))
    assert walker._sealed_pace.pause > 0


def test_each_trial_that_is_lost_doubles_the_pause() -> None:
    pace = SealedPace()
    pauses = []
    for _ in range(8):
        pace.note(answered=0, lost=pace.left)
        pauses.append(pace.pause)
        pace.skip(pace.pause)
    assert [pause // pauses[0] for pause in pauses] == [1, 2, 4, 8, 16, 32, 32, 32]
    assert LONGEST_PAUSE == 32 * PAUSE
    pace.note(answered=pace.left, lost=0)
    assert pace.patience == PAUSE


def test_answered_keys_are_counted_once() -> None:
    pace = SealedPace()
    pace.note(answered=10**6, lost=0)
    pace.note(answered=10**6 + 1000, lost=1048)
    assert pace.pause == PAUSE * 1024


def test_many_lost_keys_are_noticed_before_a_long_stretch_ends() -> None:
    pace = SealedPace()
    for turn in range(1, 15):
        pace.note(answered=turn << 20, lost=0)
    assert pace.left > 900_000
    pace.note(answered=14 << 20, lost=1 << 17)
    assert pace.pause == 0
    pace.note(answered=14 << 20, lost=1)
    assert pace.pause == PAUSE * 1024


def test_large_sets_are_twice_in_an_answer_at_most() -> None:
    """Keys that the tables know, and keys that are lost or not asked for in many stretches, have one set of 200 tags."""
    patterns: list[list[bytes | Wildcard]] = [[MANY, *[b"z"] * (i % 2)] for i in range(400)]
    patterns += [[b"a", b"%d" % i, b"z"] for i in range(3000)]
    nfa = build_nfa(patterns)
    keys: list[bytes | None] = [b"a.%d" % i for i in range(3000)]
    sealed = sealed_of(nfa, keys[::2], 8 << 20, key_cache="off")
    assert sealed is not None
    with short_stretches():
        hurry(sealed)
        found = sealed.match_batch([column(keys)])
    assert 0 < sealed.stats().sealed_keys < 1000
    assert len(found.positions) <= 2 * 200
    assert answers(sealed, keys) == [list(range(0, 400, 2))] * 3000
