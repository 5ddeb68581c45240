"""How cost grows: time per key and bytes, by the number of bindings, the words of a key, and the share of ``#``.

:func:`run` measures places along three axes and yields a :class:`Point` for each contestant at each place; :func:`write`
writes a CSV file, a page of tables and a plot.
"""

from __future__ import annotations

from benchmarks.growth.page import write
from benchmarks.growth.points import Point, run

__all__ = ["Point", "run", "write"]
