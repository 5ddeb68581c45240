"""The benchmark of sealed tables measures what its page says."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import benchmarks
from benchmarks.sealed import figures
from benchmarks.sealed.page import write


def test_the_command_writes_a_page_with_figures_of_each_workload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "WORKLOADS", ("stock",))
    result = CliRunner().invoke(benchmarks, ["-q", "sealed", "--quick", "--rounds", "1", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    (row,) = csv.DictReader((tmp_path / "sealed.csv").read_text().splitlines())
    times = [float(row[name]) for name in row if name not in ("workload", "bindings", "keys")]
    assert min(times) > 0
    assert int(row["shared_bytes"]) < 2 * int(row["sealed_bytes"]) + (1 << 20)
    page = (tmp_path / "sealed.md").read_text()
    assert page.count("| stock |") == 3
    assert "python -m benchmarks sealed --quick --rounds 1" in page


def test_each_target_has_its_verdict(tmp_path: Path) -> None:
    times = {
        "index_in": 100.0,
        "lazy": 10.0,
        "sealed": 11.0,
        "one_wall": 20.0,
        "two_wall": 12.0,
        "apart_wall": 10.0,
        "first_empty": 1.0,
        "first_sealed": 1.0,
        "load_empty": 0.1,
        "load_sealed": 0.5,
    }
    one = figures.Figure(workload="stock", bindings=1, keys=1, sealed_bytes=1, shared_bytes=1, **times)
    other = replace(one, workload="fleet", lazy=11.0, sealed=11.0, one_wall=18.0, two_wall=18.0, apart_wall=17.9)
    write([one, other], tmp_path, command="it")
    page = (tmp_path / "sealed.md").read_text()
    assert "| 1.10, **missed** | 0.11 | 0.12, met |" in page
    assert "| 1.00, met | 0.11 | 0.18, met |" in page
    assert "| 1.67, **missed** | 0.83, **missed** |" in page
    assert "| 1.00 | 0.99, met |" in page, "two routers apart do not reach 1.8 times one thread"
    assert "| 0.100 | 0.500, **missed** |" in page
