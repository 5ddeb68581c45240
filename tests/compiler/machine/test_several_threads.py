"""Several threads of one machine: the same answers, the same keys to the same caches, and nobody who waits for the other."""

from __future__ import annotations

import threading

import pytest

from compiler import Wildcard, build_nfa
from compiler.machine.lazy import LazyDfa
from tests.compiler.machines import answers, column


@pytest.mark.parametrize("capacity", [3000, 60_000, 1 << 20])
def test_several_threads_for_one_batch(capacity: int) -> None:
    """The same answers in the same order as one thread gives, over columns cut anywhere, and one bound for all caches."""
    nfa = build_nfa([[b"w%d" % i, Wildcard.ONE, Wildcard.MANY] for i in range(3000)])
    keys = [b"w%d.x.%d" % (i % 5000, i) if i % 11 else None for i in range(30_000)]
    columns = [column(keys[:7]), column([]), column(keys[7:20_000]), column(keys[20_000:])]
    one = LazyDfa(nfa, b".", capacity).match_batch(columns)
    machine = LazyDfa(nfa, b".", capacity)
    machine.match_batch(columns)  # the first cache has the whole capacity, and must give some of it up
    for threads in (2, 3, 7):
        several = machine.match_batch(columns, threads=threads)
        for row in range(0, len(keys), 17):
            left, right = one.set_ids[row], several.set_ids[row]
            assert (left < 0) == (right < 0)
            if left >= 0:
                a = one.positions[one.offsets[left] : one.offsets[left + 1]]
                b = several.positions[several.offsets[right] : several.offsets[right + 1]]
                assert a.tolist() == b.tolist()
        assert machine.stats().bytes <= capacity
        assert machine.stats().capacity == capacity
    assert machine.stats().keys == 4 * len(keys)


def test_threads_may_share_a_machine() -> None:
    nfa = build_nfa([[b"a", Wildcard.MANY], [Wildcard.MANY, b"b"]])
    machine = LazyDfa(nfa, b".", 3000)
    keys = [b"a.%d.b" % i for i in range(500)] + [b"x.%d" % i for i in range(500)]
    results: list[bool] = []
    threads = [
        threading.Thread(target=lambda: results.append(answers(machine, keys) == [[0, 1]] * 500 + [[]] * 500))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8


def test_the_same_keys_come_to_the_same_caches() -> None:
    """A second pass with three threads finds all built, whichever of them is done first."""
    nfa = build_nfa([[b"w%d" % i, Wildcard.ONE, b"z%d" % (i % 7)] for i in range(3000)])
    columns = [column([b"w%d.x.z%d" % (i // 10, i % 5) for i in range(30_000)])]
    for _ in range(10):
        machine = LazyDfa(nfa, b".", 1 << 24)
        machine.match_batch(columns, threads=3)
        built = machine.stats().misses
        for _ in range(3):
            machine.match_batch(columns, threads=3)
        assert machine.stats().misses == built > 0


def test_two_who_want_several_threads_do_not_wait_for_each_other() -> None:
    nfa = build_nfa([[b"a", Wildcard.MANY], [Wildcard.MANY, b"b"]])
    machine = LazyDfa(nfa, b".", 1 << 20)
    keys: list[bytes | None] = [b"a.%d.b" % i for i in range(20_000)]
    results: list[bool] = []

    def ask(count: int) -> None:
        for _ in range(5):
            found = machine.match_batch([column(keys)], threads=count)
            last = found.set_ids[-1]
            results.append(found.positions[found.offsets[last] : found.offsets[last + 1]].tolist() == [0, 1])
            machine.stats()
            results.append(machine.match(b"a.b") == (0, 1))

    threads = [threading.Thread(target=ask, args=(count,), daemon=True) for count in (2, 3, 2, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert results == [True] * 40
