"""The page of topologies says which of its targets are met."""

from __future__ import annotations

from pathlib import Path

from benchmarks.topology import write
from benchmarks.topology.figures import BATCHES, Figure


def test_each_target_has_its_verdict(tmp_path: Path) -> None:
    def figures(family: str, columns: float, matching: float) -> list[Figure]:
        return [Figure(family, batch, columns, 1.0, matching, 1.0) for batch in BATCHES]

    found = [
        *figures("demo", 300.0, 100.0),
        *figures("three layers", 200.0, 100.0),
        *figures("1,000 headers bindings", 900.0, 100.0),
        *figures("the same as a topic", 200.0, 100.0),
    ]
    write(found, tmp_path, command="it", plots=False)
    page = (tmp_path / "topology.md").read_text()
    assert "| demo | 1.0 | 100,000 | 300 | 1 | 100 | 3.00, **missed** | 0.30 of 0.25, **missed** |" in page
    assert "| demo | 1.0 | 4,096 | 300 | 1 | 100 | 3.00, **missed** | 0.30 of 0.40, met |" in page
    assert "| three layers | 1.0 | 256 | 200 | 1 | 100 | 2.00, met | - |" in page
    assert "| 1,000 headers bindings | 1.0 | 256 | 900 | 1 | 100 | 9.00 | - |" in page
    assert "in the largest batches: **missed**." in page
