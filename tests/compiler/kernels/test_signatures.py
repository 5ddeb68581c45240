"""When kernels are compiled: each for one signature, beforehand if that is wanted, never by an import, and not at all without a compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any
from unittest.mock import patch

import numpy as np

from compiler import build_nfa
from compiler.machine.lazy import LazyDfa
from compiler.machine.simulator import Simulator
from compiler.values import KeyColumn
from tests.compiler.machines import column, without_bits


def test_kernels_compile_for_one_signature_each() -> None:
    """Whatever the caller's arrays are like (writable or not, with nulls or without), nothing is compiled twice."""
    from compiler.kernels.simulate_bits import simulate_bits
    from compiler.kernels.simulate_pairs import simulate
    from compiler.kernels.walk import walk
    from compiler.kernels.walk_rows import fill_dense_rows, walk_dense_rows

    nfa = build_nfa([[b"a"]])
    plain = column([b"a", b"b"])
    writable = KeyColumn(plain.offsets.copy(), plain.data.copy(), None)
    shifted = np.empty(4 * 3 + 1, np.uint8)[1:].view(np.int32)  # a buffer that begins at an odd address
    shifted[:] = plain.offsets
    with patch("compiler.machine.dense_rows.QUIET_KEYS", 1):
        for machine in (LazyDfa(nfa, b".", 1 << 20), Simulator(nfa, b"."), without_bits(Simulator(nfa, b"."))):
            machine.match_batch([plain, writable, KeyColumn(shifted, plain.data, plain.valid)])
            machine.match_batch([plain, writable, KeyColumn(shifted, plain.data, plain.valid)])
            machine.match(b"a")
    kernels: list[Any] = [walk, walk_dense_rows, fill_dense_rows, simulate, simulate_bits]
    assert [len(kernel.signatures) for kernel in kernels] == [1] * len(kernels)


def test_all_kernels_that_python_calls_can_be_compiled_beforehand() -> None:
    """In a process of its own, where no other test has called them."""
    code = """
from compiler.kernels.gathering import gather_ends, gather_keys
from compiler.kernels.key_store import look_up_stored, store_keys
from compiler.kernels.listing import copy_members, end_lists, name_sets, total_names
from compiler.kernels.parting import part_texts
from compiler.kernels.relay import rehash_steps
from compiler.kernels.screening import screen
from compiler.kernels.simulate_bits import simulate_bits
from compiler.kernels.simulate_pairs import simulate
from compiler.kernels.remembered import ask_remembered
from compiler.kernels.single import match_one
from compiler.kernels.single_lost import match_lost
from compiler.kernels.single_sealed import match_one_sealed
from compiler.kernels.walk import walk
from compiler.kernels.walk_rows import fill_dense_rows, walk_dense_rows
from compiler.prepare import compile_kernels

compile_kernels()
kernels = (screen, simulate_bits, simulate, walk, fill_dense_rows, walk_dense_rows)
kernels += look_up_stored, store_keys, gather_ends, gather_keys, part_texts
kernels += copy_members, end_lists, name_sets, total_names, rehash_steps
print([len(kernel.signatures) for kernel in kernels])
print([builtin.compiled for builtin in (ask_remembered, match_one, match_lost, match_one_sealed)])
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == f"{[1] * 16}\n{[True] * 4}\n"


def test_what_batches_do_without_can_be_left_out() -> None:
    """As for commands that match whole logs."""
    code = """
from compiler.kernels.key_store import look_up_stored, store_keys
from compiler.kernels.listing import name_sets
from compiler.kernels.remembered import ask_remembered
from compiler.kernels.single import match_one
from compiler.kernels.single_lost import match_lost
from compiler.kernels.walk import walk
from compiler.kernels.walk_rows import walk_dense_rows
from compiler.kernels.walk_sealed import walk_sealed
from compiler.prepare import compile_kernels

compile_kernels(batches_only=True)
print([len(kernel.signatures) for kernel in (walk, walk_dense_rows, look_up_stored, store_keys, name_sets, walk_sealed)])
print([builtin.compiled for builtin in (ask_remembered, match_one, match_lost)])
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == f"{[1] * 5 + [0]}\n{[False] * 3}\n"


def test_importing_compiles_nothing_and_is_light() -> None:
    """An import loads neither numba nor networkx: both come with the first use."""
    code = (
        "import sys, dfa_router; print([m for m in ('numba', 'networkx', 'pyspark', 'graphviz') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_without_the_jit_the_twin_answers() -> None:
    """With NUMBA_DISABLE_JIT=1 the same calls give the same answers, from plain Python."""
    code = """
import dfa_router as dr
bindings = [("a.*.b", "x"), ("#.b", "y"), ("a.#", "z"), ("", "e")]
keys = ["a.q.b", "", "a", "b", "a.b", "q", None]
for engine in ("dfa", "nfa"):
    router = dr.compile(bindings, engine=engine)
    print(router.match_batch(keys).destinations().to_pylist(), router.match("a.q.b"), router.any("q"))
"""
    runs = []
    for disabled in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled}
        runs.append(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
            ).stdout
        )
    assert runs[0] == runs[1]
    assert "[['x', 'y', 'z'], ['e'], ['z'], ['y'], ['y', 'z'], [], None] ('x', 'y', 'z') False" in runs[0]
