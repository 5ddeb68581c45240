"""The pipeline's benchmark: every process counts, and a wrong count is found."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.pipeline import Run, commit_of, recount, run, write
from benchmarks.pipeline.page import ratio
from benchmarks.pipeline.runs import BEFORE, CONTESTANTS
from dfa_router.rabbitmq import load_definitions
from examples.demo.make_log import DEFINITIONS, make_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_orphans_are_waited_for_and_counted() -> None:
    busy = "import time\nwhile time.process_time() < 1: pass"  # the last tenth of a second may be missed
    parent = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {busy!r}])"
    line = [sys.executable, "-m", "benchmarks.pipeline.tree", sys.executable, "-c", parent]
    cost = json.loads(subprocess.run(line, capture_output=True, check=True).stdout)
    assert cost["cpu"] >= 0.5
    assert cost["largest"] > 2**20


def test_the_loop_is_measured(tmp_path: Path) -> None:
    found = list(run(tmp_path, messages=20_000, rounds=2, contestants=["loop"]))
    assert [(one.contestant, one.messages) for one in found] == [("loop", 20_000)] * 2
    assert all(one.cpu > 0 and one.largest > 2**20 for one in found)


def recounted(routed: Path, counts: Path) -> None:
    """Check that DuckDB finds the counts, and that it does not find others."""
    pytest.importorskip("duckdb", reason="needs DuckDB: pip install 'dfa-router[bench]'")
    assert recount(routed, counts) > 50
    table = pq.read_table(counts)
    wrong = pa.array([count + (row == 3) for row, count in enumerate(table["messages"].to_pylist())])
    pq.write_table(table.set_column(4, "messages", wrong), counts)
    with pytest.raises(AssertionError, match="by DuckDB"):
        recount(routed, counts)


@pytest.mark.spark
def test_counts_are_recounted(spark: SparkSession, tmp_path: Path) -> None:
    from dfa_router.spark.job import route_log

    log, out, counts = (str(tmp_path / name) for name in ("log.parquet", "routed", "counts.parquet"))
    pq.write_table(make_log(json.loads(DEFINITIONS.read_bytes()), 20_000, seed=1), log)
    route_log(spark, load_definitions(DEFINITIONS), log, out, kind="parquet", out_kind="parquet", counts=counts)
    recounted(tmp_path / "routed", tmp_path / "counts.parquet")


@pytest.mark.spark
@pytest.mark.own_java
@pytest.mark.long
def test_a_small_log_is_measured_and_recounted(tmp_path: Path) -> None:
    """Each but the loop starts a Java."""
    found = list(run(tmp_path, messages=20_000, rounds=1, before=Path(__file__).parents[2]))
    assert [one.contestant for one in found] == [*CONTESTANTS, *BEFORE]
    assert "routing" in found[0].stages
    recounted(tmp_path / "routed", tmp_path / "log.counts")


def test_a_checkout_is_named_by_its_commit_and_else_by_its_folder(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    (tmp_path / "plain").mkdir()
    assert commit_of(tmp_path / "plain") == "plain"
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    (tmp_path / "file").write_text("a")
    for command in (["init", "-q"], ["add", "file"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *command], check=True)
    assert re.fullmatch(r"commit [0-9a-f]{7,} of \d{4}-\d\d-\d\d", commit_of(tmp_path))
    (tmp_path / "file").write_text("b")
    assert commit_of(tmp_path).endswith(", changed")


def test_the_page_tells_starting_apart(tmp_path: Path) -> None:
    runs = [
        Run(contestant=name, messages=1_000_000, seconds=cpu, cpu=cpu, largest=2**20)
        for name, cpu in (("route", 5.0), ("loop", 2.0), ("start", 2.0))
    ]
    assert ratio(runs) == 1.5
    write(runs, tmp_path, command="it", recounted=7, plots=False)
    page = (tmp_path / "pipeline.md").read_text()
    assert "takes 3.00 us of processors a message, the loop 2.00: 1.50 times as much" in page
    assert "all 7 counts are equal" in page


def test_the_page_tells_of_another_checkout(tmp_path: Path) -> None:
    costs = {"route": 5.0, "loop": 2.0, "start": 2.0, "before": 34.0, "before start": 4.0}
    runs = [
        Run(contestant=name, messages=1_000_000, seconds=cpu, cpu=cpu, largest=2**20) for name, cpu in costs.items()
    ]
    write(runs, tmp_path, command="it", recounted=None, before="commit abc of 2026-11-22", plots=False)
    assert (
        "The other checkout (commit abc of 2026-11-22) takes 30.0 us a message without starting: 10 times as much"
        in (tmp_path / "pipeline.md").read_text()
    )
