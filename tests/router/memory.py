"""How much memory a step of a program takes, as the system counts it, in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["MB", "needs_proc", "peak"]

MB = 1_000_000
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc, which this system has not"
)

_CHILD = """
import ctypes, gc, re, sys
from pathlib import Path
import numpy as np
import pyarrow as pa
import dfa_router as dr

pa.set_memory_pool(pa.system_memory_pool())

def told(name):
    return int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024

# Kernels, code and the pools of libraries are there before anything is measured.
for engine in ("dfa", "nfa"):
    warm = dr.compile([("a.*", "x"), ("#", "y")], engine=engine)
    warm.match("a.b"), warm.match_bindings("b"), warm.any("c")
    warm.match_batch(["a.b", "b"] * 5000, threads=2).destinations()
    warm.match_batch(pa.array(["a.b"]).dictionary_encode()).bindings()
del warm
{before}
gc.collect()
ctypes.CDLL(None).malloc_trim(0)
Path("/proc/self/clear_refs").write_text("5")  # the most that it has held is what it holds
held = told("VmRSS")
{step}
print("peak", told("VmHWM") - held)
"""


def peak(step: str, before: str = "") -> int:
    """Return the bytes that a process takes beyond what it held, at most, while it runs ``step`` after ``before``."""
    code = _CHILD.format(before=before, step=step)
    told = subprocess.run([sys.executable, "-"], input=code, capture_output=True, text=True, timeout=600, check=False)
    found = re.search(r"^peak (-?\d+)$", told.stdout, re.MULTILINE)
    if found is None:  # no AssertionError, which a test may be expected to fail with
        raise RuntimeError(f"the measured process ended with {told.returncode}: {told.stderr}")
    return max(0, int(found[1]))
