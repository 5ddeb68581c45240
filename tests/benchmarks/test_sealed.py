"""The benchmark of sealed tables measures what its page says."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import benchmarks
from benchmarks.sealed import figures


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
