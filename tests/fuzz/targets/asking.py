"""What the tests of targets share: what is asked, what is right, and what must be told of a target that fails."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import dfa_router as dr
from dfa_router.target import Target, TargetFailure

PATTERNS = ("a.*", "#", "a.*", "", "#.b", "*.*", 'q".\\', "ü.\u2028", "##", "#.#.a")
KEYS = ("a.b", "", "a", "a.", ".", 'q".\\', "ü.\u2028", "##", "b.a.a", "a.b.b", "\x85", "\n", "\x7f")

RIGHT = """\
if "patterns" in question:
    patterns = question["patterns"]
    say(True)
else:
    say([i for i, pattern in enumerate(patterns) if pattern == question["key"]])
"""


def truth(patterns: tuple[str, ...], keys: tuple[str, ...]) -> list[tuple[int, ...]]:
    router = dr.compile([(pattern, "") for pattern in patterns], engine="naive")
    return [router.match_bindings(key) for key in keys]


def failure(
    target: Target, patterns: tuple[str, ...] = ("a", "b"), keys: tuple[str, ...] = ("a", "b")
) -> TargetFailure:
    with pytest.raises(TargetFailure) as caught:
        target.answer(patterns, keys)
    assert target.name in str(caught.value)
    return caught.value


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return (
        Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z" if Path("/proc").exists() else True
    )


def gone(pid: int) -> bool:
    """Wait until a process that was killed is gone; tell whether it is after a minute."""
    until = time.monotonic() + 60
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not alive(pid)
