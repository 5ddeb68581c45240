"""From a disagreement to a finding: it is shrunk, and described with everybody's answers to the minimal case."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace

from dfa_router.fuzz.findings import Case, Disagreement, Finding, Kind, shape_of
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.fuzz.judging.subject import Subject, played
from dfa_router.fuzz.patience import briefly
from dfa_router.fuzz.shrinking.causes import tested_shape
from dfa_router.fuzz.shrinking.otherwise import fails_otherwise
from dfa_router.fuzz.shrinking.probe import Probe
from dfa_router.fuzz.shrinking.shrink import Met, Shrunk, shrink
from dfa_router.fuzz.tally import Plan, Tally
from dfa_router.fuzz.targets.engine import EngineTarget
from dfa_router.fuzz.validity import invalid_pattern
from dfa_router.target import OutOfTimeError, Refused, Target, TargetFailure

__all__ = ["Accuser", "Origin", "cause_of"]

_REMEMBERED = 20_000
"""Findings by their minimal case that are remembered: a few megabytes."""
_FLAKY = "flaky"
"""The shape of all findings that do not repeat: one cannot know whether two of them have one cause."""
_ERROR = re.compile(r"[\w.]*(Error|Exception)\b")
_LAST_WORDS, _LATEST = 0.8, 0.3
"""Seconds for what is asked of a minimal case after the campaign's time is over, and how long after the target's last moment."""
_COMPARING = 5.0
"""Seconds that may go into what else shows the fault of a minimal case."""
_SHRINKING = 30.0
"""Seconds that shrinking may take; less where the campaign is shorter."""
_PART = 0.5
"""The part of the time left in which a case is shrunk, if the campaign goes on after it: some hang, some have long histories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a round came from: a seed and a number, or a place in a corpus."""

    seed: int | None = None
    number: int | None = None
    place: str | None = None


class Accuser:
    """Makes findings of disagreements, of the target's and of our own engines."""

    def __init__(self, judge: Judge, plan: Plan, tally: Tally, ends: float = math.inf) -> None:
        """``ends`` is the time, of the monotonic clock, after which nothing more is to be asked."""
        self.judge, self.plan, self.tally, self._ends = judge, plan, tally, ends
        self.interrupted = False
        """Whether Ctrl-C came while a finding was shrunk or described, which is kept before the campaign ends."""
        self.done = False
        """Whether the campaign is over because one of our own engines is wrong."""
        self.found: dict[tuple[Kind, Case], Finding] = {}
        """What was found, by its minimal case: it need not come back once more, nor be described again."""

    def finding(
        self,
        target: Target,
        manners: Manners,
        disagreement: Disagreement,
        met: Met,
        origin: Origin,
        *,
        ours: bool = False,
        histories: bool = True,
    ) -> Finding:
        """Shrink a disagreement and describe the result; engines of ours that differ are accused too.

        ``ours`` says that the target is such an engine already, ``histories`` whether a history is looked for where the case
        alone does not show it.
        """
        other = self._otherwise(target, manners, disagreement, met)
        if other is None:
            shrunk = self._shrunk(target, manners, disagreement, met, histories=histories)
        else:
            disagreement, shrunk = other
        self.interrupted = self.interrupted or shrunk.interrupted
        key = met.steps[disagreement.key or 0] if met.steps else ""
        found_as = Case(patterns=tuple(met.patterns), key=key if isinstance(key, str) else "")
        name = disagreement.kind, shrunk.case
        if ours or shrunk.flaky or name not in self.found or disagreement.about:
            finding = self.described(target, manners, disagreement, shrunk, found_as, origin, ours=ours)
            if not ours and not shrunk.flaky and not shrunk.case.stateful and len(self.found) < _REMEMBERED:
                self.found[name] = finding
            return finding
        return replace(self.found[name], found_as=found_as, seed=origin.seed, number=origin.number, place=origin.place)

    def described(
        self,
        target: Target,
        manners: Manners,
        disagreement: Disagreement,
        shrunk: Shrunk,
        found_as: Case,
        origin: Origin,
        *,
        ours: bool = False,
    ) -> Finding:
        """Describe what was shrunk, with all answers to it; after Ctrl-C with what is known without asking."""
        dialect, case = self.plan.dialect, shrunk.case
        valid = all(invalid_pattern(pattern, dialect) is None for pattern in case.table)
        detail, about = disagreement.detail, disagreement.about
        hung, slow = about == "hung", disagreement.kind is Kind.SLOW
        if hung and not shrunk.flaky:
            detail = detail.rpartition("\n(")[0] or detail
        if disagreement.kind in (Kind.FAILS, Kind.REFUSES):
            about = cause_of(disagreement, target.name)
        again = not (hung or slow or shrunk.flaky or case.together)  # waiting once more would tell nothing new
        expected = (self.judge.swiftly(case) if slow else self.judge.right_of(case)) if valid else None
        finding = Finding(
            accused=target.name,
            kind=disagreement.kind,
            case=case,
            dialect=dialect,
            expected=expected,
            answered=_unasked(case, disagreement) if again else disagreement.answered,
            detail=detail,
            found_as=found_as,
            flaky=shrunk.flaky,
            fresh=shrunk.fresh,
            complete=shrunk.complete,
            seed=origin.seed,
            number=origin.number,
            place=None if ours else origin.place,
            shape=_FLAKY if shrunk.flaky else shape_of(disagreement.kind, case, dialect, about),
        )
        try:
            with _last_words(target) as until:
                if again:
                    answered, detail = _answer(target, case, disagreement)
                    finding = replace(finding, answered=answered, detail=detail)
                if not shrunk.flaky:
                    shape = self._shape(target, manners, disagreement, case, about, until)
                    finding = replace(finding, shape=shape)
            if not slow:  # our engines may take as long
                finding = replace(finding, verdicts=self.judge.verdicts(case))
        except KeyboardInterrupt:
            self.interrupted = True
            return finding
        if valid and not ours:
            for engine, verdict in finding.verdicts:
                if verdict != str(list(finding.expected or ())) and not verdict.startswith("cannot"):
                    live = [one for place, one in enumerate(case.table) if place not in case.gone]
                    self.accuse(engine, live, [case.key], origin)
        return finding

    def _shape(
        self, target: Target, manners: Manners, disagreement: Disagreement, case: Case, about: str, until: float
    ) -> str:
        """Return the text that findings are merged by; the target is asked for it until its last words are spoken."""
        if disagreement.kind not in (Kind.MISSES, Kind.MATCHES) and disagreement.about != "raised":
            return shape_of(disagreement.kind, case, self.plan.dialect, about)
        until = max(until, min(self._ends, time.monotonic() + _COMPARING))
        return tested_shape(Probe(target, self.judge, disagreement, until, manners), case, about)

    def _shrunk(
        self,
        target: Target,
        manners: Manners,
        disagreement: Disagreement,
        met: Met,
        *,
        histories: bool,
    ) -> Shrunk:
        """Shrink; a target that hangs has less time for each try than it had when it hung, so that there are many."""
        left = self._ends - time.monotonic()
        seconds = min(_SHRINKING, max(0.5, left * _PART if self.plan.keep_going else left))
        with briefly(target) if disagreement.about == "hung" else nullcontext():
            return shrink(
                target,
                self.judge,
                disagreement,
                met.patterns,
                met.steps,
                met=met,
                manners=manners,
                known={case for kind, case in self.found if kind is disagreement.kind},
                histories=histories,
                seconds=seconds,
            )

    def _otherwise(
        self, target: Target, manners: Manners, disagreement: Disagreement, met: Met
    ) -> tuple[Disagreement, Shrunk] | None:
        """Return the failure that the key alone shows, and its case, if that is another one and comes back."""
        try:
            other = fails_otherwise(target, disagreement, met.patterns, met.steps)
        except KeyboardInterrupt:
            self.interrupted = True
            return None
        if other is None:
            return None
        alone = Met(patterns=other[1], steps=other[0].suspects)
        shrunk = self._shrunk(target, manners, other[0], alone, histories=False)
        self.interrupted = self.interrupted or shrunk.interrupted
        return None if shrunk.flaky else (other[0], shrunk)

    def accuse(self, engine: str, patterns: Sequence[str], steps: Sequence[object], origin: Origin) -> None:
        """Add a finding about what an engine of our own got wrong."""
        target = EngineTarget(engine, self.plan.dialect)
        manners = Manners(patterns=True, keys=True)
        met = Met(patterns=patterns, steps=[str(step) for step in steps])
        found = self.judge.examine(Subject(target, manners), met.patterns, met.steps, exactly=True).found
        for disagreement in found[:1]:
            self.tally.add(self.finding(target, manners, disagreement, met, origin, ours=True))
        self.done = self.done or not self.plan.keep_going


