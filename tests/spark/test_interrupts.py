"""Ctrl-C while a Parquet log is routed, in each phase: nothing of the job is left, and what was there before is there still."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer
from types import FrameType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dfa_router.logs import parts
from dfa_router.logs.counts_file import counts_file
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
from tests.signals import sent_when

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TOPOLOGY = topology_of(
    exchanges=[Exchange(name="x", type="topic")],
    queues=[Queue(name="q")],
    bindings=[Binding(source="x", destination="q", routing_key="#.a.#.a.#.b")],
)
ROWS = 4_000


class Interrupts:
    """Ctrl-C that raises within :meth:`allowed` alone: one that comes late is not the next test's."""

    def __init__(self) -> None:
        self._armed = False

    def handle(self, _number: int, _frame: FrameType | None) -> None:
        if self._armed:
            raise KeyboardInterrupt

    def allowed(self, work: Callable[[], Any]) -> bool:
        """Call it, and tell whether it came to its end."""
        try:
            self._armed = True
            work()
            self._armed = False
        except KeyboardInterrupt:
            self._armed = False
            return False
        return True


@pytest.fixture
def interrupts() -> Iterator[Interrupts]:
    """Let Ctrl-C raise KeyboardInterrupt and no more: PySpark has put its own handler there."""
    own = Interrupts()
    before = signal.signal(signal.SIGINT, own.handle)
    yield own
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a log of several parts, an old result and old counts."""
    monkeypatch.setattr(parts, "LEAST_BYTES", 2_000)
    monkeypatch.setattr(parts, "OPENING_BYTES", 100)
    key = ".".join(["a"] * 60)
    table = pa.table({"exchange": ["x"] * ROWS, "routing_key": [key] * ROWS, "n": range(ROWS)})
    pq.write_table(table, tmp_path / "log.parquet", row_group_size=ROWS // 20)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "part-old").write_text("old")
    with counts_file(str(tmp_path / "counts")):
        pass
    return tmp_path


def route(spark: SparkSession, folder: Path, engine: str = "dfa") -> None:
    from dfa_router.spark.job import route_log

    log, out, counts = (str(folder / name) for name in ("log.parquet", "out", "counts"))
    route_log(
        spark, TOPOLOGY, log, out, kind="parquet", out_kind="parquet", engine=engine, overwrite=True, counts=counts
    )


def is_old(folder: Path) -> bool:
    """Tell whether the old result and counts are there, or else the new ones; check that there is nothing besides."""
    assert sorted(path.name for path in folder.iterdir()) == ["counts", "log.parquet", "out"]
    names = {path.name for path in (folder / "out").iterdir()}
    if names == {"part-old"}:
        assert not pq.read_metadata(folder / "counts").num_rows
        return True
    assert "_SUCCESS" in names
    assert "part-old" not in names
    assert pq.read_table(folder / "out").num_rows == ROWS
    return False


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def pressed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that presses Ctrl-C, and then does the same if it still can."""

    def press(*arguments: Any, **options: Any) -> Any:
        ctrl_c()
        return function(*arguments, **options)

    return press


@pytest.mark.parametrize(
    "moment", ["job.plan_of", "job.counts_of", "job.ranked", "job.publish", "publishing._touch", "drafts._place"]
)
def test_interrupted_in_planning_counting_or_commit(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch, interrupts: Interrupts, moment: str
) -> None:
    from dfa_router.logs import drafts, publishing
    from dfa_router.spark import job

    module, _, name = moment.partition(".")
    place = {"job": job, "publishing": publishing, "drafts": drafts}[module]
    monkeypatch.setattr(place, name, pressed(getattr(place, name)))
    assert not interrupts.allowed(lambda: route(spark, folder))
    assert is_old(folder)


@pytest.mark.slow
def test_interrupted_while_tasks_write(spark: SparkSession, folder: Path, interrupts: Interrupts) -> None:
    from dfa_router.spark.cancel import _running_tasks

    def writing() -> bool:
        return any(folder.glob(".out.*.partial/_temporary/part-*"))

    with sent_when(writing):
        assert not interrupts.allowed(lambda: route(spark, folder, "naive")), "it would have taken a minute"
    assert _running_tasks(spark.sparkContext) == 0
    assert is_old(folder)
    assert interrupts.allowed(lambda: route(spark, folder)), "the session lives on"
    assert not is_old(folder)


def test_a_second_interrupt_waits_until_all_is_cleaned(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch, interrupts: Interrupts
) -> None:
    from dfa_router.logs import drafts

    presses = iter(range(10))
    clean = drafts._clean

    def cleaned(*arguments: Any) -> None:
        if next(presses, None) is not None:
            ctrl_c()
        clean(*arguments)

    monkeypatch.setattr(drafts, "_clean", cleaned)
    monkeypatch.setattr(drafts, "_place", pressed(drafts._place))
    assert not interrupts.allowed(lambda: route(spark, folder))
    assert next(presses, None) is None
    assert is_old(folder)


@pytest.mark.slow
@pytest.mark.parametrize("times", [3, pytest.param(10, marks=pytest.mark.long)])
def test_interrupted_at_random_moments(spark: SparkSession, folder: Path, interrupts: Interrupts, times: int) -> None:
    chance = random.Random(14)
    assert interrupts.allowed(lambda: route(spark, folder)), "workers have begun, and loaded their kernels"
    started = time.monotonic()
    assert interrupts.allowed(lambda: route(spark, folder))
    seconds = time.monotonic() - started
    ended = []
    for _ in range(times):
        timer = Timer(chance.uniform(0, 1.1) * seconds, ctrl_c)
        timer.start()
        ended.append(interrupts.allowed(lambda: route(spark, folder)))
        timer.join()
        assert not is_old(folder), "the first result has taken the old one's place"
    assert not all(ended), "no job was interrupted"
