"""Tests of the benchmarks are slow, as a measuring command is run for most of them; no user depends on them."""

from __future__ import annotations

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave the tests of this folder to ``make slow``."""
    item.add_marker("slow")
