"""The runs: a log is made, and then the command, the plain loop, and the command on a log of a few messages take turns.

The last tells what starting costs: Java, Spark, a worker for each core, and loading kernels in each. It is stated apart.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.pipeline import tree
from dfa_router.logs.planning import Plan, planned
from dfa_router.logs.stores import place_of
from dfa_router.rabbitmq import load_definitions
from examples.demo.make_log import DEFINITIONS, make_log

__all__ = ["BEFORE", "CONTESTANTS", "Run", "commit_of", "run"]

CONTESTANTS = ("route", "loop", "start")
BEFORE = ("before", "before start")
"""The command of another checkout on both logs. It writes no counts, which older ones cannot."""
FILE_ROWS = 1_000_000
"""Messages of a file of the log."""
GROUP_ROWS = 100_000
"""Of a row group, as the demo has them."""
FEW_FILES = 4
"""Files of a message for each core, in the log that tells what starting costs: so many make up a part for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a run of a contestant cost."""

    contestant: str
    messages: int
    seconds: float
    cpu: float
    """Seconds of processors, of all processes together."""
    largest: int
    """Bytes of the largest process."""
    stages: str = ""
    """The command's own account of its time."""


def run(
    folder: Path,
    *,
    messages: int,
    rounds: int,
    contestants: Sequence[str] = CONTESTANTS,
    cores: int = 2,
    before: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Run]:
    """Make a log of so many messages in a folder, and yield each run; the last result stays in ``folder/routed``.

    The checkout ``before``, if there is one, takes part in the first round.

    Raises ``CalledProcessError`` where a contestant fails, and ``AssertionError`` where one writes other rows.
    """
    progress(f"pipeline: making {messages:,} messages")
    _make(folder / "log", messages, 1)
    few = FEW_FILES * cores
    _make(folder / "few", few, 0, file_rows=1)
    source = place_of(str(folder / "log"))
    assert source is not None
    plan = planned(source, pattern=False, cores=cores)
    _prepare(folder, plan)
    for number in range(rounds):
        for contestant in (*contestants, *(BEFORE if before is not None and not number else ())):
            progress(f"pipeline: {contestant}")
            yield _turn(folder, contestant, few if contestant.endswith("start") else messages, cores, before)


def commit_of(checkout: Path) -> str:
    """Name a checkout by its commit and the commit's day, and say where files differ from it; without git, by its folder."""
    if not (checkout / ".git").exists():  # else git would tell of a repository around it
        return checkout.absolute().name
    git = ["git", "-C", str(checkout)]
    try:
        found = subprocess.run(
            [*git, "log", "-1", "--format=%h of %cs"], capture_output=True, check=True, encoding="utf-8"
        )
        changed = subprocess.run([*git, "diff", "--quiet", "HEAD"], check=False).returncode
    except (OSError, subprocess.CalledProcessError):
        return checkout.absolute().name
    return f"commit {found.stdout.strip()}{', changed' if changed else ''}"


def _make(log: Path, messages: int, seed: int, file_rows: int = FILE_ROWS) -> None:
    log.mkdir()
    definitions = json.loads(DEFINITIONS.read_bytes())
    for number, first in enumerate(range(0, messages, file_rows)):
        table = make_log(definitions, min(file_rows, messages - first), seed + number)
        pq.write_table(table, log / f"{number:05}.parquet", row_group_size=GROUP_ROWS)


def _prepare(folder: Path, plan: Plan) -> None:
    """Write what the loop is told, and the lists that it writes: the routes of the first messages."""
    first = pq.ParquetFile(plan.parts[0].pieces[0].path).read_row_group(0)
    batch = load_definitions(DEFINITIONS).compile().route_batch(first["exchange"], first["routing_key"], first["vhost"])
    routes = {
        "queues": batch.queues,
        "routed": pa.array(batch.routed),
        "not_simulated": batch.not_simulated,
        "problem": pa.nulls(len(batch.queues), pa.string()),
    }
    pq.write_table(pa.table(routes), folder / "routes.parquet")
    pq.write_table(pa.table({"id": batch.route_ids}), folder / "ids.parquet")
    parts = [[(piece.path, piece.row_groups) for piece in part.pieces] for part in plan.parts]
    job = {"routes": str(folder / "routes.parquet"), "ids": str(folder / "ids.parquet"), "parts": parts}
    (folder / "job.json").write_text(json.dumps(job))


def _turn(folder: Path, contestant: str, messages: int, cores: int, before: Path | None) -> Run:
    out = folder / {"route": "routed"}.get(contestant, "other")
    shutil.rmtree(out, ignore_errors=True)
    log = "few" if contestant.endswith("start") else "log"
    environment = dict(os.environ)
    command = ["-P", "-m", "dfa_router", "--quiet", "route", "--definitions", DEFINITIONS, "--messages", folder / log]
    command += ["--out", out, "--master", f"local[{cores}]", "--json"]
    if contestant in BEFORE:
        environment["PYTHONPATH"] = str(before)
    elif contestant == "loop":
        command = ["-m", "benchmarks.pipeline.loop", folder / "job.json", out]
    else:
        command += ["--counts", folder / f"{log}.counts"]
    line = [sys.executable, str(tree.__file__), sys.executable, *map(str, command)]
    # Spark's workers look for modules in their folder first.
    done = subprocess.run(
        line, stdout=subprocess.PIPE, check=True, env=environment, cwd=before if contestant in BEFORE else None
    )
    cost = json.loads(done.stdout)
    written = sum(pq.read_metadata(file).num_rows for file in out.glob("part-*.parquet"))
    assert written == messages, f"{contestant} wrote {written:,} rows of {messages:,}"
    said = json.loads(cost.pop("said") or "{}")
    stages = {"starting": said["starting_seconds"], **said["stages"]} if "stages" in said else {}
    return Run(
        contestant=contestant,
        messages=messages,
        stages=", ".join(f"{name} {seconds:.1f}" for name, seconds in stages.items()),
        **cost,
    )
