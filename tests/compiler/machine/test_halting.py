"""A signal ends a long batch soon: after one more call of a kernel, not at the end of the column, whatever matches it.

What is asserted is how far the batch got, as counted by the machine, never how long that took.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
import pytest

from compiler import Token, Wildcard, build_nfa
from compiler.machine import simulation, walker
from compiler.machine.lazy import LazyDfa
from compiler.values import KeyColumn
from tests.compiler.machines import without_bits
from tests.signals import sent_when

KEYS = 4_000_000
WORDS = 5


class Ended(Exception):  # noqa: N818 - what a signal handler might raise
    """Ends a batch."""


def long_column() -> KeyColumn:
    """Keys of five words of one byte."""
    letters = np.random.default_rng(1).integers(ord("a"), ord("e"), (KEYS, WORDS), np.uint8)
    data = np.full((KEYS, 2 * WORDS), ord("."), np.uint8)
    data[:, ::2] = letters
    data[:, -1] = ord("x")  # behind the last word, and a part of it
    return KeyColumn(np.arange(0, data.size + 1, 2 * WORDS, dtype=np.int32), data.ravel(), None)


def done(machine: LazyDfa) -> int:
    """How many keys have been walked or simulated, about."""
    stats = machine.stats()
    return stats.words // WORDS + stats.fallbacks + stats.key_cache_hits


@contextmanager
def signal_after(machine: LazyDfa, keys: int) -> Iterator[None]:
    """Send this thread a signal, whose handler raises an exception, when the machine has done so many keys."""

    def handler(_signal: int, _frame: FrameType | None) -> None:
        raise Ended

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with sent_when(lambda: done(machine) >= keys, signal.SIGUSR1, every=0.0005):
            yield
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("how", ["walked", "keys kept", "dense rows", "simulated as bits", "simulated by pairs"])
def test_a_batch_ends_soon_after_a_signal(how: str, threads: int) -> None:
    many, one = Wildcard.MANY, Wildcard.ONE
    patterns: list[list[Token]] = [[many, b"a", one, one], [b"b", many], [many, b"c", many], [b"d"]]
    if how == "walked":  # more states than dense rows may have
        patterns += [[b"a", one, b"b", b"w%d" % number] for number in range(20_000)]
    options: dict[str, Any] = {"key_cache": "on"} if how == "keys kept" else {}
    machine = LazyDfa(build_nfa(patterns), b".", 0 if how.startswith("simulated") else 1 << 24, **options)
    machine = without_bits(machine) if how.endswith("pairs") else machine
    column = long_column()
    with signal_after(machine, KEYS // 20), pytest.raises(Ended):
        machine.match_batch([column], threads=threads)
    # The signal waits for a chunk of each thread, and for the watcher to see that it is time.
    assert done(machine) < KEYS // 2
    largest = simulation.LARGEST_CHUNK if how.startswith("simulated") else walker.CHUNK
    assert largest * threads < KEYS // 10
