"""Plain values: what a campaign asks (Plan), what came of some of its rounds (Tally), and its result (Campaign)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from dfa_router.fuzz.findings import Finding, Kind, rank
from dfa_router.fuzz.generating.language import Language, language_of
from dfa_router.fuzz.generating.rounds import Size
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.fuzz.scope import Scope
from dfa_router.language.dialects import Dialect

__all__ = ["Campaign", "Plan", "Tally"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a campaign asks, apart from the numbers of its rounds."""

    dialect: Dialect
    seed: int
    size: Size | None = None
    keep_going: bool = False
    scope: Scope = field(default_factory=Scope)
    """What the target may be asked, apart from what it states itself."""
    validity: bool | None = None
    """Whether the target must refuse what the dialect refuses; None finds out whether it refuses anything."""

    @property
    def language(self) -> Language:
        """The dialect as generators and the judge see it; made once for each dialect."""
        return language_of(self.dialect)


@dataclass(slots=True)
class Tally:
    """What came of some rounds; tallies of different rounds can be merged."""

    rounds: int = 0
    cases: int = 0
    keys: int = 0
    replayed: int = 0
    """Rounds of a corpus, which are asked first."""
    left_out: int = 0
    """Rounds of the seed that held nothing that may be asked of this target; they are not among ``rounds``."""
    limited: int = 0
    """Of the keys, those of sets that the target refused for a limit that it states: there was no answer to compare."""
    disagreements: int = 0
    """(pattern, key) pairs that were answered wrong, refusals and failures; equal ones count each time."""
    classes: Counter[str] = field(default_factory=Counter)
    """For each class the number of rounds that had cases of it."""
    findings: dict[str, Finding] = field(default_factory=dict)
    """By accused and shape. Of several with one shape the repeatable, simplest, earliest one is kept."""
    declined: set[str] = field(default_factory=set)
    """Why keys were refused that the target may refuse; keys of these sorts were not asked again."""
    aside: set[str] = field(default_factory=set)
    """What was not asked again, as the target hung at it, in words."""
    given_up: str | None = None
    """Why the campaign ended early, where the target failed again and again."""

    def prefers(self, finding: Finding) -> bool:
        """Tell whether a finding is to be kept: the first of its shape, or to be preferred to the one that there is."""
        known = self.findings.get(_named(finding))
        return known is None or _order(finding) < _order(known)

    def add(self, finding: Finding) -> None:
        """Add a finding, unless there is one of its shape already that is to be preferred."""
        if self.prefers(finding):
            self.put(finding)

    def put(self, finding: Finding) -> None:
        """Put a finding in the place of the one of its shape."""
        self.findings[_named(finding)] = finding

    @property
    def compared(self) -> bool:
        """Whether there was anything to compare, among what was asked."""
        return self.keys == 0 or self.limited < self.keys

    def close(self) -> None:
        """Give the target up where it refused all that it was asked: this is no agreement."""
        if not self.compared and self.given_up is None:
            self.given_up = "it refused all that it was asked for a limit that it states"

    def merge(self, other: Tally) -> None:
        """Add what came of other rounds."""
        self.rounds += other.rounds
        self.cases += other.cases
        self.keys += other.keys
        self.replayed += other.replayed
        self.left_out += other.left_out
        self.limited += other.limited
        self.disagreements += other.disagreements
        self.classes.update(other.classes)
        self.declined |= other.declined
        self.aside |= other.aside
        self.given_up = self.given_up or other.given_up
        for finding in other.findings.values():
            self.add(finding)


def _named(finding: Finding) -> str:
    return f"{finding.accused} | {finding.shape}"


def _order(finding: Finding) -> tuple[object, ...]:
    """Return a sort key: of two findings of one shape the first is kept, and a wrong answer before an error.

    Failures and refusals are shrunk once for each cause, so the one that was met first counts, and not the simplest.
    """
    number = -1 if finding.number is None else finding.number
    simple, unanswered = rank(finding.case, finding.dialect), finding.kind in (Kind.FAILS, Kind.REFUSES)
    return finding.flaky, unanswered, *((number, simple) if unanswered else (simple, number))


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """The result of a campaign."""

    target: str
    plan: Plan
    tally: Tally
    manners: Manners
    seconds: float
    interrupted: bool = False
    next_round: int = 0
    """The number of the first round that was not asked, or not to its end; on workers, some that follow it may have been."""

    @property
    def replayed(self) -> int:
        """How many rounds of a corpus were asked."""
        return self.tally.replayed

    @property
    def findings(self) -> list[Finding]:
        """The findings, repeatable ones first, ordinary ones first, simple ones first."""
        return sorted(
            self.tally.findings.values(),
            key=lambda finding: (finding.flaky, rank(finding.case, finding.dialect), finding.shape),
        )

    @property
    def agrees(self) -> bool:
        """Whether the target is accused of nothing, and answered to the end."""
        return self.tally.given_up is None and not any(finding.counts for finding in self.tally.findings.values())
