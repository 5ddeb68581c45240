"""How long a test of this folder may take: it is not the clock that tells a slow machine from a job that hangs."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
SECONDS = 3000
"""A hundred times what the slowest of these tests takes on a quiet machine."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test of the folder a limit of its own, in place of the one for all tests."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(SECONDS))
