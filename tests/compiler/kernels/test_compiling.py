"""A signal while kernels are compiled: the call ends, and neither it nor another thread is kept from compiling afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ENGINE = """
def match():
    from compiler import Wildcard, build_nfa
    from compiler.machine.lazy import LazyDfa
    return LazyDfa(build_nfa([[b"a", Wildcard.MANY], [b"b"]]), b".", 1 << 20).match(b"a.b")
"""
PROBES = """
import numpy as np
from compiler.kernels._jit import kernel

SOURCE = '''
@kernel
def probe(numbers):
    found = {number}
    for value in numbers:
        found += value * value % 7
    return found
'''
left, kept = list(range(30)), []

def match():
    while left:
        names = {"__name__": "__main__", "kernel": kernel}
        kept.append(names)  # as those of a module are
        exec(SOURCE.format(number=left[-1]), names)
        left.pop()  # one that is broken off is not compiled again: as many exceptions as there are kernels
        names["probe"](np.arange(3))
    return (0,)
"""
PROGRAM = """
import os, random, signal, threading
import numpy  # which cannot be imported again after an exception

class Ended(Exception):
    pass

def handler(*_):
    raise Ended

{kernels}
signal.signal(signal.SIGALRM, handler)
rng, ended, answer = random.Random(1), 0, None
while answer is None:
    try:
        # Longer and longer, as on a busy machine even an import may take more than the first ones.
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.001, 0.05) * (1 + ended / 50))
        answer = match()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Ended:
        ended += 1
child = os.fork()
if child == 0:
    os._exit(0 if match() == (0,) else 1)
assert os.waitpid(child, 0)[1] == 0
told = []
thread = threading.Thread(target=lambda: told.append(match()))
thread.start()
thread.join()
print(ended > 0, answer, *told)
"""


@pytest.mark.parametrize(
    "kernels", [PROBES, pytest.param(ENGINE, marks=pytest.mark.long)], ids=["small ones", "an engine's"]
)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_signals_while_kernels_are_compiled_take_no_lock(tmp_path: Path, kernels: str) -> None:
    """Dozens of exceptions within numba, or on the way there; a lock of its left taken would stop the thread for ever."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{kernels}", kernels)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "True (0,) (0,)\n"), ran.stderr


HOLDERS = """
import gc, threading
from llvmlite.binding import ffi

holders = set()
ffi.register_lock_callback(lambda: holders.add(threading.current_thread() is threading.main_thread()), lambda: None)
{engine}
match()
gc.collect()
print(holders)
"""


def test_the_thread_of_signals_never_takes_the_lock_of_llvm() -> None:
    """Which is written in Python: an exception while it is taken leaves it taken, and nobody compiles any more."""
    program = HOLDERS.replace("{engine}", ENGINE)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "{False}\n"), ran.stderr
