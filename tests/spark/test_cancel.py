"""Interrupting a routing job in a session that lives on: no task writes any more, and nothing is left of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
from tests.signals import sent_when

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SLOW = topology_of(
    exchanges=[Exchange(name="x", type="topic")],
    queues=[Queue(name="q")],
    bindings=[Binding(source="x", destination="q", routing_key="#.a.#.a.#.b")],
)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt and no more: PySpark has put its own handler there."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def writing(folder: Path) -> bool:
    """Tell whether a task writes into the draft of a result in a folder."""
    return next(folder.glob(".out.*.partial/**/part-*"), None) is not None


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_job_has_no_tasks_and_no_draft(spark: SparkSession, tmp_path: Path) -> None:
    from dfa_router.spark.cancel import _running_tasks
    from dfa_router.spark.job import route_log

    row = json.dumps({"exchange": "x", "routing_key": ".".join(["a"] * 60)}) + "\n"
    logs = tmp_path / "logs"
    logs.mkdir()
    for number in range(8):  # more tasks than cores: some have not begun when the job is cancelled
        (logs / f"{number}.jsonl").write_text(row * 5_000)
    with pytest.raises(KeyboardInterrupt), sent_when(lambda: writing(tmp_path)):
        route_log(spark, SLOW, str(logs), str(tmp_path / "out"), kind="jsonl", out_kind="jsonl", engine="naive")
    assert _running_tasks(spark.sparkContext) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]
    assert spark.range(10).count() == 10, "the session lives on"


ENDLESS = """
import sys, threading, time
from pathlib import Path
from dfa_router.spark.errors import SPARK_ERRORS
from dfa_router.spark.session import end_java, end_workers, local_session

session, begun = local_session("local[1]"), Path(sys.argv[1])

def endless(_):
    begun.touch()
    while True:
        time.sleep(1)
    yield

def end_them():
    while not begun.exists():
        time.sleep(0.01)
    end_workers(session)

threading.Thread(target=end_them).start()
try:
    session.range(1, numPartitions=1).rdd.mapPartitions(endless).collect()
except SPARK_ERRORS:
    print("ended")
end_java(session)
"""


@pytest.mark.slow
@pytest.mark.own_java
def test_workers_that_are_ended_end_their_tasks(tmp_path: Path) -> None:
    """A task that would never end, and nobody cancels it. In a session of its own: Spark may hand out workers that have been ended."""
    ran = subprocess.run(
        [sys.executable, "-c", ENDLESS, str(tmp_path / "begun")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout == "ended\n", ran.stderr


STOPPED = """
from dfa_router.spark.cancel import cancellable
from dfa_router.spark.session import end_java, local_session

session = local_session("local[1]")

def stop_and_fail():
    session.sparkContext._jsc.sc().stop()
    raise ZeroDivisionError

try:
    cancellable(session, stop_and_fail)
except ZeroDivisionError:
    print("failed for its own reason")
end_java(session)
"""


@pytest.mark.slow
@pytest.mark.own_java
def test_an_error_is_told_where_java_has_stopped_by_itself() -> None:
    """As it does where it runs out of memory: then nobody knows of tasks any more."""
    ran = subprocess.run(
        [sys.executable, "-c", STOPPED],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout == "failed for its own reason\n", ran.stderr


def test_results_and_errors_pass_through_and_local_properties_hold(spark: SparkSession) -> None:
    from dfa_router.spark.cancel import cancellable

    context = spark.sparkContext
    context.setLocalProperty("spark.scheduler.pool", "mine")
    try:
        assert cancellable(spark, lambda: context.getLocalProperty("spark.scheduler.pool")) == "mine"
    finally:
        context.setLocalProperty("spark.scheduler.pool", None)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        cancellable(spark, lambda: 1 // 0)
    assert context.getLocalProperty("spark.jobGroup.id") is None, "the caller's thread has no job group of ours"
