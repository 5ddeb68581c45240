"""The engine benchmark: nanoseconds per key, and the ratio to a look-up of whole keys in the same run.

:func:`run` matches each workload with the automata, look-ups of whole keys, a compiled trie and the matchers that people
use, and checks that all of them found the same pairs. It yields a :class:`Row` for each contestant and a :class:`Claim` for
each target. Other parts measure threads, single keys, new processes, memory, and adversarial binding sets. :func:`write`
writes two CSV files, a page of tables and a plot.
"""

from __future__ import annotations

from benchmarks.engine.page import write
from benchmarks.engine.rows import Claim, Row
from benchmarks.engine.suite import PARTS, run
from benchmarks.workloads import WORKLOADS

__all__ = ["PARTS", "WORKLOADS", "Claim", "Row", "run", "write"]
