"""Tests that share something run in one process, and the others are spread: what ``conftest.py`` at the top arranges."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from compiler.kernels import kept

MARKED = """
import pytest

@pytest.mark.parametrize("number", range(4))
@pytest.mark.{marker}
def test_marked(number): pass

@pytest.mark.parametrize("number", range(4))
def test_alone(number): pass
"""

SHARING = """
import pytest

@pytest.fixture(scope="module")
def made_once(): pass

@pytest.mark.parametrize("number", range(8))
def test_sharing(made_once, number): pass
"""


def test_a_group_stays_in_one_process(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).parents[1] / "conftest.py", tmp_path)
    own = "connect\n@pytest.mark.spark\n@pytest.mark.own_java"
    marked = (
        ("test_first.py", "broker"),
        ("test_second.py", "broker"),
        ("test_third.py", "browser"),
        ("test_fifth.py", own),
    )
    for file, marker in marked:
        (tmp_path / file).write_text(MARKED.format(marker=marker))
    (tmp_path / "test_fourth.py").write_text(SHARING)
    kernels = kept.folder(tmp_path / "kernels" / "dfa-router")
    kernels.mkdir(parents=True)
    (kernels / "all-kernels").touch()  # none is needed here
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", "-v", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
    ran = re.findall(r"^\[(gw\d)\] .* PASSED (\w+)\.py::(test_\w+)", ended.stdout, re.MULTILINE)
    assert len(ran) == 4 * 8 + 8
    groups: dict[str, set[str]] = {}
    for process, file, test in ran:
        group = "broker" if test == "test_marked" and file in {"test_first", "test_second"} else file
        if test != "test_alone":
            groups.setdefault(group, set()).add(process)
    assert {group: len(processes) for group, processes in groups.items()} == {
        "broker": 1,
        "test_third": 1,
        "test_fifth": 1,
        "test_fourth": 1,
    }
    assert groups["broker"] != groups["test_fifth"]  # both begin at once
    for process in ("gw0", "gw1"):
        assert next(test for by, _, test in ran if by == process) == "test_marked"
    assert not list(tmp_path.glob("dfa-router-groups-*"))
