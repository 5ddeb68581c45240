"""What tests of faults share: a log of several parts, a job as a program of its own, and what a whole result is."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

__all__ = ["DRIVER_KILLED", "ROOT", "ROWS", "assert_whole", "ended_javas", "folder", "marks", "run"]

ROWS = 40_000
ROOT = Path(__file__).parents[2]

PROGRAM = """
import os, resource, signal, sys, time
from pathlib import Path
from pyspark import TaskContext
from dfa_router.logs import parts
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
from dfa_router.spark import files, job
from dfa_router.spark.session import local_session, stop

parts.LEAST_BYTES, parts.OPENING_BYTES = 10_000, 1_000  # a dozen parts
folder, marks = Path(sys.argv[1]), Path(sys.argv[2])
topology = topology_of(exchanges=[Exchange(name="x", type="topic")], queues=[Queue(name="q")],
                       bindings=[Binding(source="x", destination="q", routing_key="a.#")])

def route(master, report=None, **conf):
    session = local_session(master, **conf)
    try:
        return job.route_log(session, topology, str(folder / "log"), str(folder / "out"), kind="parquet",
                             out_kind="parquet", report=report)
    finally:
        stop(session)

Sound = files._Attempt

def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
"""
"""What all programs begin with: a program, because each needs a Spark of its own, and faults that reach its workers."""

DRIVER_KILLED = """
phase = sys.argv[3]
from dfa_router.spark import progress
progress._SECONDS = 0.01

def die():
    (marks / "java").write_text(" ".join(p.name for p in Path("/proc").glob("[0-9]*") if parent(p.name) == os.getpid()))
    os.kill(os.getpid(), signal.SIGKILL)

def report(label, done, total):
    if label == phase:
        if phase != "routing" or list(folder.glob(".out.*.partial/_temporary/part-*")):
            die()

if phase == "publishing":
    from dfa_router.logs import publishing
    publishing._touch = lambda place: die()
if phase == "placing":
    from dfa_router.logs import drafts
    drafts._place = lambda *_: die()
if phase == "placed":
    from dfa_router.logs import drafts
    place = drafts._place
    drafts._place = lambda *given: (place(*given), die())
print(route("local[2]", report).messages)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a log of some twenty row groups, and one for marks beside it."""
    log = tmp_path / "work" / "log"
    log.mkdir(parents=True)
    (tmp_path / "marks").mkdir()
    keys = [f"{'ab'[number % 2]}.{number}" for number in range(ROWS)]
    table = pa.table({"exchange": ["x"] * ROWS, "routing_key": keys, "n": np.arange(ROWS)})
    pq.write_table(table, log / "1.parquet", row_group_size=ROWS // 20)
    return tmp_path / "work"


def run(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of these."""
    line = [sys.executable, "-c", PROGRAM + program, str(folder), str(folder.parent / "marks"), *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)


def marks(folder: Path) -> set[str]:
    return {path.name for path in (folder.parent / "marks").iterdir()}


def assert_whole(folder: Path) -> None:
    """Check that each row is there once, with its queues, and nothing else."""
    assert sorted(path.name for path in folder.iterdir()) == ["log", "out"]
    names = [path.name for path in (folder / "out").iterdir()]
    assert "_SUCCESS" in names
    assert all(name.startswith("part-") for name in names if name != "_SUCCESS")
    table = pq.read_table(folder / "out").sort_by("n")
    assert table["n"].to_pylist() == list(range(ROWS))
    assert table["queues"].to_pylist() == [["q"] if number % 2 == 0 else [] for number in range(ROWS)]


def ended_javas(folder: Path) -> None:
    """Wait until every Java of a driver that was killed has ended: its tasks may still write."""
    for java in (folder.parent / "marks" / "java").read_text().split():
        while (
            Path("/proc", java).exists() and "Z" not in Path("/proc", java, "stat").read_text().rpartition(")")[2][:3]
        ):
            time.sleep(0.05)
