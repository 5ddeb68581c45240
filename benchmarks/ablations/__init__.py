"""What each choice of the engine's layout is worth: the choice is taken out, and the rest measured beside the whole engine.

:func:`run` copies the packages once for each choice, takes the choice out by replacing a few lines
(:mod:`~benchmarks.ablations.choices`), and measures all copies in turns, each in a process of its own
(:mod:`~benchmarks.ablations.child`). :func:`write` makes a table of the median times of the changed engines over those of
the whole one: 1.30 means that a key takes 30 % longer without the choice.

What it cannot show: choices that need more than a few changed lines (positions as records, hashes beside slots, the default
successor), and how two choices work together.
"""

from __future__ import annotations

from benchmarks.ablations.choices import ABLATIONS, Ablation, Change
from benchmarks.ablations.page import write
from benchmarks.ablations.turns import ROOT, Measured, changed, run

__all__ = ["ABLATIONS", "ROOT", "Ablation", "Change", "Measured", "changed", "run", "write"]
