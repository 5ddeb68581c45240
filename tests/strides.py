"""Tests that try every one of many things try some of them in each run, and all of them by ``make long``."""

from __future__ import annotations

import pytest

__all__ = ["strides"]


def strides(some: int) -> pytest.MarkDecorator:
    """Give a test the argument ``stride``: every so many, which is a prime number, and by ``make long`` every one.

    A test that cannot try every one multiplies a stride of its own by it.
    """
    every = pytest.param(1, id="all", marks=pytest.mark.long)
    return pytest.mark.parametrize("stride", [pytest.param(some, id="some"), every])
