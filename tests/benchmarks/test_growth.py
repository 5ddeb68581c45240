"""How cost grows: every axis is measured for every contestant, and their answers are compared."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from benchmarks.growth import Point, points, run, write
from benchmarks.growth.page import STYLES


@pytest.fixture(scope="module")
def found() -> list[Point]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(points, "AXES", {axis: (places[:2], what) for axis, (places, what) in points.AXES.items()})
        patch.setattr(points, "SECONDS", 0.002)
        return list(run(scale=0.02, rounds=1))


def test_every_place_has_every_contestant(found: list[Point]) -> None:
    assert {point.axis for point in found} == set(points.AXES)
    assert len(found) == 6 * len(STYLES)
    assert {point.contestant for point in found} == set(STYLES)
    assert all(point.ns_per_key > 0 for point in found)
    assert all((point.bytes is None) == (point.contestant == "pyarrow index_in") for point in found)


def test_patterns_and_keys_are_as_the_axis_says() -> None:
    rng = np.random.default_rng(0)
    assert points.draw_patterns(rng, "bindings", 100).shape == (100, 5)
    assert points.draw_patterns(rng, "words", 16).shape == (1000, 16)
    hashed = points.draw_patterns(rng, "hashes", 0.35)
    assert 0.3 < (hashed == "#").any(axis=1).mean() < 0.4
    keys = points.draw_keys(rng, hashed, 500).to_pylist()
    assert len(keys) == 500
    assert not any("*" in key or "#" in key for key in keys)


def test_the_files_hold_the_points(found: list[Point], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    table, page, plot = write(found, tmp_path / "new", command="the command")
    with table.open(encoding="utf-8") as file:
        assert [float(line["ns_per_key"]) for line in csv.DictReader(file)] == [point.ns_per_key for point in found]
    text = page.read_text("utf-8")
    assert "the command" in text
    assert "## Bindings of five words" in text
    assert "share of 1,000 bindings" in plot.read_text("utf-8")
    assert plot.read_bytes() == write(found, tmp_path / "again", command="the command")[2].read_bytes()


def test_a_wrong_contestant_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "trie_summary", lambda *_: (0, 0))
    monkeypatch.setattr(points, "AXES", {"words": ((2,), "words")})
    with pytest.raises(AssertionError, match="growth, 2 words: contestants disagree"):
        list(run(scale=0.02, rounds=1))
