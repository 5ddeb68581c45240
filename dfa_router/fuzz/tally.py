"""What a campaign is asked to do, what came of some of its rounds, and the result of all: plain values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from dfa_router.fuzz.findings import Finding, rank
from dfa_router.fuzz.generating.rounds import Size
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.language.dialects import Dialect

__all__ = ["Campaign", "Plan", "Tally"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a campaign asks, apart from which rounds of it."""

    dialect: Dialect
    seed: int
    size: Size | None = None
    keep_going: bool = False
    validity: bool | None = None
    """Whether the target must refuse what the dialect refuses; None finds out whether it refuses anything."""


@dataclass(slots=True)
class Tally:
    """What came of some rounds; adds up with others."""

    rounds: int = 0
    cases: int = 0
    keys: int = 0
    replayed: int = 0
    """Rounds of a corpus, which are asked first."""
    disagreements: int = 0
    """(pattern, key) pairs that were answered wrong, refusals and failures, before they were merged."""
    classes: Counter[str] = field(default_factory=Counter)
    """For each class the number of rounds that had cases of it."""
    findings: dict[str, Finding] = field(default_factory=dict)
    """By accused and shape; of equal findings the one of the earliest round."""
    declined: set[str] = field(default_factory=set)
    """Sorts of keys that the target refused, as it may, and was not asked again."""
    given_up: str | None = None
    """Why the target was not asked any further."""

    def add(self, finding: Finding) -> None:
        """Gather a finding, unless there is one of its shape already."""
        name = f"{finding.accused} | {finding.shape}"
        known = self.findings.get(name)
        if known is None or _order(finding) < _order(known):
            self.findings[name] = finding

    def merge(self, other: Tally) -> None:
        """Add what came of other rounds."""
        self.rounds += other.rounds
        self.cases += other.cases
        self.keys += other.keys
        self.replayed += other.replayed
        self.disagreements += other.disagreements
        self.classes.update(other.classes)
        self.declined |= other.declined
        self.given_up = self.given_up or other.given_up
        for finding in other.findings.values():
            self.add(finding)


def _order(finding: Finding) -> tuple[object, ...]:
    """Return what decides which of two findings of a shape is kept."""
    return finding.flaky, rank(finding.case, finding.dialect), -1 if finding.number is None else finding.number


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """The result of a campaign."""

    target: str
    plan: Plan
    tally: Tally
    manners: Manners
    seconds: float
    interrupted: bool = False

    @property
    def replayed(self) -> int:
        """Cases of a corpus that were asked first."""
        return self.tally.replayed

    @property
    def findings(self) -> list[Finding]:
        """The findings, repeatable ones first, simple ones first."""
        return sorted(
            self.tally.findings.values(),
            key=lambda finding: (finding.flaky, rank(finding.case, finding.dialect), finding.shape),
        )

    @property
    def agrees(self) -> bool:
        """Whether nothing was found, and the target answered to the end."""
        return not self.tally.findings and self.tally.given_up is None
