"""An exception may end a call of a machine between any two steps: the next answers are right, and nobody waits for ever."""

from __future__ import annotations

import faulthandler
import os
import random
import signal
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.machine import key_store, stored_keys
from compiler.machine.columns import whole
from compiler.machine.lazy import LENDING, LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.sealed_pace import SealedPace
from compiler.machine.sealed_walker import SealedWalker
from compiler.values import KeyColumn, Lent
from tests import breaking_off
from tests.breaking_off import Broken
from tests.strides import strides

MANY, ONE = Wildcard.MANY, Wildcard.ONE
PATTERNS: list[list[bytes | Wildcard]] = [
    [MANY, b"a", ONE, ONE],
    [b"b", MANY],
    [MANY, b"c"],
    [ONE, b"d", MANY, b"a"],
    [MANY],
]
NFA = build_nfa(PATTERNS)
SIGNALS = int(os.environ.get("DFA_ROUTER_SIGNALS", "1000"))
"""How many signals the tests with random ones send; a hundred thousand take about five minutes."""

steps = strides(29)
"""A call is broken off at some of its steps, others in each run, and by ``make long`` at every one."""
few_steps = strides(101)
"""The same where a call has many thousand."""


def keys_of(seed: int, count: int) -> list[bytes]:
    rng = random.Random(seed)
    return [b".".join(rng.choices([b"a", b"b", b"c", b"d", b"e"], k=rng.randrange(7))) for _ in range(count)]


def column(keys: list[bytes]) -> KeyColumn:
    offsets = np.concatenate(([0], np.cumsum([len(key) for key in keys]))).astype(np.int32)
    return KeyColumn(offsets, np.frombuffer(b"".join(keys), np.uint8), None)


TRACED = tuple(str(Path(compiler.__file__).parent / place) for place in ("machine", "leases.py", "automata/twin.py"))
ORACLE = Twin(NFA, b".", 1 << 20)


def right(keys: list[bytes]) -> list[tuple[int, ...]]:
    return [ORACLE.match(key) for key in keys]


