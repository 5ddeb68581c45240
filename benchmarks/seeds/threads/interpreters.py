"""Runs the contestants in this interpreter and in one without the global lock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.seeds.rows import Row
from dfa_router.errors import EnvironmentLacksError

__all__ = ["FREE", "check_free_threaded", "threads"]

CHILD = Path(__file__).with_name("child.py")
FREE = ", free-threaded"
"""What the names of tables end with if they were measured without the interpreter's lock."""


def threads(label: str, operations: int, python: Path | None = None) -> Iterator[Row]:
    """Measure a contestant in several threads of this interpreter, or of a free-threaded one.

    A contestant that the other interpreter lacks a package for has no rows.
    """
    answer = _run(python or Path(sys.executable), label, str(operations))
    if python is not None:
        assert not answer["locked"], python
        assert not answer["still locked"], f"a package of {label} has brought the interpreter's lock back"
    for table, measure, condition, value, unit, note in answer.get("figures", ()):
        yield Row(
            table=table + FREE * (python is not None),
            matcher=label,
            measure=measure,
            condition=condition,
            value=value,
            unit=unit,
            note=f"{note}; Python {answer['python']}",
        )


def check_free_threaded(python: Path) -> None:
    """Raise :class:`EnvironmentLacksError` unless this interpreter has no global lock and what the tries need."""
    command = [str(python), "-c", "import sys, numpy; print(sys._is_gil_enabled())"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise EnvironmentLacksError(f"{python} cannot be run: {error.strerror}") from None
    if done.stdout.strip() != "False":
        said = (done.stderr.strip().splitlines() or ["it has the interpreter's lock"])[-1]
        raise EnvironmentLacksError(
            f"{python} is no free-threaded Python with numpy ({said}): scripts/free_threaded.sh builds one"
        )


def _run(python: Path, *arguments: str) -> dict[str, Any]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(python), str(CHILD), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.strip()}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer
