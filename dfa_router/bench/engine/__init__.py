"""The engine benchmark: nanoseconds per key, as a ratio to a whole-key look-up in the same run.

:func:`run` takes each workload through the automata, whole-key look-ups and the matchers that people use, checks that
all of them found the same pairs, and yields a :class:`Row` per contestant; :func:`write` makes of the rows a CSV, a
Markdown table and a plot.
"""

from __future__ import annotations

from dfa_router.bench.engine.report import write
from dfa_router.bench.engine.suite import Row, run
from dfa_router.bench.engine.workloads import WORKLOADS

__all__ = ["WORKLOADS", "Row", "run", "write"]