def answers(machine: Any, keys: list[bytes], threads: int = 1) -> list[tuple[int, ...]]:
    found = machine.match_batch([column(keys)], threads=threads)
    sets = [tuple(found.positions[a:b].tolist()) for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
    return [sets[number] for number in found.set_ids.tolist()]


def in_time(call: Callable[[], Any]) -> Any:
    """Return what a call returns, made in another thread, which must end."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(call()), daemon=True)
    thread.start()
    thread.join(120)
    if thread.is_alive():
        faulthandler.dump_traceback()
        pytest.fail("another thread waits for ever")
    return results[0]


def everywhere(make: Callable[[], Any], call: Callable[[Any], Any], *, threads: bool = False, stride: int = 1) -> int:
    """Break a call off at each of its steps, and ask again what the machine is asked afterwards; return the steps."""
    keys = keys_of(99, 60)
    expected = right(keys)
    machines = [make()]

    def check(step: int) -> None:
        machine = machines[0]
        assert machine.match(keys[step % 60]) == expected[step % 60], step
        assert answers(machine, keys) == expected, step
        if step % 50 == 0:
            assert in_time(partial(machine.match, keys[0])) == expected[0], step
        assert machine.stats().bytes <= machine.stats().capacity
        if step % 7 == 0:
            machines[0] = make()

    return breaking_off.everywhere(lambda: call(machines[0]), check, TRACED, threads=threads, stride=stride)


def warmed(capacity: int, **options: Any) -> LazyDfa:
    machine = LazyDfa(NFA, b".", capacity, **options)
    machine.match_batch([column(keys_of(1, 300))])
    return machine


@steps
@pytest.mark.parametrize("capacity", [1 << 16, 2500])
def test_a_single_key_may_be_broken_off_at_every_step(capacity: int, stride: int) -> None:
    assert everywhere(lambda: LazyDfa(NFA, b".", capacity), lambda machine: machine.match(b"a.b.c"), stride=stride) > 30
    assert everywhere(lambda: warmed(capacity), lambda machine: machine.match(b"d.a.d.b.c.a"), stride=stride) > 30


@steps
@pytest.mark.parametrize(("capacity", "key_cache"), [(1 << 16, "off"), (1700, "off"), (0, "off"), (1 << 17, "on")])
def test_a_batch_may_be_broken_off_at_every_step(capacity: int, key_cache: Any, stride: int) -> None:
    """Growing, clearing, giving up on the cache, simulating: a cache of 1,700 bytes does all of it with 12 keys."""
    keys = column(keys_of(2, 12))

    def make() -> LazyDfa:
        return LazyDfa(NFA, b".", capacity, key_cache=key_cache)

    machine = make()
    machine.match_batch([keys])
    assert capacity != 1700 or (machine.stats().clears and machine.stats().fallbacks)
    assert everywhere(make, lambda machine: machine.match_batch([keys]), stride=stride) > 100


@steps
def test_a_choice_may_be_broken_off_at_every_step(stride: int) -> None:
    """Where a stretch of keys ends, it is decided whether further ones are looked up whole."""
    keys = column(keys_of(2, 12))

    def make() -> LazyDfa:
        machine = LazyDfa(NFA, b".", 1 << 17, key_cache="auto")
        machine.match_batch([keys])
        machine._walkers[0]._key_cache.policy.left = 5
        return machine

    assert everywhere(make, lambda machine: machine.match_batch([keys]), stride=stride) > 100


@steps
@pytest.mark.parametrize("capacity", [1 << 16, 1700])
def test_a_small_batch_may_be_broken_off_at_every_step(capacity: int, stride: int) -> None:
    keys = keys_of(2, 12)
    joined, expected = b"\0".join(keys), right(keys)

    def call(machine: LazyDfa) -> None:
        found = machine.match_joined(joined, len(keys))
        if found is not None:
            ends = found.offsets.tolist()
            sets = [tuple(found.positions[ends[number] : ends[number + 1]].tolist()) for number in found.set_ids]
            assert sets == expected

    def settled() -> LazyDfa:
        machine = LazyDfa(NFA, b".", capacity)
        call(machine)
        return machine

    assert everywhere(lambda: LazyDfa(NFA, b".", capacity), call, stride=stride) > 100
    assert everywhere(settled, call, stride=stride) > 50


@steps
@pytest.mark.parametrize(
    ("capacity", "key_cache"), [(1 << 16, "off"), (4000, "off"), (1 << 17, "on"), (1 << 17, "auto")]
)
def test_a_sealed_machine_may_be_broken_off_at_every_step(capacity: int, key_cache: Any, stride: int) -> None:
    """Also where its choices are made: whether keys are looked up whole, and whether the tables are asked, each several times."""
    keys = keys_of(2, 12)

    def make() -> LazyDfa:
        machine = LazyDfa(NFA, b".", capacity, key_cache=key_cache)
        machine.match_batch([column(keys[:5])])
        sealed = machine.seal()
        assert sealed is not None
        assert sealed.sealed is not None
        walker = sealed._walkers[0]
        assert isinstance(walker, SealedWalker)
        walker._sealed_key_cache.policy.left = walker._sealed_pace.left = 4
        return sealed

    assert everywhere(make, lambda machine: machine.match_batch([column(keys)]), stride=stride) > 100
    assert everywhere(make, lambda machine: machine.match(b"d.a.d.b.c.a"), stride=stride) > 30
    assert everywhere(make, lambda machine: machine.seal(), stride=stride) > 5


@few_steps
@pytest.mark.parametrize("capacity", [9000, 1 << 17])
def test_a_sealed_machine_that_stores_keys_may_be_broken_off_at_every_step(
    monkeypatch: pytest.MonkeyPatch, capacity: int, stride: int
) -> None:
    """Where tables are begun, grow, are full, and are given up for lost keys, by two walkers in turn."""
    for module, name, value in (
        (key_store, "FEWEST", 1),
        (key_store, "SMALLEST", 0),
        (key_store, "ROWS", 16),
        (stored_keys, "SLOTS", 4),
        (stored_keys, "NUMBERS", 16),
    ):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(SealedPace, "note", lambda *_, **__: None)
    keys = keys_of(2, 40)

    def make() -> LazyDfa:
        machine = LazyDfa(NFA, b".", 1 << 17)
        machine.match_batch([column(keys[:12])])
        seal = machine.seal()
        assert seal is not None
        machine = LazyDfa(NFA, b".", capacity, key_cache="auto", policy=Policy(key_store=True))
        machine = machine.with_seal(seal.sealed, checked=True)
        machine._share(2)
        return machine

    def call(machine: LazyDfa) -> None:
        for walker in machine._walkers:
            walker.run([column(keys)], np.empty(40, np.int32), [])

    machine = make()
    call(machine)
    call(machine)
    assert machine.stats().key_cache_hits
    assert bool(machine._stored_keys.count) is (capacity > 9000)  # else the cache for lost keys needed the room at last
    assert everywhere(make, call, stride=2 * stride) > 100


@steps
def test_several_threads_may_be_broken_off_at_every_step(stride: int) -> None:
    keys = column(keys_of(3, 9000))

    def make() -> LazyDfa:
        return LazyDfa(NFA, b".", 1 << 16)

    def call(machine: LazyDfa) -> Any:
        return machine.match_batch([keys], threads=2)

    assert everywhere(make, call, stride=4 * stride) > 100
    assert everywhere(make, call, threads=True, stride=8 * stride) > 100


@steps
def test_the_twin_may_be_broken_off_at_every_step(stride: int) -> None:
    keys = column(keys_of(4, 4))
    assert everywhere(lambda: Twin(NFA, b".", 600), lambda machine: machine.match_batch([keys]), stride=stride) > 100


def caused_by_a_signal(error: BaseException | None) -> bool:
    """Tell whether an exception is Broken, or was raised while that was handled: Python's own Thread.start does so."""
    return error is not None and (isinstance(error, Broken) or caused_by_a_signal(error.__context__))


# A signal within Thread.start leaves Python's own list of starting threads wrong, of which that thread complains.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("capacity", [3000, 20_000])
@pytest.mark.parametrize("threads", [1, 2])
def test_signals_at_any_moment(capacity: int, threads: int) -> None:
    def handler(_signal: int, _frame: FrameType | None) -> None:
        raise Broken

    rng = random.Random(capacity + threads)
    batches = [keys_of(seed, 200 if threads == 1 else 9000) for seed in range(8)]
    expected = [right(keys) for keys in batches]
    machine = LazyDfa(NFA, b".", capacity)
    before = signal.signal(signal.SIGALRM, handler)
    broken = 0
    try:
        for turn in range(SIGNALS // (4 if threads == 1 else 40)):
            keys = batches[turn % 8]
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 0.002 * threads))
                answers(machine, keys, threads)
                machine.match(keys[turn % 200])
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Exception as error:
                if not caused_by_a_signal(error):
                    raise
                broken += 1
            assert machine.match(keys[turn % 200]) == expected[turn % 8][turn % 200]
            assert answers(machine, keys[:200]) == expected[turn % 8][:200]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert broken > 0
    assert in_time(lambda: answers(machine, batches[0], 2)) == expected[0]


