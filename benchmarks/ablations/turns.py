"""The run: copies of the packages, each without one choice, measured in turns.

Machines are noisy, and the noise lasts: every round measures each engine once, one after the other, and a figure is the
median over the rounds.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.ablations.choices import ABLATIONS, Ablation

__all__ = ["ROOT", "Measured", "changed", "run"]

ROOT = Path(__file__).parents[2]
"""The checkout."""
PACKAGES = ("compiler", "dfa_router", "viz", "benchmarks")
CHILD = "benchmarks.ablations.child"

Figures = dict[str, float]
"""Measure -> nanoseconds per key; a measure is a workload and what is timed of it, such as ``stock cold``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The figures of a run: medians over its rounds."""

    rounds: int
    whole: Figures
    """Of the engine as it is."""
    without: Mapping[str, Figures]
    """Choice -> figures of the engine without it."""


def run(
    ablations: Sequence[Ablation] = ABLATIONS, *, rounds: int = 5, progress: Callable[[str], None] = lambda _: None
) -> Measured:
    """Measure the engine without each of the choices; ``progress`` is told what is going on.

    Raises ValueError where the lines of a choice are not in the sources once, or an engine answers other than the whole one.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folders = {"": ROOT}
        for number, ablation in enumerate(ablations):
            folders[ablation.choice] = changed(ablation, Path(temporary) / str(number))
        caches = {choice: Path(temporary) / f"cache{number}" for number, choice in enumerate(folders)}
        progress(f"compiling {len(folders)} engines")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            answers = [sums for _, sums in pool.map(_measured, folders.values(), caches.values())]
        for choice, sums in zip(folders, answers, strict=True):
            if sums != answers[0]:
                raise ValueError(f"the engine finds {sums} without this choice, and {answers[0]} with it: {choice}")
        found: dict[str, list[Figures]] = {choice: [] for choice in folders}
        for number in range(1, rounds + 1):
            for choice, folder in folders.items():
                progress(f"round {number} of {rounds}: {choice or 'the engine as it is'}")
                found[choice].append(_measured(folder, caches[choice])[0])
    medians = {
        choice: {what: median(figures[what] for figures in some) for what in some[0]} for choice, some in found.items()
    }
    return Measured(rounds=rounds, whole=medians.pop(""), without=medians)


def changed(ablation: Ablation, folder: Path) -> Path:
    """Copy the packages into a folder without the choice; raises ValueError if its lines are not there once."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "results"))
    for change in ablation.changes:
        path = folder / change.file
        source = path.read_text("utf-8")
        count = source.count(change.lines)
        if count != 1:
            raise ValueError(f"{change.file} has {count} times the lines {change.lines!r}, not once")
        path.write_text(source.replace(change.lines, change.without), "utf-8")
    return folder


def _measured(folder: Path, cache: Path) -> tuple[Figures, dict[str, list[int]]]:
    """Return the figures of the packages in a folder, and what their matches add up to."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-m", CHILD], cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    figures, sums = json.loads(done.stdout)
    return figures, sums
