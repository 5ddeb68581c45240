"""``dfa-router route`` beside a plain pyarrow loop that reads the same log and writes the same columns, and routes nothing.

:func:`run` makes a log, lets both take turns and yields what each cost, all its processes together; :func:`recount` compares a
result's counts with those that DuckDB makes of it; :func:`write` writes a CSV file, a page and a plot.
"""

from __future__ import annotations

from benchmarks.pipeline.page import write
from benchmarks.pipeline.recounting import recount
from benchmarks.pipeline.runs import Run, commit_of, run

__all__ = ["Run", "commit_of", "recount", "run", "write"]
