"""Routing of DataFrames is measured beside functions that do nothing, and a contestant that routes wrongly ends the run."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="needs PySpark: pip install 'dfa-router[spark]'")

from benchmarks.frames import Figure, page, turns, write
from benchmarks.frames.contestants import CONTESTANTS
from benchmarks.frames.turns import Sessions, begun, take_turns

pytestmark = [pytest.mark.spark, pytest.mark.own_java, pytest.mark.slow]


@pytest.fixture(scope="module")
def sessions() -> Iterator[Sessions]:
    """Start a session of each kind, for all tests."""
    if find_spec("grpc_status") is None:
        pytest.skip("needs gRPC: pip install 'dfa-router[spark-connect]'")
    with begun(messages=1000) as sessions:
        yield sessions


def test_a_small_run_has_every_figure(sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_wrong_contestant_ends_the_run(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    """What plain Python finds is taken for other than it is: then the first contestant that routes is wrong."""
    monkeypatch.setattr(turns, "_expected", lambda _: {"rows": 1000, "routed": -1})
    with pytest.raises(AssertionError, match=r"classic, route: .* instead of .*'routed': -1"):
        take_turns(sessions, rounds=1)
