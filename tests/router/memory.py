"""How much memory a step of a program takes, as the system counts it, in a process of its own.

Such processes are forked from one that has imported everything and loaded its kernels, which takes longer than most steps.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["MB", "needs_proc", "peak", "peaks"]

MB = 1_000_000
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists() or not hasattr(os, "fork"),
    reason="memory is read from /proc, which this system has not",
)

_PARENT = """
import ctypes, errno, gc, json, os, re, sys, tempfile, traceback
from pathlib import Path
import numpy as np
import pyarrow as pa
import dfa_router as dr
from compiler.prepare import compile_kernels

pa.set_memory_pool(pa.system_memory_pool())

MADV_POPULATE_READ = 22
libc = ctypes.CDLL(None, use_errno=True)

def told(name):
    return int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024

# Kernels, code and the pools of libraries are there before anything is measured. Those of stored keys alone take seven megabytes.
compile_kernels()
for engine in ("dfa", "nfa"):
    warm = dr.compile([("a.*", "x"), ("#", "y")], engine=engine)
    warm.match("a.b"), warm.match_bindings("b"), warm.any("c")
    warm.match_batch(["a.b", "b"] * 5000, threads=2).destinations()
    warm.match_batch(pa.array(["a.b"]).dictionary_encode()).bindings()
del warm

def forked(work):
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    sys.stdout.flush()
    os._exit(0)

def touch_files():
    # A copy of a process has none of the pages of its files, such as libraries, until it touches them.
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, rights, _, _, inode, *_ = line.split()
        if inode != "0" and "r" in rights:
            first, last = (int(end, 16) for end in span.split("-"))
            if libc.madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), MADV_POPULATE_READ):
                # Part of a mapping may lie behind its file's end; a kernel that knows no such advice answers EINVAL.
                assert ctypes.get_errno() != errno.EINVAL, "needs Linux 5.14 or later"

def measure(step, names):
    touch_files()
    gc.collect()
    libc.malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the most that it has held is what it holds
    held = told("VmRSS")
    exec(step, names)
    print("peak", told("VmHWM") - held)

def measure_all(before, steps, file):
    os.dup2(file.fileno(), 1), os.dup2(file.fileno(), 2)
    names = dict(globals())
    exec(before, names)
    for step in steps:
        if code := forked(lambda: measure(step, names)):
            raise SystemExit(f"a step ended with {code}")

for line in sys.stdin:
    before, steps = json.loads(line)
    with tempfile.TemporaryFile("w+") as file:
        code = forked(lambda: measure_all(before, steps, file))
        file.seek(0)
        print(json.dumps([code, file.read()]), flush=True)
"""


@functools.cache
def _parent() -> subprocess.Popen[str]:
    """Return the process that the measured ones are forked from."""
    started = subprocess.Popen(
        [sys.executable, "-c", _PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )

    def end() -> None:
        started.communicate()

    atexit.register(end)
    return started


def peaks(before: str, *steps: str) -> list[int]:
    """Return for each step the bytes that it takes at most beyond what was held after ``before``.

    ``before`` runs once, and each step in a copy of the process that has run it.
    """
    parent = _parent()
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write(json.dumps([before, steps]) + "\n")
    code, told = json.loads(parent.stdout.readline() or '[1, "the parent of measured processes has ended"]')
    found = [max(0, int(bytes_)) for bytes_ in re.findall(r"^peak (-?\d+)$", told, re.MULTILINE)]
    if code or len(found) != len(steps):  # no AssertionError, which a test may be expected to fail with
        raise RuntimeError(f"the measured process ended with {code}: {told}")
    return found


def peak(step: str, before: str = "") -> int:
    """Return the bytes that a process takes beyond what it held, at most, while it runs ``step`` after ``before``."""
    return peaks(before, step)[0]
