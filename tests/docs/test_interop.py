"""docs/interop.md says what happens: its sessions are run, beside the examples and in a folder of their own."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


def test_the_sessions_with_other_libraries_are_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("polars", "duckdb", "datafusion", "deltalake"):
        pytest.importorskip(library)
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    monkeypatch.chdir(tmp_path)
    results = doctest.testfile(
        str(REPOSITORY / "docs" / "interop.md"), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert results.attempted >= 30
    assert results.failed == 0
