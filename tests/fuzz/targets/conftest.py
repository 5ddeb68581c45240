"""Targets that are closed after a test, and programs made for one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dfa_router.fuzz.targets import open_target
from dfa_router.language.dialects import AMQP
from dfa_router.target import Target


@pytest.fixture
def opened() -> Iterator[list[Target]]:
    """Targets of a test, closed after it."""
    targets: list[Target] = []
    yield targets
    for target in targets:
        target.close()
        target.close()


@pytest.fixture
def program(tmp_path: Path, opened: list[Target]):  # type: ignore[no-untyped-def]
    """Make a target of a Python program that is asked as any other; its loop is given, the rest is not."""

    def make(loop: str, *, before: str = "", timeout: float = 10.0) -> Target:
        file = tmp_path / f"program{len(opened)}.py"
        indented = "\n    ".join(loop.splitlines())
        file.write_text(
            f"import json, os, sys, time\n{before}\npatterns = []\n"
            f"def say(value): print(json.dumps(value), flush=True)\n"
            f"for line in sys.stdin:\n    question = json.loads(line)\n    {indented}\n"
        )
        target = open_target(f"cmd:{sys.executable} -I {file}", AMQP, timeout=timeout)
        opened.append(target)
        return target

    return make
