"""The examination of one package: a campaign, a fixed set of small cases, and a live broker that judges."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from contextlib import chdir
from dataclasses import dataclass, replace

from benchmarks.verification.findings.environments import ADAPTERS, Environment
from benchmarks.verification.findings.subjects import Subject
from dfa_router.errors import RouterError
from dfa_router.fuzz.campaign import run as run_campaign
from dfa_router.fuzz.confirm import Verdict, confirmed
from dfa_router.fuzz.findings import Case, Disagreement, Finding, Kind
from dfa_router.fuzz.generating.language import language_of
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.subject import played
from dfa_router.fuzz.places import Place
from dfa_router.fuzz.shrinking.probe import Probe
from dfa_router.fuzz.shrinking.suspects import suspects
from dfa_router.fuzz.tally import Campaign
from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.targets.engine import EngineTarget
from dfa_router.fuzz.text.whereabouts import suspected
from dfa_router.language.dialects import Dialect
from dfa_router.language.validity import pattern_problem
from dfa_router.target import Answers, Refused, Target, TargetFailure

__all__ = ["Examined", "Judged", "Small", "examine", "small_cases"]


_LOCATING = 8.0
"""Seconds in which the suspect lines of a finding are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A finding, and whether a process that was asked nothing else answers the same."""

    finding: Finding
    reproduced: bool
    suspects: str = ""
    """``file:line`` of the lines of the package that are suspect; empty where none is more suspect than the others."""
    decided: str = ""
    """Where in the package it was decided, in words; empty where a line is suspect, and where the package is compiled."""

    @property
    def stated(self) -> bool:
        """Whether it is stated as a mistake of the package: the broker confirms it, and it comes back."""
        return self.finding.broker == "confirms" and self.reproduced


@dataclass(frozen=True, slots=True, kw_only=True)
class Small:
    """Results for the fixed set of small cases."""

    cases: int
    wrong: int
    """How many of them the package answers wrong or fails to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The result for one package."""

    subject: Subject
    version: str | None = None
    """None for a package that is not installed; the fields below are empty then."""
    reason: str = ""
    """Why it is not installed, or could not be asked."""
    cases: int = 0
    """(pattern, key) pairs that the campaign asked the package."""
    small: Small | None = None
    judged: tuple[Judged, ...] = ()
    given_up: str = ""
    """Why the campaign ended early."""
    broker: str | None = None
    """The broker that judged; None where none was asked."""
    place: str = ""
    """``file:line`` of the code that answers."""


def examine(
    environment: Environment,
    broker: Verdict | None,
    *,
    seconds: float,
    seed: int,
    progress: Callable[[str, int, int], None] | None = None,
) -> Examined:
    """Examine a package for about ``seconds``.

    ``progress`` is called with what is going on, the steps that are done, and their number. Without a broker no finding is
    stated. Raises :class:`RouterError` if one of our own engines is wrong.
    """
    subject = environment.subject

    def tell(what: str, number: int) -> None:
        if progress is not None:
            progress(f"{subject.name} {environment.version}: {what}", number, 3)

    with chdir(ADAPTERS):
        try:
            package = open_target(environment.target, subject.dialect, python=environment.python)
        except RouterError as error:
            return Examined(subject=subject, reason=str(error).partition("\n")[0][:300])
        try:
            tell("a campaign", 0)
            campaign = run_campaign(
                package,
                subject.dialect,
                seconds=seconds,
                seed=seed,
                keep_going=True,
                validity=False,  # what the dialect refuses is not asked: these are matchers, not brokers
                scope=subject.scope,
            )
            if campaign.interrupted:  # Ctrl-C: a campaign returns what it has, but half a survey makes no table
                raise KeyboardInterrupt
            package.deadline = float("inf")  # type: ignore[attr-defined]
            tell("small cases", 1)
            small = _small(package, campaign)
            tell("in a fresh process, and by the live broker", 2)
            if broker is not None:
                campaign = confirmed(campaign, broker)
            judged = tuple(_judged(package, campaign, finding) for finding in campaign.findings)
        finally:
            package.close()
        judged = _with_suspects(environment, campaign, judged)
    return Examined(
        subject=subject,
        version=environment.version,
        cases=campaign.tally.cases,
        small=small,
        judged=judged,
        given_up=(campaign.tally.given_up or "").replace(campaign.target, "it"),
        broker=None if broker is None else broker.name,
        place=environment.place(),
    )


def _judged(package: Target, campaign: Campaign, finding: Finding) -> Judged:
    """Ask a finding's case once more, in a process that was asked nothing else."""
    if finding.accused != campaign.target:
        raise RouterError(f"our own engine {finding.accused!r} is wrong, mend that first: {finding}")
    if finding.kind is Kind.SLOW:
        return Judged(finding=finding, reproduced=True)  # it was measured twice
    package.restart(wholly=True)  # type: ignore[attr-defined]
    told = _answer(package, finding.case)
    matching = finding.kind in (Kind.MISSES, Kind.MATCHES)
    return Judged(finding=finding, reproduced=told != finding.expected if matching else told == finding.answered)


