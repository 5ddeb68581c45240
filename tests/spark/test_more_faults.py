"""What ``test_faults.py`` shows in small, at its full cost: ``make long`` runs it.

Second attempts of slow tasks, on a standalone cluster of two hosts; there, an attempt fails after it has written. And drivers
that are killed in each phase with a Java of their own.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.find_spark_home import _find_spark_home

from dfa_router.spark.java import find_java
from tests.spark.faulty import DRIVER_KILLED, ROWS, assert_whole, ended_javas, folder, marks, run

__all__ = ["folder"]

pytestmark = [pytest.mark.spark, pytest.mark.own_java, pytest.mark.long]

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


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for the processes of a process in /proc")
@pytest.mark.parametrize("phase", ["planning", "routing", "counting", "publishing", "placing", "placed"])
def test_a_driver_that_is_killed_with_its_java_leaves_a_whole_result_or_none(folder: Path, phase: str) -> None:
    died = run(folder, DRIVER_KILLED, phase)
    assert died.returncode == -signal.SIGKILL, died
    ended_javas(folder)
    if phase == "placed":
        assert pq.read_table(folder / "out").num_rows == ROWS
        return
    assert not (folder / "out").exists()
    done = run(folder, "print(route('local[2]').messages)")
    assert done.stdout.split()[-1:] == [str(ROWS)], done.stderr
    assert_whole(folder)
