"""The run: one process after the other, a variant in each."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.families.child import Measured

__all__ = ["run"]

ROOT = Path(__file__).parents[2]
"""The checkout."""


def run(
    kinds: Sequence[str],
    *,
    seed: int,
    variants: int = 12,
    scale: float = 1.0,
    rounds: int = 5,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Measured]:
    """Measure variants of these kinds; ``progress`` is told what is going on.

    Raises ``AssertionError`` with what a process has said before it died, as it does if contestants disagree.
    """
    for kind in kinds:
        for variant in range(variants):
            progress(f"{kind} {variant + 1} of {variants}")
            arguments = [kind, str(variant), str(seed), str(scale), str(rounds)]
            command = [sys.executable, "-m", "benchmarks.families.child", *arguments]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode:
                raise AssertionError(f"{' '.join(command[1:])} ended with {done.returncode}:\n{done.stderr.strip()}")
            yield Measured(**json.loads(done.stdout.splitlines()[-1]))