def _with_suspects(environment: Environment, campaign: Campaign, judged: Sequence[Judged]) -> tuple[Judged, ...]:
    """Return the findings with the lines that are suspect, each looked for in a limited time."""
    dialect = environment.subject.dialect
    package = open_target(environment.traced, dialect, python=environment.python)
    judge, named = Judge(language_of(dialect)), []
    try:
        package.answer((), ())  # a program says then what it can tell
        for one in judged:
            about = _about(one.finding)
            met = Disagreement(kind=one.finding.kind, about=about)
            probe = Probe(package, judge, met, time.monotonic() + _LOCATING, campaign.manners)
            found = suspects(probe, one.finding.case, one.finding.detail, lambda file: bool(environment.own(file)))
            if found is not None and found.told:
                shown = suspected(replace(one.finding, suspects=found.lines), environment.own)
                named.append(replace(one, suspects=shown))
            else:
                named.append(replace(one, decided="" if found is None else _decided(environment, found.places)))
    finally:
        package.close()
    return tuple(named)


def _about(finding: Finding) -> str:
    """Return the sort of a failure: an error that was raised, or what the target did instead of an answer."""
    if finding.kind is not Kind.FAILS:
        return ""
    return "raised" if "'raised: " in finding.shape or finding.shape.startswith("'misreads'") else "hung"


def _decided(environment: Environment, places: Sequence[Place]) -> str:
    """Return in words where it was decided, each reason once."""
    whys = dict.fromkeys(place.why for place in places)
    return "; ".join(
        f"{why}: " + "; ".join(place.text(environment.own(place.file)) for place in places if place.why is why)
        for why in whys
    )


def _answer(package: Target, case: Case) -> tuple[int, ...] | None:
    try:
        for chapter in case.earlier:
            played(package, chapter.patterns, chapter.steps)
        return tuple(played(package, case.patterns, [*case.before, case.key])[-1])
    except (Refused, TargetFailure):
        return None


def small_cases(dialect: Dialect) -> tuple[list[str], list[str]]:
    """Return all valid patterns of up to three words and all keys of up to four, over very few words.

    >>> from dfa_router.language.dialects import AMQP
    >>> patterns, keys = small_cases(AMQP)
    >>> len(patterns), len(keys), patterns[:4]
    (155, 120, ['', '*', '#', 'a'])
    """
    separator = dialect.separator.decode()
    wild = [word.decode() for word in (dialect.one, dialect.many, dialect.some) if word]
    plain = ["a", "b" if dialect.reserved is None else dialect.reserved.decode() + "b"]

    def texts(words: Sequence[str], most: int) -> list[str]:
        made = (separator.join(text) for n in range(1, most + 1) for text in itertools.product(words, repeat=n))
        return list(dict.fromkeys(made))

    patterns = [text for text in texts(["", *wild, *plain], 3) if pattern_problem(text, dialect) is None]
    keys = [text for text in texts(["", *plain], 4) if text or dialect.empty_text]
    return patterns, keys


def _small(package: Target, campaign: Campaign) -> Small:
    """Ask the small cases that the package's scope has, a pattern at a time: one that it fails at costs no other."""
    dialect, scope = campaign.plan.dialect, campaign.manners.scope
    language = language_of(dialect)
    patterns, keys = small_cases(dialect)
    patterns = [pattern for pattern in patterns if scope.takes_pattern(pattern, language)]
    keys = [key for key in keys if scope.takes(key, language)]
    right = EngineTarget("naive", dialect).answer(patterns, keys)
    return Small(cases=len(patterns) * len(keys), wrong=_wrong(package, patterns, keys, right))


def _wrong(target: Target, patterns: Sequence[str], keys: Sequence[str], right: Answers) -> int:
    """Return how many pairs are answered wrong; a pair that the target refuses or fails on counts as wrong.

    A refused or failed request is split in halves until it is one pair.
    """
    try:
        told = target.answer(patterns, keys)
        return sum(len(set(one) ^ set(other)) for one, other in zip(told, right, strict=True))
    except (Refused, TargetFailure):
        if len(patterns) == len(keys) == 1:
            return 1
        if len(patterns) > 1:
            half = len(patterns) // 2
            left = [tuple(i for i in row if i < half) for row in right]
            others = [tuple(i - half for i in row if i >= half) for row in right]
            return _wrong(target, patterns[:half], keys, left) + _wrong(target, patterns[half:], keys, others)
        half = len(keys) // 2
        return _wrong(target, patterns, keys[:half], right[:half]) + _wrong(target, patterns, keys[half:], right[half:])
