"""Compiling every kernel before it is needed.

A kernel is compiled at its first call, fifteen seconds of processor time for all of them, and kept on disk. A process
that is about to start others, or to measure, has them compiled first: the others then load them in a fraction of a
second instead of compiling them all at the same time.
"""

from __future__ import annotations

import numpy as np

from compiler.automata.nfa import build_nfa
from compiler.automata.pattern import Wildcard
from compiler.machine.dense_rows import QUIET_KEYS
from compiler.machine.lazy import LazyDfa, Simulator
from compiler.machine.screen import Screen
from compiler.values import KeyColumn

__all__ = ["compile_kernels", "jit_enabled"]


def jit_enabled() -> bool:
    """Tell whether kernels are compiled; imports numba."""
    from compiler.kernels._jit import JIT

    return JIT


def compile_kernels() -> None:
    """Compile all kernels, or load them from disk where that was done before."""
    # The same keys often enough for the walk of settled ground.
    keys = 2 * QUIET_KEYS // 200 * [b"word%d.a-rather-long-word" % i for i in range(200)]
    offsets = np.concatenate(([0], np.cumsum([len(key) for key in keys]))).astype(np.int32)
    column = KeyColumn(offsets, np.frombuffer(b"".join(keys), np.uint8), np.ones(len(keys), np.bool_))
    small = build_nfa([[b"word%d" % i, Wildcard.ONE] for i in range(100)])
    Screen(separator=b".", wrong=b"+").mask(column)
    # A pattern of over 63 tokens keeps a set from being simulated as bits.
    large = build_nfa([[b"word%d" % i, b"a-rather-long-word"] for i in range(100)] + [[b"a"] * 64])
    for nfa in (small, large):
        machine = LazyDfa(nfa, b".", 1 << 20)
        machine.match_batch([column])
        machine.match_batch([column])
        machine.match(b"word1.x")
        Simulator(nfa, b".").match_batch([column])
