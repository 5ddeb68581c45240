"""Routing of DataFrames, beside functions that do nothing: processor time of Java and of the Python workers together.

:func:`run` starts a classic session and one of Spark Connect, has the contestants take turns in both, and returns a
:class:`Figure` for each; :func:`write` writes a CSV file, a page and a plot.
"""

from __future__ import annotations

from benchmarks.frames.page import write
from benchmarks.frames.turns import Figure, run

__all__ = ["Figure", "run", "write"]
