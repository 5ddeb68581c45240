"""Where rounds are asked one after the other, and what is wrong with them becomes findings.

Which disagreements of a round are shrunk, and what comes of it, depends on the round alone and not on rounds before it,
so that a campaign that is split finds the same as one that is not. To that end each disagreement is first reduced to its
own pattern and key, with plain words renamed. If this plain case still shows it, the finding is made of the plain case
alone, and another disagreement with the same plain case is not shrunk again. An error, a hang or a refusal is shrunk once
for each cause; after it the rest of the round is asked by halves.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dfa_router.fuzz.accusing import Accuser, Origin, cause_of
from dfa_router.fuzz.aside import aside_of
from dfa_router.fuzz.findings import Case, Disagreement, Finding, Kind, canonical, rank, shape_of
from dfa_router.fuzz.generating.classes import classes_of
from dfa_router.fuzz.generating.rounds import ordinary_rounds
from dfa_router.fuzz.judging.growth import growth_of
from dfa_router.fuzz.judging.judge import Examination, Judge
from dfa_router.fuzz.judging.manners import askable
from dfa_router.fuzz.judging.subject import Subject
from dfa_router.fuzz.judging.threads import Shared, shrunk_together, wrong_together
from dfa_router.fuzz.locating import locatable, located
from dfa_router.fuzz.patience import after_a_hang, last_begin
from dfa_router.fuzz.shrinking.shrink import Met, Shrunk
from dfa_router.fuzz.tally import Plan, Tally
from dfa_router.target import Chapter, OutOfTimeError, Round, bound

__all__ = ["Bench", "Origin"]

_SHRUNK_A_ROUND = 4
"""Disagreements of a kind that are shrunk in a round, the simplest ones; the others are counted."""
_STATEFUL = 3
"""Findings of a kind that are shrunk with their history, or do not come back; each takes hundreds of starts."""
_REMEMBERED = 20_000
"""Plain cases that are remembered so as not to be shrunk again: a few megabytes."""
_FAILURES = 3
"""A target that has never answered a round is given up after so many."""
_HANGS = 3
"""Hangs that are shrunk: what is set aside after one may not be all that hangs."""
_HALVES = 3
"""How often what a target fails at is halved, to ask it the rest of the round."""
_PATTERNS_OF_THREADS = 8
"""The most patterns of a set that several threads ask, each of them dozens of times."""
_GROWTH_ROUND = 60
"""The round after which it is measured how the target's time grows."""
_ORDINARY_TURNS = 4
"""In one of so many turns of the classes, rounds are kept to letters and digits."""


