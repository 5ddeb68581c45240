"""A folder with matchers, and the command as users run it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dfa_router.cli.app import run

MODULE = """
import time
from tests.fuzz import planted

right = planted.right_amqp
greedy = next(fault.match for fault in planted.PLANTED if fault.name == "hash_stops_at_the_first_occurrence")

def several(patterns, key):
    return [i for i in planted.right_amqp(patterns, key) if patterns[i] != key + ".#" and "é" not in key]

def slow(patterns, key):
    time.sleep(0.001)
    open("asked", "w").close()
    return planted.right_amqp(patterns, key)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of matchers, as the current directory."""
    (tmp_path / "matchers.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    return tmp_path


def fuzz(*arguments: str) -> int:
    return run(["fuzz", *arguments])
