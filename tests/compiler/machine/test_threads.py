"""Calls in threads of their own: their results, what they raise, and signals at any moment."""

from __future__ import annotations

import random
import signal
import threading
import time
from types import FrameType

import pytest

from compiler.machine.threads import together


def test_results_are_in_order_whoever_is_first() -> None:
    first = threading.Event()

    def waits() -> str:
        assert first.wait(60)
        return "a"

    def goes_on() -> str:
        first.set()
        return "b"

    assert together([waits, goes_on], []) == ["a", "b"]
    assert together([], []) == []


def test_what_a_call_raises_is_raised_when_the_others_have_halted() -> None:
    halt: list[bool] = []
    begun, ended = threading.Event(), []

    def fails() -> None:
        assert begun.wait(60)
        raise KeyError("first")

    def goes_on() -> None:
        begun.set()
        while not halt:
            time.sleep(0)
        ended.append(True)
        raise ValueError("as it was told to halt")

    with pytest.raises(KeyError, match="first"):
        together([fails, goes_on], halt)
    assert ended


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no such timers")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("longest", [0.0002, 0.001])
def test_a_signal_at_any_moment_leaves_nothing_running_and_nobody_waiting(longest: float) -> None:
    """What is raised within a callback of the garbage collector, such as hypothesis has, gets no further than that."""

    class BrokenError(Exception):
        pass

    def handler(_signal: int, _frame: FrameType | None) -> None:
        raise BrokenError

    rng, broken, running = random.Random(longest), 0, set[object]()
    before = signal.signal(signal.SIGALRM, handler)
    try:
        for _ in range(1500):
            halt: list[bool] = []

            def call(halt: list[bool] = halt) -> int:
                token = object()
                running.add(token)
                for _ in range(200):
                    if halt:
                        break
                running.discard(token)
                return 1

            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, longest))
                together([call, call, call], halt)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except BrokenError:
                broken += 1
            assert not running
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert broken > 20
    assert together([lambda: 1, lambda: 2], []) == [1, 2]
