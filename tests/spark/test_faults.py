"""Workers, executors and drivers that die, attempts that are repeated, disks that are full: the result is whole, or there is none.

What the session that all tests share can show is shown in it. Its driver is killed as a copy of this process, whose tasks are
cancelled afterwards, as those of a killed Java end. ``test_more_faults.py`` has the rest, drivers that die with their Java among it.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
from tests.spark.faulty import ROWS, assert_whole, folder, marks, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["folder"]

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TOPOLOGY = topology_of(
    exchanges=[Exchange(name="x", type="topic")],
    queues=[Queue(name="q")],
    bindings=[Binding(source="x", destination="q", routing_key="a.#")],
)

DYING = """
class Dying(Sound):
    def __call__(self, part):
        first = TaskContext.get().attemptNumber() == 0
        if first and part.number % 4 == 0:
            raise OSError("a fault before anything is written")
        written = super().__call__(part)
        if first and part.number % 4 == 1:
            (marks / f"worker {part.number}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if first and part.number % 4 == 2:
            raise OSError("a fault after everything was written")
        if first and part.number == 3:
            (marks / "executor").touch()
            os.kill(parent(parent(os.getpid())), signal.SIGKILL)  # the Java behind the process that forks workers
        return written

files._Attempt = Dying
print(route("local-cluster[2,1,1024]", **{"spark.executor.memory": "1g"}).messages)
"""


@pytest.mark.own_java
def test_what_fails_or_dies_is_tried_again_or_replaced_and_doubles_nothing(folder: Path) -> None:
    """Tasks fail before and after they have written, workers are killed, and so is one of two executors."""
    done = run(folder, DYING)
    assert done.stdout.split()[-1:] == [str(ROWS)], done.stderr
    assert "executor" in marks(folder)
    assert len(marks(folder)) > 1, "no worker has died"
    assert_whole(folder)


@pytest.fixture
def several_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the log routed in a dozen parts."""
    from dfa_router.logs import parts

    monkeypatch.setattr(parts, "LEAST_BYTES", 10_000)
    monkeypatch.setattr(parts, "OPENING_BYTES", 1_000)


def route(spark: SparkSession, folder: Path, **options: Any) -> int:
    from dfa_router.spark.job import route_log

    log, out = str(folder / "log"), str(folder / "out")
    return route_log(spark, TOPOLOGY, log, out, kind="parquet", out_kind="parquet", **options).messages


@pytest.mark.usefixtures("several_parts")
def test_a_file_that_may_not_grow_is_told_and_leaves_nothing(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dfa_router.spark import files

    sound: Any = files._Attempt

    class Limited(sound):  # type: ignore[misc]  # within the test, so that it travels to workers as a whole
        def __call__(self, part: Any) -> Any:
            if part.number != 2:
                return super().__call__(part)
            ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            limits = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
            try:
                return super().__call__(part)
            finally:  # other tests have this worker, too
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
                signal.signal(signal.SIGXFSZ, ignored)

    monkeypatch.setattr(files, "_Attempt", Limited)
    with pytest.raises(dr.JobError, match=r"^the Spark job failed: /.*/part-.*: cannot be written: .*File too large"):
        route(spark, folder)
    assert [path.name for path in folder.iterdir()] == ["log"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of a megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"may not mount a file system: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)  # tasks that were cancelled may still have files there open


@pytest.mark.usefixtures("several_parts")
def test_a_disk_without_space_is_told_and_gets_back_what_was_written(spark: SparkSession, small_disk: Path) -> None:
    keys = [os.urandom(8).hex() for _ in range(ROWS)]
    table = pa.table({"exchange": ["x"] * ROWS, "routing_key": keys, "n": range(ROWS)})
    pq.write_table(table, small_disk.parent / "log.parquet", row_group_size=ROWS // 20)
    folder = small_disk / "folder"
    folder.mkdir()
    (folder / "log").symlink_to(small_disk.parent / "log.parquet")
    with pytest.raises(
        dr.JobError,
        match=r"^the Spark job failed: /.*/disk/folder/.*: cannot be written: .*No space left on device.*; make room",
    ):
        route(spark, folder)
    assert [path.name for path in folder.iterdir()] == ["log"]


def test_a_disk_without_space_is_told_where_spark_writes(spark: SparkSession, small_disk: Path) -> None:
    from dfa_router.spark.job import route_log

    log = small_disk.parent / "log.parquet"
    keys = [os.urandom(20).hex() for _ in range(ROWS)]
    pq.write_table(pa.table({"exchange": ["x"] * ROWS, "routing_key": keys}), log)
    with pytest.raises(
        dr.JobError, match=r"/disk/\S*: No space left on device; make room there, or choose another place$"
    ):
        route_log(spark, TOPOLOGY, str(log), str(small_disk / "out"), kind="parquet", out_kind="jsonl")
    assert list(small_disk.iterdir()) == []


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def route_and_die(spark: SparkSession, folder: Path, phase: str) -> None:
    """Route, and be killed in a phase; what is changed here is changed in a process that has no future."""
    from dfa_router.logs import drafts, publishing
    from dfa_router.spark import files, progress

    progress._SECONDS = 0.01
    places: dict[str, tuple[Any, str]] = {
        "publishing": (publishing, "_touch"),
        "placing": (drafts, "_place"),
    }
    if phase in places:
        setattr(*places[phase], die)
    if phase == "placed":
        place = drafts._place
        drafts._place = lambda *given: die(place(*given))
    if phase == "routing":
        sound: Any = files._Attempt

        class Waiting(sound):  # type: ignore[misc]
            def __call__(self, part: Any) -> Any:
                written = super().__call__(part)
                while part.number == 3:
                    time.sleep(0.05)
                return written

        files._Attempt = Waiting  # type: ignore[misc]

    def report(label: str, _done: int, _total: int) -> None:
        if label == phase and (label != "routing" or list(folder.glob(".out.*.partial/_temporary/part-*"))):
            die()

    route(spark, folder, report=report)


def killed(work: Callable[[], None]) -> int:
    """Do something in a copy of this process, and return the signal that has ended it."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    return -os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def let_tasks_end(spark: SparkSession) -> None:
    """Return when no task of anybody runs: what a driver has begun ends with its Java, and this one's lives on."""
    from dfa_router.spark.cancel import _running_tasks

    context = spark.sparkContext
    while _running_tasks(context) or context.statusTracker().getActiveJobsIds():
        context.cancelAllJobs()
        time.sleep(0.05)


@pytest.mark.usefixtures("several_parts")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("phase", ["planning", "routing", "counting", "publishing", "placing", "placed"])
def test_a_driver_that_is_killed_leaves_a_whole_result_or_none_and_the_next_run_mends_it(
    spark: SparkSession, folder: Path, phase: str
) -> None:
    assert killed(lambda: route_and_die(spark, folder, phase)) == signal.SIGKILL
    let_tasks_end(spark)
    if phase == "placed":
        assert pq.read_table(folder / "out").num_rows == ROWS
        return
    assert not (folder / "out").exists()
    assert phase == "planning" or list(folder.glob(".out.*.partial")), "nothing was left to mend"
    assert route(spark, folder) == ROWS
    assert_whole(folder)
