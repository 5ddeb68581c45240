"""A finding with the lines of the target's source that are suspect, where the target can tell which lines run.

Callables and classes of Python can, and programs that say so. What is asked for it is bounded in time, and comes out of the
campaign's; a case that hangs, or that needs a history, is not located.
"""

from __future__ import annotations

import time
from dataclasses import replace

from dfa_router.fuzz.findings import Disagreement, Finding, Kind
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.fuzz.shrinking.probe import Probe
from dfa_router.fuzz.shrinking.suspects import TellsLines, suspects
from dfa_router.target import Target

__all__ = ["locatable", "located"]

_SECONDS, _PART = 2.0, 0.1
"""How long the lines of a finding are looked for, and the part of the time left that this may take where the campaign goes on: a
target is started anew for each of a dozen cases, and some take a second for it."""
_FEWEST = 4
"""Right cases that have to be compared: what few of them do not run says little."""
_MOST = 12
"""So many lines with nothing between them to choose by are no place to look at."""


def locatable(finding: Finding, about: str, target: Target) -> bool:
    """Tell whether the target can be asked for the lines of a finding; ``about`` is the sort of a failure."""
    wrong = finding.kind in (Kind.MISSES, Kind.MATCHES) or about == "raised"
    return wrong and not finding.flaky and isinstance(target, TellsLines) and target.tells_lines


def located(finding: Finding, about: str, target: Target, judge: Judge, manners: Manners, seconds: float) -> Finding:
    """Return the finding with its suspect lines, or as it is where none is more suspect than the others.

    ``seconds`` are what the campaign has left for other things. The target has to be started anew then.
    """
    until = time.monotonic() + min(_SECONDS, _PART * seconds)
    probe = Probe(target, judge, Disagreement(kind=finding.kind, about=about), until, manners)
    found = suspects(probe, finding.case)
    if found is None or not found.found or found.passing < _FEWEST or len(found.lines) > _MOST:
        return finding
    return replace(finding, suspects=found.lines)
