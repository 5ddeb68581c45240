"""Where rounds are asked one after the other, and what is wrong with them becomes findings.

Which disagreements of a round are shrunk, and what comes of it, depends on the round alone and not on rounds before it,
so that a campaign that is split finds the same as one that is not. To that end each disagreement is first reduced to its
own pattern and key, with plain words renamed. If this plain case still shows it, the finding is made of the plain case
alone, and another disagreement with the same plain case is not shrunk again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dfa_router.fuzz.findings import Case, Disagreement, Finding, Kind, canonical, rank, shape_of
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.fuzz.judging.subject import Subject
from dfa_router.fuzz.shrinking.shrink import shrink
from dfa_router.fuzz.tally import Plan, Tally
from dfa_router.fuzz.targets.engine import EngineTarget
from dfa_router.fuzz.validity import invalid_pattern
from dfa_router.target import Refused, Round, Target, TargetFailure

__all__ = ["Bench", "Origin"]

_SHRUNK_A_ROUND = 4
"""Disagreements of a kind that are shrunk in a round, the simplest ones; the others are counted."""
_REMEMBERED = 20_000
"""Plain cases that are remembered so as not to be shrunk again: a few megabytes."""
_FAILURES = 3
"""After as many rounds in a row in which a target fails it is given up."""
_FLAKY = "flaky"
"""The shape of all findings that do not repeat: one cannot know whether two of them have one cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a round came from: a seed and a number, or a place in a corpus."""

    seed: int | None = None
    number: int | None = None
    place: str | None = None


class Bench:
    """Asks rounds of a target, and gathers in a tally what comes of them."""

    def __init__(self, subject: Subject, plan: Plan, tally: Tally) -> None:
        self.subject, self.plan, self.tally = subject, plan, tally
        self.judge = Judge(plan.language)
        self.done = False
        """Whether no further round is to be asked: something was found, or the target keeps failing."""
        self._failures = 0
        self._interrupted = False
        self._seen: set[tuple[Kind, str, Case]] = set()

    def round(self, asked: Round, origin: Origin) -> None:
        """Ask one round, and shrink what is wrong with it."""
        examined = self.judge.examine(self.subject, asked.patterns, asked.keys)
        tally = self.tally
        tally.declined |= self.subject.declined
        tally.replayed += origin.place is not None
        if examined.cases:
            tally.rounds += 1
            tally.cases += examined.cases
            tally.keys += len(examined.keys)
            tally.classes.update(asked.classes)
        asked = Round(patterns=asked.patterns, keys=tuple(examined.keys), classes=asked.classes)
        if examined.ours:
            self._accuse("dfa", Round(patterns=asked.patterns, keys=(asked.keys[min(examined.ours)],)), origin)
        if not examined.found:
            self._failures = 0
            return
        tally.disagreements += len(examined.found)
        for disagreement, plain in self._chosen(asked, examined.found):
            self._gather(disagreement, plain, asked, origin)
        self.done = self.done or not self.plan.keep_going
        failed = any(found.kind is Kind.FAILS for found in examined.found)
        self._failures = self._failures + 1 if failed else 0
        if self._failures >= _FAILURES:
            self.done = True
            tally.given_up = f"it failed in {_FAILURES} rounds in a row: {examined.found[0].detail}"

    def _chosen(self, asked: Round, found: Sequence[Disagreement]) -> Iterator[tuple[Disagreement, Case]]:
        """Yield the disagreements to shrink, the simplest of each kind, each with its plain case."""
        dialect = self.plan.dialect

        def plain(disagreement: Disagreement) -> Case:
            key = asked.keys[disagreement.key] if disagreement.key is not None else ""
            place = disagreement.pattern
            patterns = asked.patterns if place is None else (asked.patterns[place],)
            return canonical(Case(patterns=patterns, key=key), dialect)

        cases = [(plain(disagreement), disagreement) for disagreement in found]
        cases.sort(key=lambda entry: (rank(entry[0], dialect), entry[1].kind))
        kinds: Counter[Kind] = Counter()
        chosen: set[tuple[Kind, Case]] = set()
        for case, disagreement in cases:
            if (disagreement.kind, case) in chosen or kinds[disagreement.kind] >= _SHRUNK_A_ROUND:
                continue
            kinds[disagreement.kind] += 1
            chosen.add((disagreement.kind, case))
            yield disagreement, case
            if not self.plan.keep_going:
                break

    def _gather(self, disagreement: Disagreement, plain: Case, asked: Round, origin: Origin) -> None:
        """Add the finding of one disagreement to the tally, unless its plain case was shrunk before."""
        name = disagreement.kind, disagreement.about, plain
        if name in self._seen:
            return
        if self._shows(plain, disagreement.kind):
            if len(self._seen) < _REMEMBERED:
                self._seen.add(name)
            asked = Round(patterns=plain.patterns, keys=(plain.key,))
            disagreement = Disagreement(kind=disagreement.kind, pattern=0, key=0, about=disagreement.about)
        self.tally.add(self._finding(self.subject.target, disagreement, asked, origin))
        if self._interrupted:
            raise KeyboardInterrupt

    def _shows(self, case: Case, kind: Kind) -> bool:
        """Tell whether a case of one pattern and key shows a disagreement of that kind by itself."""
        if len(case.patterns) != 1 or kind not in (Kind.MISSES, Kind.MATCHES):
            return False
        found = self.judge.examine(self.subject, case.patterns, [case.key]).found
        return any(disagreement.kind is kind for disagreement in found)

    def _finding(
        self, target: Target, disagreement: Disagreement, asked: Round, origin: Origin, *, ours: bool = False
    ) -> Finding:
        """Shrink a disagreement and describe the result; engines of ours that differ are accused too.

        ``ours`` says that the target is such an engine already.
        """
        dialect = self.plan.dialect
        shrunk = shrink(target, self.judge, disagreement, asked.patterns, asked.keys)
        self._interrupted = self._interrupted or shrunk.interrupted
        case = shrunk.case
        valid = all(invalid_pattern(pattern, dialect) is None for pattern in case.patterns)
        answered, detail = disagreement.answered, disagreement.detail
        if not shrunk.flaky:
            answered, detail = _answer(target, case, disagreement)
        finding = Finding(
            accused=target.name,
            kind=disagreement.kind,
            case=case,
            dialect=dialect,
            expected=self.judge.right(case.patterns, [case.key])[0] if valid else None,
            answered=answered,
            detail=detail,
            found_as=Case(patterns=asked.patterns, key=asked.keys[disagreement.key or 0] if asked.keys else ""),
            flaky=shrunk.flaky,
            complete=shrunk.complete,
            verdicts=self.judge.verdicts(case.patterns, case.key),
            seed=origin.seed,
            number=origin.number,
            place=None if ours else origin.place,
            shape=_FLAKY if shrunk.flaky else shape_of(disagreement.kind, case, dialect, disagreement.about),
        )
        if valid and not ours:
            for engine, verdict in finding.verdicts:
                if verdict != str(list(finding.expected or ())) and not verdict.startswith("cannot"):
                    self._accuse(engine, Round(patterns=case.patterns, keys=(case.key,)), origin)
        return finding

    def _accuse(self, engine: str, asked: Round, origin: Origin) -> None:
        """Add a finding about what an engine of our own got wrong."""
        target = EngineTarget(engine, self.plan.dialect)
        subject = Subject(target, Manners(patterns=True, keys=True))
        for disagreement in self.judge.examine(subject, asked.patterns, asked.keys, exactly=True).found[:1]:
            self.tally.add(self._finding(target, disagreement, asked, origin, ours=True))
        self.done = self.done or not self.plan.keep_going


def _answer(target: Target, case: Case, disagreement: Disagreement) -> tuple[tuple[int, ...] | None, str]:
    """Ask the minimal case once more, for the answer and the words that the report tells."""
    try:
        told = target.answer(case.patterns, [*case.before, case.key])
    except Refused as refusal:
        return None, refusal.reason
    except TargetFailure as failure:
        return None, failure.reason
    answer = tuple(told[-1]) if told else None
    if disagreement.kind is Kind.ACCEPTS:
        return answer, f"it answers that {list(answer or ())} match {case.key!r}"
    return answer, disagreement.detail
