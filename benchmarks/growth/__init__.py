"""How cost grows: time per key and bytes against the number of bindings, the words of a key, and the share of ``#``.

:func:`run` measures a grid of points along three axes and yields a :class:`Point` per contestant; :func:`write` makes of
them a CSV, a page of tables and a plot.
"""

from __future__ import annotations

from benchmarks.growth.points import Point, run
from benchmarks.growth.report import write

__all__ = ["Point", "run", "write"]
