"""A finding with the lines of the target's source that are suspect, where the target can tell which lines run.

Callables and classes of Python can, and programs that say so. Where no line is more suspect than others the finding has the places
where it was decided, which say less. What is asked for it is bounded in time, and comes out of the campaign's.
"""

from __future__ import annotations

import time
from dataclasses import replace

from dfa_router.fuzz.findings import Disagreement, Finding
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.fuzz.shrinking.probe import Probe
from dfa_router.fuzz.shrinking.suspects import TellsLines, suspects
from dfa_router.target import Target

__all__ = ["locatable", "located"]

_SECONDS, _PART = 2.0, 0.1
"""How long the lines of a finding are looked for, and the part of the time left that this may take where the campaign goes on: a
target is started anew for each of a dozen cases, and some take a second for it."""


def locatable(finding: Finding, target: Target) -> bool:
    """Tell whether the target can be asked for the lines of a finding."""
    return not finding.flaky and isinstance(target, TellsLines) and target.tells_lines


def located(finding: Finding, about: str, target: Target, judge: Judge, manners: Manners, seconds: float) -> Finding:
    """Return the finding with its suspect lines, or else with where it was decided; ``about`` is the sort of a failure.

    ``seconds`` are what the campaign has left for other things. The target has to be started anew then.
    """
    until = time.monotonic() + min(_SECONDS, _PART * seconds)
    probe = Probe(target, judge, Disagreement(kind=finding.kind, about=about), until, manners)
    found = suspects(probe, finding.case, finding.detail)
    if found is None:
        return finding
    return replace(finding, suspects=found.lines) if found.told else replace(finding, decided=found.places)
