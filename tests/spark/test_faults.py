"""Workers, executors and drivers that die, attempts that are repeated, disks that are full: the result is whole, or there is none."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = [pytest.mark.spark, pytest.mark.own_java, pytest.mark.slow]

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

DYING = """
class Dying(Sound):
    def __call__(self, part):
        first = TaskContext.get().attemptNumber() == 0
        if first and part.number % 3 == 0:
            raise OSError("a fault before anything is written")
        written = super().__call__(part)
        if first and part.number % 3 == 1:
            (marks / f"written-{part.number}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if first and part.number % 3 == 2:
            raise OSError("a fault after everything was written")
        return written

files._Attempt = Dying
print(route("local[2,4]").messages)
"""

EXECUTOR_KILLED = """
class Killing(Sound):
    def __call__(self, part):
        written = super().__call__(part)
        if part.number == 3 and TaskContext.get().attemptNumber() == 0:
            (marks / "killed").touch()
            daemon = parent(os.getpid())
            os.kill(parent(daemon), signal.SIGKILL)  # the executor's Java
        return written

files._Attempt = Killing
print(route("local-cluster[2,1,1024]", **{"spark.executor.memory": "1g"}).messages)
"""

DISK_FULL = """
class Limited(Sound):
    def __call__(self, part):
        if part.number == 2:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        return super().__call__(part)

files._Attempt = Limited
try:
    route("local[2]")
except Exception as error:
    print(type(error).__name__, error)
"""

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
    from dfa_router.spark import drafts
    drafts._place = lambda *_: die()
if phase == "placed":
    from dfa_router.spark import drafts
    drafts._clean = lambda *_: die()
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


def test_tasks_that_fail_and_workers_that_die_are_tried_again_and_double_nothing(folder: Path) -> None:
    done = run(folder, DYING)
    assert done.stdout.split()[-1:] == [str(ROWS)], done.stderr
    assert len(marks(folder)) > 1, "no worker has died"
    assert_whole(folder)


def test_an_executor_that_is_killed_is_replaced(folder: Path) -> None:
    done = run(folder, EXECUTOR_KILLED)
    assert done.stdout.split()[-1:] == [str(ROWS)], done.stderr
    assert marks(folder) == {"killed"}
    assert_whole(folder)


def test_a_full_disk_is_told_and_leaves_nothing(folder: Path) -> None:
    done = run(folder, DISK_FULL)
    assert done.stdout.startswith("JobError the Spark job failed: OSError: "), done
    assert "File too large" in done.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["log"]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for the processes of a process in /proc")
@pytest.mark.parametrize("phase", ["planning", "routing", "counting", "publishing", "placing", "placed"])
def test_a_driver_that_is_killed_leaves_a_whole_result_or_none_and_the_next_run_mends_it(
    folder: Path, phase: str
) -> None:
    died = run(folder, DRIVER_KILLED, phase)
    assert died.returncode == -signal.SIGKILL, died
    for java in (folder.parent / "marks" / "java").read_text().split():
        while (
            Path("/proc", java).exists() and "Z" not in Path("/proc", java, "stat").read_text().rpartition(")")[2][:3]
        ):
            time.sleep(0.05)  # its tasks may still write
    if phase == "placed":
        assert pq.read_table(folder / "out").num_rows == ROWS
        return
    assert not (folder / "out").exists()
    done = run(folder, "print(route('local[2]').messages)")
    assert done.stdout.split()[-1:] == [str(ROWS)], done.stderr
    assert_whole(folder)
