"""Functions of Python that are made of kernels: when they are there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compiler.prepare import jit_enabled

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="builtins are compiled")


def waited(builtin: object) -> None:
    while not builtin.ready():  # type: ignore[attr-defined]
        time.sleep(0.01)


def test_a_builtin_is_made_ready_in_another_thread() -> None:
    from compiler.kernels._builtins import Builtin
    from compiler.kernels.remembered import _ask_remembered

    builtin = Builtin(_ask_remembered, keywords=True)
    assert not builtin.compiled
    waited(builtin)
    assert builtin.compiled
    assert builtin.ready()
    assert builtin.make(({"a": "found"}, str, (), "key"), "match")("a") == "found"


def test_what_goes_wrong_there_is_raised_where_the_builtin_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from compiler.kernels._builtins import Builtin
    from compiler.kernels.remembered import _ask_remembered

    builtin = Builtin(_ask_remembered, keywords=True)

    def fails() -> int:
        raise MemoryError("no room")

    monkeypatch.setattr(builtin, "_address", fails)
    waited(builtin)
    assert not builtin.compiled
    with pytest.raises(MemoryError, match="no room"):
        builtin.make((), "seven")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_makes_ready_what_its_parent_had_begun() -> None:
    """Also one that ends before: the parent waits for its own thread, and a child for none of its parent's."""
    program = """
import os, sys, time
from concurrent.futures import Future
from compiler.kernels import _builtins
from compiler.kernels.remembered import _ask_remembered
builtin = _builtins.Builtin(_ask_remembered, keywords=True)
builtin._compiling = _builtins._InBackground(os.getpid(), Future())  # whose thread a child will not have
assert not builtin.ready()
child = os.fork()
if child == 0:
    while not builtin.ready():
        time.sleep(0.01)
    sys.exit(builtin.make(({"a": 5}, str, (), "key"), "match")("a"))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
print("done")
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False)  # fmt: skip
    assert (done.stdout, done.stderr) == ("done\n", "")
