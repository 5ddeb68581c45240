"""A campaign on Spark finds what one without it finds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dfa_router.errors import JobError
from dfa_router.fuzz.campaign import run
from dfa_router.fuzz.generating.rounds import Size
from dfa_router.fuzz.tally import Plan
from dfa_router.fuzz.targets import open_target
from dfa_router.language.dialects import dialect_named
from dfa_router.target import Round

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
AMQP = dialect_named("amqp")
SMALL = Size.parse("4x10")
MODULE = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from tests.fuzz import planted

right = planted.right_amqp
greedy = next(fault.match for fault in planted.PLANTED if fault.name == "hash_stops_at_the_first_occurrence")

def dies(patterns, key):
    os._exit(3)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of matchers, as the current directory."""
    (tmp_path / "matchers.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("keep_going", [False, True])
@pytest.mark.parametrize("name", ["greedy", "right"])
def test_the_same_as_without_spark(spark: SparkSession, folder: Path, name: str, keep_going: bool) -> None:
    from dfa_router.spark.campaign import run_on_spark

    spec = f"matchers:{name}"
    plan = Plan(dialect=AMQP, seed=7, size=SMALL, keep_going=keep_going)
    spread = run_on_spark(spark, spec, plan, rounds=40)
    target = open_target(spec, AMQP, timeout=10.0)
    try:
        alone = run(target, AMQP, rounds=40, seed=7, size=SMALL, keep_going=keep_going)
    finally:
        target.close()
    assert spread.findings == alone.findings
    assert spread.agrees == alone.agrees == (name == "right")
    if keep_going or name == "right":
        assert spread.tally.rounds == alone.tally.rounds


@pytest.mark.parametrize("name", ["cache_by_count", "ForgottenRemoval"])
def test_histories_are_the_same_as_without_spark(spark: SparkSession, folder: Path, name: str) -> None:
    from dfa_router.spark.campaign import run_on_spark

    spec = f"histories:{name}"
    (folder / "histories.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom tests.fuzz.planted_histories import *\n"
        f"from tests.fuzz.planted_histories import {name}\n"
    )
    spread = run_on_spark(spark, spec, Plan(dialect=AMQP, seed=7), rounds=60)
    target = open_target(spec, AMQP, timeout=10.0)
    try:
        alone = run(target, AMQP, rounds=60, seed=7)
    finally:
        target.close()
    assert spread.findings == alone.findings
    assert spread.findings[0].case.stateful


def test_a_target_that_dies_is_a_finding(spark: SparkSession, folder: Path) -> None:
    from dfa_router.spark.campaign import run_on_spark

    campaign = run_on_spark(spark, "matchers:dies", Plan(dialect=AMQP, seed=1, size=SMALL), rounds=2)
    assert [finding.kind.name for finding in campaign.findings] == ["FAILS"]


def test_a_worker_that_cannot_open_the_target_is_an_error(spark: SparkSession, folder: Path) -> None:
    from dfa_router.spark.campaign import run_on_spark

    with pytest.raises(
        JobError,
        match=r"^the campaign failed on Spark: cannot import the target matchers:absent: .*\nIt was looked for in ",
    ):
        run_on_spark(spark, "matchers:absent", Plan(dialect=AMQP, seed=1), rounds=2)


def test_a_corpus_is_asked_first(spark: SparkSession, folder: Path) -> None:
    from dfa_router.spark.campaign import run_on_spark

    corpus = [("kept.txt", Round(patterns=("a.#.b",), keys=("a.b.b", "a.c.b.b")))]
    campaign = run_on_spark(spark, "matchers:greedy", Plan(dialect=AMQP, seed=1), rounds=2, corpus=corpus)
    assert campaign.replayed == 1
    assert [finding.place for finding in campaign.findings] == ["kept.txt"]


@pytest.mark.own_java
@pytest.mark.long
@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]"])
def test_the_command_finds_on_spark_what_it_finds_alone(folder: Path, master: str) -> None:
    said = []
    for spread in ([], ["--spark", master]):
        command = [sys.executable, "-m", "dfa_router", "fuzz", "--target", "matchers:greedy", "--rounds", "60"]
        options = ["--seed", "7", "--size", "4x10", "--keep-going", "--json", *spread]
        ended = subprocess.run([*command, *options], capture_output=True, text=True, check=False, env=_environment())
        assert ended.returncode == 1, ended.stderr
        said.append(json.loads(ended.stdout))
    assert said[0]["findings"] == said[1]["findings"]


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT)}
