"""What each choice of the layout is worth: the engine is built without it, and measured beside the engine as it is.

``python -m benchmarks.ablations`` copies the packages once for each choice, takes the choice out by changing a line, and
runs both in turns, each in processes of its own. The table is the median time of the changed engine over that of the
whole one, so 1.30 means that the choice saves what is 30 % of the time without it. It goes to ``ablations.md``.

What it cannot show: choices that reach further than a line (positions as records, hashes beside slots, the default
successor), and how two choices work together.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

__all__ = ["ABLATIONS", "Ablation", "changed", "main"]

ROOT = Path(__file__).parents[1]
ROUNDS = 3

MEASURE = """
import json, sys, time
import dfa_router as dr
from dfa_router.bench.engine.workloads import make_workload
figures = {}
for name, scale in (("throughput", 1.0), ("stock", 0.5), ("fleet", 0.25), ("hard", 0.3)):
    work = make_workload(name, scale=scale)
    bindings = [(pattern, "q") for pattern in work.patterns]
    dr.compile(bindings).match_batch(work.keys[:1000])
    router = dr.compile(bindings, key_cache="off", cache_bytes=work.cache_bytes)
    for run in ("cold", *["settling"] * 9, "warm", "warm", "warm"):
        began = time.thread_time()
        router.match_batch(work.keys).set_ids
        figures.setdefault(f"{name} {run}", []).append((time.thread_time() - began) * 1e9 / len(work.keys))
print(json.dumps({what: min(times) for what, times in figures.items() if "settling" not in what}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """A choice, and the line that takes it out."""

    choice: str
    file: str
    line: str
    without: str


ABLATIONS = (
    Ablation(
        choice="words, states and transitions are prefetched",
        file="compiler/kernels/_jit.py",
        line="builder.call(function, [pointer, number(0), number(3), number(1)])",
        without="len([pointer])",
    ),
    Ablation(
        choice="128 keys are walked together (instead of 8)",
        file="compiler/tables.py",
        line="BLOCK = 128\n",
        without="BLOCK = 8\n",
    ),
    Ablation(
        choice="a filter of literals spares look-ups of words and transitions",
        file="compiler/kernels/_vectors.py",
        line='ask = b.and_(live, b.or_(literal, b.icmp_unsigned("==", default, v.all(0))))',
        without="ask = live",
    ),
    Ablation(
        choice="small automata get rows of successors",
        file="compiler/settled.py",
        line="NEAR_BYTES = 256 << 10",
        without="NEAR_BYTES = -1",
    ),
    Ablation(
        choice="a doorkeeper stands before the cache of a far automaton",
        file="compiler/walker.py",
        line="FAR_BYTES = 4 << 20",
        without="FAR_BYTES = 1 << 60",
    ),
    Ablation(
        choice="helpers of a build are compiled into it",
        file="compiler/kernels/_jit.py",
        line="numba.njit(forceinline=True, **_OPTIONS)",
        without="numba.njit(**_OPTIONS)",
    ),
    Ablation(
        choice="numba counts no references",
        file="compiler/kernels/_jit.py",
        line='    "_nrt": False,\n',
        without="",
    ),
)


def changed(ablation: Ablation, folder: Path) -> Path:
    """Copy the packages into a folder without the choice; raises ValueError if its line is not there once."""
    for package in ("compiler", "dfa_router", "viz"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / ablation.file
    source = path.read_text()
    if source.count(ablation.line) != 1:
        raise ValueError(
            f"{ablation.file} has {source.count(ablation.line)} times the line {ablation.line!r}, not once"
        )
    path.write_text(source.replace(ablation.line, ablation.without))
    return folder


def main() -> None:
    """Measure all choices in turns and write the table."""
    with tempfile.TemporaryDirectory() as temporary:
        folders = {"": ROOT}
        for number, ablation in enumerate(ABLATIONS):
            folders[ablation.choice] = changed(ablation, Path(temporary) / str(number))
        figures: dict[str, list[dict[str, float]]] = {choice: [] for choice in folders}
        for turn in range(ROUNDS + 1):
            for choice, folder in folders.items():
                figures[choice].append(_measured(folder, Path(temporary) / f"cache{list(folders).index(choice)}"))
                print(f"turn {turn} of {ROUNDS}: {choice or 'the engine as it is'}", file=sys.stderr)
    columns = list(figures[""][0])
    lines = [
        "# What each choice of the layout is worth",
        "",
        "Written by `python -m benchmarks.ablations`. Time of the engine without the choice over that of the engine as it is:",
        f"medians of {ROUNDS} turns in processes of their own, the whole-key cache off, one thread, processor time.",
        "",
        f"| choice | {' | '.join(columns)} |",
        "|---|" + "---:|" * len(columns),
    ]
    whole = {column: median(run[column] for run in figures[""][1:]) for column in columns}
    lines.append(f"| the engine as it is, ns a key | {' | '.join(f'{whole[column]:.0f}' for column in columns)} |")
    for choice in list(folders)[1:]:
        # The first turn compiles, and is left out.
        ratios = [median(run[column] for run in figures[choice][1:]) / whole[column] for column in columns]
        lines.append(f"| {choice} | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |")
    (ROOT / "benchmarks" / "ablations.md").write_text("\n".join(lines) + "\n")


def _measured(folder: Path, cache: Path) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(cache)}
    told = subprocess.run(
        [sys.executable, "-c", MEASURE], cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    figures: dict[str, float] = json.loads(told.stdout)
    return figures


if __name__ == "__main__":
    main()