def cause_of(disagreement: Disagreement, name: str) -> str:
    """Return a text that is equal for failures and refusals of one cause: what was said, without what it quotes."""
    lines = [line.strip() for line in disagreement.detail.splitlines() if line.strip()] or [""]
    said = lines[0]
    if disagreement.about == "raised":  # the line of a traceback that names the error: Python's last, Node.js's first
        named = [line for line in lines if _ERROR.match(line)]
        said = (named or lines)[-1]
    said = "" if disagreement.about == "hung" else said.removeprefix(name).strip()
    return f"{disagreement.about}: " + re.sub(r"'[^']*'|\"[^\"]*\"|/.*/|[0-9]+", "…", said)[:120]


@contextmanager
def _last_words(target: Target) -> Iterator[float]:
    """Let a target answer for another second, where the campaign's time is over, and yield when that ends.

    What was answered before a case was shrunk names other positions, and a finding of an unknown cause is told twice.
    """
    until, deadline = time.monotonic() + _LAST_WORDS, getattr(target, "deadline", None)
    if deadline is not None:
        until = min(until, deadline + _LATEST)
        target.deadline = max(deadline, until)  # type: ignore[attr-defined]
    try:
        yield until
    finally:
        if deadline is not None:
            target.deadline = deadline  # type: ignore[attr-defined]


def _answer(target: Target, case: Case, disagreement: Disagreement) -> tuple[tuple[int, ...] | None, str]:
    """Ask the minimal case once more, for the answer and the words that the report tells."""
    try:
        if case.stateful and hasattr(target, "restart"):
            target.restart()
        for chapter in case.earlier:
            try:
                played(target, chapter.patterns, chapter.steps)
            except (Refused, TargetFailure):
                continue
        told = played(target, case.patterns, [*case.before, case.key])
    except Refused as refusal:
        return None, refusal.reason
    except TargetFailure as failure:
        return None, failure.reason
    except OutOfTimeError:
        return _unasked(case, disagreement), disagreement.detail
    answer = tuple(told[-1]) if told else None
    if disagreement.kind is Kind.ACCEPTS:
        named = ", ".join(map(str, answer or ())) or "none"
        return answer, f"it takes it, and of the key {case.key!r} it says that {named} match"
    return answer, disagreement.detail


def _unasked(case: Case, disagreement: Disagreement) -> tuple[int, ...] | None:
    """Return the answer to the minimal case as far as it is known: to one pattern there are two, and it gave the wrong one."""
    wrong = {Kind.MISSES: (), Kind.MATCHES: (0,)} if len(case.table) == 1 else {}
    return wrong.get(disagreement.kind)
