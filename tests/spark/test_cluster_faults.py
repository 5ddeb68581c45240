"""Second attempts of slow tasks, on a standalone cluster of two hosts, and a disk that is really full."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.find_spark_home import _find_spark_home

from dfa_router.spark.java import find_java
from tests.spark.test_faults import ROWS, assert_whole, folder, marks, run

__all__ = ["folder"]

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SLOW = """
class Slow(Sound):
    def __call__(self, part):
        again = TaskContext.get().attemptNumber() > 0
        if part.number == 3 and not again:
            (marks / "slow").touch()
            over = marks / "again"
            while not over.exists():
                time.sleep(0.05)
        written = super().__call__(part)
        if part.number == 3 and again:
            (marks / "again").touch()
        return written

files._Attempt = Slow
settings = {"spark.speculation": True, "spark.speculation.interval": "100ms", "spark.speculation.multiplier": 1.1,
            "spark.speculation.quantile": 0.5, "spark.speculation.minTaskRuntime": "100ms", "spark.cores.max": 2,
            "spark.executor.memory": "512m", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
            "spark.pyspark.python": sys.executable, "spark.executorEnv.PYTHONPATH": os.getcwd()}
print(route(sys.argv[3], **settings).messages)
"""
"""A task whose first attempt waits until the second has written all: then both have, and one is taken."""

FULL = """
try:
    route("local[2]")
except Exception as error:
    print(type(error).__name__, error)
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """Start a standalone master, and a worker of one core on each of two addresses; yield the master's URL."""
    java, home, port = find_java().home, _find_spark_home(), free_port()
    master, logs = f"spark://127.0.0.1:{port}", tmp_path / "cluster"
    logs.mkdir()
    started = []
    deploy = "org.apache.spark.deploy"
    commands = [
        ("127.0.0.1", [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]),
        *(
            (host, [f"{deploy}.worker.Worker", "--host", host, "--cores", "1", "--memory", "512m", "--webui-port", "0",
                    "--work-dir", str(logs / host), master])
            for host in ("127.0.0.1", "127.0.0.2")
        ),
    ]  # fmt: skip
    try:
        for number, (host, command) in enumerate(commands):
            surroundings = os.environ | {"JAVA_HOME": str(java), "SPARK_HOME": home, "SPARK_LOCAL_IP": host}
            with (logs / f"{number}.log").open("w") as log:
                line = [str(Path(home) / "bin" / "spark-class"), *command]
                started.append(subprocess.Popen(line, env=surroundings, stdout=log, stderr=log))
        yield master
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="takes 127.0.0.2 for an address of this machine")
def test_a_slow_task_is_begun_a_second_time_elsewhere_and_doubles_nothing(folder: Path, cluster: str) -> None:
    done = run(folder, SLOW, cluster)
    assert done.stdout.split()[-1:] == [str(ROWS)], done.stderr
    assert marks(folder) == {"slow", "again"}
    assert_whole(folder)


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
    subprocess.run(["umount", place], check=True)


def test_a_disk_without_space_is_told_and_gets_back_what_was_written(folder: Path, small_disk: Path) -> None:
    keys = [os.urandom(8).hex() for _ in range(ROWS)]
    table = pa.table({"exchange": ["x"] * ROWS, "routing_key": keys, "n": range(ROWS)})
    pq.write_table(table, small_disk.parent / "log.parquet", row_group_size=ROWS // 20)
    work = small_disk / "work"
    work.mkdir()
    (work / "log").symlink_to(small_disk.parent / "log.parquet")
    done = run(work, FULL)
    assert done.stdout.startswith("JobError the Spark job failed: OSError: "), done
    assert "No space left on device" in done.stdout
    assert [path.name for path in work.iterdir()] == ["log"]
