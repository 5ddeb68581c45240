"""What a message costs from exchange to queues, beside what matching its key alone costs.

:func:`run` measures messages of several families in batches of several sizes and yields a :class:`Figure` for each;
:func:`write` writes a CSV file, a page of tables and a plot.
"""

from __future__ import annotations

from benchmarks.topology.figures import Figure, run
from benchmarks.topology.page import write

__all__ = ["Figure", "run", "write"]