class Bench:
    """Asks rounds of a target, and gathers in a tally what comes of them."""

    def __init__(self, subject: Subject, plan: Plan, tally: Tally, ends: float = math.inf) -> None:
        """``ends`` is the time, of the monotonic clock, after which nothing more is to be asked."""
        self.subject, self.plan, self.tally, self._ends = subject, plan, tally, ends
        self._began = time.monotonic()
        self.judge = Judge(plan.language, ends)
        self._accuser = Accuser(self.judge, plan, tally, ends)
        self.done = False
        """Whether no further round is to be asked: something was found, or the target keeps failing."""
        self._failures, self._answered = 0, False
        self._seen: set[tuple[Kind, str, Case]] = set()
        self._shapes: set[str] = set()
        """Shapes of the minimal cases so far, before it was tried what else shows their faults."""
        self._causes: Counter[tuple[Kind, str, str]] = Counter()
        self._stateful: Counter[Kind] = Counter()

    def round(self, asked: Round, origin: Origin) -> None:
        """Ask one round, and shrink what is wrong with it; raises :class:`OutOfTimeError` where the time is over."""
        tally, manners = self.tally, self.subject.manners
        tally.replayed += origin.place is not None
        scope = manners.scope
        if origin.number is not None and origin.number // len(classes_of(self.plan.language)) % _ORDINARY_TURNS == 1:
            scope = scope.ordinary()
        narrowed = scope.narrowed(asked, self.plan.language, changing=manners.changing)
        if narrowed is None:
            tally.left_out += origin.number is not None
            return
        failed, counted = None, False
        for number, chapter in enumerate(narrowed.chapters):
            self._begin()
            for part, examined in self._examined(chapter, _HALVES):
                tally.declined |= self.subject.declined
                if examined.cases or examined.keys:  # of no patterns there are keys, and no pairs
                    tally.rounds += not counted
                    tally.classes.update(() if counted else narrowed.classes)
                    tally.cases += examined.cases
                    tally.keys += examined.keys
                    tally.limited += examined.keys if examined.limited else 0
                    counted = True
                failing = next((one for one in examined.found if one.kind is Kind.FAILS), None)
                self._answered = self._answered or (failing is None and examined.keys > 0)
                failed = failed or failing
                self._take(part, examined, narrowed.chapters[:number], origin)
            if self.done or failed is not None:
                break
        if not self.done and failed is None:
            self._special(narrowed, origin)
        if failed is not None:
            self._judge_failure(failed)
        tally.left_out += not counted and failed is None and origin.number is not None

    def _begin(self) -> None:
        """Raise :class:`OutOfTimeError` where a target that hangs from now on could not be told from a slow one."""
        if self.tally.rounds and time.monotonic() > last_begin(self.subject.target, self._began, self._ends):
            raise OutOfTimeError("no time is left to tell whether it answers")

    def _special(self, asked: Round, origin: Origin) -> None:
        """Ask what is no question of one key after another: how time grows, and by several threads."""
        target, scope = self.subject.target, self.subject.manners.scope
        self._begin()
        case: Case | None = None
        found = Disagreement(kind=Kind.FAILS)
        if scope.growth and origin.number == _GROWTH_ROUND:
            growth = growth_of(target, self.plan.language, scope)
            if growth is not None:
                case = Case(patterns=(growth.pattern,), key=growth.key)
                found = Disagreement(kind=Kind.SLOW, detail=growth.text)
        elif scope.threads > 1 and isinstance(target, Shared):
            keys = [key for key in asked.keys if askable(key, self.plan.language)][: scope.threads]
            few = asked.patterns[:_PATTERNS_OF_THREADS]
            if len(keys) > 1 and wrong_together(target, self.judge, few, keys) is not None:
                self.subject.renew()
                case, found = shrunk_together(target, self.judge, few, keys) or (None, found)
        if case is not None:
            self.tally.disagreements += 1
            self.tally.add(
                self._accuser.described(target, self.subject.manners, found, Shrunk(case=case), case, origin)
            )
            self._interrupt()
            self.done = self.done or not self.plan.keep_going

    def _take(self, chapter: Chapter, examined: Examination, before: Sequence[Chapter], origin: Origin) -> None:
        """Make findings of what is wrong with a chapter."""
        if examined.ours:
            self._accuser.accuse(self.judge.engine, chapter.patterns, [examined.steps[min(examined.ours)]], origin)
            self._interrupt()
            self.done = self.done or self._accuser.done
        if not examined.found:
            return
        self.tally.disagreements += len(examined.found)
        told = tuple(self.subject.told[:-1])
        met = Met(patterns=chapter.patterns, steps=tuple(examined.steps), round=before, told=told)
        for disagreement, plain in self._chosen(met, examined.found):
            self._gather(disagreement, plain, met, origin)
        if not self.plan.keep_going:
            self._more_ordinary(origin)
            self.done = True

    def _examined(self, chapter: Chapter, halves: int) -> Iterator[tuple[Chapter, Examination]]:
        """Yield what comes of asking a chapter; where it fails at once, also of asking its halves."""
        examined = self.judge.examine(self.subject, chapter.patterns, chapter.steps)
        yield chapter, examined
        spared = [one for one in examined.found if one.kind is Kind.REFUSES or one.about == "raised"]
        if not spared or not halves or chapter.changes or not self.plan.keep_going:
            return
        for half in _halves(chapter):
            yield from self._examined(half, halves - 1)

    def _judge_failure(self, failed: Disagreement) -> None:
        """Give a target up that has never answered; what has answered before is asked on, and has less time."""
        if failed.about == "hung":
            after_a_hang(self.subject.target)
        self._failures += 1
        if self._failures >= _FAILURES and not self._answered:
            self.done = True
            self.tally.given_up = f"it never answered a round, of {_FAILURES}: {failed.detail}"

    def _more_ordinary(self, origin: Origin) -> None:
        """Look for a more ordinary case than what was found first, in rounds of letters and digits."""
        found = [one for one in self.tally.findings.values() if one.accused == self.subject.target.name]
        matches = (Kind.MISSES, Kind.MATCHES)
        if origin.number is None or origin.seed is None or not found or any(one.kind not in matches for one in found):
            return
        if min(rank(one.case, one.dialect).oddity for one in found) == 0 or any(one.flaky for one in found):
            return
        scope = self.subject.manners.scope.ordinary()
        for asked in ordinary_rounds(self.plan.language, origin.seed, origin.number, self.plan.size):
            narrowed = scope.narrowed(asked, self.plan.language, changing=False)
            if narrowed is None or time.monotonic() > self._ends:
                continue
            chapter = narrowed.chapters[0]
            examined = self.judge.examine(self.subject, chapter.patterns, chapter.steps)
            if any(one.kind in matches for one in examined.found):
                odd = dict(self.tally.findings)
                met = Met(patterns=chapter.patterns, steps=tuple(examined.steps), told=tuple(self.subject.told[:-1]))
                self.tally.disagreements += len(examined.found)
                for disagreement, plain in self._chosen(met, examined.found):
                    self._gather(disagreement, plain, met, origin)
                new = [shape for shape in self.tally.findings if shape not in odd]
                found_ones = [self.tally.findings[shape] for shape in new]
                better = any(not one.flaky and rank(one.case, one.dialect).oddity == 0 for one in found_ones)
                for shape in odd if better else new:  # one of them is told: the more ordinary one
                    if self.tally.findings[shape].accused == self.subject.target.name:
                        self.tally.findings.pop(shape)
                return

    def _chosen(self, met: Met, found: Sequence[Disagreement]) -> Iterator[tuple[Disagreement, Case]]:
        """Yield the disagreements to shrink, the simplest of each kind, each with its plain case."""
        dialect = self.plan.dialect

        def plain(disagreement: Disagreement) -> Case:
            number = disagreement.key
            key = str(met.steps[number]) if number is not None else ""
            place = disagreement.pattern
            table = bound(met.patterns, met.steps[: number or 0])[0]
            patterns = tuple(met.patterns) if place is None or place >= len(table) else (table[place],)
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

    def _gather(self, disagreement: Disagreement, plain: Case, met: Met, origin: Origin) -> None:
        """Add the finding of one disagreement to the tally, unless its cause or its plain case was shrunk before."""
        kind = disagreement.kind
        name = kind, disagreement.about, plain
        if name in self._seen:
            return
        if kind in (Kind.FAILS, Kind.REFUSES):
            cause = kind, disagreement.about, cause_of(disagreement, self.subject.target.name)
            if self._causes[cause] >= (_HANGS if disagreement.about == "hung" else 1):
                return
            self._causes[cause] += 1
        finding: Finding | None = None
        if self._shows(plain, kind):
            if len(self._seen) < _REMEMBERED:
                self._seen.add(name)
            if shape_of(kind, plain, self.plan.dialect) in self._shapes:
                return
            alone = Met(patterns=plain.patterns, steps=(plain.key,))
            answered = () if kind is Kind.MISSES else (0,)
            same = Disagreement(kind=kind, pattern=0, key=0, answered=answered, about=disagreement.about)
            finding = self._accuser.finding(self.subject.target, self.subject.manners, same, alone, origin)
        if finding is None or (
            finding.flaky and not self._accuser.interrupted
        ):  # then what was asked before had its part in it
            spent = self._stateful[kind] >= _STATEFUL
            finding = self._accuser.finding(
                self.subject.target, self.subject.manners, disagreement, met, origin, histories=not spent
            )
            if spent and finding.flaky:
                self.subject.renew()
                return
        self._stateful[kind] += finding.case.stateful or finding.flaky
        case = finding.case
        described = self._accuser.found.get((kind, case)) is finding
        if case.stateful or finding.flaky or kind is Kind.FAILS or described:
            self.subject.renew()  # what it was told for the description is not remembered
        if not finding.flaky:
            self._shapes.add(shape_of(kind, case, self.plan.dialect))
        preferred = self.tally.prefers(finding)
        self.tally.add(finding)  # before its lines are looked for, which takes seconds: Ctrl-C would lose it
        if preferred and not self._accuser.interrupted and locatable(finding, self.subject.target):
            self._locate(finding, disagreement.about)
        if disagreement.about == "hung" and not finding.flaky:
            self._set_aside(case)
        self._interrupt()

    def _locate(self, finding: Finding, about: str) -> None:
        """Add to a finding where in its source the target is probably wrong."""
        left = self._ends - time.monotonic() if self.plan.keep_going else math.inf
        self.tally.put(located(finding, about, self.subject.target, self.judge, self.subject.manners, left))
        self.subject.renew()

    def _interrupt(self) -> None:
        """End the campaign where Ctrl-C came while a finding was made, which is kept by now."""
        if self._accuser.interrupted:
            raise KeyboardInterrupt

    def _set_aside(self, case: Case) -> None:
        """Leave out of the rest of the campaign what is like a case at which the target hung."""
        aside, manners = aside_of(case, self.plan.language), self.subject.manners
        if aside is not None and not case.stateful:
            scope = replace(manners.scope, aside=(*manners.scope.aside, aside))
            self.subject.manners = replace(manners, scope=scope)
            self.tally.aside.add(aside.text())

    def _shows(self, case: Case, kind: Kind) -> bool:
        """Tell whether a case of one pattern and key shows a disagreement of that kind by itself."""
        if len(case.patterns) != 1 or kind not in (Kind.MISSES, Kind.MATCHES):
            return False
        found = self.judge.examine(self.subject, case.patterns, [case.key]).found
        return any(disagreement.kind is kind for disagreement in found)


def _halves(chapter: Chapter) -> list[Chapter]:
    """Return the halves of a chapter: of its patterns, or of its keys where it has one pattern."""
    patterns, steps = chapter.patterns, chapter.steps
    if len(patterns) > 1:
        middle = len(patterns) // 2
        return [Chapter(patterns[:middle], steps), Chapter(patterns[middle:], steps)]
    if len(steps) > 1:
        middle = len(steps) // 2
        return [Chapter(patterns, steps[:middle]), Chapter(patterns, steps[middle:])]
    return []
