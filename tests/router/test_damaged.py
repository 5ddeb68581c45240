"""No kernel sees unchecked memory: whatever an Arrow column holds, its keys are matched right or refused in a sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs mprotect")
@pytest.mark.parametrize(
    "more", [pytest.param((), id="some"), pytest.param(("thorough",), id="all", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("columns", ["plain", "dictionary", "views", "attributes", "files"])
def test_damaged_columns_are_matched_right_or_refused(columns: str, more: tuple[str, ...]) -> None:
    """Offsets, indices, views, sizes and validity of any kind, over memory beside which nobody may read: a fault ends the process."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.router.damaged", columns, *more]
    told = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=800, check=False)
    assert told.returncode == 0, told.stderr[-8000:]