def test_a_signal_handler_may_ask_the_router_that_it_interrupts() -> None:
    machine = LazyDfa(NFA, b".", 1 << 16)
    keys = keys_of(5, 400)
    expected = right(keys)
    told = []

    def handler(_signal: int, _frame: FrameType | None) -> None:
        told.append(machine.match(b"b.x") == (1, 4) and answers(machine, keys[:20]) == expected[:20])
        if len(told) < 50:  # a timer that is set once more after the last would find no handler, and end the process
            signal.setitimer(signal.ITIMER_REAL, 0.0005)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005)
        while len(told) < 50:
            assert answers(machine, keys) == expected
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert all(told)


def test_several_threads_do_not_wait_for_the_call_that_waits_for_them() -> None:
    """As where a signal handler asks for a large batch while the call below it has a walker."""
    machine = LazyDfa(NFA, b".", 1 << 16)
    keys = keys_of(7, 9000)
    expected = answers(machine, keys, 2)
    told = []

    def meanwhile(_lent: Lent) -> tuple[int, int]:
        told.append(answers(machine, keys, 2) == expected)
        raise Broken

    def interrupted() -> bool:
        with pytest.raises(Broken):
            machine.lend(whole(column(keys)), np.empty(len(keys), np.int32), meanwhile)
        return True

    assert in_time(interrupted)
    assert told == [True]
    assert answers(machine, keys, 2) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_while_threads_match() -> None:
    """The child has the loans of threads that it does not have, and walkers in the middle of something."""
    machine = LazyDfa(NFA, b".", 1 << 14)
    keys = keys_of(6, 5000)
    expected = right(keys)
    answers(machine, keys, 2)
    going = threading.Event()
    going.set()

    def work() -> None:
        while going.is_set():
            answers(machine, keys, 2)
            machine.match(keys[0])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(30):
            child = os.fork()
            if child == 0:
                signal.alarm(100)  # a child that hangs is killed, and seen
                same = answers(machine, keys[:500]) == expected[:500] and machine.match(keys[turn]) == expected[turn]
                os._exit(0 if same else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        going.clear()
        for thread in threads:
            thread.join()


def test_codes_that_lend_keep_their_lease_in_a_variable() -> None:
    """Whoever waits looks for that variable: a call without it would lose what was lent to it while it runs."""
    code: CodeType
    for code in LENDING:
        assert "lease" in code.co_varnames
