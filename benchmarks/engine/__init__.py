"""The engine benchmark: nanoseconds per key, as a ratio to a whole-key look-up in the same run.

:func:`run` takes each workload through the automata, whole-key look-ups, a compiled trie and the matchers that people
use, checks that all of them found the same pairs, and yields a :class:`Row` per contestant and a :class:`Claim` per
target; other parts measure threads, single keys, new processes, memory, and adversarial families. :func:`write` makes of
these two CSVs, a page of tables and a plot.
"""

from __future__ import annotations

from benchmarks.engine.report import write
from benchmarks.engine.rows import Claim, Row
from benchmarks.engine.suite import PARTS, run
from benchmarks.engine.workloads import WORKLOADS

__all__ = ["PARTS", "WORKLOADS", "Claim", "Row", "run", "write"]
