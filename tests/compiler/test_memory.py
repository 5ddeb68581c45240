"""No kernel reads or writes outside of its arrays: beside each of them lies memory that nobody may touch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.prepare import jit_enabled

REPOSITORY = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs mprotect"),
    pytest.mark.skipif(not jit_enabled(), reason="plain Python checks each index by itself"),
]


def ran(*how: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.compiler.guarded", *how]
    # Arguments' types are looked at in every other test; here, at 200,000 calls, that takes three quarters of the time.
    surroundings = {name: value for name, value in os.environ.items() if name != "DFA_ROUTER_CHECK_ARGUMENTS"}
    return subprocess.run(
        command, cwd=REPOSITORY, env=surroundings, capture_output=True, text=True, timeout=800, check=False
    )


@pytest.mark.parametrize("more", [pytest.param((), id=""), pytest.param(("thorough",), marks=pytest.mark.long)])
@pytest.mark.parametrize("side", ["before", "behind"])
def test_all_kernels_answer_right_beside_memory_that_nobody_may_read(side: str, more: tuple[str, ...]) -> None:
    """Keys, and all tables: those of the automaton, the cache, scratch space and answers. No kernel is left out."""
    told = ran(side, *more)
    assert told.returncode == 0, told.stderr


def test_a_load_beyond_the_last_key_would_be_seen() -> None:
    """Without the padding behind a column's last key, kernels do what they must not."""
    told = ran("unpadded")
    assert told.returncode == -signal.SIGSEGV, told.stderr
    assert "Segmentation fault" in told.stderr
