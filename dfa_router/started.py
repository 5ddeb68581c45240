"""When this package began to be imported, for a command that promises to end in time: most of its start is imports."""

from __future__ import annotations

import time

__all__ = ["STARTED"]

STARTED = time.monotonic()
"""Seconds of the monotonic clock."""
