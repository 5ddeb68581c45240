"""Where in its source a target is probably wrong, as text and as values that JSON has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from dfa_router.fuzz.findings import Finding
from dfa_router.fuzz.places import Place, Why, in_ranges

__all__ = ["places_of", "suspected", "whereabouts", "whereabouts_json"]


def whereabouts(finding: Finding) -> str:
    """Return a line that names the suspect lines, or else where it was decided; an empty text where neither is known."""
    if finding.suspects:
        return f"Suspect: {suspected(finding)} (wrong cases run it, right ones beside them rather not)"
    if not finding.decided:
        return ""
    where = "; ".join(place.text(_near(place.file)) for place in finding.decided)
    return f"No single line is suspect; what {finding.decided[0].why}: {where}"


def suspected(finding: Finding, shown: Callable[[str], str] | None = None) -> str:
    """Return the suspect lines of a finding as ``file:line, line``; ``shown`` gives the name of a file.

    Without it files of the current folder have their names there.
    """
    files = groupby(finding.suspects, key=lambda one: one[0])
    return "; ".join(f"{(shown or _near)(file)}:{in_ranges(line for _, line in lines)}" for file, lines in files)


def _near(file: str) -> str:
    here = Path.cwd()
    return str(Path(file).relative_to(here)) if Path(file).is_relative_to(here) else file


def whereabouts_json(finding: Finding) -> dict[str, Any]:
    """Return them as members of a finding's object."""
    return {
        "suspects": [list(one) for one in finding.suspects],
        "decided": [
            {"file": one.file, "lines": list(one.lines), "function": one.name, "why": str(one.why)}
            for one in finding.decided
        ],
    }


def places_of(told: Mapping[str, Any]) -> tuple[tuple[tuple[str, int], ...], tuple[Place, ...]]:
    """Return the suspect lines and the places of a finding's object, which may be of an older version."""
    return (
        tuple((file, line) for file, line in told.get("suspects", ())),
        tuple(
            Place(one["file"], tuple(one["lines"]), one["function"], Why(one["why"])) for one in told.get("decided", ())
        ),
    )
