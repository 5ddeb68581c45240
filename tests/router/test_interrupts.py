"""A signal is seen soon, whatever a router is doing: no step stays in compiled code for long."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import dfa_router as dr


def longest_wait(call: Callable[[], Any]) -> float:
    """Return the longest time, in seconds, between two runs of a handler that is due all the time while ``call`` runs."""
    seen = [time.perf_counter()]

    def handler(_signal: int, _frame: FrameType | None) -> None:
        seen.append(time.perf_counter())

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    seen.append(time.perf_counter())
    return max(after - first for first, after in pairwise(seen))


@pytest.mark.parametrize("count", [200_000, pytest.param(1_000_000, marks=pytest.mark.long)])
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
def test_nothing_keeps_a_signal_waiting_while_many_bindings_are_compiled_saved_and_loaded(
    tmp_path: Path, count: int
) -> None:
    """Of a million at most 0.2 s of some 10 on a busy machine; 20 times that would be a step that does not come back."""
    tails = ("#", "x", "y")
    bindings = [(f"site-{i % 300}.dev-{i}.*.{tails[i % 3]}", f"queue-{i % 1000}") for i in range(count)]
    routers: list[dr.Router] = []
    path = tmp_path / "router"
    assert longest_wait(lambda: routers.append(dr.compile(bindings))) < 4
    assert longest_wait(lambda: routers[0].save(path)) < 4
    assert longest_wait(lambda: routers.append(dr.load(path))) < 4
    for router in routers:
        assert longest_wait(lambda: router.match_batch(["site-1.dev-1.a.x"]).destinations()) < 4  # noqa: B023 - at once
        assert router.match("site-1.dev-1.a.x") == ("queue-1",)
