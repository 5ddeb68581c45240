"""Routing on Spark Connect, in a process of its own: PySpark keeps no classic session beside one of Connect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.own_java, pytest.mark.connect, pytest.mark.slow]

pyspark = pytest.importorskip("pyspark", reason="needs PySpark: pip install 'dfa-router[spark]'")

HERE = Path(__file__).parent


def asked(folder: Path, *more: str) -> dict[str, Any]:
    """Return what the program found, or skip where this PySpark cannot serve Connect."""
    if not list(Path(pyspark.__file__).parent.glob("jars/spark-connect_*.jar")):
        pytest.skip(f"PySpark {pyspark.__version__} comes without the server of Spark Connect")
    if find_spec("grpc_status") is None:
        pytest.skip("needs the client of Spark Connect: pip install 'dfa-router[spark-connect]'")
    from dfa_router.spark.java import find_java
    from dfa_router.spark.session import _launch_environment

    changes = _launch_environment("local[2]", find_java())
    environment = {name: value for name, value in {**os.environ, **changes}.items() if value is not None}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "connect_program.py"), str(folder), *more],
        env=environment | {"PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), environment.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    answer: dict[str, Any] = json.loads((folder / "found.json").read_text())
    return answer


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what was found of each way once."""
    return asked(tmp_path_factory.mktemp("connect"))


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what was found of all there is, for tests that ``make long`` runs."""
    return asked(tmp_path_factory.mktemp("connect"), "all")


ROWS = [
    ["x", "a.b", ["q"], True, [], None],
    ["x", "b", [], False, [], None],
    ["x", None, [], False, [], "routing_key is null"],
]


def test_it_was_connect(found: dict[str, Any]) -> None:
    assert found["session"] == "pyspark.sql.connect.session"


@pytest.mark.parametrize("way", ["closure wide", "artifacts narrow"])
def test_rows_are_those_of_a_classic_session(found: dict[str, Any], way: str) -> None:
    """Whether the router goes with the function or as files."""
    assert found[way] == ROWS


@pytest.mark.long
@pytest.mark.parametrize("way", ["closure", "artifacts", "broadcast"])
@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_rows_are_the_same_whatever_is_shipped(everything: dict[str, Any], way: str, width: str) -> None:
    """An engine that cannot be in files goes with the function."""
    assert everything[f"{way} {width}"] == ROWS


def test_options(found: dict[str, Any]) -> None:
    assert found["options"] == [["q", "routed"], [None, "unroutable"], [None, "problem"]]


def test_functions_of_sql(found: dict[str, Any]) -> None:
    assert found["sql function"] == [["q"], [], []]
    assert found["sql table"] in ([["q"], [], []], "none before Spark 4.0")


def test_a_session_that_was_stopped_is_told_as_that(found: dict[str, Any]) -> None:
    assert found["stopped"].startswith("the Spark session was stopped: start another")


def test_exchanges_that_choose(found: dict[str, Any]) -> None:
    candidates = [{"destination": name, "destination_type": "queue", "share": 0.5} for name in ("q", "r")]
    assert found["one of"] == [[{"exchange": "x", "candidates": candidates}]]


@pytest.mark.long
def test_a_worker_unpacks_a_router_once(everything: dict[str, Any]) -> None:
    """Of eight queries of 500 rows, some worker has seen at least two: there are a few workers."""
    assert max(everything["keys of workers"]) >= 1000


@pytest.mark.long
def test_streams(everything: dict[str, Any]) -> None:
    assert everything["stream to files"] == ROWS
    assert everything["stream to a function"] == ROWS
