"""The engine on data that it has not seen: variants of the workloads, drawn from a new seed in every run.

A workload that everything was tuned on says little about another of its kind. :func:`run` draws variants
(:mod:`~benchmarks.families.kinds`), measures each in a process of its own (:mod:`~benchmarks.families.child`) with the
options that users get who give none, and :func:`write` makes a page of all of them, none left out, with the median and the
worst of each kind beside its target.
"""

from __future__ import annotations

from benchmarks.families.child import Measured
from benchmarks.families.kinds import KINDS
from benchmarks.families.page import write
from benchmarks.families.turns import run

__all__ = ["KINDS", "Measured", "run", "write"]
