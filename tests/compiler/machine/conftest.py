"""What tests of several parts of the machine need."""

from __future__ import annotations

import pytest

from compiler.machine import key_store, stored_keys


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have stores of any capacity and for any column, which begin small and are asked for a few rows at a time."""
    for name, value in {"FEWEST": 1, "SMALLEST": 0, "ROWS": 48}.items():
        monkeypatch.setattr(key_store, name, value)
    for name, value in {"SLOTS": 16, "NUMBERS": 32}.items():
        monkeypatch.setattr(stored_keys, name, value)
