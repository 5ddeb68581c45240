"""Routing of DataFrames is measured beside functions that do nothing, and a contestant that routes wrongly ends the run."""

from __future__ import annotations

import csv
import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import dfa_router as dr

pytest.importorskip("pyspark", reason="needs PySpark: pip install 'dfa-router[spark]'")

from benchmarks.frames import Figure, page, turns, write
from benchmarks.frames.child import answer_of, routes_of
from benchmarks.frames.contestants import CONTESTANTS, constants_of
from benchmarks.frames.turns import DEFINITIONS, KINDS, Sessions, begun, take_turns
from examples.demo.make_log import make_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MESSAGES = 1000


@pytest.fixture
def one_session(spark: SparkSession, tmp_path: Path) -> Sessions:
    """Return the session of all tests as one of each kind: the contestants and the turns are real, Connect is not."""
    topology = dr.load_definitions(DEFINITIONS)
    log = make_log(json.loads(DEFINITIONS.read_text("utf-8")), MESSAGES, seed=1)
    pq.write_table(log, tmp_path / "log.parquet")
    messages, constants = spark.read.parquet(str(tmp_path / "log.parquet")), constants_of(routes_of(topology, log))

    def ask(name: str) -> dict[str, Any]:
        return answer_of(name, messages, topology, constants, tmp_path / "result")

    return Sessions(log, dict.fromkeys(KINDS, spark.version), dict.fromkeys(KINDS, ask))


@pytest.mark.spark
def test_contestants_take_turns(one_session: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_every_figure(one_session, tmp_path, monkeypatch)


@pytest.mark.spark
@pytest.mark.own_java
@pytest.mark.connect
@pytest.mark.long
def test_a_small_run_has_every_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("grpc_status") is None:
        pytest.skip("needs gRPC: pip install 'dfa-router[spark-connect]'")
    with begun(messages=MESSAGES) as sessions:
        assert_every_figure(sessions, tmp_path, monkeypatch)


def assert_every_figure(sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(turns, "WARM_UPS", 0)
    found = take_turns(sessions, rounds=1)
    assert [one.contestant for one in found if one.session == "classic"] == list(CONTESTANTS)
    assert [one.contestant for one in found if one.session == "connect"] == list(turns.ON_CONNECT)
    assert all(one.cpu_us > 0 and one.wall_us > 0 for one in found)
    table, text, plot = write(found, tmp_path / "new", command="the command")
    with table.open(encoding="utf-8") as file:
        assert [float(line["cpu_us"]) for line in csv.DictReader(file)] == [one.cpu_us for one in found]
    assert "the command" in text.read_text("utf-8")
    assert "route, keys alone (connect)" in plot.read_text("utf-8")


def test_targets_are_judged(tmp_path: Path) -> None:
    cost = {"constant Arrow UDF": 10.0, "route": 11.0, "constant mapInArrow": 5.0, "route, keys alone": 6.0}
    figures = [Figure("classic", name, cpu, cpu, "4.3.0") for name, cpu in cost.items()]
    figures += [
        Figure("connect", "route", 11.0, 1.0, "4.3.0"),
        Figure("connect", "route, keys alone", 9.0, 1.0, "4.3.0"),
    ]
    text = write(figures, tmp_path, command="the command", plots=False)[1].read_text("utf-8")
    assert [line.split(" | ")[2:] for line in text.splitlines() if line.endswith((" met |", " missed |"))] == [
        ["1.10", "1.15", "met |"],
        ["1.20", "1.15", "missed |"],
        ["1.00", "1.30", "met |"],
        ["1.50", "1.30", "missed |"],
    ]
    assert len(page.TARGETS) == 4


@pytest.mark.spark
def test_a_wrong_contestant_ends_the_run(one_session: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    """What plain Python finds is taken for other than it is: then the first contestant that routes is wrong."""
    monkeypatch.setattr(turns, "_expected", lambda _: {"rows": MESSAGES, "routed": -1})
    with pytest.raises(AssertionError, match=r"classic, route: .* instead of .*'routed': -1"):
        take_turns(one_session, rounds=1)
