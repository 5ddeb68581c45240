"""docs/rabbitmq.md says what happens: its sessions are run."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_the_sessions_of_the_rules_are_real() -> None:
    results = doctest.testfile(str(Path(__file__).parents[2] / "docs" / "rabbitmq.md"), module_relative=False)
    assert results.attempted >= 7
    assert results.failed == 0
