"""What deciding by counting costs over the best fixed choice: the regret of the engine's policies, on families drawn anew.

A lazy DFA decides for itself whether to keep whole keys in mind, to write its cache out as rows, to build a transition at the
first request, to walk or to simulate. Each decision is right for some keys. So :func:`run` draws families
(:mod:`~benchmarks.regret.draws`), measures what decides by counting beside every fixed choice of it
(:mod:`~benchmarks.regret.child`), and :func:`write` makes a table of all, with the worst and the median.
"""

from __future__ import annotations

from benchmarks.regret.child import Contest
from benchmarks.regret.page import write
from benchmarks.regret.turns import run

__all__ = ["Contest", "run", "write"]
